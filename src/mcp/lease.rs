//! A server of ours in a worktree's config, for as long as it is wanted.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::select;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::cancel::{Cancel, cancel};
use crate::process::{Busy, Owner};
use crate::runtime;
use crate::runtime::blocking;
use crate::worktree::{Git, GitError, is_marked_as_repository, look};

use super::error::{Problem, Reason, StagingError};
use super::manifest::ServerEntry;
use super::ops::{Beaten, beat_held, dispose_held, has_entry};
use super::registry;
use super::site::Site;
use super::waiting::{finish, hold, withdraw};

/// A staged server. Clones are the same lease. One that is forgotten stays, until its scope or its process ends.
#[derive(Clone)]
pub struct Lease(Arc<Inner>);

/// What is staged, and where.
pub(super) struct Staged {
    pub(super) key: String,
    pub(super) entry: ServerEntry,
    /// How long the locks are waited for.
    pub(super) patience: Duration,
    pub(super) scope: Owner,
    /// How git is run.
    pub(super) git: Git,
}

struct Inner {
    number: u64,
    worktree: PathBuf,
    /// Until it has ended: what is open in it would keep the file system busy for as long as somebody has the lease.
    site: Mutex<Option<Arc<Site>>>,
    staged: Staged,
    phase: Mutex<Phase>,
    /// Ends the beats.
    ending: Cancel,
}

impl Inner {
    fn site(&self) -> Option<Arc<Site>> {
        self.site.lock().clone()
    }

    /// The same as it is now: without a repository that is gone since; in one that was made since, as by `git init`,
    /// whose git would show what is staged. And whether the entry is in the config. `None` where the lease has ended.
    async fn site_now(&self) -> Result<Option<(Arc<Site>, bool)>, StagingError> {
        let Some(site) = self.site() else {
            return Ok(None);
        };
        let (at, key) = (Arc::clone(&site), self.staged.key.clone());
        let (bereft, newly, there) = blocking(move || {
            let newly = at.repository().is_none() && is_marked_as_repository(at.root.path());
            let there = has_entry(&at, &key);
            at.bereft().map(|bereft| (bereft, newly, there))
        })
        .await?;
        if let Some(bereft) = bereft {
            return Ok(Some((Arc::new(bereft), there)));
        }
        if !newly {
            return Ok(Some((site, there)));
        }
        let shape = match look(&site.root, &self.staged.git).await {
            Ok(looked) if looked.tracked.is_empty() => looked.shape,
            Ok(looked) => {
                let paths = looked.tracked;
                return Err(GitError::Tracked { paths }.into());
            }
            Err(error) => {
                tracing::warn!(worktree = %self.worktree.display(), %error, "it may lie in a new repository");
                return Ok(Some((site, there)));
            }
        };
        let site = Arc::new(Site {
            root: site.root.share()?,
            shape,
            world: site.world,
        });
        if let Some(known) = self.site.lock().as_mut() {
            *known = Arc::clone(&site);
        }
        Ok(Some((site, there)))
    }

    /// Whether git says that it tracks nothing of ours. Asked only where it matters: the entry is not in the config.
    ///
    /// # Errors
    /// Why no entry may be put into the config.
    async fn untracked(&self, site: &Site, has_entry: bool) -> Result<bool, GitError> {
        if site.repository().is_none() || has_entry {
            return Ok(site.repository().is_none());
        }
        let paths = look(&site.root, &self.staged.git).await?.tracked;
        if paths.is_empty() {
            Ok(true)
        } else {
            Err(GitError::Tracked { paths })
        }
    }

    fn problem(&self, message: String) -> StagingError {
        StagingError::Failed(Problem {
            reason: Reason::Io,
            path: Some(self.worktree.clone()),
            message,
        })
    }
}

/// What comes of taking a lease down, for all who wait for it.
type Outcome = watch::Receiver<Option<Result<(), StagingError>>>;

enum Phase {
    Held,
    Ending(Outcome),
    /// It was to end, and did not.
    Stuck,
    Ended,
}

/// Refresh a lease for as long as it is held.
async fn beats(lease: Lease, every: Duration) {
    let ending = lease.0.ending.token();
    for beat in 0_u64.. {
        // Sessions that began at the same time do not come all at once.
        let random = RandomState::new().hash_one(beat) % 200;
        let pause = every.mul_f64(0.9 + f64::from(u32::try_from(random).unwrap_or(0)) / 1000.0);
        select! {
            biased;
            () = ending.wait() => return,
            () = sleep(pause) => {}
        }
        // What it finds is in the log.
        let _found = lease.beat().await;
    }
}

