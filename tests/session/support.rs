//! Sessions that play a scenario, tools that a test can see into, and prompts that are under way.
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fusion_cursor_native::bridge::{Bridge, Child, HostGone, Start, Tools, Why};
use fusion_cursor_native::cancel::{Cancelled, cancel};
use fusion_cursor_native::cli::args::TurnFlags;
use fusion_cursor_native::cli::environment::compose;
use fusion_cursor_native::process::Owner;
use fusion_cursor_native::session::context::Context;
use fusion_cursor_native::session::{Prompt, Session, SessionRequest, ToolsetRequest, create};
use fusion_cursor_native::stream::ParserOptions;
use fusion_cursor_native::turn::limits::LimitOptions;
use fusion_cursor_native::turn::{self, Consumer, Control, Leftovers, TurnRequest, Wants};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::lease::{Worktree, key, within};
use crate::turn::{Eager, Outcome, limits};

pub(crate) const SYSTEM: &str = "Be brief.";
pub(crate) const TOOL: &str = "fn_secret";

static OWNERS: AtomicU32 = AtomicU32::new(1);

/// A worktree, a scenario, and where bridges have their folders.
pub(crate) struct Stage<'a> {
    pub(crate) tree: Worktree<'a>,
    /// Outside the worktree: with the scenario, and what its steps touch.
    pub(crate) aside: TempDir,
    pub(crate) folder: TempDir,
    /// Its own, as other tests may run in this process.
    pub(crate) owner: Owner,
    pub(crate) key: String,
    pub(crate) flags: TurnFlags,
    pub(crate) limits: LimitOptions,
    pub(crate) lock_timeout: Duration,
    pub(crate) host: Arc<Host>,
}

/// Runs the tools: a call answers with this host's own secret.
#[derive(Default)]
pub(crate) struct Host {
    pub(crate) bridge: OnceLock<Bridge>,
    pub(crate) secret: String,
    pub(crate) cancelled: Mutex<Vec<Why>>,
    /// In place of an answer, this is done.
    pub(crate) instead: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl Tools for Host {
    fn called(&self, number: u32) -> Result<(), HostGone> {
        let bridge = self.bridge.get().unwrap();
        let call = bridge.take(number).unwrap();
        match self.instead.get() {
            Some(instead) => instead(),
            None => bridge.answer(number, json!({ call.name: self.secret }).to_string()),
        }
        Ok(())
    }

    fn cancelled(&self, _number: u32, why: Why) {
        self.cancelled.lock().push(why);
    }
}

impl<'a> Stage<'a> {
    pub(crate) fn new(tree: &Worktree<'a>, scenario: &Value) -> Self {
        let number = OWNERS.fetch_add(1, Ordering::Relaxed);
        let stage = Self {
            tree: tree.clone(),
            aside: tempfile::tempdir().unwrap(),
            folder: tempfile::tempdir().unwrap(),
            owner: Owner(number),
            key: key(),
            flags: TurnFlags::default(),
            limits: LimitOptions::default(),
            lock_timeout: tree.place.lock_timeout,
            host: Arc::new(Host {
                secret: format!("secret-{number}"),
                ..Host::default()
            }),
        };
        stage.play(scenario);
        stage
    }

