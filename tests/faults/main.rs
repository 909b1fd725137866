//! A disk that fails, is full or read-only: it is said so, the operator's config is whole, and all is put right once
//! the disk is well again.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

#[path = "../aside/mod.rs"]
mod aside;
mod called_off;
#[path = "../crash_matrix/child.rs"]
mod child;
mod injected;
#[path = "../crash_matrix/place.rs"]
mod place;
mod real;
#[path = "../crash_matrix/state.rs"]
mod state;
mod whole;
