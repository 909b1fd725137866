//! The guard of one host: when the host has gone, it ends what the host's turns have left running.
//!
//! The addon starts it, and tells it what to do; see `process::guard`. It writes nothing, to nobody.

use std::process::ExitCode;

fn main() -> ExitCode {
    fusion_cursor_native::process::guard::stand()
}
