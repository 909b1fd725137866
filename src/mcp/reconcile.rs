//! Putting a worktree in order after whoever died there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::cancel::Cancelled;
use crate::disk::{self, Folder};
use crate::lock::{KernelLock, Machine};
use crate::process::{Busy, called_off};
use crate::runtime::blocking;
use crate::worktree::{Git, GitError, Shape, look, names};

use super::ending::Withdrawn;
use super::error::{Problem, Reason, StagingError};
use super::lease::at_the_end;
use super::needs::{Cursor, Needs};
use super::ops::reconcile_held;
use super::report::{Action, ActionKind, ReconcileReport};
use super::site::{Held, Site};
use super::waiting::{hold_from, wind_up, withdraw};

/// Put a worktree in order: finish or discard what the dead have begun, drop their leases, and take away what nobody
/// uses. Where there is nothing to do, nothing is written. It never fails for what it finds, and says what it did. When its
/// owner ends, no lock is waited for any more.
pub async fn reconcile(worktree: PathBuf, git: Git, lock_timeout: Duration) -> ReconcileReport {
    let mut report = ReconcileReport {
        worktree: worktree.clone(),
        clean: false,
        actions: Vec::new(),
        problems: Vec::new(),
        quarantine: None,
        leases_left: 0,
    };
    // It takes the locks, which a host that ends has to find free.
    let done = match Busy::at_work(git.owner) {
        Some(_busy) => {
            let off = called_off(git.owner);
            work(worktree, &git, lock_timeout, &off, &mut report).await
        }
        None => Err(at_the_end(&worktree)),
    };
    match done {
        Ok(()) => {}
        Err(StagingError::Failed(problem)) => report.problems.push(problem),
        Err(StagingError::Cancelled) => report.problems.push(Problem {
            reason: Reason::LockTimeout,
            path: Some(report.worktree.clone()),
            message: "somebody has a lock, and whoever waited for it has ended".to_owned(),
        }),
    }
    report.clean = report.problems.is_empty() && report.quarantine.is_none();
    report
}

async fn work(
    worktree: PathBuf,
    git: &Git,
    patience: Duration,
    off: &Cancelled,
    report: &mut ReconcileReport,
) -> Result<(), StagingError> {
    let root = blocking(move || Folder::open(&worktree)).await?;
    root.path().clone_into(&mut report.worktree);
    let (shape, tracked) = match look(&root, git).await {
        Ok(looked) => (Some(looked.shape), looked.tracked),
        Err(error) => {
            report
                .problems
                .extend(StagingError::from(error).problem().cloned());
            (None, Vec::new())
        }
    };
    let deadline = tokio::time::Instant::now() + patience;
    let kernel = KernelLock::acquire(&root, deadline, off).await?;
    let sure = shape.is_some();
    let site = Arc::new(Site {
        root,
        // Without an answer of git's the exclude file is left alone; what is in it harms nobody.
        shape: shape.unwrap_or(Shape::NoGit),
        world: Machine::get(),
    });
    let at = Arc::clone(&site);
    let (kernel, needs, tracked) = blocking(move || {
        let needs = Needs::of(&at, &kernel, sure, &tracked);
        (kernel, needs, tracked)
    })
    .await;
    let needs = needs?;
    let untracked = sure && tracked.is_empty();
    report.leases_left = needs.leases;
    report.quarantine = needs.quarantine;
    report.problems.extend(needs.problems);
    if needs.cursor == Cursor::Work {
        let Some(held) = hold_from(&site, kernel, false, deadline, patience, off).await? else {
            return exclusion(&site, patience, report).await;
        };
        in_cursor(&site, held, patience, needs.lock, untracked, report).await?;
        if report.leases_left > 0 && !tracked.is_empty() {
            let tracked = StagingError::from(GitError::Tracked { paths: tracked });
            report.problems.extend(tracked.problem().cloned());
        }
        let in_use = report.leases_left > 0 || report.quarantine.is_some();
        if in_use && needs.exclusion {
            exclusion(&site, patience, report).await?;
        }
        return Ok(());
    }
    if needs.exclusion {
        exclusion(&site, patience, report).await?;
    }
    let at = Arc::clone(&site);
    let forsaken = needs.cursor == Cursor::Forsaken;
    if blocking(move || Ok::<_, disk::Error>(forsaken && at.drop_cursor()?)).await? {
        report.actions.push(removed(&site));
    }
    drop(kernel);
    Ok(())
}

async fn in_cursor(
    site: &Arc<Site>,
    held: Held,
    patience: Duration,
    lock: Option<Action>,
    untracked: bool,
    report: &mut ReconcileReport,
) -> Result<(), StagingError> {
    report.actions.extend(lock);
    report.quarantine = None;
    let at = Arc::clone(site);
    let mut done = report.clone();
    let (held, done, worked) = blocking(move || {
        let worked = reconcile_held(&at, &held, &mut done, untracked);
        if at.is_marked().is_ok_and(|marked| marked) {
            held.made_cursor.set(true);
        }
        (held, done, worked)
    })
    .await;
    *report = done;
    let ended = wind_up(site, held, patience).await;
    worked?;
    let ended = ended?;
    report.actions.extend(withdrawn(site, ended.withdrawn));
    if ended.folder {
        report.actions.push(removed(site));
    }
    Ok(())
}

async fn exclusion(
    site: &Arc<Site>,
    patience: Duration,
    report: &mut ReconcileReport,
) -> Result<(), StagingError> {
    let done = withdraw(site, patience).await?;
    report.actions.extend(withdrawn(site, done));
    Ok(())
}

fn withdrawn(site: &Site, done: Withdrawn) -> Vec<Action> {
    let left_behind = |path| Action {
        kind: ActionKind::LockRemoved,
        path,
        detail: "it was left behind".to_owned(),
    };
    let mut actions: Vec<Action> = done.locks.into_iter().map(left_behind).collect();
    let repository = site.repository().filter(|_| done.lines);
    actions.extend(repository.map(|repository| Action {
        kind: ActionKind::ExclusionRemoved,
        path: repository.common_dir.join(names::INFO).join(names::EXCLUDE),
        detail: "lines for our files that nobody needs were taken out".to_owned(),
    }));
    actions
}

fn removed(site: &Site) -> Action {
    Action {
        kind: ActionKind::FolderRemoved,
        path: site.root.path().join(names::CURSOR),
        detail: "it was made for a session, and was empty".to_owned(),
    }
}
