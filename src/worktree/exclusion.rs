//! The exclude file of a repository: read, and changed under its lock.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::block::{Made, Text};
use super::names::{EXCLUDE, INFO};
use super::system::{bytes_of, path_of};
use super::worktrees::{in_use, is_named, tops};
use super::{GitError, Repository};
use crate::disk::{self, Contents, Durability, Fault, Folder, UNCLAIMED};
use crate::lock::{DirectoryLock, KernelLock};

/// An exclude file is at most this long, in bytes.
const LIMIT: u64 = 8 * 1024 * 1024;
/// What git itself gives a file and a folder there.
const FILE_MODE: u32 = 0o644;
const FOLDER_MODE: u32 = 0o755;
/// In a git directory: there while a command of git's reads or changes the index.
const INDEX_LOCK: &str = "index.lock";
/// A command of git's that looks for files has found them within this time, or is waited for no longer.
pub const LONGEST_READ: Duration = Duration::from_secs(2);
/// What the times of files may be wrong by, since a system looks at its clock now and then.
const TICK: Duration = Duration::from_millis(10);
/// So often is begun again, where somebody who knows no lock changes the file just before we do.
const TRIES: usize = 5;
/// Nobody may write what has none of these.
const WRITABLE: u32 = 0o222;

/// What stands in the exclude file.
#[derive(Debug, Clone, Default)]
pub struct ExclusionReport {
    /// Where it lies, or would.
    pub file: PathBuf,
    /// Whether the block has all lines of this folder.
    pub present: bool,
    /// All prefixes that the block has lines of.
    pub prefixes: Vec<Vec<u8>>,
}

/// The exclude file, locked. Dropping it gives the lock up.
#[derive(Debug)]
pub struct Exclusion {
    pub(super) repository: Repository,
    pub(super) common: Folder,
    // Dropped in this order: the kernel lock goes last.
    pub(super) own: Option<DirectoryLock>,
    pub(super) shared: DirectoryLock,
    pub(super) kernel: KernelLock,
}

impl Repository {
    /// What stands in the exclude file. Only reads.
    ///
    /// # Errors
    /// [`GitError::Disk`], which names the file and the cure.
    pub fn exclusion(&self) -> Result<ExclusionReport, GitError> {
        let common = Folder::open(&self.common_dir)?;
        let text = Found::read(&common)?.text();
        Ok(ExclusionReport {
            file: common.path().join(INFO).join(EXCLUDE),
            present: text.has(&self.prefix),
            prefixes: text.prefixes().into_iter().map(<[u8]>::to_vec).collect(),
        })
    }

    /// The prefixes in the block that no working tree uses any more: what [`Exclusion::withdraw`] would take out.
    /// Only reads.
    ///
    /// # Errors
    /// As [`Self::exclusion`].
    pub fn unused(&self) -> Result<Vec<Vec<u8>>, GitError> {
        let common = Folder::open(&self.common_dir)?;
        let text = Found::read(&common)?.text();
        let prefixes = text.prefixes();
        if prefixes.is_empty() {
            return Ok(Vec::new());
        }
        let tops = self.tops(&common, &text)?;
        let unused = |prefix: &&[u8]| !tops.iter().any(|top| in_use(top, prefix));
        Ok(prefixes.into_iter().filter(unused).map(<[u8]>::to_vec).collect())
    }

    /// Whether there is something for [`Exclusion::withdraw`] to do, or a lock was left behind. Only reads.
    ///
    /// # Errors
    /// As [`Self::exclusion`].
    pub fn needs_withdrawal(&self) -> Result<bool, GitError> {
        let info = Folder::open(&self.common_dir)?.entry(INFO)?;
        let forsaken = info.is_some_and(|info| info.is_unclaimed());
        Ok(forsaken || self.is_locked()? || !self.unused()?.is_empty())
    }

    /// All working trees that somebody knows of.
    fn tops(&self, common: &Folder, text: &Text) -> Result<Vec<PathBuf>, GitError> {
        let mut tops = tops(common)?;
        tops.push(self.top.clone());
        tops.extend(text.worktrees().map(|top| path_of(top).to_owned()));
        tops.sort_unstable();
        tops.dedup();
        Ok(tops)
    }
}

impl Exclusion {
    /// The block has the lines of this folder; whether they were added now. They are on the disk then.
    ///
    /// # Errors
    /// [`GitError::Disk`] where the file cannot be read or written; all is as before then. [`GitError::Lock`] where
    /// somebody took the lock over.
    pub fn ensure(&self) -> Result<bool, GitError> {
        self.steadily(|| self.try_ensure())
    }

