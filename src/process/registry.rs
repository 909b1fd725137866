//! Which process trees are alive, and who answers for each: what a host that ends must end too.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, LazyLock, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::cancel::{Cancel, Cancelled, cancel};

use super::mark::Mark;
use super::tree::Shared;

/// Who answers for a process tree: in the addon, one JavaScript environment (the main thread or a worker).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u32);

/// Whose processes are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// One owner's.
    Of(Owner),
    /// Those of all owners there are: for the end of the whole host.
    Everybody,
}

impl Whose {
    /// Whether this owner is one of them.
    #[must_use]
    pub fn includes(self, owner: Owner) -> bool {
        match self {
            Self::Of(one) => one == owner,
            Self::Everybody => true,
        }
    }
}

#[derive(Default)]
struct Registry {
    live: HashMap<Mark, (Owner, Weak<Shared>)>,
    /// How many starts and teardowns each owner is in the middle of.
    busy: HashMap<Owner, usize>,
    /// What is told to those who look out for the end of an owner.
    off: HashMap<Owner, Cancel>,
    ended: HashSet<Owner>,
    hurried: HashSet<Owner>,
    all_ended: bool,
    /// And it was waited for all that ran.
    over: bool,
    /// What was not gone in time is waited for no more.
    given_up: bool,
}

impl Registry {
    fn has_ended(&self, owner: Owner) -> bool {
        self.all_ended || self.ended.contains(&owner)
    }

    fn is_busy(&self, whose: Whose) -> bool {
        self.busy.keys().any(|owner| whose.includes(*owner))
            || self.live.values().any(|(owner, _)| whose.includes(*owner))
    }

    fn trees(&self, whose: Whose) -> Vec<Arc<Shared>> {
        let of = self.live.values().filter(|(owner, _)| whose.includes(*owner));
        of.filter_map(|(_, tree)| tree.upgrade()).collect()
    }

    fn call_off(&mut self, whose: Whose) {
        match whose {
            Whose::Of(owner) => {
                self.ended.insert(owner);
            }
            Whose::Everybody => self.all_ended = true,
        }
        let of = self.off.iter().filter(|(owner, _)| whose.includes(**owner));
        of.for_each(|(_, off)| off.cancel());
        // Who looks out from now on is told at once, and needs nothing kept.
        self.off.retain(|owner, _| !whose.includes(*owner));
    }
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);
/// Something of the registry has ended.
static FEWER: Condvar = Condvar::new();

pub(super) fn add(mark: Mark, owner: Owner, tree: &Arc<Shared>) {
    let mut registry = REGISTRY.lock();
    registry.live.insert(mark, (owner, Arc::downgrade(tree)));
    if registry.has_ended(owner) {
        tree.kill();
    }
}

pub(super) fn remove(mark: Mark) {
    REGISTRY.lock().live.remove(&mark);
    FEWER.notify_all();
}

/// Something that a host which ends waits for: a start, or the end of processes that no tree holds any more.
#[derive(Debug)]
pub struct Busy(Owner);

impl Busy {
    /// Until it is dropped.
    #[must_use]
    pub fn with(owner: Owner) -> Self {
        Self::count(&mut REGISTRY.lock(), owner)
    }

    /// The same for work on files, which must not be cut off in the middle. `None` where the whole host has ended and
    /// waits for nothing any more, while its other threads may still run.
    #[must_use]
    pub fn at_work(owner: Owner) -> Option<Self> {
        let mut registry = REGISTRY.lock();
        // Under the same lock: an end either waits for it or comes before it.
        (!registry.over).then(|| Self::count(&mut registry, owner))
    }

    /// The same for a start.
    ///
    /// # Errors
    /// Where the owner has ended: nothing is started for it any more.
    pub(super) fn starting(owner: Owner) -> io::Result<Self> {
        let mut registry = REGISTRY.lock();
        if registry.has_ended(owner) {
            return Err(io::Error::other("this JavaScript environment has ended"));
        }
        // Under the same lock: an end in between would not wait for it.
        Ok(Self::count(&mut registry, owner))
    }

    fn count(registry: &mut Registry, owner: Owner) -> Self {
        *registry.busy.entry(owner).or_default() += 1;
        Self(owner)
    }

    /// Whether whoever waits has no time for a grace any more.
    #[must_use]
    pub fn is_hurried(&self) -> bool {
        REGISTRY.lock().hurried.contains(&self.0)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let mut registry = REGISTRY.lock();
        if let Some(count) = registry.busy.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                registry.busy.remove(&self.0);
            }
        }
        drop(registry);
        FEWER.notify_all();
    }
}

/// Tells when all that runs for this owner is called off, as an abort of each.
#[must_use]
pub fn called_off(owner: Owner) -> Cancelled {
    let mut registry = REGISTRY.lock();
    if registry.has_ended(owner) {
        let (off, called_off) = cancel();
        off.cancel();
        return called_off;
    }
    registry.off.entry(owner).or_insert_with(|| cancel().0).token()
}

/// Call off all that runs for these owners, without waiting. Nothing is started for them any more. Says how many
/// trees there were; each is ended in order, with its own grace.
pub fn call_off(whose: Whose) -> usize {
    let mut registry = REGISTRY.lock();
    registry.call_off(whose);
    registry.trees(whose).len()
}

/// How long the processes that were killed are waited for.
const AFTER_KILL: Duration = Duration::from_millis(500);

/// Call off all that runs for these owners, and wait until all of its processes are gone, those of earlier aborts
/// too: up to `grace`, then whatever is left is killed. With nothing there it returns at once. It blocks.
///
/// For a host that ends now: nothing of it needs the thread that is blocked. Where it was in vain for everybody, it waits
/// no second time. Behind the end of everybody no work on files begins ([`Busy::at_work`]).
pub fn end_owned_by(whose: Whose, grace: Duration) -> usize {
    let mut registry = REGISTRY.lock();
    registry.call_off(whose);
    let count = registry.trees(whose).len();
    let deadline = Instant::now() + grace;
    while registry.is_busy(whose) && !registry.given_up {
        if !FEWER.wait_until(&mut registry, deadline).timed_out() {
            continue;
        }
        let owners = registry.live.values().map(|(owner, _)| owner);
        let owners: Vec<Owner> = owners.chain(registry.busy.keys()).copied().collect();
        registry
            .hurried
            .extend(owners.into_iter().filter(|owner| whose.includes(*owner)));
        let trees = registry.trees(whose);
        drop(registry);
        for tree in trees {
            tree.kill();
        }
        registry = REGISTRY.lock();
        let deadline = deadline + AFTER_KILL;
        while registry.is_busy(whose) && !FEWER.wait_until(&mut registry, deadline).timed_out() {}
        registry.given_up = whose == Whose::Everybody && registry.is_busy(whose);
        break;
    }
    registry.over |= whose == Whose::Everybody;
    count
}
