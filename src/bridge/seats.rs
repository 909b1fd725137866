//! Who may be connected at the same time: a bounded number, and nobody who only waits keeps out one who calls.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// What a connection is at. The first ones have to make room before the later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It has not shown the token yet.
    Unknown,
    /// It has been answered, and may ask for more.
    Idle,
    /// It has shown the token, and its body comes.
    Reading,
    /// A call runs for it. It makes room for nobody.
    Calling,
    /// Its answer is on the way. It makes room for nobody either: the call has been made, and is not made again.
    Answering,
}

/// The place of one connection.
#[derive(Debug)]
pub(super) struct Seat {
    state: Mutex<(Phase, Instant)>,
    stay: Duration,
    changed: Notify,
    given_away: Notify,
}

/// What becomes of one more connection.
#[derive(Debug)]
pub(super) enum Place {
    Free(Arc<Seat>),
    /// Somebody makes room so much later.
    In(Duration),
    /// Calls run for all of them.
    Nowhere,
}

/// All places.
#[derive(Debug)]
pub(super) struct Seats {
    most: usize,
    chance: Duration,
    stay: Duration,
    taken: Mutex<Vec<Arc<Seat>>>,
}

impl Seats {
    /// So many; how long a connection may stay at least, for its request to come; and how long it may do nothing but
    /// wait, or be written to.
    pub(super) fn new(most: usize, chance: Duration, stay: Duration) -> Self {
        Self {
            most,
            chance,
            stay,
            taken: Mutex::default(),
        }
    }

    /// A place for one more connection. Where there is none, the one that waits the longest has to go, once it had
    /// its chance.
    pub(super) fn take(&self) -> Place {
        let mut taken = self.taken.lock();
        if taken.len() >= self.most {
            let waiting = taken
                .iter()
                .enumerate()
                .map(|(place, seat)| (place, *seat.state.lock()))
                .filter(|(_, (phase, _))| *phase < Phase::Calling)
                .map(|(place, (phase, since))| {
                    // One that had no chance yet comes behind all that had theirs, whatever they are at.
                    let left = self.chance.saturating_sub(since.elapsed());
                    (left, phase, since, place)
                });
            let Some((left, _, _, place)) = waiting.min() else {
                return Place::Nowhere;
            };
            if !left.is_zero() {
                return Place::In(left);
            }
            taken.remove(place).given_away.notify_one();
        }
        let seat = Arc::new(Seat {
            state: Mutex::new((Phase::Unknown, Instant::now())),
            stay: self.stay,
            changed: Notify::new(),
            given_away: Notify::new(),
        });
        taken.push(Arc::clone(&seat));
        Place::Free(seat)
    }

    /// The connection is over.
    pub(super) fn leave(&self, seat: &Arc<Seat>) {
        self.taken.lock().retain(|taken| !Arc::ptr_eq(taken, seat));
    }
}

impl Seat {
    /// All that there was to write has been written.
    pub(super) fn has_written(&self) {
        let answering = self.state.lock().0 == Phase::Answering;
        if answering {
            self.is_at(Phase::Idle);
        }
    }

    pub(super) fn is_at(&self, phase: Phase) {
        *self.state.lock() = (phase, Instant::now());
        self.changed.notify_one();
    }

    /// Resolves when the connection has to go: it stayed too long, or another one has its place.
    pub(super) async fn lost(&self) {
        let overstayed = async {
            loop {
                let (phase, since) = *self.state.lock();
                let left = self.stay.saturating_sub(since.elapsed());
                if phase == Phase::Calling {
                    self.changed.notified().await;
                } else if left.is_zero() {
                    return;
                } else {
                    tokio::select! {
                        () = sleep(left) => {}
                        () = self.changed.notified() => {}
                    }
                }
            }
        };
        tokio::select! {
            () = overstayed => {}
            () = self.given_away.notified() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    async fn is_lost(seat: &Seat) -> bool {
        timeout(Duration::from_millis(20), seat.lost()).await.is_ok()
    }

    fn free(seats: &Seats) -> Arc<Seat> {
        match seats.take() {
            Place::Free(seat) => seat,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn who_waits_the_longest_makes_room_and_strangers_before_callers() {
        let seats = Seats::new(3, Duration::ZERO, LONG);
        let [caller, stranger, idle] = [(); 3].map(|()| free(&seats));
        caller.is_at(Phase::Calling);
        idle.is_at(Phase::Idle);
        let fourth = free(&seats);
        assert!(is_lost(&stranger).await, "it has shown nothing");
        fourth.is_at(Phase::Reading);
        let fifth = free(&seats);
        assert!(is_lost(&idle).await, "it only waits");
        fifth.is_at(Phase::Calling);
        let sixth = free(&seats);
        assert!(is_lost(&fourth).await, "its body does not come");
        sixth.is_at(Phase::Calling);
        assert!(matches!(seats.take(), Place::Nowhere));
        for seat in [&caller, &fifth, &sixth] {
            assert!(!is_lost(seat).await);
        }
        seats.leave(&caller);
        free(&seats);
    }

    #[tokio::test]
    async fn who_just_came_has_a_chance() {
        let seats = Seats::new(1, Duration::from_millis(100), LONG);
        let seat = free(&seats);
        let Place::In(left) = seats.take() else {
            panic!("it was given away at once")
        };
        assert!(!is_lost(&seat).await);
        sleep(left).await;
        free(&seats);
        assert!(is_lost(&seat).await);
    }

    #[tokio::test]
    async fn an_answer_on_its_way_is_not_cut_off() {
        let seats = Seats::new(1, Duration::ZERO, LONG);
        let seat = free(&seats);
        seat.is_at(Phase::Answering);
        assert!(matches!(seats.take(), Place::Nowhere));
        seat.has_written();
        free(&seats);
        assert!(is_lost(&seat).await);
        seat.is_at(Phase::Calling);
        seat.has_written();
        assert_eq!(seat.state.lock().0, Phase::Calling);
    }

    #[tokio::test]
    async fn an_answer_that_is_not_read_stays_as_long_as_anybody() {
        let seats = Seats::new(1, Duration::ZERO, Duration::from_millis(50));
        let seat = free(&seats);
        seat.is_at(Phase::Answering);
        assert!(timeout(LONG, seat.lost()).await.is_ok());
    }

    #[tokio::test]
    async fn nobody_stays_for_ever_unless_a_call_runs() {
        let seats = Seats::new(3, Duration::ZERO, Duration::from_millis(50));
        let seat = free(&seats);
        seat.is_at(Phase::Calling);
        assert!(timeout(Duration::from_millis(300), seat.lost()).await.is_err());
        seat.is_at(Phase::Idle);
        assert!(timeout(LONG, seat.lost()).await.is_ok());
    }
}
