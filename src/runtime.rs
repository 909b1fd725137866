//! The runtime that turns live on.
//!
//! It is the process's, not a JavaScript environment's: a worker that is terminated takes its callbacks with
//! it, but the teardown of its processes goes on here to the end.

use std::future::Future;
use std::io;
use std::sync::OnceLock;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Start a future on the runtime, which is made at the first call.
///
/// # Errors
/// Where the system gives no threads.
pub fn spawn<F>(future: F) -> io::Result<JoinHandle<F::Output>>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let runtime = if let Some(runtime) = RUNTIME.get() {
        runtime
    } else {
        let made = Builder::new_multi_thread()
            // Turns wait far more than they work, and what may block goes to the pool. While one of two threads
            // reads a stream, the other would be woken at each write to its pipe, to find nothing to do.
            .worker_threads(1)
            .max_blocking_threads(8)
            .thread_name("cursor-run")
            .enable_all()
            .build()?;
        // Where two callers race, the loser's runtime is dropped, unused.
        RUNTIME.get_or_init(|| made)
    };
    Ok(runtime.spawn(future))
}
