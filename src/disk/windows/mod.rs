//! The system calls, relative to an open directory. No link is followed, nothing is inherited by children.
//!
//! Any reparse point counts as a link. A mode has three things to say here: of a file, whether its attribute makes
//! it read-only; of a folder, whether it has the attribute "system", which stands for the sticky bit that elsewhere
//! says that nobody has claimed it. Who may do what is inherited from the folder that something is made in.

mod info;
mod listing;
mod nt;
mod sole;
mod spelling;

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_ALREADY_EXISTS, ERROR_DELETE_PENDING, ERROR_DIRECTORY,
    ERROR_DIRECTORY_NOT_SUPPORTED, ERROR_FILE_NOT_FOUND, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION,
    ERROR_STOPPED_ON_SYMLINK, ERROR_USER_MAPPED_FILE, GENERIC_WRITE,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_SYSTEM, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_READ_DATA, FILE_TRAVERSE,
    FILE_WRITE_ATTRIBUTES,
};

use super::{Entry, Kind};
use nt::Opening;

pub(super) use info::opened;
pub(crate) use sole::Sole;
pub(super) use spelling::canonical;

/// What virus scanners, indexers and editors hold for a moment is waited for so long.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two tries: at first and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// What a directory is opened for.
const FOLDER: u32 = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES;
/// In the modes of [`Entry`].
const STICKY: u32 = 0o1000;
const WRITABLE: u32 = 0o222;

/// Try again for a while where somebody else has it open in a way that does not go with ours.
#[allow(
    clippy::disallowed_methods,
    reason = "all of this room blocks, and is called on threads that nobody else waits for"
)]
pub(super) fn steadily<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let began = Instant::now();
    let mut pause = PAUSES.0;
    loop {
        match act() {
            Err(error) if is_held_by_others(&error) && began.elapsed() < PATIENCE => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
            done => return done,
        }
    }
}

fn is_held_by_others(error: &io::Error) -> bool {
    let codes = [
        ERROR_SHARING_VIOLATION,
        ERROR_LOCK_VIOLATION,
        ERROR_USER_MAPPED_FILE,
    ];
    nt::is_one_of(error, &codes)
}

/// The folder of a path that was resolved already.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let folder = OpenOptions::new()
        .access_mode(FOLDER)
        .share_mode(nt::SHARED)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)?;
    let found = folder.metadata()?;
    // A link that came in between. What else is a reparse point here, as a folder that a cloud service fills, is no
    // link, or it would have been resolved.
    if found.is_symlink() {
        return Err(nt::error(ERROR_STOPPED_ON_SYMLINK));
    }
    if found.is_dir() {
        Ok(folder)
    } else {
        Err(nt::error(ERROR_DIRECTORY))
    }
}

/// What lies at a path.
pub(super) fn kind(path: &Path) -> io::Result<Kind> {
    Ok(info::kind(&path.symlink_metadata()?))
}

/// The same directory, opened once more.
pub(super) fn reopen(folder: &File) -> io::Result<File> {
    nt::open(folder, OsStr::new(""), Opening::of_folder(FOLDER))
}

pub(super) fn open_child(folder: &File, name: &str) -> io::Result<File> {
    unlinked(there(nt::open(
        folder,
        name.as_ref(),
        Opening::of_folder(FOLDER),
    ))?)
}

pub(super) fn open_to_read(folder: &File, name: &str) -> io::Result<File> {
    let opening = Opening::of_file(FILE_READ_DATA | FILE_READ_ATTRIBUTES);
    unlinked(there(nt::open(folder, name.as_ref(), opening))?)
}

/// A file that was not there before.
pub(super) fn create(folder: &File, name: &str) -> io::Result<File> {
    let opening = Opening::of_file(GENERIC_WRITE | FILE_READ_ATTRIBUTES).made_with(FILE_ATTRIBUTE_NORMAL);
    made(folder, nt::open(folder, name.as_ref(), opening))
}

