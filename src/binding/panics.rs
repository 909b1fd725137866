//! Panics on purpose, so that a test can show what JavaScript sees of one. Only in builds made for that test.

use napi::Env;
use napi::bindgen_prelude::{Object, Result};
use napi_derive::napi;
use parking_lot::Mutex;

use super::promise::promise;

static ARMED: Mutex<Option<String>> = Mutex::new(None);

/// Panic the next time that this place is reached: `callback`, `task`, `stream`, `inquiry`, `staging` or `session`.
#[napi(catch_unwind)]
pub fn arm_panic(place: String) {
    *ARMED.lock() = Some(place);
}

/// Panic in a synchronous export.
#[napi(catch_unwind)]
#[allow(clippy::panic, reason = "this is what it is for")]
pub fn panic_in_sync() {
    panic!("a panic in a synchronous export");
}

/// Panic in an asynchronous export.
#[napi(catch_unwind, ts_return_type = "Promise<void>")]
#[allow(clippy::panic, clippy::missing_errors_doc, reason = "this is what it is for")]
pub fn panic_in_async(env: &Env) -> Result<Object<'_>> {
    promise::<()>(env, async { panic!("a panic in an asynchronous export") })
}

/// Panic here if this place is armed.
#[allow(clippy::panic, reason = "this is what it is for")]
pub(super) fn trip(place: &str) {
    let armed = ARMED.lock().take_if(|armed| armed == place).is_some();
    assert!(!armed, "a panic in {place}");
}
