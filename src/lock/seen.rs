//! What lies in a lock's place, without a try at it.

use std::time::Duration;

use super::claim::Sight;
use super::owner::Owner;
use super::verdict::{Signs, stale_after};
use super::{DirectoryLock, Holder, KernelLock, LockError, World, watched};
use crate::disk::{Fault, Folder};

/// A lock directory as one look shows it.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Who has it, as far as that can be told.
    pub holder: Option<Holder>,
    /// Whoever had it will not come back for it, as it seems: a try takes it over, if need be after it was watched
    /// for some time.
    pub stale: bool,
    /// A try would take it over now.
    pub ripe: bool,
}

impl DirectoryLock {
    /// Look at a lock directory, and change nothing; `None` where there is none. `kernel` is the lock that goes
    /// before it, where it is held.
    ///
    /// # Errors
    /// [`LockError::Disk`] for something else in its place.
    pub fn look(
        parent: &Folder,
        name: &str,
        ttl: Duration,
        kernel: Option<&KernelLock>,
        world: &dyn World,
    ) -> Result<Option<Seen>, LockError> {
        let Some(folder) = parent.child(name)? else {
            return Ok(None);
        };
        let sight = match Sight::of(&folder) {
            Err(error) if matches!(error.what, Fault::Gone) => return Ok(None),
            sight => sight?,
        };
        let who = sight.who();
        let signs = Signs {
            owner: who.as_ref(),
            modified_ms: sight.modified_ms,
            marked: sight.marked,
            writers: &sight.writers,
        };
        let unchanged = watched::unchanged(sight.identity, sight.looks());
        let held = kernel.is_some_and(|kernel| kernel.held);
        let needed = stale_after(&signs, ttl, held, world);
        Ok(Some(Seen {
            holder: who.as_ref().map(Owner::holder),
            stale: needed.is_some(),
            ripe: needed.is_some_and(|needed| unchanged >= needed),
        }))
    }
}
