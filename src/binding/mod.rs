//! The only room that knows N-API: one file for each thing that JavaScript sees, and no logic.
//!
//! What is exported here is private to the package; `lib/` makes the public surface from it. Every export
//! is marked `catch_unwind`, and everything asynchronous runs in tasks whose panics are caught, so a panic is
//! a JavaScript error and never the end of the host.

pub mod batch;
pub mod codes;
pub mod info;
pub mod log;
#[cfg(feature = "panic-hooks")]
pub mod panics;
pub mod parser;
pub mod probe;
mod promise;
pub mod scope;
pub mod turn;

use napi::bindgen_prelude::create_custom_tokio_runtime;
use napi_derive::module_init;

/// N-API's own runtime only waits for ours, and one thread is enough for that. It is made anew with the
/// defaults when all environments have gone and one comes again, which changes nothing but the number.
#[module_init]
fn one_waiting_thread() {
    let made = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("cursor-napi")
        .build();
    if let Ok(runtime) = made {
        create_custom_tokio_runtime(runtime);
    }
}
