//! The bridges that are open, so that they end with whoever opened them.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::process::{Owner, Whose};

use super::Bridge;

static OPEN: LazyLock<Mutex<HashMap<u64, Bridge>>> = LazyLock::new(Mutex::default);

static STARTING: Mutex<Starting> = Mutex::new(Starting {
    owners: Vec::new(),
    over: false,
});
static STARTED: Condvar = Condvar::new();
/// How long an end waits for bridges that are about to open. A few milliseconds do, unless the disk stands still.
const START_WAIT: Duration = Duration::from_secs(1);

struct Starting {
    owners: Vec<Owner>,
    /// The whole host ends.
    over: bool,
}

/// A bridge that is about to open, so that an end of its owner waits for it: one that opens behind that end would leave
/// its folder. Dropped, it is open, or will never be.
#[derive(Debug)]
pub struct Start {
    owner: Owner,
    counted: bool,
}

impl Start {
    /// By this owner.
    #[must_use]
    pub fn of(owner: Owner) -> Self {
        let mut starting = STARTING.lock();
        let counted = !starting.over;
        if counted {
            starting.owners.push(owner);
        }
        Self { owner, counted }
    }

    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    /// Whether it was asked for while the whole host ends.
    pub(super) fn is_too_late(&self) -> bool {
        !self.counted
    }
}

impl Drop for Start {
    fn drop(&mut self) {
        let mut starting = STARTING.lock();
        let place = starting.owners.iter().position(|owner| *owner == self.owner);
        if let Some(place) = place.filter(|_| self.counted) {
            starting.owners.swap_remove(place);
            STARTED.notify_all();
        }
    }
}

/// Wait for those that are about to open; behind the end of the whole host none opens any more.
fn wait_for_starts(whose: Whose) {
    let late = Instant::now() + START_WAIT;
    let mut starting = STARTING.lock();
    starting.over |= matches!(whose, Whose::Everybody);
    while starting.owners.iter().any(|owner| whose.includes(*owner)) {
        if STARTED.wait_until(&mut starting, late).timed_out() {
            return;
        }
    }
}

pub(super) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(super) fn add(bridge: &Bridge) {
    OPEN.lock().insert(bridge.0.number, bridge.clone());
}

pub(super) fn remove(number: u64) {
    // Dropped after the lock was given back.
    let _bridge = OPEN.lock().remove(&number);
}

/// Close the bridges of these, also those that are about to open, without any wait for their connections. *Sync*, for
/// a host or an environment that ends.
pub fn close_all(whose: Whose) {
    wait_for_starts(whose);
    let open: Vec<Bridge> = {
        let open = OPEN.lock();
        let theirs = open.values().filter(|bridge| whose.includes(bridge.0.scope));
        theirs.cloned().collect()
    };
    for bridge in open {
        bridge.close();
    }
}
