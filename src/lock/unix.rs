//! The kernel's lock on an open directory.

use std::io;

use rustix::fs::{FlockOperation, flock};
use rustix::io::retry_on_intr;

use crate::disk::Folder;
use crate::disk::failpoint::step;

/// What a try gave.
#[derive(Debug)]
pub(super) enum Tried {
    Locked,
    Busy,
    /// The file system has no such locks.
    Unsupported(io::Error),
}

/// One try. The lock belongs to this opening of the directory, and is gone with its last descriptor.
pub(super) fn try_lock(folder: &Folder) -> Tried {
    let lock = || {
        Ok(retry_on_intr(|| {
            flock(folder, FlockOperation::NonBlockingLockExclusive)
        })?)
    };
    match step("lock.kernel", folder.path(), "", lock) {
        Ok(()) => Tried::Locked,
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Tried::Busy,
        Err(other) => Tried::Unsupported(other),
    }
}

/// Not left to the closing: a child that is being started has a copy of the descriptor until it is its own program.
pub(super) fn unlock(folder: &Folder) {
    if let Err(error) = retry_on_intr(|| flock(folder, FlockOperation::Unlock)) {
        tracing::debug!(%error, folder = %folder.path().display(), "a kernel lock is left to the closing");
    }
}
