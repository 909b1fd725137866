//! What was loaded.

use napi_derive::napi;

/// The version that was compiled in.
#[napi(catch_unwind)]
pub fn core_version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The target triple that was compiled for.
#[napi(catch_unwind)]
pub fn core_target() -> &'static str {
    env!("FUSION_CURSOR_TARGET")
}

/// Whether it was compiled without optimizations, which measurements must not be made on.
#[napi(catch_unwind)]
pub fn core_is_debug() -> bool {
    cfg!(debug_assertions)
}

/// How batches are packed, so that a test can compare what `lib/` believes.
#[napi(catch_unwind)]
pub fn batch_kinds() -> Vec<&'static str> {
    crate::stream::batch::KINDS.to_vec()
}
