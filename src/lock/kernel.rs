//! The kernel's lock on a directory, and the queue before it within this process.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout_at};

use super::system::{self, Hold};
use super::{Holder, LockError, Machine, Wait, World, holders};
use crate::cancel::Cancelled;
use crate::disk::{Folder, Identity};

/// The kernel's lock on a directory, held by an open descriptor of its own; gone with the process, and not
/// inherited by children. Fair within the process: first come, first served.
#[derive(Debug)]
pub struct KernelLock {
    /// False where the file system has no locks: then only the lock directory protects, and a warning was logged.
    pub held: bool,
    folder: Folder,
    _hold: Option<Hold>,
    // The last to go: whoever is next in the queue finds the directory unlocked.
    _turn: Turn,
}

/// What a try gave.
#[derive(Debug)]
pub(super) enum Tried {
    Locked(Hold),
    Busy,
    /// The file system, or the system, has no such locks for this process.
    Unsupported(std::io::Error),
}

/// Where those of this process wait that want the same directory.
#[derive(Debug, Default)]
struct Queue {
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Epoch milliseconds: since when somebody here has the turn; 0 for nobody.
    since: AtomicI64,
}

static QUEUES: LazyLock<Mutex<HashMap<Identity, Weak<Queue>>>> = LazyLock::new(Mutex::default);

#[derive(Debug)]
struct Turn {
    queue: Arc<Queue>,
    _guard: OwnedMutexGuard<()>,
}

impl Turn {
    fn new(queue: Arc<Queue>, guard: OwnedMutexGuard<()>) -> Self {
        queue.since.store(Machine::get().now_ms(), Ordering::Relaxed);
        Self { queue, _guard: guard }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.queue.since.store(0, Ordering::Relaxed);
    }
}

fn queue(folder: Identity) -> Arc<Queue> {
    let mut queues = QUEUES.lock();
    if let Some(queue) = queues.get(&folder).and_then(Weak::upgrade) {
        return queue;
    }
    queues.retain(|_, queue| queue.strong_count() > 0);
    let queue = Arc::new(Queue::default());
    queues.insert(folder, Arc::downgrade(&queue));
    queue
}

impl KernelLock {
    /// One try, no wait: `None` where somebody has it, or waits for it in this process.
    ///
    /// # Errors
    /// Where the folder cannot be opened again.
    pub fn attempt(folder: &Folder) -> Result<Option<Self>, LockError> {
        let queue = queue(folder.identity()?);
        let Ok(guard) = Arc::clone(&queue.turn).try_lock_owned() else {
            return Ok(None);
        };
        let mut turn = Some(Turn::new(queue, guard));
        Self::lock(folder, &mut turn)
    }

    /// Wait for it until the deadline, or until it is called off. A system that does not answer holds up none but this caller.
    ///
    /// # Errors
    /// [`LockError::TimedOut`] with the process that has it, as far as the system tells;
    /// [`LockError::Cancelled`]; and as [`Self::attempt`].
    pub async fn acquire(folder: &Folder, deadline: Instant, off: &Cancelled) -> Result<Self, LockError> {
        let began = Instant::now();
        let mut wait = Wait::until(deadline, off);
        let folder = Arc::new(folder.share()?);
        let timed_out = |holder| LockError::TimedOut {
            path: folder.path().to_owned(),
            waited: began.elapsed(),
            holder,
        };
        let first = Arc::clone(&folder);
        let tried = blocking(&wait, move || -> Result<_, LockError> {
            let identity = first.identity()?;
            Ok((identity, Self::attempt(&first)?))
        });
        let identity = match tried.await? {
            (_, Some(lock)) => return Ok(lock),
            (identity, None) => identity,
        };
        let queue = queue(identity);
        let turn = Arc::clone(&queue.turn).lock_owned();
        let Ok(guard) = wait.during(timeout_at(deadline, turn)).await? else {
            let since = queue.since.load(Ordering::Relaxed);
            let own = (since > 0).then(|| holder(std::process::id(), Some(since)));
            return Err(timed_out(own));
        };
        let mut turn = Some(Turn::new(queue, guard));
        loop {
            let next = Arc::clone(&folder);
            let (tried, back) = blocking(&wait, move || {
                let tried = Self::lock(&next, &mut turn);
                Ok::<_, LockError>((tried, turn))
            })
            .await?;
            turn = back;
            if let Some(lock) = tried? {
                return Ok(lock);
            }
            if !wait.pause().await? {
                return Err(timed_out(holders::of(identity).map(|pid| holder(pid, None))));
            }
        }
    }

