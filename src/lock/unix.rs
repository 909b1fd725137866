//! The kernel's lock on an open directory, and what the kernel knows of processes.

use std::io;

use rustix::fs::{FlockOperation, flock};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, test_kill_process};

use super::{Life, who};
use crate::disk::Folder;
use crate::disk::failpoint::step;
use crate::process::survey::{self, Identity};

pub(super) use super::kernel::Tried;

/// What holds the lock: the opening of the directory does.
#[derive(Debug)]
pub(super) struct Hold;

/// One try. The lock belongs to this opening of the directory, and is gone with its last descriptor.
pub(super) fn try_lock(folder: &Folder) -> Tried {
    let lock = || {
        Ok(retry_on_intr(|| {
            flock(folder, FlockOperation::NonBlockingLockExclusive)
        })?)
    };
    match step("lock.kernel", folder.path(), "", lock) {
        Ok(()) => Tried::Locked(Hold),
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

/// The name of this machine.
pub(super) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Where and when this process started, as in [`super::ProcessStart`].
pub(super) fn birth() -> Option<String> {
    let own = rustix::process::getpid().as_raw_pid();
    let (place, time) = survey::birthplace().zip(survey::started(own))?;
    Some(format!("{place}:{time}"))
}

/// What became of a process of this pid namespace.
pub(super) fn look(pid: i64, start: Option<u64>) -> Life {
    let number = i32::try_from(pid).ok().filter(|pid| *pid > 0);
    let Some(pid) = number.and_then(Pid::from_raw) else {
        return Life::Dead;
    };
    if test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
        return Life::Dead;
    }
    let pid = pid.as_raw_pid();
    // None where it may not be looked at.
    let Some(started) = survey::started(pid) else {
        return Life::MaybeAlive;
    };
    let there = survey::is_alive(Identity { pid, started });
    match start {
        _ if !there => Life::Dead,
        Some(start) => who::same(started, start),
        None => Life::MaybeAlive,
    }
}
