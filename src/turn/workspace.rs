//! Which workspaces turns run in, and what turns that are over have left there.
//!
//! Cursor's CLI shares helper processes between the runs of one workspace. So what a good turn leaves behind is not
//! ended while another turn runs there: the last one that ends sees to all of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use parking_lot::Mutex;

use crate::process::Pending;

#[derive(Default)]
struct Workspace {
    turns: usize,
    pending: Option<Pending>,
}

/// Those where a turn runs, by the path that no link leads to.
static BUSY: LazyLock<Mutex<HashMap<PathBuf, Workspace>>> = LazyLock::new(Mutex::default);

/// A turn in its workspace, counted until it leaves. Dropped, it leaves, and is last as any other: what is pending
/// is then killed.
#[derive(Debug)]
pub(super) struct Stay {
    /// `None` once it has left.
    counted: Option<PathBuf>,
    folder: PathBuf,
}

impl Stay {
    /// Begin one. The folder is looked at on the disk.
    pub(super) fn begin(cwd: &Path) -> Self {
        let folder = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        BUSY.lock().entry(folder.clone()).or_default().turns += 1;
        Self {
            counted: Some(folder.clone()),
            folder,
        }
    }

    /// The turn runs no more. The last one in the workspace gets what is pending there.
    pub(super) fn leave(&mut self) -> Last {
        let Some(folder) = self.counted.take() else {
            return Last::No;
        };
        let mut busy = BUSY.lock();
        let Some(workspace) = busy.get_mut(&folder) else {
            return Last::Yes(None);
        };
        workspace.turns -= 1;
        if workspace.turns > 0 {
            return Last::No;
        }
        Last::Yes(busy.remove(&folder).and_then(|workspace| workspace.pending))
    }

    /// Leave this to the last turn in the workspace; where none runs there any more, it is given back.
    pub(super) fn leave_behind(&self, left: Pending) -> Option<Pending> {
        let mut busy = BUSY.lock();
        let Some(workspace) = busy.get_mut(&self.folder) else {
            return Some(left);
        };
        match &mut workspace.pending {
            Some(pending) => pending.join(left),
            none => *none = Some(left),
        }
        None
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        // The lock is given back before what is pending is dropped.
        drop(self.leave());
    }
}

/// Whether a turn was the last one in its workspace.
#[derive(Debug)]
pub(super) enum Last {
    No,
    /// With what is pending there.
    Yes(Option<Pending>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Owner;

    fn pending() -> Pending {
        Pending::none(Owner(0))
    }

    /// Another path of the same folder.
    fn respelled(folder: &Path) -> PathBuf {
        #[cfg(unix)]
        let other = {
            let link = folder.join("link");
            std::os::unix::fs::symlink(folder, &link).unwrap();
            link
        };
        #[cfg(not(unix))]
        let other = folder.to_str().unwrap().to_uppercase().into();
        other
    }

    #[test]
    fn the_last_one_to_leave_gets_what_is_pending() {
        let folder = tempfile::tempdir().unwrap();
        let (mut first, mut second) = (Stay::begin(folder.path()), Stay::begin(&respelled(folder.path())));
        assert!(matches!(first.leave(), Last::No));
        assert!(matches!(first.leave(), Last::No), "twice is once");
        assert!(first.leave_behind(pending()).is_none());
        assert!(first.leave_behind(pending()).is_none());
        assert!(matches!(second.leave(), Last::Yes(Some(_))));
        assert!(first.leave_behind(pending()).is_some(), "nobody would see to it");
        assert!(matches!(Stay::begin(folder.path()).leave(), Last::Yes(None)));
    }

    #[test]
    fn one_that_is_dropped_has_left() {
        let folder = tempfile::tempdir().unwrap();
        let (dropped, mut other) = (Stay::begin(folder.path()), Stay::begin(folder.path()));
        drop(dropped);
        assert!(matches!(other.leave(), Last::Yes(None)));
        drop(other);
        assert!(!BUSY.lock().contains_key(&folder.path().canonicalize().unwrap()));
    }

    #[test]
    fn turns_elsewhere_do_not_count() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (mut stay, _other) = (Stay::begin(here.path()), Stay::begin(there.path()));
        assert!(matches!(stay.leave(), Last::Yes(None)));
    }
}
