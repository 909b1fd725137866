//! Pipes: this side's end waits for nobody, and the other one is plain to whoever gets it.

use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::windows::io::{AsRawHandle as _, OwnedHandle};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use windows_sys::Win32::Foundation::{
    GENERIC_READ, GENERIC_WRITE, HANDLE_FLAG_INHERIT, SetHandleInformation,
};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, FILE_FLAGS_AND_ATTRIBUTES,
    FILE_READ_ATTRIBUTES, FILE_WRITE_ATTRIBUTES, OPEN_EXISTING, PIPE_ACCESS_INBOUND, PIPE_ACCESS_OUTBOUND,
};
use windows_sys::Win32::System::Pipes::{
    CreateNamedPipeW, PIPE_READMODE_BYTE, PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE, PIPE_WAIT,
};

use super::handle::{done, owned};

/// How much waits in a pipe, in bytes: the process writes on while what it wrote is read.
const ROOM: u32 = 256 * 1024;

/// Both ends of a pipe.
pub(super) struct Pipe {
    pub(super) ours: OwnedHandle,
    /// Not yet to be inherited; see [`lend`].
    pub(super) theirs: OwnedHandle,
}

/// Which way it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From this host to the process.
    In,
    /// From the process to this host.
    Out,
}

impl Pipe {
    pub(super) fn new(way: Way) -> io::Result<Self> {
        let name = name();
        let (ours, theirs): (FILE_FLAGS_AND_ATTRIBUTES, u32) = match way {
            Way::In => (PIPE_ACCESS_OUTBOUND, GENERIC_READ | FILE_WRITE_ATTRIBUTES),
            Way::Out => (PIPE_ACCESS_INBOUND, GENERIC_WRITE | FILE_READ_ATTRIBUTES),
        };
        // One instance, and the first of its name: nobody else's end can be in its place.
        // SAFETY: the name ends with a zero, and there are no attributes.
        let ours = unsafe {
            CreateNamedPipeW(
                name.as_ptr(),
                ours | FILE_FLAG_OVERLAPPED | FILE_FLAG_FIRST_PIPE_INSTANCE,
                PIPE_TYPE_BYTE | PIPE_READMODE_BYTE | PIPE_WAIT | PIPE_REJECT_REMOTE_CLIENTS,
                1,
                ROOM,
                ROOM,
                0,
                ptr::null(),
            )
        };
        // SAFETY: it was just made.
        let ours = unsafe { owned(ours) }?;
        // SAFETY: as with the other end; nothing is inherited.
        let theirs = unsafe {
            CreateFileW(
                name.as_ptr(),
                theirs,
                0,
                ptr::null(),
                OPEN_EXISTING,
                0,
                ptr::null_mut(),
            )
        };
        // SAFETY: it was just made.
        let theirs = unsafe { owned(theirs) }?;
        Ok(Self { ours, theirs })
    }
}

/// From now on the next process that inherits anything may have it, so it is to be closed soon.
pub(super) fn lend(handle: &OwnedHandle) -> io::Result<()> {
    // SAFETY: the handle is open.
    done(unsafe { SetHandleInformation(handle.as_raw_handle(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) })
}

/// One that no other pipe of this machine has.
fn name() -> Vec<u16> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // The keys of the hasher come from the system's randomness.
    let chance = RandomState::new().hash_one(number);
    let name = format!(
        r"\\.\pipe\fusion-cursor-{}-{number}-{chance:016x}",
        std::process::id()
    );
    name.encode_utf16().chain([0]).collect()
}
