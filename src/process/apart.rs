//! The thread of a teardown, or what takes its place.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::survey::KILL_PATIENCE;

const STACK: usize = 256 * 1024;
/// As [`KILL_PATIENCE`], where others wait for the thread.
const BRIEF: Duration = Duration::from_millis(200);

/// How much time a teardown has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    /// Between SIGTERM and SIGKILL.
    pub(super) grace: Duration,
    /// After the first SIGKILL.
    pub(super) patience: Duration,
}

/// Do the work of a teardown on a thread of its own: a grace may be long, and many may end at once. Where the system
/// has no thread left it is done here and now, without a grace, rather than not at all.
pub(super) fn apart(grace: Duration, work: impl FnOnce(Time) + Send + 'static) {
    on_a_stack(STACK, grace, work);
}

fn on_a_stack(stack: usize, grace: Duration, work: impl FnOnce(Time) + Send + 'static) {
    let work = Arc::new(Mutex::new(Some(work)));
    let theirs = Arc::clone(&work);
    let made: io::Result<_> = thread::Builder::new()
        .name("cursor-end".into())
        .stack_size(stack)
        .spawn(move || {
            let work = theirs.lock().take();
            let patience = KILL_PATIENCE;
            work.map(|work| work(Time { grace, patience }))
        });
    if let Err(error) = made {
        tracing::warn!(%error, "no thread to end processes from: they are killed without a grace");
        let work = work.lock().take();
        if let Some(work) = work {
            let (grace, patience) = (Duration::ZERO, BRIEF);
            work(Time { grace, patience });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const GRACE: Duration = Duration::from_secs(7);

    #[test]
    fn a_teardown_has_a_thread_and_its_grace() {
        let (tell, told) = channel();
        apart(GRACE, move |time| {
            tell.send((time, thread::current().id())).unwrap();
        });
        let (time, by) = told.recv().unwrap();
        assert_eq!((time.grace, time.patience), (GRACE, KILL_PATIENCE));
        assert_ne!(by, thread::current().id());
    }

    #[test]
    fn without_a_thread_it_is_done_at_once() {
        let (tell, told) = channel();
        // No system gives a stack as large as its whole memory.
        on_a_stack(1 << 60, GRACE, move |time| {
            tell.send((time, thread::current().id())).unwrap();
        });
        let (time, by) = told.try_recv().unwrap();
        assert_eq!((time.grace, time.patience), (Duration::ZERO, BRIEF));
        assert_eq!(by, thread::current().id());
    }
}
