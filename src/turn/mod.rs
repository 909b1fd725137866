//! One prompt: launch, stream, outcome.
//!
//! [`run`] starts the process, writes the prompt beside the reading, hands events to a [`Consumer`] in
//! batches, keeps the limits, and gives a [`Report`] or a [`Failure`] when the process and its group are gone.

mod beside;
mod control;
mod flow;
mod ledger;
mod leftovers;
pub mod limits;
mod outcome;
mod prepare;
mod stderr;
mod watch;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument;

use crate::cli::args::TurnFlags;
use crate::process::Owner;
use crate::stream::ParserOptions;

pub(crate) use control::SoFar;
pub use control::{Consumer, ConsumerGone, Control, Controlled, Taken, control};
pub use leftovers::{Leftover, Leftovers};
pub use limits::Limits;
pub use outcome::{Cause, Failure, Report, ToolCounts};

/// What one turn is asked to do.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The workspace; the process runs there.
    pub cwd: PathBuf,
    /// Written to standard input as it is.
    pub prompt: String,
    /// A path or a name; `None`: what the CLI is called by default.
    pub binary: Option<String>,
    /// What the command line is made from.
    pub flags: TurnFlags,
    /// The whole environment of the process; its `PATH` is the one that names are looked up in.
    pub environment: Vec<(OsString, OsString)>,
    /// How long what may take.
    pub limits: Limits,
    /// How the stream is read.
    pub stream: ParserOptions,
    /// The MCP server whose `fn_*` tools have their bare names in events.
    pub own_server: Option<String>,
    /// Who answers for the process.
    pub owner: Owner,
    /// What is sent to the consumer.
    pub wants: Wants,
    /// What becomes of processes that are still there after a good turn. After a bad one they are always ended.
    pub leftovers: Leftovers,
}

/// What a consumer looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wants {
    /// No events, so none are sent.
    Nothing,
    /// Events; their payloads perhaps.
    #[default]
    Events,
    /// Events, and every payload of theirs, which are made ready for it.
    Payloads,
}

/// Run one turn to its end.
///
/// However it ends, the process is gone when this resolves, and with it all that came of it, but for what the
/// report lists as left over. Dropping the future kills all of it. Where the owner is
/// [called off](crate::process::call_off), that is an abort.
///
/// # Errors
/// [`Failure`], with what the turn had so far.
pub async fn run(
    request: TurnRequest,
    controlled: Controlled,
    consumer: impl Consumer,
) -> Result<Report, Box<Failure>> {
    let started = Instant::now();
    let span = tracing::info_span!(
        "turn",
        turn = next_number(),
        model = request.flags.model.as_deref()
    );
    let outcome = flow::run(request, controlled, consumer, started)
        .instrument(span.clone())
        .await;
    span.in_scope(|| match &outcome {
        Ok(report) => tracing::info!(
            duration_ms = millis(report.duration),
            tools = report.tool_calls.completed,
            "turn done"
        ),
        Err(failure) => {
            // The causes that quote the CLI may quote the model; their kind is enough for a log.
            tracing::warn!(
                duration_ms = millis(failure.partial.duration),
                kind = kind(&failure.cause),
                "turn failed"
            );
        }
    });
    outcome
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn next_number() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn kind(cause: &Cause) -> &'static str {
    match cause {
        Cause::CwdMissing { .. } => "cwd-missing",
        Cause::NotFound { .. } => "not-found",
        Cause::NotRunnable { .. } => "not-runnable",
        Cause::SpawnFailed { .. } => "spawn-failed",
        Cause::LauncherUnsupported { .. } => "launcher-unsupported",
        Cause::UnsafeToken { .. } => "unsafe-token",
        Cause::CommandTooLong { .. } => "command-too-long",
        Cause::FirstLineTimeout => "first-line-timeout",
        Cause::InactivityTimeout => "inactivity-timeout",
        Cause::ToolTimeout { .. } => "tool-timeout",
        Cause::Aborted => "aborted",
        Cause::ConsumerStopped => "consumer-stopped",
        Cause::Reported { .. } => "reported",
        Cause::NoResult => "no-result",
        Cause::Exited { .. } => "exited",
        Cause::Disposed => "disposed",
        Cause::Internal(_) => "internal",
    }
}
