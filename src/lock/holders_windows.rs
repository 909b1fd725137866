//! Who holds a kernel lock: the system knows whose a pipe is.

use super::system::name;
use crate::disk::{Identity, Sole};

/// The process that holds the lock on a directory; `None` where it cannot be told.
pub(super) fn of(folder: Identity) -> Option<u32> {
    Sole::owner(&name(folder))
}
