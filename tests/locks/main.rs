//! Locks: between processes, against the dead, the stopped and the absent, and with clocks that jump.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

#[path = "../aside/mod.rs"]
mod aside;
mod contenders;
mod crash;
mod holders;
mod kernel;
mod obstacles;
mod stale;
mod support;
