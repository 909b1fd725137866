//! One turn as JavaScript sees it: start, abort, take batches, and what it came to.

use std::path::PathBuf;
use std::time::Duration;

use napi::bindgen_prelude::{Error, Object, Result};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue};
use napi::{Env, Status};
use napi_derive::napi;
use parking_lot::Mutex;
use tokio::task::{JoinError, JoinHandle};

use crate::cli::args::TurnFlags;
use crate::cli::environment::compose;
use crate::process::Owner;
use crate::runtime;
use crate::stream::batch::Batch;
use crate::turn::limits::LimitOptions;
use crate::turn::{
    self, Cause, Consumer, ConsumerGone, Control, Failure, Leftover, Leftovers, Limits, Report, Taken,
    TurnRequest, Wants,
};

use super::batch::EventBatch;
use super::codes::code;
use super::promise::{no_room, panic_text, promise};

/// What all turns of a session have in common. `lib/` has checked it.
#[napi(object, object_to_js = false)]
#[allow(clippy::struct_excessive_bools, reason = "it mirrors an options object")]
pub struct RunOptions {
    pub cwd: String,
    pub binary: Option<String>,
    pub model: Option<String>,
    pub coding: bool,
    /// An earlier session to go on with.
    pub resume_id: Option<String>,
    /// Also where no tool is staged.
    pub approve_mcps: bool,
    pub workspace_flag: bool,
    /// Names and values of the host's environment, one after the other.
    pub host_env: Vec<String>,
    /// The same of what the caller adds.
    pub added_env: Vec<String>,
    pub first_line_timeout_ms: Option<f64>,
    pub inactivity_timeout_ms: Option<f64>,
    pub tool_timeout_ms: Option<f64>,
    pub exit_grace_ms: Option<f64>,
    pub kill_grace_ms: Option<f64>,
    pub max_line_bytes: Option<u32>,
    /// Processes that are still there after a good turn live on.
    pub keep_leftovers: bool,
}

impl RunOptions {
    /// With paths from the folder that the host is in now.
    pub(super) fn here(self) -> Self {
        Self {
            cwd: absolute(self.cwd),
            binary: self.binary.map(program),
            ..self
        }
    }
}

/// What a single turn is asked besides.
#[napi(object, object_to_js = false)]
pub struct TurnOptions {
    pub run: RunOptions,
    pub prompt: String,
    /// The MCP server whose `fn_*` tools have their bare names.
    pub own_server: Option<String>,
    /// False: nobody looks at events, so none are sent.
    pub wants_events: bool,
    /// True: whoever gets a tool's event reads its payloads.
    pub wants_payloads: bool,
}

/// What a turn came to. With a `code` it failed, and the rest is what there was so far.
#[napi(object, object_from_js = false)]
pub struct TurnOutcome {
    pub code: Option<&'static str>,
    pub message: Option<String>,
    pub retryable: bool,
    pub stderr_tail: Option<String>,
    pub session_id: Option<String>,
    pub text: String,
    /// JSON text.
    pub usage: Option<String>,
    pub request_id: Option<String>,
    pub model: Option<String>,
    pub duration_ms: f64,
    pub started: u32,
    pub completed: u32,
    pub failed: u32,
    pub rejected: u32,
    pub abandoned: u32,
    pub dropped_lines: f64,
    pub dropped_bytes: f64,
    /// Whether a process ran.
    pub ran: bool,
    pub exit_code: Option<u32>,
    pub signal: Option<String>,
    pub leftovers: Vec<LeftoverProcess>,
}

/// A process of a turn that is over.
#[napi(object, object_from_js = false)]
pub struct LeftoverProcess {
    pub pid: u32,
    pub command: String,
}

pub(super) type OnBatch = ThreadsafeFunction<EventBatch, UnknownReturnValue, EventBatch, Status, false>;

/// The consumer of a turn: a function of the JavaScript thread that started it.
pub(super) struct JavaScript {
    pub(super) on_batch: OnBatch,
}

impl Consumer for JavaScript {
    fn send(&mut self, batch: Batch) -> std::result::Result<(), ConsumerGone> {
        // The queue has no limit, and needs none: one batch is under way at a time.
        match self
            .on_batch
            .call(batch.into(), ThreadsafeFunctionCallMode::NonBlocking)
        {
            Status::Ok => Ok(()),
            _ => Err(ConsumerGone),
        }
    }
}

pub(super) type Task = JoinHandle<std::result::Result<Report, Box<Failure>>>;

/// A running turn.
#[napi]
pub struct TurnHandle {
    control: Control,
    task: Mutex<Option<Task>>,
}

/// Start a turn. `onBatch` gets one batch at a time; the next comes after `taken`.
#[napi(catch_unwind)]
pub fn start_turn(
    scope: u32,
    options: TurnOptions,
    #[napi(ts_arg_type = "(batch: EventBatch) => void")] on_batch: OnBatch,
) -> Result<TurnHandle> {
    let (control, controlled) = turn::control();
    let run = options.run.here();
    let task = runtime::spawn(async move {
        #[cfg(feature = "panic-hooks")]
        super::panics::trip("task");
        let request = TurnRequest {
            prompt: options.prompt,
            own_server: options.own_server,
            wants: wants(options.wants_events, options.wants_payloads),
            ..request(scope, run)
        };
        turn::run(request, controlled, JavaScript { on_batch }).await
    })
    .map_err(no_room)?;
    Ok(TurnHandle::new(control, task))
}

