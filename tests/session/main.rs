//! Sessions in real worktrees, with the stand-in agent.
#![cfg(unix)]
#![allow(
    clippy::duplicate_mod,
    reason = "the helpers of leases and of turns look at processes alike"
)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

#[cfg(test)]
mod disposal;
#[cfg(test)]
mod given_up;
#[cfg(test)]
#[path = "../lease/support.rs"]
mod lease;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod order;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tools;
#[cfg(test)]
#[path = "../turn/mod.rs"]
mod turn;
#[cfg(test)]
mod turns;
