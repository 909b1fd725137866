//! The only room that knows N-API: one file for each thing that JavaScript sees, and no logic.
//!
//! What is exported here is private to the package; `lib/` makes the public surface from it. Every export
//! is marked `catch_unwind`, and everything asynchronous runs in tasks whose panics are caught, so a panic is
//! a JavaScript error and never the end of the host.

pub mod batch;
pub mod bridge;
pub mod codes;
pub mod info;
pub mod lease;
pub mod log;
#[cfg(feature = "panic-hooks")]
pub mod panics;
pub mod parser;
pub mod probe;
mod promise;
pub mod scope;
pub mod session;
pub mod turn;
pub mod worktree;
