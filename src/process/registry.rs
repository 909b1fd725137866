//! Which process trees are alive, and who answers for each: what a host that ends must end too.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};

use parking_lot::Mutex;

use super::unix::Shared;

/// Who answers for a process tree: in the addon, one JavaScript environment (the main thread or a worker).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Owner(pub u32);

type Live = HashMap<u32, (Owner, Weak<Shared>)>;

static LIVE: LazyLock<Mutex<Live>> = LazyLock::new(Mutex::default);

pub(super) fn add(leader: u32, owner: Owner, tree: &Arc<Shared>) {
    LIVE.lock().insert(leader, (owner, Arc::downgrade(tree)));
}

pub(super) fn remove(leader: u32) {
    LIVE.lock().remove(&leader);
}

/// Kill every process tree of this owner at once, without waiting. Says how many there were.
///
/// For a host that ends now and can wait for nothing: a signal is on its way to each when this returns.
pub fn kill_owned_by(owner: Owner) -> usize {
    let trees: Vec<_> = {
        let live = LIVE.lock();
        live.values()
            .filter(|(of, _)| *of == owner)
            .filter_map(|(_, tree)| tree.upgrade())
            .collect()
    };
    for tree in &trees {
        tree.kill();
    }
    trees.len()
}
