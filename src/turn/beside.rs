//! Work that goes on beside a turn.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A task that ends with whoever holds it. A plain handle would let it run on after a turn that was dropped, and
/// hold its pipe for as long as anybody else holds the other end.
#[derive(Debug)]
pub(super) struct Beside(JoinHandle<()>);

impl Beside {
    pub(super) fn spawn(task: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(task))
    }

    /// Wait for its own end, for so long.
    pub(super) async fn ended(&mut self, patience: Duration) {
        let _late = timeout(patience, &mut self.0).await;
    }

    /// End it now.
    pub(super) fn end(&self) {
        self.0.abort();
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.end();
    }
}
