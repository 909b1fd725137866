//! What is left when a host has gone. The hosts are processes of their own: this test program, started again.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on fails here"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

mod crash;
mod ends;
mod fallback;
mod host;
mod itself;
mod scripts;
mod seen;
