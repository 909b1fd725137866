//! Processes as Windows tells of them.

use std::ffi::{OsString, c_void};
use std::io;
use std::mem::size_of;
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, OwnedHandle};

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessCommandLineInformation};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_NO_MORE_FILES, FALSE, FILETIME, UNICODE_STRING,
};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_ACCESS_RIGHTS, PROCESS_NAME_WIN32,
    PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, QueryFullProcessImageNameW,
    TerminateProcess,
};

use super::Identity;
use super::chain::Link;
use crate::process::platform::handle::{done, ended, owned};
use crate::process::platform::{KILLED_CODE, Signal};

const LOOK: PROCESS_ACCESS_RIGHTS = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;

/// A look opens nothing here that a host may run out of.
pub(super) fn prepare() {}

/// Whether a look that failed for this may soon succeed.
pub(super) fn passes(_error: &io::Error) -> bool {
    false
}

/// Nobody is adopted here.
pub(super) fn reap(_pid: i32) {}

/// Sessions are something else here.
pub(super) fn own_session() -> i32 {
    0
}

/// All processes of the machine: number, parent and program.
pub(super) fn table() -> io::Result<Vec<Link>> {
    // SAFETY: the call takes numbers.
    let snapshot = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) };
    // SAFETY: it was just made.
    let snapshot = unsafe { owned(snapshot) }?;
    let mut entry = PROCESSENTRY32W {
        dwSize: u32::try_from(size_of::<PROCESSENTRY32W>()).map_err(io::Error::other)?,
        ..PROCESSENTRY32W::default()
    };
    let mut all = Vec::new();
    // SAFETY: the snapshot is open, and the entry says how long it is.
    let mut answer = unsafe { Process32FirstW(snapshot.as_raw_handle(), &raw mut entry) };
    loop {
        match done(answer) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(ERROR_NO_MORE_FILES.cast_signed()) => return Ok(all),
            Err(error) => return Err(error),
        }
        let name = entry
            .szExeFile
            .split(|unit| *unit == 0)
            .next()
            .unwrap_or_default();
        all.push(Link {
            pid: entry.th32ProcessID.cast_signed(),
            parent: entry.th32ParentProcessID.cast_signed(),
            image: String::from_utf16_lossy(name),
        });
        // SAFETY: as above.
        answer = unsafe { Process32NextW(snapshot.as_raw_handle(), &raw mut entry) };
    }
}

/// When it started, and whether it has ended; `None` where there is none of this number, or it may not be looked at.
pub(super) fn life(pid: i32) -> Option<(u64, bool)> {
    let process = open(pid, LOOK).ok()?;
    Some((start_of(&process)?, ended(process.as_handle(), 0)))
}

/// Whether this very process has not ended.
pub(super) fn alive(id: Identity) -> bool {
    match open(id.pid, LOOK) {
        Ok(process) => start_of(&process) == Some(id.started) && !ended(process.as_handle(), 0),
        // Who cannot be looked at is not known to be gone.
        Err(error) => error.raw_os_error() == Some(ERROR_ACCESS_DENIED.cast_signed()),
    }
}

/// When the process of this number started, in units of 100 ns since 1601.
pub(super) fn started(pid: i32) -> Option<u64> {
    start_of(&open(pid, LOOK).ok()?)
}

/// Its command line, or where the system does not tell that, its program.
pub(super) fn command(pid: i32) -> Option<Vec<u8>> {
    let process = open(pid, LOOK).ok()?;
    let text = line_of(&process).or_else(|| program_of(&process))?;
    Some(
        OsString::from_wide(&text)
            .to_string_lossy()
            .into_owned()
            .into_bytes(),
    )
}

fn line_of(process: &OwnedHandle) -> Option<Vec<u16>> {
    // No command line is longer, and its head goes before it.
    const LONGEST: u32 = 2 * 32_768 + 64;
    let mut words = vec![0_usize; usize::try_from(LONGEST).ok()?.div_ceil(size_of::<usize>())];
    let mut needed = 0;
    // SAFETY: the buffer is as long as is said, and aligned for the text's head that is written to its beginning.
    let status = unsafe {
        NtQueryInformationProcess(
            process.as_raw_handle(),
            ProcessCommandLineInformation,
            words.as_mut_ptr().cast::<c_void>(),
            LONGEST,
            &raw mut needed,
        )
    };
    if status < 0 {
        return None;
    }
    // SAFETY: the call has written it there.
    let text = unsafe { words.as_ptr().cast::<UNICODE_STRING>().read() };
    if text.Buffer.is_null() || text.Length == 0 {
        return None;
    }
    let length = usize::from(text.Length) / size_of::<u16>();
    // SAFETY: the text lies behind its head in the same buffer, and is as long as that says.
    Some(unsafe { std::slice::from_raw_parts(text.Buffer, length) }.to_vec())
}

fn program_of(process: &OwnedHandle) -> Option<Vec<u16>> {
    let mut text = vec![0_u16; 32_768];
    let mut length = u32::try_from(text.len()).ok()?;
    // SAFETY: the handle is open, and the buffer is as long as is said.
    let told = unsafe {
        QueryFullProcessImageNameW(
            process.as_raw_handle(),
            PROCESS_NAME_WIN32,
            text.as_mut_ptr(),
            &raw mut length,
        )
    };
    text.truncate(usize::try_from(length).ok()?);
    (told != 0 && !text.is_empty()).then_some(text)
}

/// End exactly this process. One that is gone is a success, and so is a signal that nobody hears here.
pub(super) fn signal(id: Identity, signal: Signal) -> io::Result<()> {
    if signal != Signal::KILL {
        return Ok(());
    }
    match open(id.pid, LOOK | PROCESS_TERMINATE) {
        Ok(process) if start_of(&process) == Some(id.started) => {
            // One that is ending already refuses.
            // SAFETY: the handle is open, and was opened for this.
            let _gone = unsafe { TerminateProcess(process.as_raw_handle(), KILLED_CODE) };
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn open(pid: i32, rights: PROCESS_ACCESS_RIGHTS) -> io::Result<OwnedHandle> {
    // SAFETY: the call takes numbers.
    let process = unsafe { OpenProcess(rights, FALSE, pid.cast_unsigned()) };
    // SAFETY: it was just made.
    unsafe { owned(process) }
}

fn start_of(process: &OwnedHandle) -> Option<u64> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the four times are written to places of this function.
    let told = unsafe {
        GetProcessTimes(
            process.as_raw_handle(),
            &raw mut *created,
            &raw mut *exited,
            &raw mut *kernel,
            &raw mut *user,
        )
    };
    let [created, ..] = times;
    (told != 0).then_some(u64::from(created.dwHighDateTime) << 32 | u64::from(created.dwLowDateTime))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_very_process_is_known() {
        let own = super::super::own_pid();
        let since = started(own).unwrap();
        let id = Identity {
            pid: own,
            started: since,
        };
        assert!(alive(id));
        assert!(!alive(Identity { started: 1, ..id }));
        assert!(table().unwrap().iter().any(|link| link.pid == own));
        let line = String::from_utf8(command(own).unwrap()).unwrap();
        assert!(line.contains(".exe"), "{line}");
    }

    #[test]
    fn a_number_in_other_hands_is_not_ended() {
        let own = super::super::own_pid();
        signal(Identity { pid: own, started: 1 }, Signal::KILL).unwrap();
        signal(Identity { pid: 0, started: 0 }, Signal::KILL).unwrap_or_default();
    }
}