    /// `None` where somebody changed the file in between; then nothing was done.
    fn try_ensure(&self) -> Result<Option<bool>, GitError> {
        let found = Found::read(&self.common)?;
        let mut text = found.text();
        let named = is_named(&self.repository, &self.common)?;
        let noted = (!named).then(|| bytes_of(&self.repository.top));
        let made = Made {
            file: found.file.is_none(),
            folder: found.is_unclaimed()?,
        };
        text.ensure(&self.repository.prefix, noted, made);
        let bytes = text.bytes();
        if found.holds(&bytes) {
            found.claim_folder();
            return Ok(Some(false));
        }
        if bytes.len() as u64 > LIMIT {
            return Err(self.fault("writing", Fault::TooLarge(LIMIT)).into());
        }
        self.refuse_read_only(&found)?;
        self.check()?;
        let (info, _) = self.common.make_child(INFO, UNCLAIMED)?;
        let written = self.write(&info, &found, &bytes, Durability::Durable);
        if made.folder {
            let written = written
                .and_then(|written| Ok(self.common.sync_names().map(|()| written)?))
                .inspect_err(|_| self.drop_info())?;
            claim(&info);
            return Ok(written.then_some(true));
        }
        Ok(written?.then_some(true))
    }

    /// Take out the lines of every prefix that no working tree of the repository uses any more, and the block with
    /// the last one; whether the file was changed. Used is one where a manifest lies, a lock folder that holds
    /// anything, or a config with a key of ours.
    ///
    /// # Errors
    /// As [`Self::ensure`]. Too many lines do no harm: another session takes them out.
    pub fn withdraw(&self) -> Result<bool, GitError> {
        self.steadily(|| self.try_withdraw())
    }

    /// As [`Self::try_ensure`].
    fn try_withdraw(&self) -> Result<Option<bool>, GitError> {
        let found = Found::read(&self.common)?;
        if found.file.is_none() {
            if found.info.is_some() && found.is_unclaimed()? {
                self.drop_info();
            }
            return Ok(Some(false));
        }
        let mut text = found.text();
        let tops = self.repository.tops(&self.common, &text)?;
        let prefixes: Vec<Vec<u8>> = text.prefixes().into_iter().map(<[u8]>::to_vec).collect();
        let made = text.made();
        text.retain(
            |prefix| tops.iter().any(|top| in_use(top, prefix)),
            |top| prefixes.iter().any(|prefix| in_use(path_of(top), prefix)),
        );
        let bytes = text.bytes();
        if found.holds(&bytes) {
            return Ok(Some(false));
        }
        self.refuse_read_only(&found)?;
        self.check()?;
        let Some(info) = &found.info else {
            return Ok(Some(false));
        };
        // Lines that come back with a power cut do no harm.
        if made.file && text.is_empty() {
            let alone = made.folder && info.names(2)?.len() == 1;
            if !found.is_still_there(info) {
                return Ok(None);
            }
            if alone {
                info.set_mode(UNCLAIMED)?;
            }
            info.remove(EXCLUDE, Durability::Atomic)?;
            if made.folder {
                self.drop_info();
            }
        } else {
            if !self.write(info, &found, &bytes, Durability::Atomic)? {
                return Ok(None);
            }
            found.claim_folder();
        }
        Ok(Some(true))
    }

    /// Until nobody comes in between.
    fn steadily(&self, act: impl Fn() -> Result<Option<bool>, GitError>) -> Result<bool, GitError> {
        for _ in 0..TRIES {
            if let Some(done) = act()? {
                return Ok(done);
            }
        }
        let busy = io::Error::other("another program changes it all the time");
        Err(self.fault("writing", Fault::Io(busy)).into())
    }

    /// The lock folders that somebody had left behind.
    pub(crate) fn took_over(&self) -> Vec<PathBuf> {
        let all = [Some(&self.shared), self.own.as_ref()];
        let left = all.into_iter().flatten().filter(|lock| lock.took_over());
        left.map(|lock| lock.folder().path().to_owned()).collect()
    }

    /// Whether a command of git's may be at work in this working tree that read the exclude file before it was last
    /// changed: what is made now it might take.
    ///
    /// Told by the lock that git holds on its index meanwhile: one that was taken since is of a command that knows
    /// the file, and so is, for what is made from now on, one that was taken long before.
    ///
    /// # Errors
    /// [`GitError::Disk`].
    pub fn may_be_unread(&self) -> Result<bool, GitError> {
        let Some(info) = self.common.child(INFO)? else {
            return Ok(false);
        };
        let lock = if self.repository.git_dir == self.repository.common_dir {
            self.common.entry(INDEX_LOCK)?
        } else {
            Folder::open(&self.repository.git_dir)?.entry(INDEX_LOCK)?
        };
        let Some(index) = lock else {
            return Ok(false);
        };
        // Of the folder, as a file has the time at which its bytes were written, which is before its name appears.
        let changed = info.itself()?.modified;
        let before = changed.checked_sub(LONGEST_READ).unwrap_or(changed);
        let after = changed.checked_add(TICK).unwrap_or(changed);
        Ok(index.modified >= before && index.modified <= after)
    }

