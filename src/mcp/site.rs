//! A worktree, and the locks that are held for work in it.
//!
//! The order is always the same: the kernel's lock on the worktree, the exclude file's lock, the lock directory.
//! The last is made only where git already ignores it.

use std::cell::Cell;
use std::time::Duration;

use crate::disk::{self, Entry, Folder};
use crate::lock::{Attempt, DirectoryLock, Holder, KernelLock, LockError, World};
use crate::worktree::{Exclusion, Repository, Shape, names};

use super::error::StagingError;

/// After this long the main lock's directory is stale, if its holder may be dead.
pub const TTL: Duration = Duration::from_secs(30);

/// `.cursor` as we make it: by this it is known as ours where a crash left nothing else. The sticky bit means nothing
/// there, and nobody sets it. On macOS too, unlike [`crate::disk::UNCLAIMED`]: an empty `.cursor` with the mode 0700 may
/// be the operator's.
const MARK: u32 = 0o1700;

/// A worktree as it was found.
#[derive(Debug)]
pub struct Site {
    /// The folder itself.
    pub root: Folder,
    /// What git says of it.
    pub shape: Shape,
    /// The clock and the processes.
    pub world: &'static dyn World,
}

/// The locks, and the folder that they are for. Dropped, they are given up, the kernel's last.
#[derive(Debug)]
pub struct Held {
    /// `.cursor`.
    pub cursor: Folder,
    /// Whether `.cursor` is ours to remove.
    pub made_cursor: Cell<bool>,
    /// Whether something that was begun could not be taken back.
    pub(super) left_begun: Cell<bool>,
    /// The lock directory in it.
    pub main: DirectoryLock,
    /// The kernel's lock on the worktree.
    pub kernel: KernelLock,
}

/// A lock directory that was taken.
#[derive(Debug)]
pub struct Taken {
    cursor: Folder,
    made: bool,
    main: DirectoryLock,
}

/// What became of one try at the lock directory.
#[derive(Debug)]
pub enum Tried {
    /// It is ours.
    Taken(Box<Taken>),
    /// Somebody has it; and whether `.cursor` was made now.
    Busy(Option<Holder>, bool),
    /// Git may see it: the exclude file must be locked first.
    Uncovered,
    /// Git is at work there, and may not have read our lines yet.
    Unread,
    /// There is no `.cursor`, and none was wanted.
    Nothing,
}

impl Site {
    /// What git says, where the folder lies in a repository.
    #[must_use]
    pub fn repository(&self) -> Option<&Repository> {
        match &self.shape {
            Shape::Repository(repository) => Some(repository),
            Shape::NoGit => None,
        }
    }

    /// One try at the lock directory, with the kernel's lock held. Where `exclusion` is, the exclude file gets our
    /// lines first, and loses them again if it fails; `covered` is told of it in between. With `heed`, nothing else
    /// is made while git may be at work without knowing them.
    ///
    /// # Errors
    /// What the disk or git says. All is then as before.
    pub fn attempt(
        &self,
        kernel: &KernelLock,
        exclusion: Option<&Exclusion>,
        make: bool,
        heed: bool,
        covered: &dyn Fn(),
    ) -> Result<Tried, StagingError> {
        let cursor = self.root.child(names::CURSOR)?;
        if cursor.is_none() && !make {
            return Ok(Tried::Nothing);
        }
        if exclusion.is_none() && !self.is_covered(cursor.as_ref())? {
            return Ok(Tried::Uncovered);
        }
        // Looked at before the exclude file is touched: a lock that is held for long changes nothing then.
        if let Some(cursor) = &cursor
            && let Some(seen) = DirectoryLock::look(cursor, names::LOCK, TTL, Some(kernel), self.world)?
            && !seen.ripe
        {
            return Ok(Tried::Busy(seen.holder, false));
        }
        let Some(exclusion) = exclusion else {
            return self.take(kernel, cursor, false);
        };
        let added = exclusion.ensure();
        // Where they could not be made durable, the lines may be there all the same.
        let may_be_new = !matches!(added, Ok(false));
        let unread = added.and_then(|_| Ok(heed && exclusion.may_be_unread()?));
        let tried = match unread {
            Ok(true) => return Ok(Tried::Unread),
            Ok(false) => {
                covered();
                self.take(kernel, cursor, true)
            }
            Err(error) => Err(error.into()),
        };
        if may_be_new
            && tried.is_err()
            && let Err(error) = exclusion.withdraw()
        {
            tracing::warn!(worktree = %self.root.path().display(), %error, "lines stay in the exclude file");
        }
        tried
    }

