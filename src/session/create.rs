//! From a request to a session, or to nothing at all where it is given up.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::{join, select};
use tracing::Instrument;

use crate::cancel::{Cancelled, cancel};
use crate::mcp::{self, Problem, StagingError};
use crate::process::called_off;
use crate::runtime::{self, joined};
use crate::worktree::Git;

use super::toolset::{Opened, Place, ToolsetRequest};
use super::trouble::told;
use super::{Inner, Session, SessionRequest};

/// Make a session: the worktree is put in order, and the tools are in reach when this resolves. What cannot be had is
/// no failure; a folder that is not there is told by the first turn.
///
/// `None` where it was called off, or whoever answers for it has ended. All that had begun is gone then. That goes on
/// where the future is dropped.
///
/// # Errors
/// Where the system gives no thread or no descriptor to run anything on.
pub async fn create(request: SessionRequest, cancelled: Cancelled) -> std::io::Result<Option<Session>> {
    let ended = called_off(request.turn.owner);
    let (off, is_off) = cancel();
    // Work of its own: whoever asked may forget about it in the middle, and then nothing must be left.
    let _forgotten = off.clone().on_drop();
    let number = next_number();
    let span = tracing::info_span!("session", session = number);
    let work = runtime::spawn(carry_out(request, number, is_off).instrument(span))?;
    let mut work = Box::pin(joined(work));
    let made = select! {
        biased;
        () = cancelled.wait() => None,
        () = ended.wait() => None,
        made = &mut work => Some(made),
    };
    if let Some(made) = made {
        return Ok(made.keep());
    }
    off.cancel();
    if let Some(late) = work.await.keep() {
        late.give_up().await;
    }
    Ok(None)
}

/// A session that nobody has yet. Dropped, it is disposed.
struct Made(Option<Session>);

impl Made {
    fn keep(mut self) -> Option<Session> {
        self.0.take()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if let Some(session) = self.0.take() {
            // It goes on behind this.
            drop(session.dispose());
        }
    }
}

fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

async fn carry_out(request: SessionRequest, number: u64, off: Cancelled) -> Made {
    let SessionRequest {
        turn,
        context,
        toolset,
        lock_timeout,
        git,
    } = request;
    let place = Place {
        worktree: turn.cwd.clone(),
        lock_timeout,
        git: git.clone(),
        owner: turn.owner,
    };
    let wants_tools = toolset.is_some();
    let ordered = put_in_order(turn.cwd.clone(), git, lock_timeout);
    let ((), opened) = join!(unless_off(ordered, &off), open(toolset));
    let mut session = Inner::new(turn, context, number);
    match opened {
        Ok(Some(opened)) if off.is_cancelled() => opened.close().await,
        Ok(Some(opened)) => match opened.stage(place, off.clone()).await {
            Ok(toolset) => session.toolset = Some(toolset),
            Err(StagingError::Failed(problem)) => session.has_no_tools(problem),
            Err(StagingError::Cancelled) => return Made(None),
        },
        Ok(None) => {}
        Err(problem) => session.has_no_tools(problem),
    }
    let session = Session(Arc::new(session));
    if off.is_cancelled() {
        session.give_up().await;
        return Made(None);
    }
    tracing::debug!(
        wants_tools,
        tools = session.tool_names().len(),
        resumes = session.id().is_some(),
        "a session is made"
    );
    Made(Some(session))
}

async fn open(toolset: Option<ToolsetRequest>) -> Result<Option<Opened>, Problem> {
    match toolset {
        Some(asked) => Opened::open(asked).await.map(Some).map_err(|error| told(&error)),
        None => Ok(None),
    }
}

/// Wait for this, unless all is called off: it may wait for a lock for long, and then goes on behind that.
async fn unless_off(ordered: impl Future<Output = ()> + Send + 'static, off: &Cancelled) {
    // Without room for another task nothing else comes about either, and that is told where it matters.
    let Ok(ordered) = runtime::spawn(ordered.in_current_span()) else {
        return;
    };
    select! {
        biased;
        () = off.wait() => {}
        () = joined(ordered) => {}
    }
}

/// What the dead have left. What stands in the way of that is met again by whatever needs it.
async fn put_in_order(worktree: PathBuf, git: Git, lock_timeout: Duration) {
    let report = mcp::reconcile(worktree, git, lock_timeout).await;
    let worktree = report.worktree.display();
    for problem in &report.problems {
        tracing::warn!(%worktree, problem = problem.message, "a worktree could not be put in order");
    }
    if !report.actions.is_empty() {
        tracing::info!(%worktree, actions = report.actions.len(), "a worktree was put in order");
    }
}

impl Session {
    async fn give_up(self) {
        if let Err(error) = self.dispose().await {
            tracing::warn!(%error, "a session that was given up left its server behind");
        }
    }
}

impl Inner {
    fn has_no_tools(&mut self, problem: Problem) {
        tracing::warn!(
            reason = problem.reason.as_str(),
            problem = problem.message,
            "a session has no tools"
        );
        *self.problem.get_mut() = Some(problem);
    }
}
