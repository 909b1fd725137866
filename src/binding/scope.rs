//! The life of one JavaScript environment: what ends with it.

use std::sync::atomic::{AtomicU32, Ordering};

use napi::{Env, Result};
use napi_derive::napi;

use crate::process::{Owner, kill_owned_by};

/// A number for this environment, under which its processes are known. They are killed when the environment is
/// torn down, as at the end of a worker; `process.exit` does not tear it down, so `endScope` is for that.
#[napi(catch_unwind)]
pub fn open_scope(env: Env) -> Result<u32> {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let scope = NEXT.fetch_add(1, Ordering::Relaxed);
    env.add_env_cleanup_hook(scope, |scope| {
        end_scope(scope);
        super::log::forget(scope);
    })?;
    Ok(scope)
}

/// Kill every process of an environment, now and without waiting. Says how many there were.
#[napi(catch_unwind)]
pub fn end_scope(scope: u32) -> u32 {
    u32::try_from(kill_owned_by(Owner(scope))).unwrap_or(u32::MAX)
}
