//! Sessions as JavaScript sees them: a start that can be given up, the session that it gives, and its turns.

use std::path::Path;
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{Error, Object, Result};
use napi_derive::napi;
use parking_lot::Mutex;
use tokio::task::JoinHandle;

use crate::bridge::{Child, Start};
use crate::cancel::{Cancel, cancel};
use crate::process::Owner;
use crate::runtime;
use crate::session::context::Context;
use crate::session::{self, Prompt, Session, SessionRequest, ToolsetRequest};
use crate::turn;

use super::bridge::{BridgeHandle, BridgeOptions, JavaScript, OnEvent, limit, log_left_out};
use super::lease::{StagingProblem, git, lock_timeout, told};
use super::promise::{no_room, panic_text, promise};
use super::turn::{OnBatch, RunOptions, TurnHandle, absolute, pairs, request, wants};

/// What `lib/` has checked and passes on.
#[napi(object, object_to_js = false)]
pub struct SessionOptions {
    pub run: RunOptions,
    pub system_prompt: Option<String>,
    pub skills: Vec<String>,
    pub lock_timeout_ms: Option<f64>,
    /// What Cursor starts; absent where there are no tools.
    pub server: Option<SessionServer>,
    /// The tools; both or neither.
    pub bridge: Option<BridgeOptions>,
}

/// The server that is staged for a session.
#[napi(object, object_to_js = false)]
pub struct SessionServer {
    pub key: String,
    pub command: String,
    /// What that program is told before the name of a script.
    pub flags: Vec<String>,
    pub script: String,
    /// Names and values of what that program needs to run the script, one after the other.
    pub env: Vec<String>,
}

/// What a start came to. Without a session it was given up.
#[napi(object, object_from_js = false)]
pub struct SessionAnswer {
    pub session: Option<SessionHandle>,
    /// For its tools, where they can be called.
    pub bridge: Option<BridgeHandle>,
}

/// A session that is being made.
#[napi]
pub struct SessionStart {
    given_up: Cancel,
    task: Mutex<Option<JoinHandle<std::io::Result<Option<Session>>>>>,
}

/// Begin with a session. `onEvent` is told of its tools' calls and of their ends.
#[napi(catch_unwind)]
pub fn create_session(
    scope: u32,
    options: SessionOptions,
    #[napi(ts_arg_type = "(event: BridgeEvent) => void")] on_event: OnEvent,
) -> Result<SessionStart> {
    let owner = Owner(scope);
    // Before anything can wait: an end of the host waits for what is counted here.
    let start = options.bridge.is_some().then(|| Start::of(owner));
    let (given_up, is_given_up) = cancel();
    let options = SessionOptions {
        run: options.run.here(),
        ..options
    };
    let task = runtime::spawn(async move {
        #[cfg(feature = "panic-hooks")]
        super::panics::trip("session");
        session::create(asked(scope, options, start, on_event), is_given_up).await
    })
    .map_err(no_room)?;
    Ok(SessionStart {
        given_up,
        task: Mutex::new(Some(task)),
    })
}

/// Not on the JavaScript thread: a large environment takes a while.
fn asked(scope: u32, options: SessionOptions, start: Option<Start>, on_event: OnEvent) -> SessionRequest {
    let git = git(Owner(scope), options.run.host_env.clone());
    let toolset = match (options.server, options.bridge, start) {
        (Some(server), Some(bridge), Some(start)) => {
            log_left_out(bridge.left_out);
            Some(ToolsetRequest {
                server_key: server.key,
                child: Child {
                    command: server.command,
                    flags: server.flags,
                    script: server.script,
                    env: pairs(server.env),
                },
                tools: Arc::new(JavaScript { on_event }),
                names: bridge.names,
                schema: bridge.schema,
                folder: absolute(bridge.folder).into(),
                call_limit: limit(bridge.call_timeout_ms),
                start,
            })
        }
        _ => None,
    };
    SessionRequest {
        turn: request(scope, options.run),
        context: Context {
            system_prompt: options.system_prompt,
            skills: options.skills,
        },
        toolset,
        lock_timeout: lock_timeout(options.lock_timeout_ms),
        git,
    }
}

#[napi]
impl SessionStart {
    /// Take back what was done. A session that is there already is the caller's to dispose.
    #[napi(catch_unwind)]
    pub fn give_up(&self) {
        self.given_up.cancel();
    }

    /// The session, once it is there. Can be asked once.
    #[napi(catch_unwind, ts_return_type = "Promise<SessionAnswer>")]
    pub fn opened<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let Some(task) = self.task.lock().take() else {
            return Err(Error::from_reason("this session was asked for before"));
        };
        promise(env, async move {
            let made = task
                .await
                .map_err(|ended| Error::from_reason(turn::Cause::Internal(panic_text(ended)).to_string()))?
                .map_err(no_room)?;
            let bridge = made.as_ref().and_then(Session::bridge).cloned();
            Ok(SessionAnswer {
                session: made.map(|session| SessionHandle { session }),
                bridge: bridge.map(|bridge| BridgeHandle { bridge }),
            })
        })
    }
}

/// A session. The core knows what it holds: to forget this object is not to dispose it.
#[napi]
pub struct SessionHandle {
    session: Session,
}

#[napi]
impl SessionHandle {
    /// Put a turn in line. `onBatch` gets one batch at a time; the next comes after `taken`.
    #[napi(catch_unwind)]
    pub fn start_turn(
        &self,
        prompt: String,
        wants_events: bool,
        wants_payloads: bool,
        #[napi(ts_arg_type = "(batch: EventBatch) => void")] on_batch: OnBatch,
    ) -> Result<TurnHandle> {
        let (control, controlled) = turn::control();
        let prompt = Prompt {
            text: prompt,
            wants: wants(wants_events, wants_payloads),
        };
        let consumer = super::turn::JavaScript { on_batch };
        // Its place in the line is taken here, and not when the task is first run.
        let turn = self.session.turn(prompt, controlled, consumer);
        #[cfg(feature = "panic-hooks")]
        let turn = async move {
            super::panics::trip("task");
            turn.await
        };
        let task = runtime::spawn(turn).map_err(no_room)?;
        Ok(TurnHandle::new(control, task))
    }

    /// What Cursor calls it, as far as is known.
    #[napi(catch_unwind)]
    pub fn session_id(&self) -> Option<String> {
        self.session.id()
    }

    /// Why its tools cannot be called now.
    #[napi(catch_unwind)]
    pub fn problem(&self) -> Option<StagingProblem> {
        let problem = self.session.problem();
        problem.map(|problem| StagingProblem::told(&problem, self.session.cwd()))
    }

    /// The tools' names as Cursor shows them.
    #[napi(catch_unwind)]
    pub fn tool_names(&self) -> Vec<String> {
        self.session.tool_names().to_vec()
    }

    /// End it, and wait until all of it is gone; what could not be taken out of the worktree.
    #[napi(catch_unwind, ts_return_type = "Promise<StagingProblem | null>")]
    pub fn dispose<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let cwd = self.session.cwd().to_owned();
        let down = self.session.dispose();
        super::promise::answer(env, async move {
            let down = down.await;
            down.err().and_then(|error| told(&error, Path::new(&cwd)))
        })
    }
}
