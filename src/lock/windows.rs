//! The kernel's lock for a directory: no directory can be locked here, and a file to lock would lie where git sees
//! it. So it is a name that only one process of the machine has, made of the directory's own number.

use super::{Life, who};
use crate::disk::failpoint::step;
use crate::disk::{Folder, Identity, Sole};
use crate::process::identity_windows::{Found, hostname as own_name, installation, look as find};

pub(super) use super::kernel::Tried;

/// What holds the lock.
pub(super) type Hold = Sole;

/// One try. The lock is gone with the hold.
pub(super) fn try_lock(folder: &Folder) -> Tried {
    let identity = match folder.identity() {
        Ok(identity) => identity,
        Err(error) => return Tried::Unsupported(std::io::Error::other(error)),
    };
    match step("lock.kernel", folder.path(), "", || Sole::take(&name(identity))) {
        Ok(Some(hold)) => Tried::Locked(hold),
        Ok(None) => Tried::Busy,
        Err(other) => Tried::Unsupported(other),
    }
}

/// The hold does it.
pub(super) fn unlock(_: &Folder) {}

/// The name that stands for a directory.
pub(super) fn name(folder: Identity) -> String {
    format!("fusion-cursor-lock-{:016x}-{:016x}", folder.device, folder.inode)
}

/// The name of this machine.
pub(super) fn hostname() -> String {
    own_name()
}

/// Where and when this process started, as in [`super::ProcessStart`].
///
/// The time is one of the calendar, so that it tells processes of different boots apart by itself. The machine's
/// name goes with the installation's number, which copies of one machine have in common.
pub(super) fn birth() -> Option<String> {
    let Found::Running(started) = find(std::process::id()) else {
        return None;
    };
    Some(format!("{}-{}:0:{started}", installation()?, own_name()))
}

/// What became of a process of this machine.
pub(super) fn look(pid: i64, start: Option<u64>) -> Life {
    let Some(pid) = u32::try_from(pid).ok().filter(|pid| *pid > 0) else {
        return Life::Dead;
    };
    match (find(pid), start) {
        (Found::Gone, _) => Life::Dead,
        (Found::Running(there), Some(start)) => who::same(there, start),
        (Found::Hidden, _) | (Found::Running(_), None) => Life::MaybeAlive,
    }
}