    /// Give the lock up.
    ///
    /// # Errors
    /// [`GitError::Lock`] where a lock folder could not be removed, or was somebody else's by now.
    pub fn release(self) -> Result<(), GitError> {
        let own = self.own.map_or(Ok(()), DirectoryLock::release);
        let shared = self.shared.release();
        drop(self.kernel);
        Ok(own.and(shared)?)
    }

    /// False where it is not what was found any more: what somebody has put in since must not be lost.
    fn write(
        &self,
        info: &Folder,
        found: &Found,
        bytes: &[u8],
        durability: Durability,
    ) -> Result<bool, GitError> {
        let mode = found.file.as_ref().map_or(FILE_MODE, |file| file.mode & 0o7777);
        let still = || found.is_still_there(info);
        let replace = |via: &Folder| info.replace_if(EXCLUDE, bytes, mode, via, durability, still);
        match replace(self.shared.folder()) {
            // The folder is a mount of its own: git ignores no temporary file in it, but tracks none either.
            Err(disk::Error {
                what: Fault::Io(error),
                ..
            }) if error.kind() == io::ErrorKind::CrossesDevices => Ok(replace(info)?),
            replaced => Ok(replaced?),
        }
    }

    /// What its owner made read-only is not replaced, although the folder may allow it, or this user be root.
    fn refuse_read_only(&self, found: &Found) -> Result<(), GitError> {
        let file = found.file.as_ref().map(|file| file.mode);
        let info = found.info.as_ref().map(Folder::itself).transpose()?;
        let modes = [file, info.map(|info| info.mode)];
        if modes.into_iter().flatten().any(|mode| mode & WRITABLE == 0) {
            let denied = io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only");
            return Err(self.fault("writing", Fault::Denied(denied)).into());
        }
        Ok(())
    }

    /// Before each write.
    fn check(&self) -> Result<(), GitError> {
        self.shared.check()?;
        self.own.as_ref().map_or(Ok(()), DirectoryLock::check)?;
        Ok(())
    }

    fn drop_info(&self) {
        // Somebody may have put something in by now.
        if let Err(error) = self.common.remove_child(INFO) {
            tracing::debug!(%error, "the folder of the exclude file stays");
        }
    }

    fn fault(&self, doing: &'static str, what: Fault) -> disk::Error {
        disk::Error {
            doing,
            path: self.common.path().join(INFO).join(EXCLUDE),
            what,
        }
    }
}

/// The exclude file as it is.
struct Found {
    info: Option<Folder>,
    file: Option<Contents>,
}

/// A folder that was made for the block, which says so now: it becomes one as git makes it.
fn claim(info: &Folder) {
    let unclaimed = info.itself().is_ok_and(|info| info.is_unclaimed());
    if unclaimed && let Err(error) = info.set_mode(FOLDER_MODE) {
        tracing::debug!(%error, "the folder of the exclude file keeps its mode");
    }
}

impl Found {
    fn claim_folder(&self) {
        if let Some(info) = &self.info {
            claim(info);
        }
    }

    /// Nobody but us has to do with the folder: it is not there, or somebody of ours made it and died.
    fn is_unclaimed(&self) -> Result<bool, GitError> {
        match &self.info {
            None => Ok(true),
            Some(info) => Ok(self.file.is_none() && info.itself()?.is_unclaimed()),
        }
    }

    fn read(common: &Folder) -> Result<Self, GitError> {
        let info = common.child(INFO)?;
        let file = match &info {
            Some(info) => info.read(EXCLUDE, LIMIT)?,
            None => None,
        };
        Ok(Self { info, file })
    }

    /// The same file with the same bytes and mode, or still none.
    fn is_still_there(&self, info: &Folder) -> bool {
        match (info.read(EXCLUDE, LIMIT), &self.file) {
            (Ok(Some(now)), Some(then)) => {
                now.identity == then.identity && now.mode == then.mode && now.bytes == then.bytes
            }
            (Ok(None), None) => true,
            _ => false,
        }
    }

    fn text(&self) -> Text {
        Text::parse(self.file.as_ref().map_or(&[], |file| &file.bytes))
    }

    fn holds(&self, bytes: &[u8]) -> bool {
        self.file.as_ref().is_some_and(|file| file.bytes == bytes)
    }
}
