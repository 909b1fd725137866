//! Whether a lock directory was left by somebody who will not come back. Pure.

use std::time::Duration;

use super::owner::Owner;
use super::{Life, World};

/// For so long a lock directory must have been seen unchanged before its age counts: a clock that jumped makes
/// everything old at once.
pub(super) const SETTLE: Duration = Duration::from_secs(1);
/// A time that is so far ahead, in milliseconds, is not merely another machine's clock.
const AHEAD_MS: i64 = 2000;

/// What can be seen of a lock directory.
#[derive(Debug)]
pub(super) struct Signs<'a> {
    /// Who holds it or was about to, where that can be read.
    pub(super) owner: Option<&'a Owner>,
    /// Epoch milliseconds.
    pub(super) modified_ms: i64,
    /// This crate made it, or was about to take it over.
    pub(super) marked: bool,
    /// The makers of temporary files in it.
    pub(super) writers: &'a [u32],
}

/// How long it must have been seen unchanged to be stale; `None` where it is not, however long that was.
pub(super) fn stale_after(
    signs: &Signs<'_>,
    ttl: Duration,
    kernel_held: bool,
    world: &dyn World,
) -> Option<Duration> {
    let Some(owner) = signs.owner else {
        if !(kernel_held && signs.marked) {
            return by_age(signs, ttl, world);
        }
        // Ours, from between two steps: whoever does these holds the kernel lock, which is in our hands. Somebody
        // else's kernel lock may be another one, where several machines share the file system.
        let dead = |pid: &u32| world.life(i64::from(*pid), world.hostname(), None) == Life::Dead;
        let left = !signs.writers.is_empty() && signs.writers.iter().all(dead);
        return Some(if left { Duration::ZERO } else { SETTLE });
    };
    let start = owner.start.as_deref();
    let same_kernel = start.is_some_and(|start| world.same_kernel(start));
    if kernel_held && owner.kernel_lock && same_kernel {
        return Some(Duration::ZERO);
    }
    match world.life(owner.pid, &owner.hostname, start) {
        Life::Dead => Some(Duration::ZERO),
        Life::Alive | Life::MaybeAlive | Life::Unknown => by_age(signs, ttl, world),
    }
}

fn by_age(signs: &Signs<'_>, ttl: Duration, world: &dyn World) -> Option<Duration> {
    let ttl_ms = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
    let age = |time: i64| world.now_ms().saturating_sub(time);
    let by_folder = age(signs.modified_ms);
    if by_folder < -AHEAD_MS {
        // Its age cannot be told, so it is waited out.
        return Some(ttl);
    }
    let by_owner = signs.owner.and_then(|owner| owner.acquired_at).map(age);
    let old = by_folder > ttl_ms || by_owner.is_some_and(|by_owner| by_owner > ttl_ms);
    old.then_some(SETTLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::ProcessStart;

    const NOW: i64 = 1_700_000_000_000;
    const TTL: Duration = Duration::from_secs(30);
    const AT_ONCE: Option<Duration> = Some(Duration::ZERO);
    const NEVER: Option<Duration> = None;

    #[derive(Debug)]
    struct Fake {
        life: Life,
        start: ProcessStart,
    }

    impl World for Fake {
        fn now_ms(&self) -> i64 {
            NOW
        }
        fn pid(&self) -> u32 {
            1
        }
        fn hostname(&self) -> &'static str {
            "here"
        }
        fn start(&self) -> Option<&ProcessStart> {
            Some(&self.start)
        }
        fn life(&self, _: i64, _: &str, _: Option<&str>) -> Life {
            self.life
        }
    }

    fn fake(life: Life) -> Fake {
        let start = ProcessStart("linux:boot:1:100".into());
        Fake { life, start }
    }

    fn owner(age_ms: i64) -> Owner {
        Owner {
            pid: 7,
            hostname: "here".into(),
            acquired_at: Some(NOW - age_ms),
            since: None,
            start: None,
            kernel_lock: false,
            token: None,
            claim: 0,
        }
    }

    fn judge(owner: Option<&Owner>, age_ms: i64, life: Life) -> Option<Duration> {
        let signs = Signs {
            owner,
            modified_ms: NOW - age_ms,
            marked: false,
            writers: &[],
        };
        stale_after(&signs, TTL, true, &fake(life))
    }

    #[test]
    fn the_dead_leave_a_stale_lock_at_once() {
        for age in [0, 31_000, -86_400_000] {
            assert_eq!(judge(Some(&owner(age)), age, Life::Dead), AT_ONCE, "{age}");
        }
    }

    #[test]
    fn age_alone_counts_once_it_was_watched_for_a_while() {
        for life in [Life::Alive, Life::MaybeAlive, Life::Unknown] {
            assert_eq!(judge(Some(&owner(29_000)), 29_000, life), NEVER);
            assert_eq!(
                judge(Some(&owner(0)), 31_000, life),
                Some(SETTLE),
                "by the directory"
            );
            assert_eq!(
                judge(Some(&owner(31_000)), 0, life),
                Some(SETTLE),
                "by what it says"
            );
        }
        assert_eq!(judge(None, 29_000, Life::Unknown), NEVER);
        assert_eq!(judge(None, 31_000, Life::Unknown), Some(SETTLE));
    }

    #[test]
    fn a_time_ahead_is_waited_out() {
        for life in [Life::Alive, Life::MaybeAlive, Life::Unknown] {
            assert_eq!(judge(Some(&owner(0)), -60_000, life), Some(TTL));
            assert_eq!(judge(Some(&owner(60_000)), -60_000, life), Some(TTL));
            assert_eq!(
                judge(Some(&owner(-60_000)), 0, life),
                NEVER,
                "the directory is young"
            );
            assert_eq!(
                judge(Some(&owner(0)), -1_500, life),
                NEVER,
                "another machine's clock"
            );
        }
        assert_eq!(judge(None, -60_000, Life::Unknown), Some(TTL));
    }

    #[test]
    fn with_the_kernel_lock_in_hand_no_other_of_ours_can_have_the_directory() {
        let ours = |boot: &str, kernel_lock| Owner {
            start: Some(format!("linux:{boot}:2:5")),
            kernel_lock,
            ..owner(0)
        };
        let judge = |owner: &Owner, kernel_held| {
            let signs = Signs {
                owner: Some(owner),
                modified_ms: NOW,
                marked: true,
                writers: &[],
            };
            stale_after(&signs, TTL, kernel_held, &fake(Life::Unknown))
        };
        assert_eq!(judge(&ours("boot", true), true), AT_ONCE);
        assert_eq!(judge(&ours("boot", true), false), NEVER);
        assert_eq!(judge(&ours("boot", false), true), NEVER);
        assert_eq!(judge(&ours("elsewhere", true), true), NEVER);
    }

    #[test]
    fn one_of_ours_without_an_owner_is_left_from_between_two_steps() {
        let judge = |marked, kernel_held, writers: &[u32], life| {
            let signs = Signs {
                owner: None,
                modified_ms: NOW,
                marked,
                writers,
            };
            stale_after(&signs, TTL, kernel_held, &fake(life))
        };
        assert_eq!(judge(true, true, &[7], Life::Dead), AT_ONCE);
        assert_eq!(judge(true, true, &[7], Life::MaybeAlive), Some(SETTLE));
        assert_eq!(judge(true, true, &[], Life::Dead), Some(SETTLE));
        assert_eq!(judge(true, false, &[7], Life::Dead), NEVER);
        assert_eq!(judge(false, true, &[7], Life::Dead), NEVER, "the plugin's own");
    }
}
