//! Sessions: prompts one after the other that Cursor remembers, with a host's tools if there are any.
//!
//! [`create`] puts the worktree in order and makes the tools reachable; a [`Session`] then runs its turns in the order
//! in which they were asked for. Tools that cannot be had are no failure: the session is there without them, and tells
//! by [`Session::problem`] why.

pub mod context;
mod create;
mod line;
mod memory;
mod toolset;
mod trouble;
mod turns;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::cancel::{Cancel, cancel};
use crate::hidden::Length;
use crate::mcp::{Problem, StagingError};
use crate::runtime::{self, joined};
use crate::turn::{SoFar, TurnRequest, Wants};
use crate::worktree::Git;

use context::Context;
use line::Line;
use memory::Memory;
use toolset::Toolset;

pub use create::create;
pub use toolset::ToolsetRequest;
pub use trouble::told;

/// What a session is made from.
pub struct SessionRequest {
    /// What all of its turns have in common. The prompt is each turn's own; what is resumed here is an earlier session
    /// to go on with, and then no context is sent.
    pub turn: TurnRequest,
    /// What the first prompt says before the prompt itself.
    pub context: Context,
    /// The host's tools, where it has any.
    pub toolset: Option<ToolsetRequest>,
    /// How long each lock of the worktree is waited for.
    pub lock_timeout: Duration,
    /// How git is run.
    pub git: Git,
}

/// One prompt.
#[derive(Clone, PartialEq, Eq)]
pub struct Prompt {
    /// As the user wrote it.
    pub text: String,
    /// What is sent to the consumer.
    pub wants: Wants,
}

impl fmt::Debug for Prompt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Prompt")
            .field("text", &Length::of(Some(&self.text)))
            .field("wants", &self.wants)
            .finish()
    }
}

/// Clones are the same session. One that is forgotten stays, until its owner or its process ends.
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    number: u64,
    turn: TurnRequest,
    context: Context,
    line: Line,
    /// Ends the turn that runs.
    ending: Cancel,
    id: Mutex<Id>,
    toolset: Option<Toolset>,
    problem: Mutex<Option<Problem>>,
}

/// Which of Cursor's sessions this is.
struct Id {
    memory: Memory,
    /// The turn that runs, which may name one.
    running: Option<SoFar>,
}

impl Inner {
    fn new(mut turn: TurnRequest, context: Context, number: u64) -> Self {
        let memory = Memory::of(turn.flags.resume.take());
        Self {
            number,
            turn,
            context,
            line: Line::default(),
            ending: cancel().0,
            id: Mutex::new(Id {
                memory,
                running: None,
            }),
            toolset: None,
            problem: Mutex::new(None),
        }
    }
}

impl Session {
    /// The folder that its turns run in.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.0.turn.cwd
    }

    /// What Cursor calls it, as far as is known: from the turn that runs, else from the last one that ended well.
    #[must_use]
    pub fn id(&self) -> Option<String> {
        let id = self.0.id.lock();
        let running = id.running.as_ref().filter(|turn| !turn.is_called_off());
        let named = running.and_then(SoFar::session_id);
        id.memory.during(named.as_deref()).map(str::to_owned)
    }

    /// Why its tools cannot be called now; `None` where they can, or where it has none.
    #[must_use]
    pub fn problem(&self) -> Option<Problem> {
        self.0.problem.lock().clone()
    }

    /// The tools' names as Cursor shows them; none where they could not be had.
    #[must_use]
    pub fn tool_names(&self) -> &[String] {
        self.0.toolset.as_ref().map_or(&[], Toolset::names)
    }

    /// The loopback server for its tools, where it has them.
    #[must_use]
    pub fn bridge(&self) -> Option<&crate::bridge::Bridge> {
        self.0.toolset.as_ref().map(Toolset::bridge)
    }

    /// End it: no turn begins any more, those that wait fail with [`Cause::Disposed`](crate::turn::Cause::Disposed),
    /// the one that runs is aborted. That much is so when this returns; what it returns resolves when the processes of
    /// that turn, the lease and the bridge are gone, in this order. It goes on where the future is dropped. Again is as
    /// good as once.
    ///
    /// # Errors
    /// Where the server could not be taken out of the worktree; all else is gone then. Another call tries again.
    pub fn dispose(&self) -> impl Future<Output = Result<(), StagingError>> + Send + use<> {
        // In this order, else one that waits would begin as the other ends.
        self.0.line.close();
        self.0.ending.cancel();
        let down = runtime::spawn(self.clone().take_down());
        let session = self.clone();
        async move {
            match down {
                Ok(down) => joined(down).await,
                // There is no room for another task, but there is this one.
                Err(_) => session.take_down().await,
            }
        }
    }

    async fn take_down(self) -> Result<(), StagingError> {
        self.0.line.emptied().await;
        let down = match &self.0.toolset {
            Some(toolset) => toolset.take_down().await,
            None => Ok(()),
        };
        tracing::debug!(
            session = self.0.number,
            well = down.is_ok(),
            "a session is disposed"
        );
        down
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Session")
            .field("number", &self.0.number)
            .field("cwd", &self.0.turn.cwd)
            .field("tools", &self.tool_names())
            .finish_non_exhaustive()
    }
}
