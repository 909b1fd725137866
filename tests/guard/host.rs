//! A host of its own: this program, started again as the test `host`, which does what it is told line by line.

use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;

use fusion_cursor_native::cli::args::TurnFlags;
use fusion_cursor_native::process::{Launch, Owner, guard};
use fusion_cursor_native::stream::ParserOptions;
use fusion_cursor_native::stream::batch::Batch;
use fusion_cursor_native::turn::limits::LimitOptions;
use fusion_cursor_native::turn::{
    self, Consumer, ConsumerGone, Control, Leftovers, Limits, Taken, TurnRequest, Wants,
};
use fusion_cursor_native::{diagnostics, process};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::seen::{PATIENCE, until};

const STAND_IN: &str = env!("CARGO_BIN_EXE_fusion-cursor-stand-in");
pub(crate) const GUARD: &str = env!("CARGO_BIN_EXE_fusion-cursor-guard");

/// A folder with a scenario in it.
pub(crate) struct Stage(TempDir);

impl Stage {
    pub(crate) fn new(scenario: &Value) -> Self {
        let stage = Self(tempfile::tempdir().unwrap());
        std::fs::write(stage.path("scenario.json"), scenario.to_string()).unwrap();
        stage
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The process id in a file, once it is there.
    pub(crate) fn pid(&self, name: &str) -> u32 {
        until(name, || {
            let text = std::fs::read_to_string(self.path(name)).ok()?;
            text.trim().parse().ok()
        })
    }
}

/// An agent that does not end, and one process of every kind that it can start; some are deaf to SIGTERM. When
/// `leader` is touched, all of it is there.
pub(crate) fn forest() -> Value {
    let mut steps = vec![json!({ "ignore": ["SIGTERM"] }), init()];
    for (name, deaf) in [
        ("member", true),
        ("group", false),
        ("session", true),
        ("daemon", false),
    ] {
        let mut child = vec![json!({ "touch": name }), json!({ "linger": true })];
        if deaf {
            child.insert(0, json!({ "ignore": ["SIGTERM"] }));
        }
        steps.push(json!({ "start": child, "as": name }));
        steps.push(json!({ "waitFile": name }));
    }
    steps.extend([json!({ "touch": "leader" }), json!({ "linger": true })]);
    json!({ "turn": steps })
}

/// The names of the processes in [`forest`].
pub(crate) const FOREST: [&str; 5] = ["leader", "member", "group", "session", "daemon"];

pub(crate) fn init() -> Value {
    json!({ "line": { "type": "system", "subtype": "init", "session_id": "s-1", "cwd": "${cwd}" } })
}

pub(crate) struct Host {
    child: Child,
    orders: Option<ChildStdin>,
    said: Receiver<String>,
}

impl Host {
    pub(crate) fn start() -> Self {
        Self::start_with(|_| {})
    }

    pub(crate) fn start_with(more: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["host::host", "--exact", "--ignored", "--nocapture"])
            .env("FUSION_CURSOR_TEST_HOST", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            // As a shell starts a job: the whole group can be signalled.
            .process_group(0);
        more(&mut command);
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (say, said) = channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some(answer) = line.strip_prefix("host: ") {
                    let _over = say.send(answer.to_owned());
                }
            }
        });
        Self {
            orders: child.stdin.take(),
            child,
            said,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn tell(&mut self, order: &str) {
        let orders = self.orders.as_mut().unwrap();
        writeln!(orders, "{order}").unwrap();
    }

    pub(crate) fn ask(&mut self, order: &str) -> String {
        self.tell(order);
        self.hear()
    }

    pub(crate) fn hear(&self) -> String {
        self.said.recv_timeout(PATIENCE).expect("the host answers")
    }

    /// Start a turn on this stage.
    pub(crate) fn play(&mut self, stage: &Stage) {
        self.tell(&format!("turn {}", stage.path("").display()));
    }

    /// The guard, as the host knows it.
    pub(crate) fn guard(&mut self) -> Option<u32> {
        self.ask("guard").parse().ok()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn signal_group(&self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Wait for its end; the moment of that.
    pub(crate) fn died(&mut self) -> Instant {
        let _status = until("the host ends", || self.child.try_wait().unwrap());
        Instant::now()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Takes every batch at once.
struct Eager(Control);

impl Consumer for Eager {
    fn send(&mut self, _batch: Batch) -> Result<(), ConsumerGone> {
        self.0.taken(Taken::GoOn);
        Ok(())
    }
}

async fn play(folder: PathBuf) {
    let scenario = folder.join("scenario.json");
    let mut environment: Vec<_> = std::env::vars_os().collect();
    environment.push(("FUSION_CURSOR_SCENARIO".into(), scenario.into()));
    let (control, controlled) = turn::control();
    let request = TurnRequest {
        cwd: folder.canonicalize().unwrap(),
        prompt: "hi".into(),
        binary: Some(STAND_IN.into()),
        flags: TurnFlags::default(),
        environment,
        limits: Limits::new(&LimitOptions::default(), |_| None),
        leftovers: Leftovers::Kill,
        own_server: None,
        stream: ParserOptions::default(),
        owner: Owner(0),
        wants: Wants::Events,
    };
    let _outcome = turn::run(request, controlled, Eager(control)).await;
}

/// Start a program, and tell how it went.
async fn run(program: &Path) -> String {
    let launch = Launch {
        program: program.into(),
        args: vec!["one".into(), "two words".into()],
        cwd: "/".into(),
        env: std::env::vars_os().collect(),
        owner: Owner(0),
        via: None,
    };
    match process::brief::run(launch, PATIENCE).await {
        Ok(ran) => format!("{:?} {}", ran.exit, ran.out().trim()),
        Err(error) => format!("{:?}", process::Refusal::of(program, &error)),
    }
}

#[test]
#[ignore = "the host of the other tests, and nothing without them"]
#[allow(clippy::exit, reason = "this is a whole program")]
fn host() {
    if std::env::var_os("FUSION_CURSOR_TEST_HOST").is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _inside = runtime.enter();
    // On a line of its own, whatever the harness has written before.
    println!("\nhost: here");
    for order in std::io::stdin().lines().map_while(Result::ok) {
        let (verb, rest) = order.split_once(' ').unwrap_or((&order, ""));
        match verb {
            "turn" => drop(runtime.spawn(play(rest.into()))),
            "turns" => {
                let folder = PathBuf::from(rest);
                runtime.spawn(async move {
                    loop {
                        play(folder.clone()).await;
                    }
                });
            }
            "run" => println!("host: {}", runtime.block_on(run(Path::new(rest)))),
            "guard" => println!("host: {}", guard::pid().unwrap_or_default()),
            "keep" => guard::keep(rest.parse().unwrap()),
            "program" => guard::use_program(rest),
            "log" => diagnostics::route(
                0,
                "warn",
                Arc::new(|record: &diagnostics::Record| {
                    if record.target.contains("guard") {
                        println!("host: log {} {}", record.level, record.message);
                    }
                }),
            )
            .unwrap(),
            "exit" => std::process::exit(0),
            "abort" => std::process::abort(),
            _ => panic!("{order}"),
        }
    }
}
