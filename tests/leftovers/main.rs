//! What becomes of the processes of a turn that are still there at its end, wherever they went.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

#[cfg(test)]
mod ended;
#[cfg(test)]
mod host;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod neighbours;
#[cfg(test)]
mod support;
#[cfg(test)]
#[path = "../turn/mod.rs"]
mod turn;
