//! The leases that this process holds, so that they end with whoever asked for them.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::disk::Folder;
use crate::process::{Busy, Owner, Whose};
use crate::runtime;

use super::lease::Lease;

static HELD: LazyLock<Mutex<HashMap<u64, Lease>>> = LazyLock::new(Mutex::default);

/// A number for a lease.
pub(super) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(super) fn add(lease: &Lease) {
    HELD.lock().insert(lease.number(), lease.clone());
}

pub(super) fn remove(number: u64) {
    // Dropped after the lock was given back.
    let _lease = HELD.lock().remove(&number);
}

/// Whether this process holds a lease of this key in this worktree, by its canonical path.
pub(super) fn holds(worktree: &Path, key: &str) -> bool {
    let held = HELD.lock();
    held.values()
        .any(|lease| lease.server_key() == key && lease.worktree() == worktree)
}

fn of(whose: Whose) -> Vec<Lease> {
    let held = HELD.lock();
    let mut leases: Vec<Lease> = held
        .values()
        .filter(|lease| whose.includes(lease.scope()))
        .cloned()
        .collect();
    leases.sort_by_key(Lease::number);
    leases
}

/// Take out what these hold, in one worktree or in all: one try at each lock that is free, and no wait. *Sync*, for a
/// host that ends. What is left then is left to the next session, to which a dead process says enough.
pub fn release_held(whose: Whose, worktree: Option<&Path>) {
    let worktree = worktree.map(|path| match Folder::open(path) {
        Ok(folder) => folder.path().to_owned(),
        Err(_) => path.to_owned(),
    });
    for lease in of(whose) {
        // Another thread may be at the end of the host by now: it waits for what is under way, and does the rest itself.
        let Some(_busy) = (match whose {
            Whose::Everybody => Some(Busy::with(lease.scope())),
            Whose::Of(owner) => Busy::at_work(owner),
        }) else {
            return;
        };
        if worktree.as_deref().is_none_or(|path| lease.worktree() == path) {
            lease.release_now();
        }
    }
}

/// Have all leases of a scope disposed in the background: for a JavaScript environment that is torn down.
pub fn dispose_in_background(scope: Owner) {
    for lease in of(Whose::Of(scope)) {
        // From now on, and not from when the task is first run. Behind the end of the host that has taken them out.
        let Some(busy) = Busy::at_work(scope) else {
            return;
        };
        let begun = runtime::spawn(async move {
            let _busy = busy;
            if let Err(error) = lease.dispose().await {
                tracing::warn!(worktree = %lease.worktree().display(), %error, "a lease was not taken down");
            }
        });
        if let Err(error) = begun {
            tracing::warn!(%error, "there was no room to take a lease down");
        }
    }
}
