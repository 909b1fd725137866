//! Starting a process that does not run yet.

use std::ffi::{OsStr, OsString, c_void};
use std::io;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::Path;
use std::ptr;

use windows_sys::Win32::Foundation::{HANDLE, MAX_PATH, TRUE};
use windows_sys::Win32::Storage::FileSystem::GetShortPathNameW;
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_SUSPENDED, CREATE_UNICODE_ENVIRONMENT, CreateProcessW,
    DeleteProcThreadAttributeList, EXTENDED_STARTUPINFO_PRESENT, InitializeProcThreadAttributeList,
    LPPROC_THREAD_ATTRIBUTE_LIST, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST,
    PROCESS_INFORMATION, ResumeThread, STARTF_FORCEOFFFEEDBACK, STARTF_USESTDHANDLES, STARTUPINFOEXW,
    TerminateProcess, UpdateProcThreadAttribute,
};

use super::handle::{done, owned};
use super::job::Job;
use super::pipe::{Pipe, Way, lend};
use super::{KILLED_CODE, block, system_folder};
use crate::process::quote::{has_lost_end, unmarked};

/// The longest path that a process can be started in, in UTF-16 units: a backslash and a zero go behind it. Of a longer
/// one Wine writes all, over what lies behind.
const LONGEST_PATH: usize = MAX_PATH as usize - 2;

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

/// Start it, in this job from the very beginning.
pub(in crate::process) fn create(plan: &Plan<'_>, job: Option<&Job>) -> io::Result<Suspended> {
    let system = system_folder();
    let root = system.as_deref().and_then(Path::parent).map(Path::as_os_str);
    let block = block::block(plan.env, root)?;
    // One that has no other path is left to the system, which starts it where its settings allow that.
    let program = plan.program.as_os_str();
    let program = text(&within_reach(program.to_owned()).unwrap_or_else(|_| program.to_owned()))?;
    let cwd = text(&folder(plan.cwd)?)?;
    let mut line = plan.line.clone();
    if line.contains(&0) {
        return Err(holds_zero());
    }
    line.push(0);
    let (stdin, stdout, stderr) = (Pipe::new(Way::In)?, Pipe::new(Way::Out)?, Pipe::new(Way::Out)?);
    let theirs = [&stdin.theirs, &stdout.theirs, &stderr.theirs];
    let handles = theirs.map(AsRawHandle::as_raw_handle);
    let jobs: Vec<HANDLE> = job.into_iter().map(Job::raw).collect();
    let mut attributes = Attributes::new(&handles, &jobs)?;
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

/// The folder to start in as the system takes it. Never another one: git would be asked about that.
fn folder(cwd: &Path) -> io::Result<OsString> {
    let plain = plain(cwd);
    let shown = plain.to_string_lossy();
    if shown.starts_with(r"\\?\") && has_lost_end(&shown) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidFilename,
            format!("no program can be started in {shown}: a name in it ends with a dot or a blank"),
        ));
    }
    within_reach(plain)
}

/// A folder without the mark of a path that is taken as it is, which `cmd` takes for one of a network.
fn plain(folder: &Path) -> OsString {
    match folder.to_str() {
        Some(text) => unmarked(text).into(),
        None => folder.as_os_str().to_owned(),
    }
}

/// A path that is short enough to start a program at or in: by the short names of its parts, where the disk has some.
fn within_reach(path: OsString) -> io::Result<OsString> {
    let fits = |path: &OsStr| path.encode_wide().count() <= LONGEST_PATH;
    if fits(&path) {
        return Ok(path);
    }
    let mut marked = OsString::from(if path.to_string_lossy().starts_with(r"\\") {
        ""
    } else {
        r"\\?\"
    });
    marked.push(&path);
    let marked = text(&marked)?;
    // No path is longer.
    let mut short = vec![0_u16; 32_768];
    let room = u32::try_from(short.len()).map_err(io::Error::other)?;
    // SAFETY: the path ends with a zero, and the buffer is as long as is said.
    let length = unsafe { GetShortPathNameW(marked.as_ptr(), short.as_mut_ptr(), room) };
    short.truncate(usize::try_from(length).map_err(io::Error::other)?);
    let short = plain(Path::new(&OsString::from_wide(&short)));
    if length > 0 && fits(&short) {
        return Ok(short);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidFilename,
        format!(
            "no program can be started in a folder whose path has more than {LONGEST_PATH} characters and no short \
             names: {}; give it a shorter one",
            path.display()
        ),
    ))
}

/// What a new process has from its beginning: the handles that it inherits, and nothing else of this host, and its jobs.
struct Attributes<'a> {
    /// In words, so that the list is aligned.
    room: Vec<usize>,
    _named: PhantomData<&'a [HANDLE]>,
}

