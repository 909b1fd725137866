//! What the operating system does for a process, on Linux and macOS: its pipes, and signals. `windows/mod.rs` is its
//! twin.

use std::io;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
pub(super) use rustix::process::Signal;

use super::{Exit, Refusal};

/// What a process reads, as this side has it.
pub type Stdin = tokio::process::ChildStdin;
/// What a process says.
pub type Stdout = tokio::process::ChildStdout;
/// What a process says beside that.
pub type Stderr = tokio::process::ChildStderr;

/// The same before a runtime has them.
pub(super) type NewStdin = process::ChildStdin;
pub(super) type NewStdout = process::ChildStdout;
pub(super) type NewStderr = process::ChildStderr;

/// How one that was killed ends.
pub(super) const KILLED: Exit = Exit::Signal(Signal::KILL.as_raw());
/// Whether the leader itself is the agent: a launcher becomes what it launches.
pub(super) const LEADER_IS_ALL: bool = true;
/// Whether a process can be asked to end.
pub(super) const CAN_ASK: bool = true;

/// To be called on a runtime.
pub(super) fn stdin(new: NewStdin) -> io::Result<Stdin> {
    Stdin::from_std(new)
}

/// To be called on a runtime.
pub(super) fn stdout(new: NewStdout) -> io::Result<Stdout> {
    Stdout::from_std(new)
}

/// To be called on a runtime.
pub(super) fn stderr(new: NewStderr) -> io::Result<Stderr> {
    Stderr::from_std(new)
}

/// What an error of the system means, that is neither "not found" nor "not permitted".
pub(super) fn refusal(error: &io::Error) -> Refusal {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOEXEC) => Refusal::WrongFormat,
        Some(Errno::TXTBSY) => Refusal::Busy,
        Some(Errno::AGAIN) => Refusal::NoProcesses,
        Some(Errno::NOMEM | Errno::MFILE | Errno::NFILE) => Refusal::NoRoom,
        _ => Refusal::Other,
    }
}

/// The folder of the system's own programs, where the system has one such folder: on Windows.
#[must_use]
pub fn system_folder() -> Option<PathBuf> {
    None
}

/// Whether there is something to read at this moment, be it the end.
pub(super) fn has_input(pipe: impl AsFd) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut [PollFd::new(&pipe, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}

/// Let more of the output wait in the pipe, so that the process writes on while what it wrote is read.
/// Where the system allows no more, the pipe is as good as before.
#[cfg(target_os = "linux")]
pub(super) fn widen(pipe: impl AsFd) {
    let _as_before = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
}

/// Only Linux lets a pipe be widened.
#[cfg(not(target_os = "linux"))]
pub(super) fn widen(_pipe: impl AsFd) {}

/// `SIGTERM` for 15, and `SIG64` for a number without a name.
pub(super) fn signal_name(number: i32) -> String {
    const NAMES: [(Signal, &str); 17] = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::HUP, "SIGHUP"),
        (Signal::ILL, "SIGILL"),
        (Signal::INT, "SIGINT"),
        (Signal::KILL, "SIGKILL"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::SYS, "SIGSYS"),
        (Signal::TERM, "SIGTERM"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    NAMES
        .iter()
        .find(|(signal, _)| signal.as_raw() == number)
        .map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}