pub(super) fn make(folder: &File, name: &str, mode: u32) -> io::Result<()> {
    let attributes = match mode & STICKY {
        0 => FILE_ATTRIBUTE_NORMAL,
        _ => FILE_ATTRIBUTE_SYSTEM,
    };
    let opening = Opening::of_folder(FOLDER).made_with(attributes);
    made(folder, nt::open(folder, name.as_ref(), opening)).map(|_| ())
}

pub(super) fn entry(folder: &File, name: &str) -> io::Result<Entry> {
    opened(&there(nt::open(
        folder,
        name.as_ref(),
        Opening::of_any(FILE_READ_ATTRIBUTES),
    ))?)
}

/// Only what a mode says here, as the head of this module has it.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let found = file.metadata()?;
    if found.is_dir() {
        let folder = nt::open(
            file,
            OsStr::new(""),
            Opening::of_folder(FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES),
        )?;
        return info::set_system(&folder, mode & STICKY != 0);
    }
    let mut permissions = found.permissions();
    let read_only = mode & WRITABLE == 0;
    if permissions.readonly() == read_only {
        return Ok(());
    }
    permissions.set_readonly(read_only);
    file.set_permissions(permissions)
}

/// What is made here belongs to who made it, and a file that is replaced is not asked whose it was.
#[allow(clippy::unnecessary_wraps, reason = "it is like its twin, which may fail")]
pub(super) fn set_owner(_: &File, _: Option<u32>, _: u32) -> io::Result<()> {
    Ok(())
}

/// The user that this process runs as: users have no numbers here, and all entries have this one.
pub(super) fn user() -> u32 {
    info::OWNER.0
}

pub(super) fn rename(from: &File, old: &str, to: &File, new: &str) -> io::Result<()> {
    let opening = Opening::of_any(DELETE | FILE_READ_ATTRIBUTES);
    let file = there(nt::open(from, old.as_ref(), opening))?;
    match nt::rename(&file, to, new.as_ref()) {
        Err(error) if nt::is_one_of(&error, &[ERROR_ACCESS_DENIED]) => {
            rename_again(&file, to, new.as_ref(), error)
        }
        renamed => renamed,
    }
}

/// A file system says that access is denied also where somebody has the file open that is to be replaced; and where
/// it is read-only, if it knows no better.
fn rename_again(file: &File, folder: &File, name: &OsStr, denied: io::Error) -> io::Result<()> {
    let attributes = FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES;
    let replaced = match nt::open(folder, name, Opening::of_file(DELETE | attributes)) {
        Ok(replaced) => replaced,
        Err(error) if is_held_by_others(&error) => return Err(error),
        Err(error) if nt::is_one_of(&error, &[ERROR_DELETE_PENDING]) => {
            return Err(nt::error(ERROR_SHARING_VIOLATION));
        }
        Err(_) => return Err(denied),
    };
    // It may be replaced, so it was in somebody's hands.
    if !replaced.metadata()?.permissions().readonly() {
        return Err(nt::error(ERROR_SHARING_VIOLATION));
    }
    set_mode(&replaced, WRITABLE).map_err(|_| denied)?;
    // So that it is not in ours.
    drop(replaced);
    nt::rename(file, folder, name).map_err(|_| {
        // What stays is as it was.
        let back = nt::open(folder, name, Opening::of_file(attributes)).and_then(|kept| set_mode(&kept, 0));
        back.err().unwrap_or_else(|| nt::error(ERROR_SHARING_VIOLATION))
    })
}

