//! How long the environments of a host may wait at their ends.

use std::time::{Duration, Instant};

/// A host that ends may end its workers one after the other, and tell none of its end before the last one is gone. So
/// each may wait, but not all of them in turns.
#[derive(Debug)]
pub struct InTurns {
    most: Duration,
    /// What was waited, less the time in which nobody did.
    spent: Duration,
    waiting: usize,
    since: Option<Instant>,
}

impl InTurns {
    /// So long for all that come in turns.
    #[must_use]
    pub const fn new(most: Duration) -> Self {
        Self {
            most,
            spent: Duration::ZERO,
            waiting: 0,
            since: None,
        }
    }

    /// Whether to wait, now: with others always, and alone while more than half of the time is left. Who waits tells
    /// when it is over.
    pub fn may_wait(&mut self, now: Instant) -> bool {
        self.reckon(now);
        let may = self.waiting > 0 || self.spent * 2 < self.most;
        self.waiting += usize::from(may);
        may
    }

    /// One has waited.
    pub fn has_waited(&mut self, now: Instant) {
        self.reckon(now);
        self.waiting = self.waiting.saturating_sub(1);
    }

    fn reckon(&mut self, now: Instant) {
        let Some(since) = self.since.replace(now) else {
            return;
        };
        let passed = now.saturating_duration_since(since);
        self.spent = if self.waiting > 0 {
            self.most.min(self.spent + passed)
        } else {
            self.spent.saturating_sub(passed)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(2);
    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn together_all_wait() {
        let (mut ends, now) = (InTurns::new(MOST), Instant::now());
        assert!(ends.may_wait(now));
        assert!(ends.may_wait(now + MOST * 9 / 10), "the first still does");
        ends.has_waited(now + MOST);
        ends.has_waited(now + MOST * 2);
        assert!(!ends.may_wait(now + MOST * 2 + SHORT));
    }

    #[test]
    fn in_turns_they_wait_as_long_as_one() {
        let (mut ends, mut now) = (InTurns::new(MOST), Instant::now());
        let began = now;
        let mut waited = 0;
        for _ in 0..100 {
            if ends.may_wait(now) {
                waited += 1;
                now += Duration::from_millis(300);
                ends.has_waited(now);
            }
            now += Duration::from_millis(1);
        }
        assert!((3..=5).contains(&waited), "{waited}");
        assert!(now - began < MOST);
    }

    #[test]
    fn short_ones_always_wait_and_after_a_while_long_ones_do_again() {
        let (mut ends, mut now) = (InTurns::new(MOST), Instant::now());
        for _ in 0..1000 {
            assert!(ends.may_wait(now));
            ends.has_waited(now + SHORT);
            now += SHORT * 2;
        }
        assert!(ends.may_wait(now));
        ends.has_waited(now + MOST);
        assert!(!ends.may_wait(now + MOST + SHORT));
        assert!(ends.may_wait(now + MOST * 2));
    }
}
