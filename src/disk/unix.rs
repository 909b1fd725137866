//! The system calls, relative to an open directory. No link is followed, nothing is inherited by children.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, Uid, fchmod,
    fchown, fstat, futimens, mkdirat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::{Entry, Folder, Identity, Kind};

/// So often a call is tried again for which a network file system knows its own handle no more.
const STALE_TRIES: u32 = 3;

/// Try again where a signal came in between, or a server's handle had become another's; a handle that stays stale
/// is of something that is not there.
pub(super) fn steadily<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut stale = 0;
    loop {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::StaleNetworkFileHandle => {
                stale += 1;
                if stale == STALE_TRIES {
                    return Err(Errno::NOENT.into());
                }
            }
            done => return done,
        }
    }
}

/// What a directory is opened with. Not blocking, as what lies there may be anything until it is open.
fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC
}

/// The path without links.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    std::fs::canonicalize(path)
}

/// The folder of a path that was resolved already.
pub(super) fn open(path: &Path) -> io::Result<File> {
    Ok(openat(CWD, path, folder_flags(), Mode::empty())?.into())
}

/// What lies at a path.
pub(super) fn kind(path: &Path) -> io::Result<Kind> {
    Ok(described(&statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?).kind)
}

/// The same directory, opened once more.
pub(super) fn reopen(folder: &File) -> io::Result<File> {
    open_child(folder, ".")
}

pub(super) fn open_child(folder: &File, name: &str) -> io::Result<File> {
    Ok(openat(folder, name, folder_flags(), Mode::empty())?.into())
}

pub(super) fn open_to_read(folder: &File, name: &str) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?.into())
}

/// A file that was not there before, for its owner alone.
pub(super) fn create(folder: &File, name: &str) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::RUSR | Mode::WUSR)?.into())
}

pub(super) fn make(folder: &File, name: &str, mode: u32) -> io::Result<()> {
    Ok(mkdirat(folder, name, permissions(mode))?)
}

pub(super) fn entry(folder: &File, name: &str) -> io::Result<Entry> {
    Ok(described(&statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

pub(super) fn opened(file: &File) -> io::Result<Entry> {
    Ok(described(&fstat(file)?))
}

pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    Ok(fchmod(file, permissions(mode))?)
}

/// Give it to a user, where one is named, and to a group.
pub(super) fn set_owner(file: &File, user: Option<u32>, group: u32) -> io::Result<()> {
    Ok(fchown(file, user.map(Uid::from_raw), Some(Gid::from_raw(group)))?)
}

/// The user that this process runs as.
pub(super) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

pub(super) fn rename(from: &File, old: &str, to: &File, new: &str) -> io::Result<()> {
    Ok(renameat(from, old, to, new)?)
}

pub(super) fn remove_file(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(folder, name, AtFlags::empty())?)
}

pub(super) fn remove_folder(folder: &File, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(folder, name, AtFlags::REMOVEDIR)?)
}

/// Set the time of its last change to now, as the file system's own clock has it.
pub(super) fn touch(folder: &File) -> io::Result<()> {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: UTIME_NOW,
    };
    let times = Timestamps {
        last_access: now,
        last_modification: now,
    };
    Ok(futimens(folder, &times)?)
}

/// Bring the names in a folder onto the disk.
pub(super) fn sync_names(folder: &File) -> io::Result<()> {
    folder.sync_all()
}

/// The access control list of a file, as the system keeps it; `None` where the mode says all.
#[cfg(target_os = "linux")]
pub(super) fn acl(file: &File) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; ACL_LIMIT];
    match rustix::fs::fgetxattr(file, ACL, &mut bytes[..]) {
        Ok(length) => {
            bytes.truncate(length);
            Ok(Some(bytes))
        }
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Give a file this list, or take the one that it has from its folder.
#[cfg(target_os = "linux")]
pub(super) fn set_acl(file: &File, acl: Option<&[u8]>) -> io::Result<()> {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};
    match acl {
        Some(acl) => Ok(fsetxattr(file, ACL, acl, XattrFlags::empty())?),
        None => Ok(fremovexattr(file, ACL)?),
    }
}

#[cfg(target_os = "linux")]
const ACL: &std::ffi::CStr = c"system.posix_acl_access";
/// The system lets no attribute be longer, in bytes.
#[cfg(target_os = "linux")]
const ACL_LIMIT: usize = 64 * 1024;

/// Elsewhere a list only adds to what the mode says, so that without it nobody gets more.
#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps, reason = "it is like its twin, which may fail")]
pub(super) fn acl(_: &File) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unnecessary_wraps, reason = "it is like its twin, which may fail")]
pub(super) fn set_acl(_: &File, _: Option<&[u8]>) -> io::Result<()> {
    Ok(())
}

/// At most so many of the names in it.
pub(super) fn names(folder: &File, limit: usize) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if names.len() == limit {
            break;
        }
        if name != "." && name != ".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Opened without following links, and there is one. What the system says of it differs, and where a folder was
/// wanted it says something else.
pub(super) fn is_link_refused(error: &io::Error) -> bool {
    [Errno::LOOP, Errno::MLINK]
        .map(Errno::raw_os_error)
        .contains(&error.raw_os_error().unwrap_or_default())
}

/// A file system that cannot do this at all.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    [Errno::INVAL, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS]
        .map(Errno::raw_os_error)
        .contains(&error.raw_os_error().unwrap_or_default())
}

/// Opening something that is no file: a socket, a device without a driver.
pub(super) fn is_no_file(error: &io::Error) -> bool {
    [Errno::NXIO, Errno::NODEV, Errno::OPNOTSUPP]
        .map(Errno::raw_os_error)
        .contains(&error.raw_os_error().unwrap_or_default())
}

#[allow(
    clippy::useless_conversion,
    clippy::unnecessary_fallible_conversions,
    reason = "these numbers have other types on macOS"
)]
fn described(stat: &Stat) -> Entry {
    let seconds = i64::try_from(stat.st_mtime).unwrap_or_default();
    let nanoseconds = Duration::from_nanos(u64::try_from(stat.st_mtime_nsec).unwrap_or_default());
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let modified = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    Entry {
        kind: match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Symlink,
            FileType::Fifo => Kind::Fifo,
            FileType::Socket => Kind::Socket,
            _ => Kind::Device,
        },
        mode: u32::from(stat.st_mode),
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        modified: modified.map_or(SystemTime::UNIX_EPOCH, |time| time + nanoseconds),
        identity: Identity {
            device: u64::try_from(stat.st_dev).unwrap_or_default(),
            inode: stat.st_ino,
        },
        owner: (stat.st_uid, stat.st_gid),
    }
}

#[allow(
    clippy::useless_conversion,
    clippy::cast_possible_truncation,
    clippy::unnecessary_cast,
    reason = "a mode has 16 bits on macOS"
)]
fn permissions(mode: u32) -> Mode {
    Mode::from_raw_mode((mode & 0o7777) as rustix::fs::RawMode)
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}
