//! Servers staged in worktrees: what lies on the disk before, while and after.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

#[cfg(test)]
#[path = "../aside/mod.rs"]
mod aside;
#[cfg(test)]
mod edits;
#[cfg(all(test, feature = "failpoints"))]
mod faults;
#[cfg(test)]
mod life;
#[cfg(test)]
mod moved;
#[cfg(test)]
mod order;
#[cfg(test)]
mod plugin;
#[cfg(test)]
mod quarantine;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod support;
