//! What is different on Windows: files that others hold open, names without case, long paths, locks without a file.
#![cfg(windows)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

#[cfg(test)]
#[path = "../aside/mod.rs"]
mod aside;
#[cfg(test)]
mod disk;
#[cfg(test)]
#[path = "../git/mod.rs"]
mod git;
#[cfg(test)]
mod held_open;
#[cfg(test)]
mod leases;
#[cfg(test)]
mod locks;
#[cfg(test)]
mod repositories;