    fn take(
        &self,
        kernel: &KernelLock,
        cursor: Option<Folder>,
        excluded: bool,
    ) -> Result<Tried, StagingError> {
        let (cursor, made) = match cursor {
            // Also one that somebody of ours made, who died before it was written down.
            Some(cursor) => (cursor, self.is_marked()?),
            None => self.make_cursor()?,
        };
        match DirectoryLock::attempt(&cursor, names::LOCK, TTL, kernel, self.world) {
            Ok(Attempt::Taken(main)) => {
                // The last one that used it may have taken the exclusion away until now. The plugin does so without
                // the exclude file's lock.
                let covered = if excluded {
                    self.is_excluded()?
                } else {
                    self.is_covered(Some(&cursor))?
                };
                if !covered {
                    main.release()?;
                    return Ok(Tried::Uncovered);
                }
                Ok(Tried::Taken(Box::new(Taken { cursor, made, main })))
            }
            Ok(Attempt::Busy(holder)) => Ok(Tried::Busy(holder, made)),
            Err(error) => {
                if made {
                    self.root.remove_child(names::CURSOR)?;
                }
                Err(error.into())
            }
        }
    }

    /// Whether git ignores our files here, and will as long as nothing is changed: a manifest keeps the exclusion.
    fn is_covered(&self, cursor: Option<&Folder>) -> Result<bool, StagingError> {
        if self.repository().is_none() {
            return Ok(true);
        }
        let Some(cursor) = cursor else {
            return Ok(false);
        };
        Ok(cursor.entry(names::MANIFEST)?.is_some() && self.is_excluded()?)
    }

    fn is_excluded(&self) -> Result<bool, StagingError> {
        let repository = self.repository().map(Repository::exclusion).transpose()?;
        Ok(repository.is_none_or(|exclusion| exclusion.present))
    }

    /// All locks in one try, with no wait; `None` where one of them is held, or there is no `.cursor` and none is to
    /// be made. One that was left behind is taken over.
    ///
    /// # Errors
    /// As [`Site::attempt`].
    pub fn try_hold(&self, make: bool) -> Result<Option<Held>, StagingError> {
        self.try_hold_telling(make, &|| ())
    }

    /// The same, for whoever wants to know as soon as the exclude file has got our lines.
    pub(super) fn try_hold_telling(
        &self,
        make: bool,
        covered: &dyn Fn(),
    ) -> Result<Option<Held>, StagingError> {
        let Some(kernel) = KernelLock::attempt(&self.root)? else {
            return Ok(None);
        };
        let mut tried = self.attempt(&kernel, None, make, true, covered)?;
        if let (Tried::Uncovered, Some(repository)) = (&tried, self.repository()) {
            let Some(exclusion) = repository.try_lock_exclusion(self.world)? else {
                return Ok(None);
            };
            tried = self.attempt(&kernel, Some(&exclusion), make, true, covered)?;
            if !matches!(tried, Tried::Taken(_)) {
                exclusion.withdraw()?;
            }
            drop(exclusion);
        }
        match tried {
            Tried::Taken(taken) => Ok(Some(Held::new(*taken, false, kernel))),
            _ => Ok(None),
        }
    }

    /// The same at the exit of a process: only locks that are free, and only where there is something to do.
    ///
    /// # Errors
    /// What the disk says.
    pub fn try_hold_free(&self) -> Result<Option<Held>, StagingError> {
        let Some(kernel) = KernelLock::attempt(&self.root)? else {
            return Ok(None);
        };
        let Some(cursor) = self.root.child(names::CURSOR)? else {
            return Ok(None);
        };
        match DirectoryLock::attempt_free(&cursor, names::LOCK, TTL, &kernel, self.world)? {
            Attempt::Taken(main) => Ok(Some(Held::new(
                Taken {
                    cursor,
                    made: false,
                    main,
                },
                false,
                kernel,
            ))),
            Attempt::Busy(_) => Ok(None),
        }
    }

