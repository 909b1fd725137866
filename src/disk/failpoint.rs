//! A hook at each step that changes a disk. Without the feature `failpoints` a step is just done.
//!
//! A test sees by it which steps there are, ends its process before or after one of them, lets one fail, or does
//! something of its own in between.

use std::io;
use std::path::Path;

#[cfg(feature = "failpoints")]
pub use armed::{Armed, Hook, Moment, Step, Verdict, arm};

/// Do one step on `name` in `folder`, or on the folder itself.
pub(crate) fn step<T>(
    what: &'static str,
    folder: &Path,
    name: &str,
    act: impl FnOnce() -> io::Result<T>,
) -> io::Result<T> {
    #[cfg(feature = "failpoints")]
    return armed::step(what, &armed::path(folder, name), act);
    #[cfg(not(feature = "failpoints"))]
    plain(what, folder, name, act)
}

#[cfg(not(feature = "failpoints"))]
fn plain<T>(_: &'static str, _: &Path, _: &str, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    act()
}

/// Write these bytes in one step, or fewer of them where the hook wants it so.
pub(super) fn write(
    what: &'static str,
    folder: &Path,
    name: &str,
    bytes: &[u8],
    act: impl FnOnce(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    #[cfg(feature = "failpoints")]
    return armed::write(what, &armed::path(folder, name), bytes, act);
    #[cfg(not(feature = "failpoints"))]
    step(what, folder, name, || act(bytes))
}

#[cfg(feature = "failpoints")]
mod armed {
    use std::cell::Cell;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use parking_lot::Mutex;

    /// A step as a hook sees it.
    #[derive(Debug, Clone, Copy)]
    pub struct Step<'a> {
        /// From 1, among those that this hook sees.
        pub number: u64,
        /// Which kind of step: "replace.rename", "make".
        pub what: &'static str,
        /// The file or folder that it changes.
        pub path: &'a Path,
        /// Whether it is about to be done, or was done without an error.
        pub moment: Moment,
    }

    /// Each step is shown twice.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Moment {
        /// Nothing of it was done.
        Before,
        /// It was done.
        After,
    }

    /// What becomes of a step. After it, all but `Go` is as good as `Go`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Verdict {
        /// It is done.
        Go,
        /// It is not done, and fails with this `errno`.
        Fail(i32),
        /// Of a write, so many bytes at most are written, then it fails with this `errno`.
        Short(usize, i32),
    }

    /// Called at each step, one at a time. Steps that it does itself are shown to no hook.
    pub type Hook = Box<dyn FnMut(&Step<'_>) -> Verdict + Send>;

    /// What a post looks at, and the post. Apart, since a hook may take its time, and no other's steps wait for it.
    type Watched = (PathBuf, Arc<Mutex<Post>>);

    struct Post {
        count: u64,
        hook: Hook,
    }

    impl Post {
        fn ask(&mut self, step: &Step<'_>) -> Verdict {
            IN_HOOK.set(true);
            let verdict = (self.hook)(step);
            IN_HOOK.set(false);
            verdict
        }
    }

    thread_local! {
        static IN_HOOK: Cell<bool> = const { Cell::new(false) };
    }

    static POSTS: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

    /// A hook in its place; it is taken away when this is dropped.
    #[must_use = "the hook is taken away with it"]
    pub struct Armed(Arc<Mutex<Post>>);

    impl Armed {
        /// How many steps it has seen.
        #[must_use]
        pub fn count(&self) -> u64 {
            self.0.lock().count
        }
    }

    impl Drop for Armed {
        fn drop(&mut self) {
            POSTS.lock().retain(|(_, post)| !Arc::ptr_eq(post, &self.0));
        }
    }

    /// Have a hook called at each step on what lies under this folder, given by its canonical path.
    pub fn arm(under: &Path, hook: Hook) -> Armed {
        let post = Arc::new(Mutex::new(Post { count: 0, hook }));
        POSTS.lock().push((under.to_owned(), Arc::clone(&post)));
        Armed(post)
    }

    /// The posts that see a step, and which number it has with each.
    type Numbered = Vec<(Arc<Mutex<Post>>, u64)>;

    fn before(what: &'static str, path: &Path) -> (Numbered, Verdict) {
        if IN_HOOK.get() {
            return (Vec::new(), Verdict::Go);
        }
        let watching = |(under, post): &Watched| path.starts_with(under).then(|| Arc::clone(post));
        let posts: Vec<_> = POSTS.lock().iter().filter_map(watching).collect();
        let mut numbered = Vec::new();
        let mut all = Verdict::Go;
        for post in posts {
            let mut at = post.lock();
            at.count += 1;
            let number = at.count;
            let step = Step {
                number,
                what,
                path,
                moment: Moment::Before,
            };
            let verdict = at.ask(&step);
            if all == Verdict::Go {
                all = verdict;
            }
            drop(at);
            numbered.push((post, number));
        }
        (numbered, all)
    }

    fn after(what: &'static str, path: &Path, numbered: Numbered) {
        for (post, number) in numbered {
            let step = Step {
                number,
                what,
                path,
                moment: Moment::After,
            };
            let _done_already = post.lock().ask(&step);
        }
    }

    pub(super) fn path(folder: &Path, name: &str) -> PathBuf {
        if name.is_empty() {
            folder.to_owned()
        } else {
            folder.join(name)
        }
    }

    pub(super) fn step<T>(
        what: &'static str,
        path: &Path,
        act: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let (numbered, verdict) = before(what, path);
        if let Verdict::Fail(errno) | Verdict::Short(_, errno) = verdict {
            return Err(io::Error::from_raw_os_error(errno));
        }
        let done = act()?;
        after(what, path, numbered);
        Ok(done)
    }

    pub(super) fn write(
        what: &'static str,
        path: &Path,
        bytes: &[u8],
        act: impl FnOnce(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let (numbered, verdict) = before(what, path);
        match verdict {
            Verdict::Go => act(bytes)?,
            Verdict::Fail(errno) => return Err(io::Error::from_raw_os_error(errno)),
            Verdict::Short(count, errno) => {
                act(&bytes[..count.min(bytes.len())])?;
                return Err(io::Error::from_raw_os_error(errno));
            }
        }
        after(what, path, numbered);
        Ok(())
    }
}