impl Lease {
    /// The lease of what is staged, with its beats.
    pub(super) async fn begin(
        site: Arc<Site>,
        staged: Staged,
        every: Duration,
    ) -> Result<Self, StagingError> {
        let lease = Self(Arc::new(Inner {
            number: registry::number(),
            worktree: site.root.path().to_owned(),
            site: Mutex::new(Some(site)),
            staged,
            phase: Mutex::new(Phase::Held),
            ending: cancel().0,
        }));
        registry::add(&lease);
        if let Err(error) = runtime::spawn(beats(lease.clone(), every)) {
            lease.dispose().await?;
            return Err(no_room(&error));
        }
        Ok(lease)
    }

    /// The key in `mcpServers`.
    #[must_use]
    pub fn server_key(&self) -> &str {
        &self.0.staged.key
    }

    /// The worktree's canonical path.
    #[must_use]
    pub fn worktree(&self) -> &Path {
        &self.0.worktree
    }

    /// Beat now: whether the server is in force afterwards. It is not where the lease has ended or is about to, the
    /// worktree is gone, or the operator's config cannot be edited.
    pub async fn heartbeat(&self) -> bool {
        self.beat().await.is_ok()
    }

    /// The same, and why it is not in force.
    ///
    /// # Errors
    /// [`StagingError::Cancelled`] where the lease has ended or is about to.
    pub async fn beat(&self) -> Result<(), StagingError> {
        let beaten = self.try_beat().await;
        if let Err(StagingError::Failed(problem)) = &beaten {
            tracing::warn!(
                worktree = %self.worktree().display(),
                error = problem.message,
                "a staged server is not in force"
            );
        }
        beaten
    }

    async fn try_beat(&self) -> Result<(), StagingError> {
        let inner = &self.0;
        let (key, worktree) = (&inner.staged.key, inner.worktree.display());
        let Some(at) = inner.site() else {
            return Err(StagingError::Cancelled);
        };
        if !matches!(*inner.phase.lock(), Phase::Held) {
            return Err(StagingError::Cancelled);
        }
        // It takes the locks, which a host that ends has to find free.
        let _busy = Busy::at_work(inner.staged.scope).ok_or(StagingError::Cancelled)?;
        if !blocking(move || at.is_there()).await {
            return Err(inner.problem(format!(
                "{worktree} is not the folder any more that {key} was staged in"
            )));
        }
        let Some((site, there)) = inner.site_now().await? else {
            return Err(StagingError::Cancelled);
        };
        let (untracked, refused) = match inner.untracked(&site, there).await {
            Ok(untracked) => (untracked, None),
            Err(error) => (false, Some(error)),
        };
        let Some(held) = hold(&site, true, inner.staged.patience, &inner.ending.token()).await? else {
            return Err(StagingError::Cancelled);
        };
        let lease = Arc::clone(inner);
        let (beaten, ended) = finish(&site, held, inner.staged.patience, move |site, held| {
            // Looked at with the locks held: whoever ends the lease from now on comes after this.
            if matches!(*lease.phase.lock(), Phase::Held) {
                beat_held(site, held, &lease.staged.key, &lease.staged.entry, untracked).map(Some)
            } else {
                Ok(None)
            }
        })
        .await;
        let beaten = beaten?;
        ended?;
        match beaten {
            Some(Beaten::InForce) => Ok(()),
            Some(Beaten::Refused(problem)) => Err(problem.into()),
            Some(Beaten::TakenOut) => Err(match refused {
                Some(error) => error.into(),
                None => inner.problem(format!(
                    "somebody has just taken {key} out of the config in {worktree}"
                )),
            }),
            None => Err(StagingError::Cancelled),
        }
    }

