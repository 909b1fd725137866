//! The two directions between a running turn and whoever started it.

use std::future::{Future, pending};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::cancel::{Cancel, Cancelled, cancel};
use crate::stream::batch::Batch;

use super::ledger::Ledger;
use super::{Cause, Report};

/// Where a turn's events go. One batch is under way at a time: the next is sent when [`Control::taken`] said
/// that the last was taken.
pub trait Consumer: Send + 'static {
    /// Hand over a batch, without waiting.
    ///
    /// # Errors
    /// [`ConsumerGone`] where nobody will ever take it.
    fn send(&mut self, batch: Batch) -> Result<(), ConsumerGone>;
}

/// There is nobody left to take events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsumerGone;

/// What the consumer says of the batch it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The next one, please.
    GoOn,
    /// No more: a callback failed.
    Stop,
}

/// The starter's end: abort the turn, say what became of a batch, and see what there is so far.
#[derive(Debug, Clone)]
pub struct Control {
    abort: Cancel,
    taken: mpsc::UnboundedSender<Taken>,
    ledger: Arc<Mutex<Ledger>>,
}

/// The turn's end.
#[derive(Debug)]
pub struct Controlled {
    abort: Cancelled,
    /// Whoever answers for the turn is called off.
    off: Option<Cancelled>,
    taken: mpsc::UnboundedReceiver<Taken>,
    ledger: Arc<Mutex<Ledger>>,
}

/// A pair of ends.
#[must_use]
pub fn control() -> (Control, Controlled) {
    let (abort, aborted) = cancel();
    let (taken, inbox) = mpsc::unbounded_channel();
    let ledger = Arc::new(Mutex::new(Ledger::new()));
    let controlled = Controlled {
        abort: aborted,
        off: None,
        taken: inbox,
        ledger: Arc::clone(&ledger),
    };
    (Control { abort, taken, ledger }, controlled)
}

impl Control {
    /// End the turn. More than once is as good as once.
    pub fn abort(&self) {
        self.abort.cancel();
    }

    /// The batch under way was taken. Ignored where the turn is over.
    pub fn taken(&self, verdict: Taken) {
        let _over = self.taken.send(verdict);
    }

    /// What the turn has so far; its duration and its process's end are left out.
    #[must_use]
    pub fn so_far(&self) -> Report {
        self.ledger.lock().report()
    }
}

impl Controlled {
    pub(super) fn ledger(&self) -> &Mutex<Ledger> {
        &self.ledger
    }

    /// That one calls the turn off too.
    pub(super) fn also(self, off: Cancelled) -> Self {
        Self {
            off: Some(off),
            ..self
        }
    }

    /// Resolves when the turn is to end; never, where nobody can abort it any more.
    pub(super) fn aborted(&self) -> impl Future<Output = ()> + Send + use<> {
        let aborted = self.abort.wait();
        let off = self.off.as_ref().map(Cancelled::wait);
        async move {
            let off = async {
                match off {
                    Some(off) => off.await,
                    None => pending().await,
                }
            };
            tokio::select! {
                () = aborted => {}
                () = off => {}
            }
        }
    }

    /// What became of the batch under way. Where the starter is gone, nobody wants more.
    pub(super) async fn next_taken(&mut self) -> Taken {
        self.taken.recv().await.unwrap_or(Taken::Stop)
    }

    /// Wait for the batch under way, then send the last one and wait for that.
    pub(super) async fn deliver_last(
        &mut self,
        consumer: &mut impl Consumer,
        in_flight: bool,
        last: Batch,
    ) -> Result<(), Cause> {
        if in_flight {
            self.taken_or_aborted().await?;
        }
        if last.is_empty() {
            return Ok(());
        }
        consumer.send(last).map_err(|_| Cause::Aborted)?;
        self.taken_or_aborted().await
    }

    async fn taken_or_aborted(&mut self) -> Result<(), Cause> {
        let aborted = self.aborted();
        tokio::select! {
            biased;
            () = aborted => Err(Cause::Aborted),
            taken = self.next_taken() => match taken {
                Taken::GoOn => Ok(()),
                Taken::Stop => Err(Cause::ConsumerStopped),
            },
        }
    }
}