    /// One try of whoever has the turn, which goes into the lock.
    fn lock(folder: &Folder, turn: &mut Option<Turn>) -> Result<Option<Self>, LockError> {
        let folder = folder.reopen()?;
        let hold = match system::try_lock(&folder) {
            Tried::Busy => return Ok(None),
            Tried::Locked(hold) => Some(hold),
            Tried::Unsupported(error) => {
                warn_once(&folder, &error)?;
                None
            }
        };
        Ok(turn.take().map(|turn| Self {
            held: hold.is_some(),
            folder,
            _hold: hold,
            _turn: turn,
        }))
    }

    /// Which directory is locked.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}

impl Drop for KernelLock {
    fn drop(&mut self) {
        if self.held {
            system::unlock(&self.folder);
        }
    }
}

fn holder(pid: u32, since: Option<i64>) -> Holder {
    Holder {
        pid: Some(pid),
        hostname: Some(Machine::get().hostname().to_owned()),
        since,
    }
}

async fn blocking<T: Send + 'static>(
    wait: &Wait<'_>,
    call: impl FnOnce() -> Result<T, LockError> + Send + 'static,
) -> Result<T, LockError> {
    let done = wait.during(crate::runtime::spawn_blocking(call)).await?;
    // It is only ever called off with the whole runtime, or it panicked.
    done.unwrap_or(Err(LockError::Cancelled))
}

fn warn_once(folder: &Folder, error: &std::io::Error) -> Result<(), LockError> {
    static WARNED: LazyLock<Mutex<HashSet<u64>>> = LazyLock::new(Mutex::default);
    if WARNED.lock().insert(folder.identity()?.device) {
        tracing::warn!(
            %error,
            folder = %folder.path().display(),
            "this file system has no kernel locks on folders; a lock directory alone protects what is on it"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cancel::cancel;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[tokio::test]
    async fn who_came_first_is_served_first() {
        const COUNT: usize = 5;
        let temp = tempfile::tempdir().unwrap();
        let folder = Arc::new(Folder::open(temp.path()).unwrap());
        let first = KernelLock::attempt(&folder).unwrap().unwrap();
        let line = queue(folder.identity().unwrap());
        let served = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..COUNT {
            let (folder, served) = (Arc::clone(&folder), Arc::clone(&served));
            let before = Arc::strong_count(&line);
            tasks.push(tokio::spawn(async move {
                let (_calm, calm) = cancel();
                let _lock = KernelLock::acquire(&folder, soon(), &calm).await.unwrap();
                served.lock().push(number);
            }));
            // It is in the queue once it has that in hand for good: its first try takes it for a moment.
            let mut looks = 0;
            while looks < 10 {
                tokio::time::sleep(Duration::from_millis(1)).await;
                let waits = Arc::strong_count(&line) > before;
                looks = if waits { looks + 1 } else { 0 };
            }
        }
        assert!(KernelLock::attempt(&folder).unwrap().is_none());
        drop(first);
        assert!(
            KernelLock::attempt(&folder).unwrap().is_none(),
            "others were before it"
        );
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*served.lock(), (0..COUNT).collect::<Vec<_>>());
        assert!(KernelLock::attempt(&folder).unwrap().is_some());
    }

    #[tokio::test]
    async fn who_gives_up_does_not_take_the_turn_along() {
        let temp = tempfile::tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        let first = KernelLock::attempt(&folder).unwrap().unwrap();
        let (off, is_off) = cancel();
        let soon_over = Instant::now() + Duration::from_millis(50);
        let late = KernelLock::acquire(&folder, soon_over, &is_off)
            .await
            .unwrap_err();
        let LockError::TimedOut { holder, waited, path } = late else {
            panic!("{late}");
        };
        let holder = holder.unwrap();
        assert_eq!(holder.pid, Some(std::process::id()));
        assert!(holder.since.is_some_and(|since| since > 0), "{holder}");
        assert!(waited >= Duration::from_millis(50));
        assert_eq!(path, folder.path());
        let called_off = async {
            tokio::task::yield_now().await;
            off.cancel();
        };
        let (given_up, ()) = tokio::join!(KernelLock::acquire(&folder, soon(), &is_off), called_off);
        assert!(matches!(given_up, Err(LockError::Cancelled)));
        drop(first);
        assert!(KernelLock::attempt(&folder).unwrap().is_some());
    }

    #[test]
    fn queues_do_not_pile_up() {
        for _ in 0..200 {
            let temp = tempfile::tempdir().unwrap();
            let folder = Folder::open(temp.path()).unwrap();
            drop(KernelLock::attempt(&folder).unwrap().unwrap());
        }
        let dead = QUEUES
            .lock()
            .values()
            .filter(|queue| queue.strong_count() == 0)
            .count();
        // Other tests of this process have queues too.
        assert!(dead < 100, "{dead}");
    }
}
