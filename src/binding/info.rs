//! What was loaded.

use napi_derive::napi;

/// The version that was compiled in.
#[napi(catch_unwind)]
pub fn core_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// How batches are packed, so that a test can compare what `lib/` believes.
#[napi(catch_unwind)]
pub fn batch_kinds() -> Vec<&'static str> {
    crate::stream::batch::KINDS.to_vec()
}
