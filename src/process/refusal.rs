//! What it means that a program could not be started.

use std::io;
use std::path::Path;

use super::platform;

/// Why the system refused to start a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such file any more.
    Gone,
    /// What its first line, or its header, says it is run by is missing.
    NoInterpreter,
    /// It may not be executed; or its folder may not be entered, which is for the caller to find out.
    NotPermitted,
    /// Its format is not one of this system.
    WrongFormat,
    /// Somebody is writing to it: it is just being replaced.
    Busy,
    /// The system is short of processes.
    NoProcesses,
    /// The system is short of memory or of descriptors.
    NoRoom,
    /// Anything else.
    Other,
}

impl Refusal {
    /// From what [`start`](super::start) gave. The system says "not found" of the program and of its interpreter
    /// alike, so the program is looked at again.
    #[must_use]
    pub fn of(program: &Path, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound if program.exists() => Self::NoInterpreter,
            io::ErrorKind::NotFound => Self::Gone,
            io::ErrorKind::PermissionDenied => Self::NotPermitted,
            _ => platform::refusal(error),
        }
    }

    /// Whether a try in a moment may succeed.
    #[must_use]
    pub fn passes_soon(self) -> bool {
        matches!(self, Self::Busy | Self::NoProcesses)
    }

    /// Whether a later try may succeed without anybody changing anything.
    #[must_use]
    pub fn is_transient(self) -> bool {
        self.passes_soon() || self == Self::NoRoom
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    fn of(program: &str, errno: Errno) -> Refusal {
        Refusal::of(Path::new(program), &io::Error::from(errno))
    }

    #[test]
    fn every_refusal_is_told_from_the_others() {
        assert_eq!(of("/none/agent", Errno::NOENT), Refusal::Gone);
        assert_eq!(of("/", Errno::NOENT), Refusal::NoInterpreter);
        assert_eq!(of("/", Errno::ACCESS), Refusal::NotPermitted);
        assert_eq!(of("/", Errno::NOEXEC), Refusal::WrongFormat);
        assert_eq!(of("/", Errno::TXTBSY), Refusal::Busy);
        assert_eq!(of("/", Errno::AGAIN), Refusal::NoProcesses);
        for errno in [Errno::NOMEM, Errno::MFILE, Errno::NFILE] {
            assert_eq!(of("/", errno), Refusal::NoRoom);
        }
        assert_eq!(of("/", Errno::TOOBIG), Refusal::Other);
    }

    #[test]
    fn only_what_is_gone_in_a_moment_is_tried_again() {
        for errno in [Errno::TXTBSY, Errno::AGAIN] {
            assert!(of("/", errno).passes_soon(), "{errno:?}");
        }
        for errno in [
            Errno::NOENT,
            Errno::ACCESS,
            Errno::NOEXEC,
            Errno::NOMEM,
            Errno::MFILE,
        ] {
            assert!(!of("/", errno).passes_soon(), "{errno:?}");
        }
        let unnamed = Refusal::of(Path::new("/"), &io::ErrorKind::WouldBlock.into());
        assert!(!unnamed.passes_soon(), "no error of a start");
    }

    #[test]
    fn only_shortages_pass_and_only_two_of_them_soon() {
        for (refusal, soon, later) in [
            (Refusal::Busy, true, true),
            (Refusal::NoProcesses, true, true),
            (Refusal::NoRoom, false, true),
            (Refusal::Gone, false, false),
            (Refusal::NotPermitted, false, false),
            (Refusal::Other, false, false),
        ] {
            assert_eq!(
                (refusal.passes_soon(), refusal.is_transient()),
                (soon, later),
                "{refusal:?}"
            );
        }
    }
}
