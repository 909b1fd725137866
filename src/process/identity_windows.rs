//! Who a process is, and on which machine: what of it the locks write down.

use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, FILETIME, WAIT_OBJECT_0};
use windows_sys::Win32::Storage::FileSystem::SYNCHRONIZE;
use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RRF_SUBKEY_WOW6464KEY, RegGetValueW,
};
use windows_sys::Win32::System::SystemInformation::{ComputerNameDnsHostname, GetComputerNameExW};
use windows_sys::Win32::System::Threading::{
    GetProcessId, GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, WaitForSingleObject,
};
use windows_sys::w;

/// What there is under a process number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// A process that runs, and when it started: in 100 ns since 1601.
    Running(u64),
    /// A process that may not be looked at.
    Hidden,
    /// None, or one that has ended.
    Gone,
}

/// Look at a process.
pub(crate) fn look(pid: u32) -> Found {
    let access = PROCESS_QUERY_LIMITED_INFORMATION | SYNCHRONIZE;
    // SAFETY: it takes numbers only.
    let opened = unsafe { OpenProcess(access, 0, pid) };
    if opened.is_null() {
        let error = io::Error::last_os_error();
        let none = error.raw_os_error() == Some(ERROR_INVALID_PARAMETER.cast_signed());
        return if none { Found::Gone } else { Found::Hidden };
    }
    // SAFETY: the call gave this handle to us alone.
    let process = unsafe { OwnedHandle::from_raw_handle(opened) };
    let handle = process.as_raw_handle();
    // SAFETY: the handle is open. A number that is none is rounded down to one that is.
    if unsafe { GetProcessId(handle) } != pid {
        return Found::Gone;
    }
    // SAFETY: the handle is open. It is signalled once the process has ended, and not waited for.
    if unsafe { WaitForSingleObject(handle, 0) } == WAIT_OBJECT_0 {
        return Found::Gone;
    }
    let mut times = [FILETIME::default(); 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the four times live until the call returns.
    let got = unsafe {
        GetProcessTimes(
            handle,
            &raw mut *created,
            &raw mut *ended,
            &raw mut *kernel,
            &raw mut *user,
        )
    };
    if got == 0 {
        return Found::Hidden;
    }
    Found::Running(u64::from(created.dwHighDateTime) << 32 | u64::from(created.dwLowDateTime))
}

/// The name of this machine, as Node's `os.hostname()` has it.
pub(crate) fn hostname() -> String {
    let mut name = [0_u16; 256];
    let mut length = 256;
    // SAFETY: the buffer is as long as is said.
    let got = unsafe { GetComputerNameExW(ComputerNameDnsHostname, name.as_mut_ptr(), &raw mut length) };
    let length = usize::try_from(length).unwrap_or_default();
    match name.get(..length) {
        Some(name) if got != 0 => OsString::from_wide(name).to_string_lossy().into_owned(),
        _ => String::new(),
    }
}

/// Which installation of the system this is; `None` where it does not say.
pub(crate) fn installation() -> Option<String> {
    let mut text = [0_u16; 128];
    let mut bytes = u32::try_from(size_of_val(&text)).ok()?;
    // SAFETY: the names are constants that end with a NUL, and the buffer is as long as is said.
    let failed = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            w!(r"SOFTWARE\Microsoft\Cryptography"),
            w!("MachineGuid"),
            RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY,
            ptr::null_mut(),
            text.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    if failed != 0 {
        return None;
    }
    let units = text.iter().take_while(|unit| **unit != 0).copied();
    let text = String::from_utf16(&units.collect::<Vec<_>>()).ok()?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_and_its_machine_are_known() {
        let Found::Running(started) = look(std::process::id()) else {
            panic!("{:?}", look(std::process::id()));
        };
        // After 2020.
        assert!(started > 132_223_104_000_000_000, "{started}");
        assert_eq!(
            look(std::process::id() + 1),
            Found::Gone,
            "a number that is rounded down"
        );
        assert_eq!(look(0xffff_fffc), Found::Gone);
        assert!(!hostname().is_empty());
        assert!(installation().is_some_and(|guid| !guid.contains(':')));
    }
}
