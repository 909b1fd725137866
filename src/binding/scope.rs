//! The life of one JavaScript environment: what ends with it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use napi::{Env, Result};
use napi_derive::napi;

use crate::process::{Owner, Whose, call_off, end_owned_by};

/// How long an exit waits for processes to end in order: a little longer than `killGraceMs` is by default, so that
/// a turn's own SIGKILL comes first.
const EXIT_WAIT: Duration = Duration::from_millis(2250);

/// A number for this environment, under which its turns are known. They are called off when the environment is
/// torn down, as at the end of a worker, and their processes end behind it. `process.exit` does not tear it down,
/// so `endScope` is for that.
#[napi(catch_unwind)]
pub fn open_scope(env: Env) -> Result<u32> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let scope = NEXT.fetch_add(1, Ordering::Relaxed);
    env.add_env_cleanup_hook(scope, |scope| {
        call_off(Whose::Of(Owner(scope)));
        super::log::forget(scope);
    })?;
    Ok(scope)
}

/// Call off everything that runs in an environment, or in all of them, and wait until its processes are gone: about
/// 2 s, then what is left is killed. *Sync*: nothing comes after it. Says how many there were.
#[napi(catch_unwind)]
pub fn end_scope(scope: u32, whole_host: bool) -> u32 {
    let whose = if whole_host {
        Whose::Everybody
    } else {
        Whose::Of(Owner(scope))
    };
    u32::try_from(end_owned_by(whose, EXIT_WAIT)).unwrap_or(u32::MAX)
}
