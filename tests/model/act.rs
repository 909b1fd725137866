//! The operations, as a session does them.

use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::mcp::manifest::ServerEntry;
use fusion_cursor_native::mcp::ops::{Beaten, beat_held, dispose_held, reconcile_held, stage_held};
use fusion_cursor_native::mcp::site::Site;
use fusion_cursor_native::mcp::{ReconcileReport, StagingError};

use super::steps::Operation;
use super::tree::{Tree, command};
use super::world::Process;

/// Do an operation as a session does it, without the waiting; `None` where a lock is held.
pub(crate) fn act(
    what: Operation,
    tree: &Tree,
    key: &str,
    process: &'static Process,
) -> Result<Option<bool>, StagingError> {
    let site = Site {
        root: Folder::open(&tree.path)?,
        shape: tree.shape.clone(),
        world: process,
    };
    let make = matches!(what, Operation::Stage | Operation::Beat);
    let Some(held) = site.try_hold(make)? else {
        if make || tree.cursor().exists() {
            return Ok(None);
        }
        if let Some(repository) = site.repository()
            && let Some(exclusion) = repository.try_lock_exclusion(process)?
        {
            exclusion.withdraw()?;
            exclusion.release()?;
        }
        return Ok(Some(true));
    };
    let entry = ServerEntry::new(command(key), vec!["--stdio".to_owned()], Vec::new());
    let done = match what {
        Operation::Stage => stage_held(&site, &held, key, &entry).map(|()| true),
        Operation::Beat => beat_held(&site, &held, key, &entry, true).map(|beaten| beaten == Beaten::InForce),
        Operation::Dispose => dispose_held(&site, &held, key, true).map(|()| true),
        Operation::Reconcile => {
            let mut report = ReconcileReport {
                worktree: tree.path.clone(),
                clean: false,
                actions: Vec::new(),
                problems: Vec::new(),
                quarantine: None,
                leases_left: 0,
            };
            reconcile_held(&site, &held, &mut report, true).map(|()| true)
        }
    };
    held.wind_up_now(&site)?;
    done.map(Some)
}
