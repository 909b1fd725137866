//! What the operating system does for the stand-in, on Unix. `windows.rs` is its twin.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::io::Errno;
use rustix::{process, stdio};
use serde_json::{Value, json};
use signal_hook::consts::signal;
use signal_hook::{flag, low_level};

use crate::step::Stream;

/// The signals a scenario may name.
pub(crate) const SIGNALS: &[(&str, i32)] = &[
    ("SIGHUP", signal::SIGHUP),
    ("SIGINT", signal::SIGINT),
    ("SIGQUIT", signal::SIGQUIT),
    ("SIGABRT", signal::SIGABRT),
    ("SIGKILL", signal::SIGKILL),
    ("SIGUSR1", signal::SIGUSR1),
    ("SIGUSR2", signal::SIGUSR2),
    ("SIGTERM", signal::SIGTERM),
    ("SIGSTOP", signal::SIGSTOP),
];

/// One `write(2)`, unbuffered: std's stdout would cut a chunk at its last line feed.
pub(crate) fn write(to: Stream, bytes: &[u8]) -> io::Result<usize> {
    let fd = if to == Stream::Stderr {
        stdio::stderr()
    } else {
        stdio::stdout()
    };
    again(|| rustix::io::write(fd, bytes))
}

/// One `read(2)`, so that nothing more than asked for leaves the pipe.
pub(crate) fn read_stdin(bytes: &mut [u8]) -> io::Result<usize> {
    again(|| rustix::io::read(stdio::stdin(), &mut *bytes))
}

fn again(mut call: impl FnMut() -> Result<usize, Errno>) -> io::Result<usize> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done.map_err(io::Error::from),
        }
    }
}

/// Gives up this process's end of a standard stream. The number stays taken, by the null device, so that no
/// file opened later can become stdout.
pub(crate) fn close(stream: Stream) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    match stream {
        Stream::Stdin => stdio::dup2_stdin(null),
        Stream::Stdout => stdio::dup2_stdout(null),
        Stream::Stderr => stdio::dup2_stderr(null),
    }
    .map_err(io::Error::from)
}

/// Moves this process into a session of its own.
pub(crate) fn own_session() -> io::Result<()> {
    process::setsid().map(drop).map_err(io::Error::from)
}

/// Has a child start in a process group of its own.
pub(crate) fn own_group(command: &mut Command) {
    command.process_group(0);
}

/// Nothing to do: a child moves itself into a session of its own.
pub(crate) fn detach(_: &mut Command) {}

/// Nothing to do: a child gets the streams that it is given, and no others.
pub(crate) fn hold_streams() {}

/// Makes the signal do nothing.
pub(crate) fn ignore(signal: i32) -> io::Result<()> {
    flag::register(signal, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Calls `on_signal` on a thread of its own each time the signal comes.
pub(crate) fn trap(signal: i32, mut on_signal: impl FnMut() + Send + 'static) -> io::Result<()> {
    let (mut receiver, sender) = UnixStream::pair()?;
    low_level::pipe::register(signal, sender)?;
    std::thread::spawn(move || {
        let mut byte = [0];
        while receiver.read_exact(&mut byte).is_ok() {
            on_signal();
        }
    });
    Ok(())
}

/// Does to this process what the signal does by default, even where it is ignored or trapped.
pub(crate) fn raise(signal: i32) -> io::Result<()> {
    low_level::emulate_default_handler(signal)
}

/// Ids of this process, and its open files where `/proc` tells them.
pub(crate) fn identity() -> Value {
    let (group, session) = group_and_session().unzip();
    json!({
        "ppid": std::os::unix::process::parent_id(),
        "pgid": group,
        "sid": session,
        "fds": open_files(),
    })
}

/// Read from `/proc`: in a PID namespace of its own the leader of either may have no number here, and what is
/// then told as 0 is no `Pid`.
#[cfg(target_os = "linux")]
fn group_and_session() -> Option<(i32, i32)> {
    let stat = std::fs::read("/proc/self/stat").ok()?;
    let after_name = stat.rsplit(|byte| *byte == b')').next()?;
    // state ppid pgrp session
    let mut ids = std::str::from_utf8(after_name).ok()?.split_whitespace().skip(2);
    Some((ids.next()?.parse().ok()?, ids.next()?.parse().ok()?))
}

#[cfg(not(target_os = "linux"))]
fn group_and_session() -> Option<(i32, i32)> {
    let number = |pid: process::Pid| pid.as_raw_nonzero().get();
    Some((
        number(process::getpgid(None).ok()?),
        number(process::getsid(None).ok()?),
    ))
}

fn open_files() -> Option<Vec<Value>> {
    let listing = format!("/proc/{}/fd", std::process::id());
    let mut found: Vec<(u32, String)> = std::fs::read_dir("/proc/self/fd")
        .ok()?
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let target = std::fs::read_link(entry.path()).ok()?;
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                target.to_string_lossy().into_owned(),
            ))
        })
        // The listing itself is open while it is read.
        .filter(|(_, target)| *target != listing)
        .collect();
    found.sort();
    Some(
        found
            .into_iter()
            .map(|(fd, target)| json!({ "fd": fd, "target": target }))
            .collect(),
    )
}
