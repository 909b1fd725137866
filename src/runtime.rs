//! The runtime that turns live on.
//!
//! It is the process's, not a JavaScript environment's: a worker that is terminated takes its callbacks with
//! it, but the teardown of its processes goes on here to the end.

use std::future::Future;
use std::io::{self, pipe};
use std::panic::{catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Threads for what may block stay once they are there: where the system gives no more, the runtime panics without
/// any, and waits for one that it has.
const KEEP: Duration = Duration::from_secs(365 * 24 * 3600);
/// What making the runtime takes at least: its own thread and one for what may block; and descriptors in pairs.
const THREADS: usize = 2;
const PAIRS: usize = 4;

/// Start a future on the runtime, which is made at the first call.
///
/// # Errors
/// Where the system gives no threads or no descriptors. A later call tries again.
pub fn spawn<F>(future: F) -> io::Result<JoinHandle<F::Output>>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let runtime = match RUNTIME.get() {
        Some(runtime) => runtime,
        None => first()?,
    };
    // In a box, since a runtime has code of its own for each kind of future, and of these there are many.
    let future: Pin<Box<dyn Future<Output = F::Output> + Send>> = Box::pin(future);
    Ok(runtime.spawn(future))
}

/// Do what may block on a thread for that, of the runtime that the caller is on.
///
/// # Panics
/// On a thread of no runtime.
pub fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    tokio::task::spawn_blocking(work)
}

/// The same, waited for.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    joined(spawn_blocking(work)).await
}

/// What a task gave; its panic is this one's.
pub(crate) async fn joined<T>(task: JoinHandle<T>) -> T {
    match task.await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // Nobody aborts such tasks, and only a runtime that is shut down refuses work: the crate's own runtime lives as long as the process.
            Err(error) => unreachable!("{error}"),
        },
    }
}

/// One at a time: a second runtime could not be dropped by a caller that is on a thread of some runtime's own.
fn first() -> io::Result<&'static Runtime> {
    static MAKING: Mutex<()> = Mutex::new(());
    let _one = MAKING.lock();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let made = make()?;
    Ok(RUNTIME.get_or_init(|| made))
}

fn make() -> io::Result<Runtime> {
    try_for_room()?;
    // Asked first, as what fails half-way panics and leaves behind what it had; but it may still fail.
    let made = catch_unwind(|| {
        let runtime = Builder::new_multi_thread()
            // Turns wait far more than they work, and what may block goes to the pool. While one of two threads
            // reads a stream, the other would be woken at each write to its pipe, to find nothing to do.
            .worker_threads(1)
            .max_blocking_threads(8)
            .thread_keep_alive(KEEP)
            .thread_name("cursor-run")
            .enable_all()
            .build()?;
        drop(runtime.spawn_blocking(|| ()));
        Ok(runtime)
    });
    made.unwrap_or_else(|_| Err(io::Error::other("the system has no room for another thread")))
}

/// Whether there are threads and descriptors enough at this moment.
fn try_for_room() -> io::Result<()> {
    let _descriptors: Vec<_> = (0..PAIRS).map(|_| pipe()).collect::<io::Result<_>>()?;
    let mut waiting = Vec::with_capacity(THREADS);
    for _ in 0..THREADS {
        let (go, told) = channel::<()>();
        let thread = thread::Builder::new().spawn(move || told.recv().is_ok())?;
        waiting.push((go, thread));
    }
    for (go, thread) in waiting {
        drop(go);
        let _ended = thread.join();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 8)]
    async fn many_may_be_the_first() {
        let together = Arc::new(Barrier::new(8));
        let first = |_| {
            let together = Arc::clone(&together);
            tokio::spawn(async move {
                together.wait();
                spawn(async { 7 }).unwrap().await.unwrap()
            })
        };
        for task in (0..8).map(first).collect::<Vec<_>>() {
            assert_eq!(task.await.unwrap(), 7);
        }
    }
}
