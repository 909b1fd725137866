//! A name that one process of the machine has at a time: that of a pipe, of which the first instance is also the
//! only one. It goes with the process, however that ends, and lies in no folder that git or anybody sees.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_FILE_NOT_FOUND, ERROR_PIPE_BUSY, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_FIRST_PIPE_INSTANCE, PIPE_ACCESS_INBOUND, SECURITY_ANONYMOUS,
};
use windows_sys::Win32::System::Pipes::{
    CreateNamedPipeW, GetNamedPipeServerProcessId, NMPWAIT_NOWAIT, PIPE_REJECT_REMOTE_CLIENTS,
    PIPE_TYPE_BYTE, WaitNamedPipeW,
};

use super::nt::is_one_of;

/// So often a name that is refused, and that nobody has, is tried: its owner may be giving it up.
const TRIES: u32 = 3;

/// A name in the hands of this process. Dropping it gives it up.
#[derive(Debug)]
pub(crate) struct Sole {
    _pipe: OwnedHandle,
}

impl Sole {
    /// Take a name; `None` where somebody has it.
    ///
    /// # Errors
    /// Where this process may have no names.
    pub(crate) fn take(name: &str) -> io::Result<Option<Self>> {
        let path = path(name);
        let mut tries = 1;
        loop {
            // SAFETY: the name ends with a NUL, and lives until the call returns.
            let pipe = unsafe {
                CreateNamedPipeW(
                    path.as_ptr(),
                    PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE,
                    PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS,
                    1,
                    0,
                    0,
                    0,
                    ptr::null(),
                )
            };
            if pipe != INVALID_HANDLE_VALUE {
                return Ok(Some(Self {
                    // SAFETY: the call gave this handle to us alone.
                    _pipe: unsafe { OwnedHandle::from_raw_handle(pipe) },
                }));
            }
            let error = io::Error::last_os_error();
            if !is_one_of(&error, &[ERROR_ACCESS_DENIED, ERROR_PIPE_BUSY]) {
                return Err(error);
            }
            if is_taken(&path) {
                return Ok(None);
            }
            if tries == TRIES {
                return Err(error);
            }
            tries += 1;
        }
    }

    /// The process that has a name, as far as it can be told: to the first who asks for each time that it is taken. Behind
    /// them the pipe is not opened again, and the name stays taken.
    pub(crate) fn owner(name: &str) -> Option<u32> {
        // Whoever has it learns nothing of us.
        let asked = OpenOptions::new()
            .write(true)
            .security_qos_flags(SECURITY_ANONYMOUS)
            .open(format!(r"\\.\pipe\{name}"))
            .ok()?;
        let mut pid = 0;
        // SAFETY: the handle is open, and the number lives until the call returns.
        let got = unsafe { GetNamedPipeServerProcessId(asked.as_raw_handle(), &raw mut pid) };
        (got != 0 && pid != 0).then_some(pid)
    }
}

fn is_taken(path: &[u16]) -> bool {
    // SAFETY: the name ends with a NUL, and lives until the call returns.
    let waiting = unsafe { WaitNamedPipeW(path.as_ptr(), NMPWAIT_NOWAIT) };
    waiting != 0 || !is_one_of(&io::Error::last_os_error(), &[ERROR_FILE_NOT_FOUND])
}

fn path(name: &str) -> Vec<u16> {
    format!(r"\\.\pipe\{name}").encode_utf16().chain([0]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time() {
        let name = format!("fusion-cursor-test-{}", std::process::id());
        assert_eq!(Sole::owner(&name), None);
        let first = Sole::take(&name).unwrap().unwrap();
        assert!(Sole::take(&name).unwrap().is_none());
        assert_eq!(Sole::owner(&name), Some(std::process::id()));
        assert_eq!(Sole::owner(&name), None, "it is told once");
        assert!(
            Sole::take(&name).unwrap().is_none(),
            "also after somebody asked whose it is"
        );
        drop(first);
        assert_eq!(Sole::owner(&name), None);
        assert!(Sole::take(&name).unwrap().is_some());
    }
}
