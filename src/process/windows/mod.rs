//! What the operating system does for a process, on Windows: its pipes, its job, and what errors mean. `unix.rs` is
//! its twin.

mod block;
pub(in crate::process) mod create;
pub(in crate::process) mod handle;
pub(in crate::process) mod job;
mod pipe;

use std::io;
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::io::{AsRawHandle as _, IntoRawHandle as _, OwnedHandle};
use std::path::PathBuf;
use std::ptr;

use tokio::net::windows::named_pipe::NamedPipeServer;
use windows_sys::Win32::Foundation as code;
use windows_sys::Win32::Foundation::MAX_PATH;
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::SystemInformation::GetSystemDirectoryW;

use super::{Exit, Refusal};

/// What a process reads, as this side has it.
pub type Stdin = NamedPipeServer;
/// What a process says.
pub type Stdout = NamedPipeServer;
/// What a process says beside that.
pub type Stderr = NamedPipeServer;

/// The same before a runtime has them.
pub(super) type NewStdin = OwnedHandle;
pub(super) type NewStdout = OwnedHandle;
pub(super) type NewStderr = OwnedHandle;

/// The exit code of one that was killed: Node's own `kill` gives it too.
pub(super) const KILLED_CODE: u32 = 1;
/// How one that was killed ends.
pub(super) const KILLED: Exit = Exit::Code(KILLED_CODE.cast_signed());
/// Whether the leader itself is the agent: a shell waits for what it has launched.
pub(super) const LEADER_IS_ALL: bool = false;
/// Whether a process can be asked to end: without a console in common there is no way.
pub(super) const CAN_ASK: bool = false;

/// The two signals that a teardown knows, by their numbers elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signal(i32);

impl Signal {
    /// Nobody hears it here.
    pub(super) const TERM: Self = Self(15);
    /// Ends a process.
    pub(super) const KILL: Self = Self(9);
}

/// To be called on a runtime.
pub(super) fn stdin(new: NewStdin) -> io::Result<Stdin> {
    on_runtime(new)
}

/// To be called on a runtime.
pub(super) fn stdout(new: NewStdout) -> io::Result<Stdout> {
    on_runtime(new)
}

/// To be called on a runtime.
pub(super) fn stderr(new: NewStderr) -> io::Result<Stderr> {
    on_runtime(new)
}

fn on_runtime(pipe: OwnedHandle) -> io::Result<NamedPipeServer> {
    // SAFETY: it is the server's end of a pipe, made for overlapped use, and its only owner gives it away.
    unsafe { NamedPipeServer::from_raw_handle(pipe.into_raw_handle()) }
}

/// Whether there is something to read at this moment, be it the end, beside what the runtime is about to take.
pub(super) fn has_input(pipe: &Stdout) -> bool {
    let mut waiting = 0;
    // SAFETY: the handle is open while the pipe is borrowed; only the count is asked for.
    let known = unsafe {
        PeekNamedPipe(
            pipe.as_raw_handle(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            &raw mut waiting,
            ptr::null_mut(),
        )
    };
    known == 0 || waiting > 0
}

/// The pipes are made as wide as they are to be.
pub(super) fn widen(_pipe: &NewStdout) {}

/// Nothing ends by a signal here; those that there are have their names.
pub(super) fn signal_name(number: i32) -> String {
    match Signal(number) {
        Signal::TERM => "SIGTERM".into(),
        Signal::KILL => "SIGKILL".into(),
        _ => format!("SIG{number}"),
    }
}

/// What an error of the system means, that is neither "not found" nor "not permitted".
pub(super) fn refusal(error: &io::Error) -> Refusal {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(code::ERROR_BAD_EXE_FORMAT | code::ERROR_EXE_MACHINE_TYPE_MISMATCH) => Refusal::WrongFormat,
        Some(
            code::ERROR_ELEVATION_REQUIRED
            | code::ERROR_VIRUS_INFECTED
            | code::ERROR_ACCESS_DISABLED_BY_POLICY,
        ) => Refusal::NotPermitted,
        // Whoever writes a program, or looks at a new one for viruses, has it for itself meanwhile.
        Some(code::ERROR_SHARING_VIOLATION | code::ERROR_LOCK_VIOLATION | code::ERROR_USER_MAPPED_FILE) => {
            Refusal::Busy
        }
        Some(
            code::ERROR_NOT_ENOUGH_MEMORY
            | code::ERROR_OUTOFMEMORY
            | code::ERROR_COMMITMENT_LIMIT
            | code::ERROR_NO_SYSTEM_RESOURCES
            | code::ERROR_TOO_MANY_OPEN_FILES,
        ) => Refusal::NoRoom,
        _ => Refusal::Other,
    }
}

/// The folder of the system's own programs, as in `C:\Windows\System32`.
#[must_use]
pub fn system_folder() -> Option<PathBuf> {
    let mut text = [0_u16; MAX_PATH as usize];
    // SAFETY: the buffer is as long as is said, and lives through the call.
    let length = unsafe { GetSystemDirectoryW(text.as_mut_ptr(), MAX_PATH) };
    // A length beyond the buffer's means that it was too short.
    let text = text.get(..usize::try_from(length).ok()?)?;
    (!text.is_empty()).then(|| PathBuf::from(std::ffi::OsString::from_wide(text)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_system_folder_is_told() {
        let folder = system_folder().unwrap();
        assert!(
            folder.is_absolute() && folder.join("cmd.exe").is_file(),
            "{folder:?}"
        );
    }

    #[test]
    fn refusals_are_told_from_each_other() {
        let of = |code: u32| {
            Refusal::of(
                Path::new(r"C:\none\agent.exe"),
                &io::Error::from_raw_os_error(code.cast_signed()),
            )
        };
        for (code, refusal) in [
            (code::ERROR_FILE_NOT_FOUND, Refusal::Gone),
            (code::ERROR_PATH_NOT_FOUND, Refusal::Gone),
            (code::ERROR_ACCESS_DENIED, Refusal::NotPermitted),
            (code::ERROR_BAD_EXE_FORMAT, Refusal::WrongFormat),
            (code::ERROR_SHARING_VIOLATION, Refusal::Busy),
            (code::ERROR_COMMITMENT_LIMIT, Refusal::NoRoom),
            (code::ERROR_INVALID_PARAMETER, Refusal::Other),
        ] {
            assert_eq!(of(code), refusal, "{code}");
        }
    }
}
