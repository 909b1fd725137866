//! What the process says on standard error: its end is kept, without keys.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::AsyncReadExt;

use crate::cli::secrets::Secrets;
use crate::process::{self, Tail};

use super::beside::Beside;
use super::outcome::last_bytes;

/// How much is kept, in bytes.
const LIMIT: usize = 16 * 1024;
/// Kept beyond that, so that a key which the limit would cut in two is whole when it is looked for.
const MARGIN: usize = 1024;
/// How long it is read after the end, where somebody else holds the pipe open.
const PATIENCE: Duration = Duration::from_millis(100);

/// Reads standard error to its end, beside everything else: a process whose words nobody reads stops.
#[derive(Debug)]
pub(super) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    task: Beside,
}

impl Stderr {
    pub(super) fn read(stderr: process::Stderr) -> Self {
        let tail = Arc::new(Mutex::new(Tail::new(LIMIT + MARGIN)));
        let task = Beside::spawn(keep(stderr, Arc::clone(&tail)));
        Self { tail, task }
    }

    /// The end of what was said. To be asked once the process is gone.
    pub(super) async fn end(mut self, secrets: &Secrets) -> String {
        self.task.ended(PATIENCE).await;
        let said = self.tail.lock().text();
        last_bytes(secrets.redact(said), LIMIT)
    }
}

async fn keep(mut stderr: process::Stderr, tail: Arc<Mutex<Tail>>) {
    let mut chunk = vec![0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut chunk).await {
        tail.lock().push(&chunk[..length]);
    }
}
