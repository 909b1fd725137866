//! The end of a process by `exit`, of which not every runtime tells its environments.

use std::panic::catch_unwind;
use std::process;
use std::sync::OnceLock;

static LAST: OnceLock<(u32, fn())> = OnceLock::new();

/// Have this called when the process ends by `exit`. The first to ask for this process is the only one.
///
/// Not in a copy of the process that was made by `fork`: it has none of its threads, so nothing there ever ends.
pub fn at_exit(last: fn()) {
    if LAST.set((process::id(), last)).is_err() {
        return;
    }
    // SAFETY: `run` is a function of this library, which is linked so that it is never unloaded. Without room for it
    // the runtime is left to tell.
    let _no_room = unsafe { libc::atexit(run) };
}

extern "C" fn run() {
    if let Some((pid, last)) = LAST.get()
        && *pid == process::id()
    {
        // A panic must not cross into the C library.
        let _panicked = catch_unwind(last);
    }
}