    /// From the next turn on.
    pub(crate) fn play(&self, scenario: &Value) {
        fs::write(self.path("scenario.json"), scenario.to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.aside.path().join(name)
    }

    /// Lets the agent go on that waits for it.
    pub(crate) fn open(&self, gate: &str) {
        fs::write(self.path(gate), "").unwrap();
    }

    pub(crate) fn request(&self, with_tools: bool) -> SessionRequest {
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let scenario = text(self.path("scenario.json"));
        let host = std::env::vars().collect();
        SessionRequest {
            turn: TurnRequest {
                cwd: self.tree.path.clone(),
                prompt: String::new(),
                binary: Some(env!("CARGO_BIN_EXE_fusion-cursor-stand-in").into()),
                flags: self.flags.clone(),
                environment: compose(host, vec![("FUSION_CURSOR_SCENARIO".into(), scenario)]),
                limits: limits(self.limits),
                stream: ParserOptions::default(),
                own_server: None,
                owner: self.owner,
                wants: Wants::Nothing,
                leftovers: Leftovers::Kill,
            },
            context: Context {
                system_prompt: Some(SYSTEM.into()),
                skills: Vec::new(),
            },
            toolset: with_tools.then(|| ToolsetRequest {
                server_key: self.key.clone(),
                child: Child {
                    command: "/usr/bin/node".into(),
                    flags: Vec::new(),
                    script: "/opt/server.cjs".into(),
                    env: vec![("ELECTRON_RUN_AS_NODE".into(), "1".into())],
                },
                tools: Arc::<Host>::clone(&self.host),
                names: vec![TOOL.into(), "fn_another".into()],
                schema: r#"{"tools":[]}"#.into(),
                folder: self.folder.path().to_owned(),
                call_limit: Duration::from_secs(600),
                start: Start::of(self.owner),
            }),
            lock_timeout: self.lock_timeout,
            git: self.tree.place.git(),
        }
    }

    pub(crate) async fn create_unless(&self, with_tools: bool, off: Cancelled) -> Option<Session> {
        let made = within("a session", create(self.request(with_tools), off))
            .await
            .unwrap();
        if let Some(bridge) = made.as_ref().and_then(Session::bridge) {
            assert!(self.host.bridge.set(bridge.clone()).is_ok());
        }
        made
    }

    pub(crate) async fn create(&self, with_tools: bool) -> Session {
        let (_calm, calm) = cancel();
        self.create_unless(with_tools, calm).await.unwrap()
    }

    /// What bridges have in their folder.
    pub(crate) fn bridge_folders(&self) -> usize {
        fs::read_dir(self.folder.path()).unwrap().count()
    }

    /// What the agent was started with: its command line behind the program, and its prompt.
    pub(crate) fn echo(&self, name: &str) -> (String, String) {
        let echo = crate::turn::read_json(&self.path(name));
        let args = echo["argv"].as_array().unwrap()[1..].iter();
        let args: Vec<&str> = args.map(|arg| arg.as_str().unwrap()).collect();
        (args.join(" "), echo["stdin"]["text"].as_str().unwrap().to_owned())
    }
}

/// A prompt that was put in line.
pub(crate) struct Asked {
    pub(crate) control: Control,
    pub(crate) task: tokio::task::JoinHandle<Outcome>,
}

impl Asked {
    pub(crate) async fn outcome(self) -> Outcome {
        within("a turn", self.task).await.unwrap()
    }
}

/// Put a prompt in line, with a consumer of the test's own.
pub(crate) fn ask_with<C: Consumer>(
    session: &Session,
    text: &str,
    consumer: impl FnOnce(Control) -> C,
) -> Asked {
    let (control, controlled) = turn::control();
    let prompt = Prompt {
        text: text.into(),
        wants: Wants::Events,
    };
    let task = tokio::spawn(session.turn(prompt, controlled, consumer(control.clone())));
    Asked { control, task }
}

pub(crate) fn ask(session: &Session, text: &str) -> Asked {
    ask_with(session, text, |control| Eager { control })
}

pub(crate) async fn dispose(session: &Session) {
    within("a disposal", session.dispose()).await.unwrap();
}

/// Call a tool as the child does that Cursor starts, by what stands in the worktree's config; the answer's body.
/// Where nobody listens, nothing.
pub(crate) fn call_tool(entry: &Value) -> Option<String> {
    let url = entry["env"]["FUSION_CURSOR_TOOL_BRIDGE_URL"].as_str().unwrap();
    let token = entry["env"]["FUSION_CURSOR_TOOL_BRIDGE_TOKEN"].as_str().unwrap();
    let host = url
        .strip_prefix("http://")
        .and_then(|rest| rest.strip_suffix("/tool-call"));
    let host = host.unwrap();
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(crate::lease::PATIENCE)).unwrap();
    let body = format!(r#"{{"name":"{TOOL}","arguments":{{}},"callId":"c"}}"#);
    let request = format!(
        "POST /tool-call HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer.split_once("\r\n\r\n")?.1.to_owned())
}

/// Look for so long as it takes to be sure that it stays so.
pub(crate) async fn stays(what: &str, mut so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_millis(150);
    while Instant::now() < until {
        assert!(so(), "{what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
