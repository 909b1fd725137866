//! Knowing when a process is gone that was asked for and then given up: nobody holds its tree.

use std::convert::Infallible;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

/// Goes with a process from before its start until its leader is reaped.
#[derive(Debug, Clone)]
pub struct Presence {
    _told: mpsc::Sender<Infallible>,
}

/// Tells when all copies of a [`Presence`] have gone.
#[derive(Debug)]
pub struct Departure(mpsc::Receiver<Infallible>);

/// A pair of both.
#[must_use]
pub fn presence() -> (Presence, Departure) {
    let (told, departure) = mpsc::channel(1);
    (Presence { _told: told }, Departure(departure))
}

impl Departure {
    /// Wait until everything that was started under the presence has gone, for so long at most.
    pub async fn within(mut self, patience: Duration) {
        let _late = timeout(patience, self.0.recv()).await;
    }
}
