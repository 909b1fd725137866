//! Which process trees are alive, and who answers for each: what a host that ends must end too.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;

use super::unix::Shared;

/// Who answers for a process tree: in the addon, one JavaScript environment (the main thread or a worker).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u32);

#[derive(Default)]
struct Registry {
    live: HashMap<u32, (Owner, Weak<Shared>)>,
    /// Those whose processes were killed: what was still being started for them is killed when it comes.
    ended: HashSet<Owner>,
}

static REGISTRY: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

pub(super) fn add(leader: u32, owner: Owner, tree: &Arc<Shared>) {
    let mut registry = REGISTRY.lock();
    registry.live.insert(leader, (owner, Arc::downgrade(tree)));
    if registry.ended.contains(&owner) {
        tree.kill();
    }
}

pub(super) fn remove(leader: u32) {
    REGISTRY.lock().live.remove(&leader);
}

/// Kill every process tree of this owner at once, without waiting. Says how many there were.
///
/// For a host that ends now and can wait for nothing: a signal is on its way to each when this returns. One
/// that is just being started is killed as soon as it is there, and so is every later one.
pub fn kill_owned_by(owner: Owner) -> usize {
    let trees: Vec<_> = {
        let mut registry = REGISTRY.lock();
        registry.ended.insert(owner);
        registry
            .live
            .values()
            .filter(|(of, _)| *of == owner)
            .filter_map(|(_, tree)| tree.upgrade())
            .collect()
    };
    for tree in &trees {
        tree.kill();
    }
    trees.len()
}