pub(super) fn remove_file(folder: &File, name: &OsStr) -> io::Result<()> {
    let file = there(nt::open(
        folder,
        name,
        Opening::of_any(DELETE | FILE_READ_ATTRIBUTES),
    ))?;
    if opened(&file)?.kind == Kind::Folder {
        return Err(nt::error(ERROR_DIRECTORY_NOT_SUPPORTED));
    }
    match nt::remove(&file) {
        // An older system does not remove what is read-only.
        Err(error) if nt::is_one_of(&error, &[ERROR_ACCESS_DENIED]) => {
            let opening = Opening::of_file(FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES);
            let again = nt::open(folder, name, opening)?;
            if !again.metadata()?.permissions().readonly() {
                return Err(error);
            }
            set_mode(&again, WRITABLE)?;
            // What stays is as it was.
            nt::remove(&file).or_else(|error| set_mode(&again, 0).and(Err(error)))
        }
        removed => removed,
    }
}

pub(super) fn remove_folder(folder: &File, name: &OsStr) -> io::Result<()> {
    let opening = Opening::of_folder(DELETE | FILE_READ_ATTRIBUTES);
    let child = there(nt::open(folder, name, opening))?;
    if opened(&child)?.kind != Kind::Folder {
        return Err(nt::error(ERROR_DIRECTORY));
    }
    nt::remove(&child)
}

/// Set the time of its last change to now.
#[allow(
    clippy::disallowed_methods,
    reason = "this system gives a file no time but one that is said, and its own clock is the one of its file systems"
)]
pub(super) fn touch(folder: &File) -> io::Result<()> {
    let opening = Opening::of_folder(FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES);
    nt::open(folder, OsStr::new(""), opening)?.set_modified(std::time::SystemTime::now())
}

/// There is no such thing: the file system's own journal keeps the names in order.
#[allow(clippy::unnecessary_wraps, reason = "it is like its twin, which may fail")]
pub(super) fn sync_names(_: &File) -> io::Result<()> {
    Ok(())
}

/// A new file has the list that its folder gives it.
#[allow(clippy::unnecessary_wraps, reason = "it is like its twin, which may fail")]
pub(super) fn acl(_: &File) -> io::Result<Option<Vec<u8>>> {
    Ok(None)
}

#[allow(clippy::unnecessary_wraps, reason = "it is like its twin, which may fail")]
pub(super) fn set_acl(_: &File, _: Option<&[u8]>) -> io::Result<()> {
    Ok(())
}

/// At most so many of the names in it.
pub(super) fn names(folder: &File, limit: usize) -> io::Result<Vec<OsString>> {
    // Of an opening of its own, as that knows how far it was listed.
    listing::names(&reopen(folder)?, limit)
}

/// Opened without following links, and there is one.
pub(super) fn is_link_refused(error: &io::Error) -> bool {
    nt::is_one_of(error, &[ERROR_STOPPED_ON_SYMLINK])
}

/// A file system that cannot do this at all.
pub(super) fn is_unsupported(_: &io::Error) -> bool {
    false
}

/// Opening something that is no file.
pub(super) fn is_no_file(error: &io::Error) -> bool {
    nt::is_one_of(error, &[ERROR_DIRECTORY_NOT_SUPPORTED])
}

/// What was opened, unless it is a link.
fn unlinked(file: File) -> io::Result<File> {
    match opened(&file)?.kind {
        Kind::Symlink => Err(nt::error(ERROR_STOPPED_ON_SYMLINK)),
        _ => Ok(file),
    }
}

/// What is removed, and only waits for somebody to close it, is not there any more.
fn there(opened: io::Result<File>) -> io::Result<File> {
    opened.map_err(|error| {
        if nt::is_one_of(&error, &[ERROR_DELETE_PENDING]) {
            nt::error(ERROR_FILE_NOT_FOUND)
        } else {
            error
        }
    })
}

/// The same where something is made: its name is taken until then, unless it is the folder that is removed.
fn made(folder: &File, made: io::Result<File>) -> io::Result<File> {
    made.map_err(|error| {
        if !nt::is_one_of(&error, &[ERROR_DELETE_PENDING]) {
            error
        } else if info::is_removed(folder) {
            nt::error(ERROR_FILE_NOT_FOUND)
        } else {
            nt::error(ERROR_ALREADY_EXISTS)
        }
    })
}
