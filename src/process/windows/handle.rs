//! Handles of the system, as owned things.

use std::io;
use std::os::windows::io::{AsRawHandle as _, BorrowedHandle, FromRawHandle as _, OwnedHandle};

use windows_sys::Win32::Foundation::{
    HANDLE, HANDLE_FLAG_INHERIT, INVALID_HANDLE_VALUE, SetHandleInformation, WAIT_OBJECT_0,
};
use windows_sys::Win32::System::Threading::WaitForSingleObject;

/// What a call gave that makes a handle: an error of the system where that is none.
///
/// # Safety
/// The handle is nobody else's to close.
pub(in crate::process) unsafe fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is a handle, and the caller says that it has no other owner.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// What a call gave that tells whether it worked.
pub(in crate::process) fn done(answer: i32) -> io::Result<()> {
    if answer == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Whether a process has ended, or has within that many milliseconds.
pub(in crate::process) fn ended(process: BorrowedHandle<'_>, within: u32) -> bool {
    // SAFETY: the handle is open while it is borrowed.
    let waited = unsafe { WaitForSingleObject(process.as_raw_handle(), within) };
    waited == WAIT_OBJECT_0
}

/// No process that this one starts gets this handle, unless it is handed over.
///
/// # Errors
/// Where it is none.
pub fn not_inherited(handle: BorrowedHandle<'_>) -> io::Result<()> {
    // SAFETY: the handle is open while it is borrowed.
    done(unsafe { SetHandleInformation(handle.as_raw_handle(), HANDLE_FLAG_INHERIT, 0) })
}
