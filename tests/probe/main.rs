//! Probing and model discovery, on real programs in real folders.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may")]

mod bounds;
mod candidates;
mod models;
mod states;
mod support;
