//! The pipes of what was started, and the names of signals, on Linux and macOS.

use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

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