    /// Whether the folder still lies where it was found.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let now = Folder::open(self.root.path()).and_then(|folder| folder.identity());
        matches!((now, self.root.identity()), (Ok(now), Ok(then)) if now == then)
    }

    /// The same without its repository, where that is gone: removed, or moved with all that is in it. No git looks here
    /// any more then, or another one, and what is staged has to go all the same.
    ///
    /// # Errors
    /// For want of descriptors.
    pub(super) fn bereft(&self) -> Result<Option<Self>, disk::Error> {
        let gone = self.repository().is_some_and(|repository| {
            let opened = Folder::open(&repository.common_dir);
            opened.is_err_and(|error| matches!(error.what, disk::Fault::Gone))
        });
        if !gone {
            return Ok(None);
        }
        Ok(Some(Self {
            root: self.root.share()?,
            shape: Shape::NoGit,
            world: self.world,
        }))
    }

    fn make_cursor(&self) -> Result<(Folder, bool), disk::Error> {
        let (cursor, made) = self.root.make_child(names::CURSOR, MARK)?;
        // macOS leaves the sticky bit out at the making.
        if made && !is_mark(&cursor.itself()?) {
            cursor.set_mode(MARK)?;
        }
        Ok((cursor, made))
    }

    /// Take a `.cursor` away that was made for a session. One that has something in it by now is the operator's, and
    /// becomes a folder like the one that it is in. Whether it went.
    pub(super) fn drop_cursor(&self) -> Result<bool, disk::Error> {
        if self.root.remove_child(names::CURSOR)? {
            return Ok(true);
        }
        if self.is_marked()?
            && let Some(cursor) = self.root.child(names::CURSOR)?
        {
            cursor.set_mode(self.root.itself()?.mode & 0o777)?;
        }
        Ok(false)
    }

    /// Whether this `.cursor` was made for a session. Without a session it goes, if there is nothing in it.
    pub(super) fn is_marked(&self) -> Result<bool, disk::Error> {
        let entry = self.root.entry(names::CURSOR)?;
        Ok(entry.as_ref().is_some_and(is_mark))
    }
}

impl Held {
    /// Before each write: the lock is still ours, and `.cursor` is what lies in the worktree under that name. One that
    /// was put elsewhere is the operator's, and git may see what is in it.
    ///
    /// # Errors
    /// As [`DirectoryLock::check`].
    pub(super) fn check(&self, site: &Site) -> Result<(), LockError> {
        self.main.check()?;
        if self.is_in_place(site)? {
            return Ok(());
        }
        Err(LockError::Lost {
            path: self.main.folder().path().to_owned(),
        })
    }

    /// Whether `.cursor` lies where it was opened.
    pub(super) fn is_in_place(&self, site: &Site) -> Result<bool, disk::Error> {
        let there = site.root.entry(names::CURSOR)?;
        let own = self.cursor.identity()?;
        Ok(there.is_some_and(|there| there.identity == own))
    }

    /// Of what a [`Site::attempt`] gave; and whether an earlier one made `.cursor`.
    #[must_use]
    pub fn new(taken: Taken, made_before: bool, kernel: KernelLock) -> Self {
        let Taken { cursor, made, main } = taken;
        Self {
            cursor,
            made_cursor: Cell::new(made || made_before),
            left_begun: Cell::new(false),
            main,
            kernel,
        }
    }

    /// The manifest, which says who made `.cursor`, is about to go: from now on its mode says so. Of the plugin's own,
    /// it does not yet.
    pub(super) fn disclaim_cursor(&self) {
        let marked = self.cursor.itself().as_ref().is_ok_and(is_mark);
        if self.made_cursor.get()
            && !marked
            && let Err(error) = self.cursor.set_mode(MARK)
        {
            tracing::debug!(%error, "a folder that was made keeps its mode");
        }
    }

    /// Whether there is a manifest, and with it something that git must not see.
    ///
    /// # Errors
    /// What the disk says.
    pub fn is_in_use(&self) -> Result<bool, StagingError> {
        Ok(self.cursor.entry(names::MANIFEST)?.is_some())
    }

    /// Give the locks up. Whether `.cursor` went with them.
    ///
    /// # Errors
    /// What the disk says.
    pub fn release(self, site: &Site) -> Result<bool, StagingError> {
        let Self {
            cursor,
            made_cursor,
            main,
            kernel,
            ..
        } = self;
        let in_use = cursor.entry(names::MANIFEST)?.is_some();
        main.release()?;
        let removed = made_cursor.get() && !in_use && site.drop_cursor()?;
        drop(kernel);
        Ok(removed)
    }
}

fn is_mark(entry: &Entry) -> bool {
    entry.mode & 0o7777 == MARK
}
