//! Starting a process that does not run yet.

use std::ffi::{OsStr, OsString, c_void};
use std::io;
use std::mem::size_of;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{HANDLE, TRUE};
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, CreateProcessW,
    DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT, InitializeProcThreadAttributeList,
    LPPROC_THREAD_ATTRIBUTE_LIST, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROCESS_INFORMATION, ResumeThread,
    STARTF_FORCEOFFFEEDBACK, STARTF_USESTDHANDLES, STARTUPINFOEXW, TerminateProcess,
    UpdateProcThreadAttribute,
};

use super::handle::{done, owned};
use super::pipe::{Pipe, Way, lend};
use super::{KILLED_CODE, block, system_folder};

/// What to start.
pub(in crate::process) struct Plan<'a> {
    /// The program's file.
    pub(in crate::process) program: &'a Path,
    /// The whole command line.
    pub(in crate::process) line: Vec<u16>,
    pub(in crate::process) cwd: &'a Path,
    pub(in crate::process) env: &'a [(OsString, OsString)],
}

/// A process without a console window, which waits for its first instruction, and this side's ends of its pipes.
pub(in crate::process) struct Suspended {
    pub(in crate::process) process: OwnedHandle,
    pub(in crate::process) pid: i32,
    pub(in crate::process) stdin: OwnedHandle,
    pub(in crate::process) stdout: OwnedHandle,
    pub(in crate::process) stderr: OwnedHandle,
    thread: OwnedHandle,
}

impl Suspended {
    /// Let it run.
    pub(in crate::process) fn resume(&self) -> io::Result<()> {
        // SAFETY: the handle is open, and of the process's first thread.
        let before = unsafe { ResumeThread(self.thread.as_raw_handle()) };
        if before == u32::MAX {
            let error = io::Error::last_os_error();
            // SAFETY: the handle is open.
            let _gone = unsafe { TerminateProcess(self.process.as_raw_handle(), KILLED_CODE) };
            return Err(error);
        }
        Ok(())
    }
}

/// Start it.
pub(in crate::process) fn create(plan: Plan<'_>) -> io::Result<Suspended> {
    let system = system_folder();
    let root = system.as_deref().and_then(Path::parent).map(Path::as_os_str);
    let block = block::block(plan.env, root)?;
    let program = text(plan.program.as_os_str())?;
    let cwd = text(&plain(plan.cwd))?;
    let mut line = plan.line;
    if line.contains(&0) {
        return Err(holds_zero());
    }
    line.push(0);
    let (stdin, stdout, stderr) = (Pipe::new(Way::In)?, Pipe::new(Way::Out)?, Pipe::new(Way::Out)?);
    let theirs = [&stdin.theirs, &stdout.theirs, &stderr.theirs];
    let handles = theirs.map(AsRawHandle::as_raw_handle);
    let mut attributes = Attributes::inheriting(&handles)?;
    let mut startup = STARTUPINFOEXW::default();
    startup.StartupInfo.cb = u32::try_from(size_of::<STARTUPINFOEXW>()).map_err(io::Error::other)?;
    startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES | STARTF_FORCEOFFFEEDBACK;
    [
        startup.StartupInfo.hStdInput,
        startup.StartupInfo.hStdOutput,
        startup.StartupInfo.hStdError,
    ] = handles;
    startup.lpAttributeList = attributes.list();
    let mut made = PROCESS_INFORMATION::default();
    for handle in theirs {
        lend(handle)?;
    }
    // SAFETY: all texts end with a zero and live through the call, the line may be written to, the block is one of
    // wide characters that ends with two zeroes, and the startup information is the longer one, as the flag says.
    done(unsafe {
        CreateProcessW(
            program.as_ptr(),
            line.as_mut_ptr(),
            ptr::null(),
            ptr::null(),
            TRUE,
            CREATE_SUSPENDED | CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
            block.as_ptr().cast::<c_void>(),
            cwd.as_ptr(),
            &raw const startup.StartupInfo,
            &raw mut made,
        )
    })?;
    // SAFETY: it was just made.
    let process = unsafe { owned(made.hProcess) };
    // SAFETY: so was this one.
    let thread = unsafe { owned(made.hThread) };
    Ok(Suspended {
        process: process?,
        thread: thread?,
        pid: made.dwProcessId.cast_signed(),
        stdin: stdin.ours,
        stdout: stdout.ours,
        stderr: stderr.ours,
    })
}

fn text(of: &OsStr) -> io::Result<Vec<u16>> {
    if block::has_zero(of) {
        return Err(holds_zero());
    }
    Ok(of.encode_wide().chain([0]).collect())
}

fn holds_zero() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a text of the command line holds a zero",
    )
}

/// A folder without the mark of a path that is taken as it is, which `cmd` takes for one of a network.
fn plain(folder: &Path) -> OsString {
    const MARK: [u16; 4] = [b'\\' as u16, b'\\' as u16, b'?' as u16, b'\\' as u16];
    let wide: Vec<u16> = folder.as_os_str().encode_wide().collect();
    match wide.strip_prefix(&MARK) {
        Some(rest) if rest.get(1) == Some(&u16::from(b':')) => OsString::from_wide(rest),
        _ => folder.as_os_str().to_owned(),
    }
}

/// The list of handles that a new process inherits: nothing else of this host is.
struct Attributes<'a> {
    /// In words, so that the list is aligned.
    room: Vec<usize>,
    _handles: &'a [HANDLE; 3],
}

impl<'a> Attributes<'a> {
    fn inheriting(handles: &'a [HANDLE; 3]) -> io::Result<Self> {
        let mut length = 0;
        // SAFETY: without a list the call only tells how long one is.
        let _too_short = unsafe { InitializeProcThreadAttributeList(ptr::null_mut(), 1, 0, &raw mut length) };
        let mut room = vec![0_usize; length.div_ceil(size_of::<usize>())];
        let list: LPPROC_THREAD_ATTRIBUTE_LIST = room.as_mut_ptr().cast();
        // SAFETY: there is as much room as the call above said.
        done(unsafe { InitializeProcThreadAttributeList(list, 1, 0, &raw mut length) })?;
        let mut attributes = Self {
            room,
            _handles: handles,
        };
        // SAFETY: the list is initialised, and the handles live as long as it does.
        done(unsafe {
            UpdateProcThreadAttribute(
                attributes.list(),
                0,
                PROC_THREAD_ATTRIBUTE_HANDLE_LIST as usize,
                handles.as_ptr().cast::<c_void>(),
                size_of_val(handles),
                ptr::null_mut(),
                ptr::null(),
            )
        })?;
        Ok(attributes)
    }

    fn list(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.room.as_mut_ptr().cast()
    }
}

impl Drop for Attributes<'_> {
    fn drop(&mut self) {
        // SAFETY: it is initialised, and used by nobody any more.
        unsafe { DeleteProcThreadAttributeList(self.list()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_written_as_cmd_understands_it() {
        for (given, becomes) in [
            (r"C:\w t", r"C:\w t"),
            (r"\\?\C:\w t", r"C:\w t"),
            (r"\\?\UNC\server\share", r"\\?\UNC\server\share"),
            (r"\\server\share", r"\\server\share"),
        ] {
            assert_eq!(plain(Path::new(given)), OsStr::new(becomes));
        }
    }
}
