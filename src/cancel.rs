//! Telling something that runs that it is not wanted any more.

use std::future::{Future, pending};

use tokio::sync::watch;

/// The end of whoever may call it off.
#[derive(Debug, Clone)]
pub struct Cancel(watch::Sender<bool>);

/// The end of what may be called off.
#[derive(Debug, Clone)]
pub struct Cancelled(watch::Receiver<bool>);

/// A pair of ends.
#[must_use]
pub fn cancel() -> (Cancel, Cancelled) {
    let (sender, receiver) = watch::channel(false);
    (Cancel(sender), Cancelled(receiver))
}

impl Cancel {
    /// Call it off. More than once is as good as once.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// One more end of what may be called off.
    #[must_use]
    pub fn token(&self) -> Cancelled {
        Cancelled(self.0.subscribe())
    }

    /// Call it off when this is dropped: when nobody waits for it any more.
    #[must_use]
    pub fn on_drop(self) -> CancelOnDrop {
        CancelOnDrop(self)
    }
}

/// Calls off what it was made for when it is dropped.
#[derive(Debug)]
pub struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Cancelled {
    /// Whether it is called off by now.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Resolves when it is called off; never, where nobody can call it off any more. To forget the other end is
    /// not to call it off.
    pub fn wait(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut receiver = self.0.clone();
        async move {
            if receiver.wait_for(|cancelled| *cancelled).await.is_err() {
                pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn it_is_heard_before_and_after_the_wait_began() {
        let (before, heard) = cancel();
        assert!(!heard.is_cancelled());
        before.cancel();
        before.cancel();
        assert!(heard.is_cancelled());
        heard.wait().await;
        before.token().wait().await;
    }

    #[test]
    fn what_is_to_be_dropped_calls_off_when_it_is() {
        let (cancel, cancelled) = cancel();
        let on_drop = cancel.clone().on_drop();
        drop(cancel);
        assert!(!cancelled.is_cancelled());
        drop(on_drop);
        assert!(cancelled.is_cancelled());
    }

    #[tokio::test]
    async fn forgetting_the_other_end_calls_nothing_off() {
        let (forgotten, waiting) = cancel();
        drop(forgotten);
        assert!(timeout(Duration::from_millis(50), waiting.wait()).await.is_err());
    }
}