/// One without a prompt. Not on the JavaScript thread: a large environment takes a while.
pub(super) fn request(scope: u32, options: RunOptions) -> TurnRequest {
    let host = pairs(options.host_env);
    let said = LimitOptions {
        first_line_ms: options.first_line_timeout_ms,
        inactivity_ms: options.inactivity_timeout_ms,
        tool_ms: options.tool_timeout_ms,
        exit_grace_ms: options.exit_grace_ms,
        kill_grace_ms: options.kill_grace_ms,
    };
    let variable = |name: &str| {
        let found = host.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    };
    let limits = Limits::new(&said, variable);
    TurnRequest {
        cwd: PathBuf::from(options.cwd),
        prompt: String::new(),
        binary: options.binary,
        flags: TurnFlags {
            model: options.model,
            coding: options.coding,
            resume: options.resume_id,
            approve_mcps: options.approve_mcps,
            workspace_flag: options.workspace_flag,
        },
        environment: compose(host, pairs(options.added_env)),
        limits,
        // The command line never asks for partial output.
        stream: super::parser::options(options.max_line_bytes, false),
        own_server: None,
        owner: Owner(scope),
        wants: Wants::Nothing,
        leftovers: if options.keep_leftovers {
            Leftovers::Keep
        } else {
            Leftovers::Kill
        },
    }
}

impl TurnHandle {
    pub(super) fn new(control: Control, task: Task) -> Self {
        Self {
            control,
            task: Mutex::new(Some(task)),
        }
    }
}

#[napi]
impl TurnHandle {
    /// End the turn. `settled` resolves when its processes are gone. `false`: it has ended well before that.
    #[napi(catch_unwind)]
    pub fn abort(&self) -> bool {
        self.control.abort()
    }

    /// The batch that was given is done with; `false` ends the turn.
    #[napi(catch_unwind)]
    pub fn taken(&self, go_on: bool) {
        self.control.taken(if go_on { Taken::GoOn } else { Taken::Stop });
    }

    /// What the turn has so far.
    #[napi(catch_unwind)]
    pub fn so_far(&self) -> TurnOutcome {
        TurnOutcome::from(self.control.so_far())
    }

    /// What the turn came to, once its processes are gone. Can be asked once.
    #[napi(catch_unwind, ts_return_type = "Promise<TurnOutcome>")]
    pub fn settled<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let task = self.task.lock().take();
        let Some(task) = task else {
            return Err(Error::from_reason(
                "the outcome of this turn was asked for before",
            ));
        };
        promise(env, async move {
            Ok(match task.await {
                Ok(Ok(report)) => TurnOutcome::from(report),
                Ok(Err(failure)) => TurnOutcome::from(*failure),
                Err(ended) => TurnOutcome::from(internal(ended)),
            })
        })
    }
}

/// A panic in the task. Whatever the task held was dropped, its processes killed.
fn internal(ended: JoinError) -> Failure {
    Failure::unstarted(Cause::Internal(panic_text(ended)), Duration::ZERO)
}

impl From<Failure> for TurnOutcome {
    fn from(failure: Failure) -> Self {
        Self {
            code: Some(code(&failure.cause)),
            message: Some(failure.cause.to_string()),
            retryable: failure.cause.retryable(),
            stderr_tail: failure.stderr_tail,
            ..Self::from(failure.partial)
        }
    }
}

impl From<Report> for TurnOutcome {
    #[allow(
        clippy::cast_precision_loss,
        reason = "counts of lines and bytes stay far below 2^53"
    )]
    fn from(report: Report) -> Self {
        Self {
            code: None,
            message: None,
            retryable: false,
            stderr_tail: None,
            session_id: report.session_id,
            text: report.text,
            usage: report.usage,
            request_id: report.request_id,
            model: report.model,
            duration_ms: report.duration.as_secs_f64() * 1000.0,
            started: report.tool_calls.started,
            completed: report.tool_calls.completed,
            failed: report.tool_calls.failed,
            rejected: report.tool_calls.rejected,
            abandoned: report.tool_calls.abandoned,
            dropped_lines: report.dropped.lines as f64,
            dropped_bytes: report.dropped.bytes as f64,
            ran: report.exit.is_some(),
            exit_code: report
                .exit
                .and_then(crate::process::Exit::code)
                .map(i32::cast_unsigned),
            signal: report.exit.and_then(crate::process::Exit::signal_name),
            leftovers: report.leftovers.into_iter().map(LeftoverProcess::from).collect(),
        }
    }
}

impl From<Leftover> for LeftoverProcess {
    fn from(Leftover { pid, command }: Leftover) -> Self {
        Self { pid, command }
    }
}

pub(super) fn wants(events: bool, payloads: bool) -> Wants {
    match (events, payloads) {
        (false, _) => Wants::Nothing,
        (true, false) => Wants::Events,
        (true, true) => Wants::Payloads,
    }
}

/// A name is looked up; only a path means a place.
fn program(binary: String) -> String {
    if binary.contains(std::path::is_separator) {
        absolute(binary)
    } else {
        binary
    }
}

/// From the folder that the host is in now: it may be in another one when the process is started, and the process
/// itself, which is told its workspace by flag too, is in that workspace.
pub(super) fn absolute(path: String) -> String {
    let absolute = std::path::absolute(&path)
        .ok()
        .and_then(|path| path.to_str().map(str::to_owned));
    absolute.unwrap_or(path)
}

pub(super) fn pairs(flat: Vec<String>) -> Vec<(String, String)> {
    let mut flat = flat.into_iter();
    std::iter::from_fn(|| Some((flat.next()?, flat.next()?))).collect()
}
