//! What Linux and macOS have in common.

use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// The number as one that may be signalled: neither process 1 nor what means several at once.
pub(super) fn signalled(pid: i32) -> Option<Pid> {
    Some(pid).filter(|pid| *pid > 1).and_then(Pid::from_raw)
}

/// A process that is gone has all that a signal could give it.
pub(super) fn gone_is_fine(sent: rustix::io::Result<()>) -> io::Result<()> {
    match sent {
        Err(Errno::SRCH) => Ok(()),
        sent => sent.map_err(io::Error::from),
    }
}

/// Wait for a child of this process that has ended.
pub(super) fn reap(pid: i32) {
    if let Some(pid) = signalled(pid) {
        let _status = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}
