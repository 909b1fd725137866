//! The lock on the exclude file.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::names::EXCLUDE_LOCK;
use super::{Exclusion, GitError, Repository};
use crate::cancel::Cancelled;
use crate::disk::{self, Fault, Folder};
use crate::lock::{Attempt, DirectoryLock, Holder, KernelLock, LockError, Wait, World};
use crate::runtime::blocking;

/// After this time a lock folder on the exclude file that nobody refreshed is stale.
pub const TTL: Duration = Duration::from_secs(10);

/// The folders that the locks lie in.
struct Places {
    common: Folder,
    /// This worktree's own, where it is another. The plugin locks only that one.
    own: Option<Folder>,
}

/// What one try at the lock folders comes to.
#[allow(
    clippy::large_enum_variant,
    reason = "what is tried with is moved on at once, and no try is kept"
)]
enum Tried {
    Locked(Box<Exclusion>),
    Busy {
        places: Places,
        kernel: KernelLock,
        path: PathBuf,
        holder: Option<Holder>,
    },
}

impl Repository {
    /// The lock on the exclude file: the kernel's on the common git directory, then the lock folders that the plugin
    /// knows (the common directory's, then this worktree's own).
    ///
    /// # Errors
    /// [`GitError::Lock`] where it is not had until the deadline, or is called off; [`GitError::Disk`] where the
    /// common git directory is gone.
    pub async fn lock_exclusion(
        &self,
        deadline: Instant,
        off: &Cancelled,
        world: &'static dyn World,
    ) -> Result<Exclusion, GitError> {
        let began = Instant::now();
        let repository = self.clone();
        let mut places = blocking(move || Places::of(&repository)).await?;
        let mut kernel = KernelLock::acquire(&places.common, deadline, off).await?;
        let mut wait = Wait::until(deadline, off);
        loop {
            let repository = self.clone();
            match blocking(move || repository.attempt(places, kernel, world)).await? {
                Tried::Locked(exclusion) => return Ok(*exclusion),
                Tried::Busy {
                    places: unlocked,
                    kernel: still,
                    path,
                    holder,
                } => {
                    (places, kernel) = (unlocked, still);
                    if !wait.pause().await? {
                        return Err(GitError::Lock(LockError::TimedOut {
                            path,
                            waited: began.elapsed(),
                            holder,
                        }));
                    }
                }
            }
        }
    }

    /// One try, no wait: `None` where somebody has it.
    ///
    /// # Errors
    /// As [`Self::lock_exclusion`], but for the deadline and the cancel.
    pub fn try_lock_exclusion(&self, world: &dyn World) -> Result<Option<Exclusion>, GitError> {
        let places = Places::of(self)?;
        let Some(kernel) = KernelLock::attempt(&places.common)? else {
            return Ok(None);
        };
        Ok(match self.clone().attempt(places, kernel, world)? {
            Tried::Locked(exclusion) => Some(*exclusion),
            Tried::Busy { .. } => None,
        })
    }

    /// Whether a lock folder lies there, be it of somebody at work or left behind.
    ///
    /// # Errors
    /// As [`Self::lock_exclusion`].
    pub(super) fn is_locked(&self) -> Result<bool, GitError> {
        let places = Places::of(self)?;
        let folders = [Some(&places.common), places.own.as_ref()];
        for folder in folders.into_iter().flatten() {
            if folder.entry(EXCLUDE_LOCK)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn attempt(self, places: Places, kernel: KernelLock, world: &dyn World) -> Result<Tried, GitError> {
        let attempt = |folder: &Folder| DirectoryLock::attempt(folder, EXCLUDE_LOCK, TTL, &kernel, world);
        let busy = |folder: &Folder, holder| (folder.path().join(EXCLUDE_LOCK), holder);
        let (path, holder) = match attempt(&places.common)? {
            Attempt::Busy(holder) => busy(&places.common, holder),
            Attempt::Taken(shared) => {
                // Where the second is not had, the first is given up by being dropped.
                let own = places.own.as_ref().map(|own| (own, attempt(own)));
                let own = match own {
                    None => Ok(None),
                    Some((_, Ok(Attempt::Taken(own)))) => Ok(Some(own)),
                    Some((folder, Ok(Attempt::Busy(holder)))) => Err(busy(folder, holder)),
                    Some((_, Err(error))) => return Err(error.into()),
                };
                match own {
                    Err(busy) => busy,
                    Ok(own) => {
                        return Ok(Tried::Locked(Box::new(Exclusion {
                            repository: self,
                            common: places.common,
                            own,
                            shared,
                            kernel,
                        })));
                    }
                }
            }
        };
        Ok(Tried::Busy {
            places,
            kernel,
            path,
            holder,
        })
    }
}

impl Places {
    fn of(repository: &Repository) -> Result<Self, disk::Error> {
        let own = match &repository.git_dir {
            same if *same == repository.common_dir => None,
            other => match Folder::open(other) {
                Ok(folder) => Some(folder),
                // The worktree was removed, and its lines have to go all the same.
                Err(error) if matches!(error.what, Fault::Gone) => None,
                Err(error) => return Err(error),
            },
        };
        Ok(Self {
            common: Folder::open(&repository.common_dir)?,
            own,
        })
    }
}
