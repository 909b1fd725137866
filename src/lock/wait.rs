//! Waiting for a lock: the one place where that is done.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::LockError;
use crate::cancel::Cancelled;

/// Between two tries: at first at most, and later at most. Who waits costs some microseconds of work per try.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(25));

/// A wait with an end.
#[derive(Debug)]
pub struct Wait<'a> {
    deadline: Instant,
    off: &'a Cancelled,
    longest: Duration,
    tries: u64,
}

impl<'a> Wait<'a> {
    /// Until then, or until it is called off.
    #[must_use]
    pub fn until(deadline: Instant, off: &'a Cancelled) -> Self {
        Self {
            deadline,
            off,
            longest: PAUSES.0,
            tries: 0,
        }
    }

    /// Until the next try is due: a random time, so that those who wait do not come all at once. False where there
    /// is no time for another try.
    ///
    /// # Errors
    /// [`LockError::Cancelled`].
    pub async fn pause(&mut self) -> Result<bool, LockError> {
        self.tries += 1;
        let now = Instant::now();
        if now >= self.deadline {
            return Ok(false);
        }
        let random = RandomState::new().hash_one(self.tries);
        let longest = u64::try_from(self.longest.as_micros()).unwrap_or(u64::MAX);
        let pause = Duration::from_micros(1000 + random % longest.saturating_sub(999).max(1));
        self.longest = (self.longest * 2).min(PAUSES.1);
        self.during(sleep(pause.min(self.deadline - now))).await?;
        Ok(true)
    }

    /// Something else that is waited for meanwhile.
    pub(super) async fn during<T>(&self, future: impl Future<Output = T>) -> Result<T, LockError> {
        tokio::select! {
            biased;
            () = self.off.wait() => Err(LockError::Cancelled),
            done = future => Ok(done),
        }
    }

    #[cfg(test)]
    pub(super) fn tries(&self) -> u64 {
        self.tries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::cancel;

    #[tokio::test]
    async fn a_second_of_waiting_is_no_more_than_some_dozens_of_tries() {
        let (_calm, calm) = cancel();
        let mut wait = Wait::until(Instant::now() + Duration::from_secs(1), &calm);
        while wait.pause().await.unwrap() {}
        assert!((2..=150).contains(&wait.tries()), "{}", wait.tries());
    }

    #[tokio::test]
    async fn it_is_called_off_before_it_began_and_meanwhile() {
        let (off, is_off) = cancel();
        let mut wait = Wait::until(Instant::now() + Duration::from_secs(60), &is_off);
        off.cancel();
        assert!(matches!(wait.pause().await, Err(LockError::Cancelled)));
        let never = wait.during(std::future::pending::<()>()).await;
        assert!(matches!(never, Err(LockError::Cancelled)));
    }
}
