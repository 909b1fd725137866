//! Taking and giving up the locks, with the waits that this needs. The work itself is done on threads that may
//! block.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::cancel::{Cancelled, cancel};
use crate::lock::{KernelLock, LockError, Wait};
use crate::runtime::blocking;
use crate::worktree::{Exclusion, LONGEST_READ, names};

use super::ending::{Ended, Withdrawn, Wound, ended};
use super::error::StagingError;
use super::site::{Held, Site, Tried};

/// All locks. `None` where there is no `.cursor`, and none is to be made.
///
/// # Errors
/// [`StagingError`]; no lock is held then, and nothing is left of the attempt.
pub(super) async fn hold(
    site: &Arc<Site>,
    make: bool,
    patience: Duration,
    off: &Cancelled,
) -> Result<Option<Held>, StagingError> {
    let deadline = Instant::now() + patience;
    let at = Arc::clone(site);
    // Where nobody else is here, all of it in one go: each way to another thread costs as much as a few files.
    let held = blocking(move || at.try_hold(make)).await?;
    if held.is_some() {
        return Ok(held);
    }
    let kernel = KernelLock::acquire(&site.root, deadline, off).await?;
    hold_from(site, kernel, make, deadline, patience, off).await
}

/// The same, with the kernel's lock in hand.
pub(super) async fn hold_from(
    site: &Arc<Site>,
    kernel: KernelLock,
    make: bool,
    deadline: Instant,
    patience: Duration,
    off: &Cancelled,
) -> Result<Option<Held>, StagingError> {
    let mut excluded = false;
    let held = hold_until(site, kernel, make, (deadline, patience), off, &mut excluded).await;
    if held.is_err()
        && excluded
        && let Err(error) = withdraw(site, patience).await
    {
        tracing::warn!(worktree = %site.root.path().display(), %error, "the exclude file was not cleaned");
    }
    held
}

async fn hold_until(
    site: &Arc<Site>,
    mut kernel: KernelLock,
    make: bool,
    (deadline, patience): (Instant, Duration),
    off: &Cancelled,
    excluded: &mut bool,
) -> Result<Option<Held>, StagingError> {
    let mut wait = Wait::until(deadline, off);
    let mut exclusion: Option<Exclusion> = None;
    let mut made_before = false;
    let mut git_since = None;
    loop {
        let locked = exclusion.take();
        let at = Arc::clone(site);
        let longest = git_since.map_or(deadline, |since: Instant| deadline.min(since + LONGEST_READ));
        let (back, tried) = blocking(move || {
            let heed = Instant::now() < longest;
            let tried = at.attempt(&kernel, locked.as_ref(), make, heed, &|| ());
            // Whoever comes next takes it over.
            if let Some(Err(error)) = locked.map(Exclusion::release) {
                tracing::warn!(%error, "the lock on an exclude file was not given up in order");
            }
            (kernel, tried)
        })
        .await;
        kernel = back;
        match tried? {
            Tried::Taken(taken) => return Ok(Some(Held::new(*taken, made_before, kernel))),
            Tried::Nothing => return Ok(None),
            Tried::Uncovered => {
                if let Some(repository) = site.repository() {
                    exclusion = Some(repository.lock_exclusion(deadline, off, site.world).await?);
                    *excluded = true;
                }
            }
            Tried::Unread => {
                tracing::debug!(worktree = %site.root.path().display(), "git is at work; it is waited for");
                git_since.get_or_insert_with(Instant::now);
                // At the deadline it is heeded no more.
                wait.pause().await?;
            }
            Tried::Busy(holder, new) => {
                git_since = None;
                made_before |= new;
                if !wait.pause().await? {
                    let path = site.root.path().join(names::CURSOR).join(names::LOCK);
                    return Err(LockError::TimedOut {
                        path,
                        waited: patience,
                        holder,
                    }
                    .into());
                }
            }
        }
    }
}

/// Give the locks up. Where nothing is in use here any more, the exclusion goes first; if its lock cannot be had, it
/// stays, and whoever comes next takes it away.
///
/// # Errors
/// What the disk says; as much as possible was given up.
pub(super) async fn wind_up(site: &Arc<Site>, held: Held, patience: Duration) -> Result<Ended, StagingError> {
    finish(site, held, patience, |_, _| ()).await.1
}

/// Do the last of the work, and [`wind_up`].
pub(super) async fn finish<T: Send + 'static>(
    site: &Arc<Site>,
    held: Held,
    patience: Duration,
    work: impl FnOnce(&Site, &Held) -> T + Send + 'static,
) -> (T, Result<Ended, StagingError>) {
    let at = Arc::clone(site);
    let (done, wound) = blocking(move || {
        let done = work(&at, &held);
        (done, held.try_wind_up(&at))
    })
    .await;
    let ended = match wound {
        Wound::Up(ended) => ended,
        Wound::Busy(held, vacated) => {
            let withdrawn = withdraw(site, patience).await;
            let at = Arc::clone(site);
            let released = blocking(move || held.release(&at)).await;
            ended(vacated.and(withdrawn), released)
        }
    };
    (done, ended)
}

/// Take out the lines in the exclude file that nobody needs.
pub(super) async fn withdraw(site: &Arc<Site>, patience: Duration) -> Result<Withdrawn, StagingError> {
    let Some(repository) = site.repository() else {
        return Ok(Withdrawn::default());
    };
    let (_calm, never) = cancel();
    let deadline = Instant::now() + patience;
    let exclusion = repository.lock_exclusion(deadline, &never, site.world).await?;
    Ok(blocking(move || Withdrawn::from(exclusion)).await?)
}