    /// Take the server out. Once done it stays done; callers at the same time share one outcome. A worktree that is
    /// gone, or a config that cannot be edited any more and is recorded for the next one, is no failure.
    ///
    /// # Errors
    /// [`StagingError::Failed`]; another call tries again.
    pub async fn dispose(&self) -> Result<(), StagingError> {
        let mut outcome = {
            let mut phase = self.0.phase.lock();
            match &*phase {
                Phase::Ended => return Ok(()),
                Phase::Ending(outcome) => outcome.clone(),
                Phase::Held | Phase::Stuck => {
                    let Some(busy) = Busy::at_work(self.0.staged.scope) else {
                        return Err(at_the_end(self.worktree()));
                    };
                    let (tell, outcome) = watch::channel(None);
                    let lease = self.clone();
                    // Work of its own, which goes on to its end whoever forgets about it; a host that ends waits for it.
                    let begun = runtime::spawn(async move {
                        let _busy = busy;
                        let done = lease.take_down().await;
                        lease.has_ended(done.is_ok());
                        tell.send_replace(Some(done));
                    });
                    self.0.ending.cancel();
                    if let Err(error) = begun {
                        *phase = Phase::Stuck;
                        return Err(no_room(&error));
                    }
                    *phase = Phase::Ending(outcome.clone());
                    outcome
                }
            }
        };
        let done = outcome.wait_for(Option::is_some).await;
        if let Ok(Some(done)) = done.as_deref() {
            return done.clone();
        }
        drop(done);
        self.has_ended(false);
        Err(StagingError::Failed(Problem {
            reason: Reason::Io,
            path: Some(self.worktree().to_owned()),
            message: format!(
                "taking {} out of {} came to no end",
                self.0.staged.key,
                self.worktree().display()
            ),
        }))
    }

    async fn take_down(&self) -> Result<(), StagingError> {
        let inner = &self.0;
        let (_calm, never) = cancel();
        let site = match inner.site_now().await {
            // What git tracks by now is taken out nevertheless.
            Err(error) => inner.site().ok_or(error).map(|site| Some((site, false)))?,
            site => site?,
        };
        let Some((site, there)) = site else {
            return Ok(());
        };
        let untracked = inner.untracked(&site, there).await.unwrap_or_else(|error| {
            tracing::warn!(worktree = %self.worktree().display(), %error, "no entry is put into a config");
            false
        });
        let held = match hold(&site, false, inner.staged.patience, &never).await {
            Err(StagingError::Failed(problem)) => {
                let at = Arc::clone(&site);
                if blocking(move || at.is_there()).await {
                    return Err(problem.into());
                }
                None
            }
            held => held?,
        };
        let Some(held) = held else {
            // The worktree or its `.cursor` is gone. What is in the exclude file may be for nobody then.
            if let Err(error) = withdraw(&site, inner.staged.patience).await {
                tracing::warn!(worktree = %self.worktree().display(), %error, "the exclude file was not cleaned");
            }
            return Ok(());
        };
        let lease = Arc::clone(inner);
        let (disposed, ended) = finish(&site, held, inner.staged.patience, move |site, held| {
            match dispose_held(site, held, &lease.staged.key, untracked) {
                // Removed while this was going on.
                Err(StagingError::Failed(_)) if !site.is_there() => Ok(()),
                disposed => disposed,
            }
        })
        .await;
        if let (Err(error), Ok(())) = (ended, &disposed) {
            tracing::warn!(worktree = %self.worktree().display(), %error, "something was left behind in a worktree");
        }
        disposed
    }

    fn has_ended(&self, well: bool) {
        *self.0.phase.lock() = if well { Phase::Ended } else { Phase::Stuck };
        if well {
            *self.0.site.lock() = None;
            registry::remove(self.0.number);
        }
    }

    /// Take the server out with one try at each lock, and no wait.
    pub(super) fn release_now(&self) {
        let inner = &self.0;
        let Some(site) = inner.site() else {
            return;
        };
        let done = site.bereft().map_err(StagingError::from).and_then(|bereft| {
            let site = bereft.as_ref().unwrap_or(&site);
            let Some(held) = site.try_hold_free()? else {
                return Ok(false);
            };
            let disposed = dispose_held(site, &held, &inner.staged.key, false);
            held.wind_up_now(site)?;
            disposed.map(|()| true)
        });
        match done {
            Ok(false) => {}
            Ok(true) => {
                inner.ending.cancel();
                self.has_ended(true);
            }
            Err(error) => {
                tracing::warn!(worktree = %self.worktree().display(), %error, "a lease was left to the next session");
            }
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.0.number
    }

    pub(super) fn scope(&self) -> Owner {
        self.0.staged.scope
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("worktree", &self.worktree())
            .field("key", &self.0.staged.key)
            .finish_non_exhaustive()
    }
}

/// It was asked for while the whole host ends, behind all that was waited for.
pub(super) fn at_the_end(worktree: &Path) -> StagingError {
    StagingError::Failed(Problem {
        reason: Reason::Io,
        path: Some(worktree.to_owned()),
        message: "this process ends, and its leases with it: nothing more is begun".to_owned(),
    })
}

pub(super) fn no_room(error: &std::io::Error) -> StagingError {
    StagingError::Failed(Problem {
        reason: Reason::Io,
        path: None,
        message: format!("there is no room for the work: {error}"),
    })
}
