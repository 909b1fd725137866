//! The two directions between a running turn and whoever started it.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

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
    over: Arc<Mutex<bool>>,
    taken: mpsc::UnboundedSender<Taken>,
    ledger: Arc<Mutex<Ledger>>,
}

/// The turn's end.
#[derive(Debug)]
pub struct Controlled {
    abort: Cancelled,
    /// What else ends the turn: whoever answers for it is called off, or its session ends.
    off: Vec<Cancelled>,
    /// Its outcome is a success, which no abort changes any more.
    over: Arc<Mutex<bool>>,
    taken: mpsc::UnboundedReceiver<Taken>,
    ledger: Arc<Mutex<Ledger>>,
}

/// A pair of ends.
#[must_use]
pub fn control() -> (Control, Controlled) {
    let (abort, aborted) = cancel();
    let (taken, inbox) = mpsc::unbounded_channel();
    let ledger = Arc::new(Mutex::new(Ledger::new()));
    let over = Arc::new(Mutex::new(false));
    let controlled = Controlled {
        abort: aborted,
        off: Vec::new(),
        over: Arc::clone(&over),
        taken: inbox,
        ledger: Arc::clone(&ledger),
    };
    let control = Control {
        abort,
        over,
        taken,
        ledger,
    };
    (control, controlled)
}

impl Control {
    /// End the turn. More than once is as good as once. `false` where it is too late for that: the turn has ended
    /// well, and its outcome stands.
    #[allow(
        clippy::must_use_candidate,
        reason = "most are as glad of an end as of an abort"
    )]
    pub fn abort(&self) -> bool {
        let over = self.over.lock();
        if !*over {
            self.abort.cancel();
        }
        !*over
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

/// A look at a turn that holds nothing of it up: neither its end nor the wait for its consumer.
#[derive(Debug, Clone)]
pub(crate) struct SoFar {
    ends: Vec<Cancelled>,
    ledger: Arc<Mutex<Ledger>>,
}

impl SoFar {
    /// Whether it is to end before its time.
    pub(crate) fn is_called_off(&self) -> bool {
        self.ends.iter().any(Cancelled::is_cancelled)
    }

    /// The session that the CLI named.
    pub(crate) fn session_id(&self) -> Option<String> {
        self.ledger.lock().session_id().map(str::to_owned)
    }
}

impl Controlled {
    pub(super) fn ledger(&self) -> &Mutex<Ledger> {
        &self.ledger
    }

    /// That one calls the turn off too.
    pub(crate) fn also(mut self, off: Cancelled) -> Self {
        self.off.push(off);
        self
    }

    /// For whoever looks on.
    pub(crate) fn so_far(&self) -> SoFar {
        SoFar {
            ends: self.ends().cloned().collect(),
            ledger: Arc::clone(&self.ledger),
        }
    }

    fn ends(&self) -> impl Iterator<Item = &Cancelled> {
        std::iter::once(&self.abort).chain(&self.off)
    }

    /// Resolves when the turn is to end; never, where nobody can abort it any more.
    pub(crate) fn aborted(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ends: Vec<_> = self.ends().map(|end| Box::pin(end.wait())).collect();
        poll_fn(move |context| {
            let any = ends.iter_mut().any(|end| end.as_mut().poll(context).is_ready());
            if any { Poll::Ready(()) } else { Poll::Pending }
        })
    }

    /// Whether the turn was called off by now.
    pub(super) fn is_called_off(&self) -> bool {
        self.ends().any(Cancelled::is_cancelled)
    }

    /// It has ended well, unless it was called off before: then this is `false`. Whoever aborts it later is told
    /// that it is over, so that both sides say the same of it.
    pub(super) fn ends_well(&self) -> bool {
        let mut over = self.over.lock();
        *over = !self.is_called_off();
        *over
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
