//! What is about to start, and signals' names, on Linux and macOS.

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::Signal;

/// Put what is about to start into a group of its own, and on Linux bind its life to this host's.
pub(super) fn prepare(command: &mut Command) {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    die_with_host(command);
}

#[cfg(target_os = "linux")]
fn die_with_host(command: &mut Command) {
    use rustix::process::{getpid, getppid, set_parent_process_death_signal};
    let host = getpid();
    let bind = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // A host that died before the line above would never be noticed.
        if getppid() == Some(host) {
            Ok(())
        } else {
            Err(std::io::Error::from(rustix::io::Errno::SRCH))
        }
    };
    // SAFETY: between fork and exec only system calls are made; nothing allocates, locks or panics.
    unsafe {
        command.pre_exec(bind);
    }
}

/// Let more of the output wait in the pipe, so that the process writes on while what it wrote is read.
/// Where the system allows no more, the pipe is as good as before.
#[cfg(target_os = "linux")]
pub(super) fn widen(pipe: impl std::os::fd::AsFd) {
    let _as_before = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
}

/// Only Linux lets a pipe be widened.
#[cfg(not(target_os = "linux"))]
pub(super) fn widen(_pipe: impl std::os::fd::AsFd) {}

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
