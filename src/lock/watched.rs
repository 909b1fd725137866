//! Since when the lock directories that this process waits for have been as they are, by a clock that nobody sets.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::disk::Identity;

/// What was not looked at for so long is forgotten.
const KEEP: Duration = Duration::from_secs(600);

#[derive(Debug)]
struct Seen {
    looks: u64,
    since: Instant,
    last: Instant,
}

static SEEN: LazyLock<Mutex<HashMap<Identity, Seen>>> = LazyLock::new(Mutex::default);

/// For how long a lock directory has looked like this; zero where it did not before.
pub(super) fn unchanged(folder: Identity, looks: u64) -> Duration {
    let now = Instant::now();
    let mut seen = SEEN.lock();
    seen.retain(|_, seen| now - seen.last < KEEP);
    let entry = seen.entry(folder).or_insert(Seen {
        looks,
        since: now,
        last: now,
    });
    if entry.looks != looks {
        entry.looks = looks;
        entry.since = now;
    }
    entry.last = now;
    now - entry.since
}

/// It was taken, or is gone.
pub(super) fn forget(folder: Identity) {
    SEEN.lock().remove(&folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_begins_the_count_again() {
        let folder = Identity {
            device: u64::MAX,
            inode: 1,
        };
        assert_eq!(unchanged(folder, 1), Duration::ZERO);
        while unchanged(folder, 1) < Duration::from_millis(2) {}
        assert_eq!(unchanged(folder, 2), Duration::ZERO);
        forget(folder);
        assert_eq!(unchanged(folder, 2), Duration::ZERO);
    }
}
