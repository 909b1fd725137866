//! Each step of each operation fails, in each way.

use std::sync::Arc;

use fusion_cursor_native::disk::failpoint::{Armed, Moment, Step, Verdict, arm};
use fusion_cursor_native::mcp::{Lease, StagingError, reconcile, release_held};
use fusion_cursor_native::process::{Owner, Whose};
use rustix::io::Errno;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::child::{KEY, PATIENCE, try_stage};
use super::place::{Place, git};
use super::state::{Operation, State};
use super::whole::{Before, is_told};

/// How a disk fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// There is no room for this step; of a write, there is for a few bytes.
    NoRoom,
    /// From this step on there is none. What takes no room is done.
    Full,
    /// This step, and no other.
    Broken,
    /// This step, and no other.
    Forbidden,
}

impl Fault {
    const ALL: [Self; 4] = [Self::NoRoom, Self::Full, Self::Broken, Self::Forbidden];

    fn verdict(self, step: &Step<'_>, at: u64) -> Verdict {
        let here = step.number == at;
        let full = Errno::NOSPC.raw_os_error();
        match self {
            _ if step.moment == Moment::After => Verdict::Go,
            Self::NoRoom if here => Verdict::Short(7, full),
            Self::Full if step.number >= at && !step.what.starts_with("remove") && step.what != "discard" => {
                Verdict::Fail(full)
            }
            Self::Broken if here => Verdict::Fail(Errno::IO.raw_os_error()),
            Self::Forbidden if here => Verdict::Fail(Errno::ACCESS.raw_os_error()),
            _ => Verdict::Go,
        }
    }

    fn armed(self, place: &Place, at: u64) -> Armed {
        // Where the kernel's lock fails, a file system has none, and that is another matter.
        let mut kernel = 0;
        let hook = move |step: &Step<'_>| {
            if step.what == "lock.kernel" {
                kernel += u64::from(step.moment == Moment::Before);
                return Verdict::Go;
            }
            let step = Step {
                number: step.number - kernel,
                ..*step
            };
            self.verdict(&step, at)
        };
        arm(&place.room(), Box::new(hook))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_no_file() {
    all_of(State::NoFile).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_a_file() {
    all_of(State::Commented).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_a_linked_worktree() {
    all_of(State::Linked).await;
}

async fn all_of(state: State) {
    let few = Arc::new(Semaphore::new(4));
    let mut running = JoinSet::new();
    for operation in Operation::ALL {
        let template = Arc::new(state.found_by(operation).await);
        for fault in Fault::ALL {
            let (few, template) = (Arc::clone(&few), Arc::clone(&template));
            running.spawn(async move {
                let _one = few.acquire().await.unwrap();
                let before = Before::of(&state.make());
                let (mut wrong, mut failed) = (Vec::new(), 0);
                for at in 1.. {
                    let place = template.copy();
                    match cell(&place, &before, operation, fault, at).await {
                        Ok(End::Failed) => failed += 1,
                        Ok(End::Done) => {}
                        Ok(End::NoSuchStep) => break,
                        Err(what) => wrong.push(format!("{operation:?}, {fault:?} at step {at}: {what}")),
                    }
                }
                // Of these some steps are of no account, and many are.
                if failed < 3 && !matches!(operation, Operation::Heartbeat | Operation::Exit) {
                    wrong.push(format!("{operation:?}, {fault:?}: it failed only {failed} times"));
                }
                wrong
            });
        }
    }
    let mut wrong = Vec::new();
    while let Some(done) = running.join_next().await {
        wrong.extend(done.unwrap());
    }
    wrong.sort();
    assert!(
        wrong.is_empty(),
        "{} cells:\n{}",
        wrong.len(),
        wrong.iter().take(10).cloned().collect::<Vec<_>>().join("\n")
    );
}

/// How it ended.
enum End {
    /// The operation said that it failed.
    Failed,
    /// It could do without that step.
    Done,
    NoSuchStep,
}

/// One failure.
async fn cell(
    place: &Place,
    before: &Before,
    operation: Operation,
    fault: Fault,
    at: u64,
) -> Result<End, String> {
    let mut failed = false;
    let staged = async || {
        try_stage(place.path(), KEY)
            .await
            .map_err(|error| error.to_string())
    };
    let there;
    match operation {
        Operation::Stage => {
            let armed = fault.armed(place, at);
            let done = try_stage(place.path(), KEY).await;
            there = armed.count() >= at;
            drop(armed);
            before.is_kept(place)?;
            match done {
                Ok(lease) => end(&lease).await?,
                Err(error) => {
                    told(&error)?;
                    failed = true;
                }
            }
        }
        Operation::Heartbeat => {
            let lease = staged().await?;
            let armed = fault.armed(place, at);
            failed = !lease.heartbeat().await;
            there = armed.count() >= at;
            drop(armed);
            before.is_kept(place)?;
            end(&lease).await?;
        }
        Operation::Dispose => {
            let lease = staged().await?;
            let armed = fault.armed(place, at);
            let done = lease.dispose().await;
            there = armed.count() >= at;
            drop(armed);
            before.is_kept(place)?;
            if let Err(error) = done {
                told(&error)?;
                end(&lease).await?;
                failed = true;
            }
        }
        Operation::Exit => {
            let lease = staged().await?;
            let armed = fault.armed(place, at);
            release_held(Whose::Of(Owner(0)), Some(lease.worktree()));
            there = armed.count() >= at;
            drop(armed);
            before.is_kept(place)?;
            end(&lease).await?;
        }
        Operation::Reconcile => {
            let armed = fault.armed(place, at);
            let report = reconcile(place.path(), git(), PATIENCE).await;
            there = armed.count() >= at;
            drop(armed);
            before.is_kept(place)?;
            for problem in &report.problems {
                is_told(problem)?;
                failed = true;
            }
        }
    }
    before.comes_back(place).await?;
    Ok(match (there, failed) {
        (false, _) => End::NoSuchStep,
        (true, true) => End::Failed,
        (true, false) => End::Done,
    })
}

fn told(error: &StagingError) -> Result<(), String> {
    match error {
        StagingError::Failed(problem) => is_told(problem),
        other => Err(other.to_string()),
    }
}

async fn end(lease: &Lease) -> Result<(), String> {
    lease
        .dispose()
        .await
        .map_err(|error| format!("it could not be ended afterwards: {error}"))
}
