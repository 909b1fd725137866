//! The life of one JavaScript environment: what ends with it.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

use napi::{Env, Result};
use napi_derive::napi;
use parking_lot::Mutex;

use crate::bridge;
use crate::mcp;
#[cfg(unix)]
use crate::process::InTurns;
use crate::process::{Owner, Whose, call_off, end_owned_by};

/// How long an exit waits for processes to end in order: a little longer than `killGraceMs` is by default, so that
/// a turn's own SIGKILL comes first.
const EXIT_WAIT: Duration = Duration::from_millis(2250);

/// A number for this environment, under which its turns, leases and tool bridges are known. When the environment is
/// torn down, as at the end of a worker, its bridges are closed, its turns called off and its leases disposed, and that
/// goes on behind it. `process.exit` does not tear it down, so `endScope` is for that.
///
/// With `waits` the teardown waits for that as `endScope` does: nothing may run behind the last worker of a host whose
/// main thread knows nothing of this addon, and nothing does behind the main thread of Deno, which tells nobody of an
/// uncaught error before. With `is_host` all other environments end with this one.
#[napi(catch_unwind)]
pub fn open_scope(env: Env, is_host: bool, waits: bool) -> Result<u32> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    // On Windows a library hears of it when all other threads are gone already.
    #[cfg(unix)]
    crate::process::at_exit(end_host);
    let scope = NEXT.fetch_add(1, Ordering::Relaxed);
    env.add_env_cleanup_hook(scope, move |scope| {
        // A panic must not cross into Node, which would end with it.
        let _panicked = catch_unwind(|| {
            bridge::close_all(Whose::Of(Owner(scope)));
            call_off(Whose::Of(Owner(scope)));
            mcp::dispose_in_background(Owner(scope));
            if is_host && waits {
                end_scope(scope, true);
            } else if waits {
                end_in_turns(scope);
            }
            super::log::forget(scope);
        });
    })?;
    Ok(scope)
}

/// [`end_scope`] of a worker, whose end others may have to wait for.
#[cfg(unix)]
fn end_in_turns(scope: u32) {
    // What no worker waits for, the end of the process does.
    static ENDS: Mutex<InTurns> = Mutex::new(InTurns::new(EXIT_WAIT));
    if ENDS.lock().may_wait(Instant::now()) {
        end_scope(scope, false);
        ENDS.lock().has_waited(Instant::now());
    }
}

/// Nothing is ended behind this.
#[cfg(not(unix))]
fn end_in_turns(scope: u32) {
    end_scope(scope, false);
}

/// Call off everything that runs in an environment, or in all of them, and wait until its processes are gone and the
/// leases that are being taken, refreshed or given up are done: about 2 s, then what is left is killed. Then, with one
/// try and no wait, give up their leases: a process of theirs may have read the config to its end. Tool bridges are
/// closed before anything else, as nobody runs a tool any more. *Sync*: nothing comes after it, and behind the end of the
/// whole host no work on files begins, as in Bun, whose workers run until the process is gone. Says how many processes there
/// were.
#[napi(catch_unwind)]
pub fn end_scope(scope: u32, whole_host: bool) -> u32 {
    // A second end, on another thread, must not be the end of the process while the first one takes out leases. No longer
    // than that takes: a signal that somebody turns into an exit may come in the middle of it, on this very thread.
    static LAST: Mutex<()> = Mutex::new(());
    let _alone = whole_host.then(|| LAST.try_lock_for(EXIT_WAIT));
    let whose = if whole_host {
        Whose::Everybody
    } else {
        Whose::Of(Owner(scope))
    };
    bridge::close_all(whose);
    let ended = end_owned_by(whose, EXIT_WAIT);
    mcp::release_held(whose, None);
    u32::try_from(ended).unwrap_or(u32::MAX)
}

/// For a runtime that ends without a word to the workers in which alone this addon was loaded, as Bun and Deno do.
#[cfg(unix)]
fn end_host() {
    // Their functions may be of environments that are gone.
    super::log::forget_all();
    end_scope(0, true);
}
