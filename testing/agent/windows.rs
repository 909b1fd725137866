//! What the operating system does for the stand-in, on Windows. `unix.rs` is its twin; what only that one can
//! do is refused when the scenario is read.
//!
//! A group of its own is one for the signs of a console, and a session of its own is being without the parent's
//! console. Neither leaves a job.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::windows::io::AsHandle as _;
use std::os::windows::process::CommandExt as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::step::Stream;

/// `CREATE_NEW_PROCESS_GROUP` and `DETACHED_PROCESS`.
const NEW_GROUP: u32 = 0x200;
const DETACHED: u32 = 0x8;

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

/// Nothing to do: a child is started in it.
#[allow(clippy::unnecessary_wraps, reason = "its twin can fail")]
pub(crate) fn own_session() -> io::Result<()> {
    Ok(())
}

/// Has a child start in a process group of its own.
pub(crate) fn own_group(command: &mut Command) {
    command.creation_flags(NEW_GROUP);
}

/// Has a child start without this process's console.
pub(crate) fn detach(command: &mut Command) {
    command.creation_flags(NEW_GROUP | DETACHED);
}

/// A child would have this process's own streams too, whatever it is given.
pub(crate) fn hold_streams() {
    for stream in [
        io::stdin().as_handle(),
        io::stdout().as_handle(),
        io::stderr().as_handle(),
    ] {
        // A stream that is none, as after a start without one, goes to nobody.
        let _ = fusion_cursor_native::process::not_inherited(stream);
    }
}

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
