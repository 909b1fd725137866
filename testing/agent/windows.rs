//! What the operating system does for the stand-in, on Windows. `unix.rs` is its twin; what only that one can
//! do is refused when the scenario is read.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::windows::io::AsHandle as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::step::Stream;

/// The signals a scenario may name: none here.
pub(crate) const SIGNALS: &[(&str, i32)] = &[];

/// One write to the handle itself: std's stdout would cut a chunk at its last line feed.
pub(crate) fn write(to: Stream, bytes: &[u8]) -> io::Result<usize> {
    let handle = if to == Stream::Stderr {
        io::stderr().as_handle().try_clone_to_owned()
    } else {
        io::stdout().as_handle().try_clone_to_owned()
    };
    File::from(handle?).write(bytes)
}

/// Reads some bytes of stdin.
pub(crate) fn read_stdin(bytes: &mut [u8]) -> io::Result<usize> {
    io::stdin().lock().read(bytes)
}

fn unix_only<T>() -> io::Result<T> {
    Err(io::Error::from(io::ErrorKind::Unsupported))
}

/// Refused.
pub(crate) fn close(_: Stream) -> io::Result<()> {
    unix_only()
}

/// Refused.
pub(crate) fn own_session() -> io::Result<()> {
    unix_only()
}

/// Nothing to do: no scenario gets this far.
pub(crate) fn own_group(_: &mut Command) {}

/// Refused.
pub(crate) fn ignore(_: i32) -> io::Result<()> {
    unix_only()
}

/// Refused.
pub(crate) fn trap(_: i32, _: impl FnMut() + Send + 'static) -> io::Result<()> {
    unix_only()
}

/// Refused.
pub(crate) fn raise(_: i32) -> io::Result<()> {
    unix_only()
}

/// Nothing that this system tells without a system call of its own.
pub(crate) fn identity() -> Value {
    json!({ "ppid": null, "pgid": null, "sid": null, "fds": null })
}
