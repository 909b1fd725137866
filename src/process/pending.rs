//! Processes of turns that are over, which somebody has still to end.

use std::time::Duration;

use tokio::sync::oneshot;

use super::apart::apart;
use super::guard;
use super::mark::Mark;
use super::registry::{Busy, Owner};
use super::survey::{self, Hold, Lineage, Process, Reach};

/// What came of turns that are over, and whose leaders are reaped. Where it is dropped, all of it is killed.
#[derive(Debug)]
pub struct Pending {
    lineage: Option<Box<Lineage>>,
    owner: Owner,
}

impl Pending {
    pub(crate) fn new(lineage: Lineage, owner: Owner) -> Self {
        Self {
            lineage: Some(Box::new(lineage)),
            owner,
        }
    }

    /// Nothing at all.
    #[cfg(test)]
    pub(crate) fn none(owner: Owner) -> Self {
        Self { lineage: None, owner }
    }

    /// Put another one to it.
    pub(crate) fn join(&mut self, mut other: Self) {
        match (&mut self.lineage, other.lineage.take()) {
            (Some(lineage), Some(more)) => lineage.absorb(*more),
            (none, more) => *none = more,
        }
    }

    /// Who is to end it instead.
    pub(super) fn take(mut self) -> Option<Lineage> {
        self.lineage.take().map(|lineage| *lineage)
    }

    /// Let it live.
    pub(crate) fn spare(mut self) {
        self.lineage = None;
    }

    /// Let it outlive this host too. `mark`: that of the turn that it came of.
    pub(crate) fn keep(self, mark: Mark) {
        guard::keep(mark.number());
        if let Some(lineage) = &self.lineage {
            lineage.release();
        }
        self.spare();
    }

    /// End all of it: SIGTERM, up to `grace`, SIGKILL. Gives what cannot be ended. It goes on where the future is
    /// dropped.
    pub(crate) async fn end(mut self, grace: Duration) -> Vec<Process> {
        let Some(lineage) = self.lineage.take() else {
            return Vec::new();
        };
        let (answer, left) = oneshot::channel();
        sweep(lineage, self.owner, grace, Some(answer));
        left.await.unwrap_or_default()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(lineage) = self.lineage.take() {
            sweep(lineage, self.owner, Duration::ZERO, None);
        }
    }
}

fn sweep(
    mut lineage: Box<Lineage>,
    owner: Owner,
    grace: Duration,
    answer: Option<oneshot::Sender<Vec<Process>>>,
) {
    let busy = Busy::with(owner);
    apart(grace, move |time| {
        let left = survey::end(&mut lineage, &busy, Reach::All, time.grace, time.patience);
        if let Some(answer) = answer {
            // Unheard where the turn was dropped.
            let _heard = answer.send(left);
        }
    });
}

/// Nothing is held, and a host that ends waits.
impl Hold for Busy {
    fn hurried(&self) -> bool {
        self.is_hurried()
    }
}