impl<'a> Attributes<'a> {
    fn new(handles: &'a [HANDLE; 3], jobs: &'a [HANDLE]) -> io::Result<Self> {
        let of: [(_, &'a [HANDLE]); 2] = [
            (PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles),
            (PROC_THREAD_ATTRIBUTE_JOB_LIST, jobs),
        ];
        let of = of.iter().filter(|(_, named)| !named.is_empty());
        let count = u32::try_from(of.clone().count()).map_err(io::Error::other)?;
        let mut length = 0;
        // SAFETY: without a list the call only tells how long one is.
        let _too_short =
            unsafe { InitializeProcThreadAttributeList(ptr::null_mut(), count, 0, &raw mut length) };
        let mut room = vec![0_usize; length.div_ceil(size_of::<usize>())];
        let list: LPPROC_THREAD_ATTRIBUTE_LIST = room.as_mut_ptr().cast();
        // SAFETY: there is as much room as the call above said.
        done(unsafe { InitializeProcThreadAttributeList(list, count, 0, &raw mut length) })?;
        let mut attributes = Self {
            room,
            _named: PhantomData,
        };
        for (attribute, named) in of {
            // SAFETY: the list is initialised, and what is named lives as long as it does.
            done(unsafe {
                UpdateProcThreadAttribute(
                    attributes.list(),
                    0,
                    *attribute as usize,
                    named.as_ptr().cast::<c_void>(),
                    size_of_val(*named),
                    ptr::null_mut(),
                    ptr::null(),
                )
            })?;
        }
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
    use std::os::windows::io::AsHandle as _;

    use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessHandleCount};

    use super::super::handle::ended;
    use super::*;

    fn handles() -> u32 {
        let mut count = 0;
        // SAFETY: it only gives the handle that stands for this process.
        let own = unsafe { GetCurrentProcess() };
        // SAFETY: the handle is that one, and the count is a number of this function.
        done(unsafe { GetProcessHandleCount(own, &raw mut count) }).unwrap();
        count
    }

    /// A start of each kind: of a program that is not there, in a folder that is not there, of one that is ended before
    /// its first instruction, and of one that ends.
    fn starts() {
        let system = system_folder().unwrap();
        let (there, none) = (system.join("cmd.exe"), system.join("none.exe"));
        let start = |program: &Path, cwd: &Path, job: Option<&Job>| {
            let line: Vec<u16> = "x /d /c exit 3".encode_utf16().collect();
            let plan = Plan {
                program,
                line,
                cwd,
                env: &[],
            };
            create(&plan, job)
        };
        let job = Job::new().unwrap();
        for job in [None, Some(&job)] {
            assert!(start(&none, &system, job).is_err());
            assert!(start(&there, &none, job).is_err());
        }
        let unborn = start(&there, &system, Some(&job)).unwrap();
        assert_eq!(job.members().unwrap(), [unborn.pid]);
        drop(job);
        assert!(ended(unborn.process.as_handle(), 20_000));
        let ends = start(&there, &system, None).unwrap();
        ends.resume().unwrap();
        assert!(ended(ends.process.as_handle(), 20_000));
    }

    #[test]
    fn no_start_leaves_a_handle_behind() {
        const TIMES: u32 = 20;
        let mut grown = Vec::new();
        // Other tests have handles too, and not the same number all the time.
        for _ in 0..5 {
            let before = handles();
            (0..TIMES).for_each(|_| starts());
            let after = handles();
            if after < before + TIMES / 2 {
                return;
            }
            grown.push((before, after));
        }
        panic!("{grown:?}");
    }

    #[test]
    fn a_folder_that_would_be_another_one_is_refused() {
        let refused = |cwd: &str| {
            folder(Path::new(cwd)).is_err_and(|error| error.kind() == io::ErrorKind::InvalidFilename)
        };
        assert!(refused(r"\\?\C:\w.") && refused(r"\\?\UNC\server\share\w \x"));
        assert!(!refused(r"\\?\C:\w") && !refused(r"C:\x.\..\w") && !refused(r"\\server\share"));
    }

    #[test]
    fn a_folder_with_a_long_path_is_reached_by_its_short_names_or_refused() {
        let top = tempfile::tempdir().unwrap();
        let deep: std::path::PathBuf = std::iter::repeat_n("a long name of a folder é", 12).collect();
        let deep = top.path().join(deep);
        let folder = Path::new(r"\\?\").join(&deep);
        std::fs::create_dir_all(&folder).unwrap();
        for folder in [&deep, &folder] {
            let system = system_folder().unwrap();
            let plan = Plan {
                program: &system.join("cmd.exe"),
                line: "x /d /c echo x>here".encode_utf16().collect(),
                cwd: folder,
                env: &[],
            };
            match create(&plan, None) {
                Ok(process) => {
                    process.resume().unwrap();
                    assert!(ended(process.process.as_handle(), 20_000));
                    std::fs::remove_file(folder.join("here")).unwrap();
                }
                // A disk need not have short names.
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::InvalidFilename, "{error}"),
            }
        }
        let program = folder.join("program.exe");
        std::fs::copy(system_folder().unwrap().join("where.exe"), &program).unwrap();
        let short = within_reach(deep.join("program.exe").into());
        if let Ok(short) = short {
            assert!(Path::new(&short).is_file(), "{}", short.display());
        }
        assert!(within_reach("x".repeat(LONGEST_PATH).into()).is_ok());
        let none = within_reach(format!(r"C:\{}", "x\\".repeat(LONGEST_PATH)).into()).unwrap_err();
        assert!(none.to_string().contains("258"), "{none}");
        std::fs::remove_dir_all(Path::new(r"\\?\").join(top.path())).unwrap();
    }

    #[test]
    fn a_folder_is_written_as_cmd_understands_it() {
        for (given, becomes) in [
            (r"C:\w t", r"C:\w t"),
            (r"\\?\C:\w t", r"C:\w t"),
            (r"\\?\C:\w.\x", r"\\?\C:\w.\x"),
            (r"\\?\UNC\server\share", r"\\?\UNC\server\share"),
            (r"\\server\share", r"\\server\share"),
        ] {
            assert_eq!(plain(Path::new(given)), OsStr::new(becomes));
        }
    }
}
