//! Staging a server, from the first question to git to the lease.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::{join, select};
use tracing::Instrument;

use crate::cancel::{Cancelled, cancel};
use crate::disk::Folder;
use crate::lock::Machine;
use crate::process::{Busy, Owner, called_off};
use crate::runtime;
use crate::runtime::blocking;
use crate::worktree::{Git, GitError, look};

use super::compose::PREFIX;
use super::error::{Problem, Reason, StagingError};
use super::lease::{Lease, Staged, no_room};
use super::manifest::ServerEntry;
use super::ops::{dispose_held, foresee, stage_held};
use super::site::{Held, Site};
use super::waiting::{finish, hold};

/// How long each lock is waited for, unless something else is asked for.
pub const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// A lease is refreshed this often, give or take a tenth.
pub const BEAT: Duration = Duration::from_secs(5 * 60);

/// What to stage, and where.
#[derive(Debug)]
pub struct StageRequest {
    /// An existing folder.
    pub worktree: PathBuf,
    /// `fusion-custom-tools-` and an id.
    pub server_key: String,
    /// What Cursor is to start.
    pub entry: ServerEntry,
    /// How long the locks are waited for; [`LOCK_TIMEOUT`] is a good limit.
    pub lock_timeout: Duration,
    /// How git is run.
    pub git: Git,
    /// Who answers for the lease.
    pub scope: Owner,
}

/// Stage a server: it is in the config when this resolves, and git does not see it.
///
/// # Errors
/// [`StagingError`]; the worktree is then as it was, but for the record of a config that is no JSON.
pub async fn stage(request: StageRequest, cancelled: Cancelled) -> Result<Lease, StagingError> {
    stage_beating(request, cancelled, BEAT).await
}

/// The same with another time between two beats.
///
/// # Errors
/// As [`stage`].
pub async fn stage_beating(
    request: StageRequest,
    cancelled: Cancelled,
    every: Duration,
) -> Result<Lease, StagingError> {
    let ended = called_off(request.scope);
    // A host that ends waits until this is taken back.
    let _busy = Busy::at_work(request.scope).ok_or(StagingError::Cancelled)?;
    let (off, is_off) = cancel();
    // Work of its own: whoever asked may forget about it in the middle, and then nothing must be left.
    let forgotten = off.clone().on_drop();
    let mut work = runtime::spawn(carry_out(request, is_off, every).in_current_span())
        .map_err(|error| no_room(&error))?;
    let mut called_off = false;
    let done = select! {
        biased;
        () = cancelled.wait() => None,
        () = ended.wait() => None,
        done = &mut work => Some(done),
    };
    let done = if let Some(done) = done {
        done
    } else {
        called_off = true;
        off.cancel();
        work.await
    };
    drop(forgotten);
    match done {
        Ok(Ok(lease)) if called_off => {
            lease.dispose().await?;
            Err(StagingError::Cancelled)
        }
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(StagingError::Cancelled),
        },
    }
}

async fn carry_out(request: StageRequest, off: Cancelled, every: Duration) -> Result<Lease, StagingError> {
    let StageRequest {
        worktree,
        server_key: key,
        entry,
        lock_timeout: patience,
        git,
        scope,
    } = request;
    if !key.starts_with(PREFIX) || key.len() == PREFIX.len() {
        return Err(StagingError::Failed(Problem {
            reason: Reason::UnexpectedShape,
            path: None,
            message: format!("the server key {key:?} does not begin with {PREFIX:?} and an id"),
        }));
    }
    let root = blocking(move || Folder::open(&worktree)).await?;
    let looked = select! {
        biased;
        () = off.wait() => return Err(StagingError::Cancelled),
        looked = look(&root, &git) => looked?,
    };
    if !looked.tracked.is_empty() {
        return Err(GitError::Tracked {
            paths: looked.tracked,
        }
        .into());
    }
    let site = Arc::new(Site {
        root,
        shape: looked.shape,
        world: Machine::get(),
    });
    // Git may be asked as soon as our lines are there, while the rest of the locks is taken.
    let (tell, told) = oneshot::channel();
    let at = Arc::clone(&site);
    let first = blocking(move || {
        foresee(&at)?;
        let tell = Cell::new(Some(tell));
        at.try_hold_telling(true, &|| {
            let _unheard = tell.take().map(|tell| tell.send(()));
        })
    });
    let verified = async || {
        let Some(repository) = site.repository() else {
            return Ok(());
        };
        select! {
            biased;
            () = off.wait() => Err(StagingError::Cancelled),
            ignored = repository.verify_ignored(&site.root, &git) => ignored.map_err(StagingError::from),
        }
    };
    let early = async {
        if told.await.is_ok() {
            Some(verified().await)
        } else {
            None
        }
    };
    let (held, early) = join!(first, early);
    let (held, early) = match held? {
        Some(held) => (held, early),
        // What git has said was of lines that are gone again.
        None => match hold(&site, true, patience, &off).await? {
            Some(held) => (held, None),
            None => return Err(StagingError::Cancelled),
        },
    };
    let ignored = match early {
        Some(ignored) => ignored,
        None => verified().await,
    };
    let (to, what) = (key.clone(), entry.clone());
    let ((staged, left_begun), ended) = finish(&site, held, patience, move |site, held| {
        let staged = ignored.and_then(|()| stage_held(site, held, &to, &what));
        (staged, held.left_begun.get())
    })
    .await;
    let path = site.root.path();
    if let Err(error) = ended {
        tracing::warn!(worktree = %path.display(), %error, "something was left behind in a worktree");
    }
    if let Err(error) = staged {
        if left_begun {
            take_back(&site, key, patience).await;
        }
        return Err(error);
    }
    tracing::debug!(worktree = %path.display(), key, "a server is staged");
    let staged = Staged {
        key,
        entry,
        patience,
        scope,
        git,
    };
    Lease::begin(site, staged, every).await
}

/// Once more with new locks what a staging that failed could not take back, as it had lost its own: a lease of a
/// process that lives stays, for all others, for as long as that does.
async fn take_back(site: &Arc<Site>, key: String, patience: Duration) {
    let (_calm, never) = cancel();
    let done = match hold(site, false, patience, &never).await {
        Ok(Some(held)) => {
            let work = move |site: &Site, held: &Held| dispose_held(site, held, &key, false);
            let (done, ended) = finish(site, held, patience, work).await;
            done.and(ended.map(|_| ()))
        }
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = done {
        tracing::warn!(worktree = %site.root.path().display(), %error, "a staging that failed left something behind");
    }
}
