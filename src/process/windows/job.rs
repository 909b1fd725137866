//! Jobs: what holds all processes of a turn together, whatever becomes of their parents.
//!
//! A process is in the job of the one that started it, and cannot leave. When the last handle to a job is closed, all
//! in it end: and this host's handles are closed however it ends. So no guard is needed here.

use std::ffi::c_void;
use std::io;
use std::mem::{offset_of, size_of};
use std::os::windows::io::{AsRawHandle as _, BorrowedHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_MORE_DATA, HANDLE};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_PROCESS_ID_LIST, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectBasicProcessIdList,
    JobObjectExtendedLimitInformation, QueryInformationJobObject, SetInformationJobObject,
    TerminateJobObject,
};

use super::KILLED_CODE;
use super::handle::{done, owned};

/// The only handle to a job; no other process has one.
#[derive(Debug)]
pub(in crate::process) struct Job(OwnedHandle);

/// So many members are asked for at first, and twice as many each time there are more.
const MEMBERS: usize = 64;

impl Job {
    /// An empty one, that ends with this host.
    pub(in crate::process) fn new() -> io::Result<Self> {
        // SAFETY: without attributes and a name, so that nobody inherits it or opens it by one.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        // SAFETY: it was just made.
        let job = Self(unsafe { owned(handle) }?);
        job.limit(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
        Ok(job)
    }

    /// For a process that is to be in it from its beginning.
    pub(super) fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    fn limit(&self, flags: JOB_OBJECT_LIMIT) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = flags;
        let length = u32::try_from(size_of_val(&limits)).map_err(io::Error::other)?;
        // SAFETY: the structure is the one that goes with this class, and as long as is said.
        done(unsafe {
            SetInformationJobObject(
                self.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast::<c_void>(),
                length,
            )
        })
    }

    /// Take a process in, and all that it will start.
    pub(in crate::process) fn take(&self, process: BorrowedHandle<'_>) -> io::Result<()> {
        // SAFETY: both handles are open.
        done(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process.as_raw_handle()) })
    }

    /// Let those in it outlive this host, and the job.
    pub(in crate::process) fn release(&self) -> io::Result<()> {
        self.limit(0)
    }

    /// End all in it.
    pub(in crate::process) fn terminate(&self) -> io::Result<()> {
        // SAFETY: the handle is open.
        done(unsafe { TerminateJobObject(self.0.as_raw_handle(), KILLED_CODE) })
    }

    /// The process ids of all in it that have not ended.
    pub(in crate::process) fn members(&self) -> io::Result<Vec<i32>> {
        const HEAD: usize = offset_of!(JOBOBJECT_BASIC_PROCESS_ID_LIST, ProcessIdList);
        const WORD: usize = size_of::<usize>();
        let mut room = MEMBERS;
        loop {
            let mut words = vec![0_usize; HEAD.div_ceil(WORD) + room];
            let length = u32::try_from(words.len() * WORD).map_err(io::Error::other)?;
            // SAFETY: the buffer is as long as is said, and aligned as the structure needs it.
            let answer = unsafe {
                QueryInformationJobObject(
                    self.0.as_raw_handle(),
                    JobObjectBasicProcessIdList,
                    words.as_mut_ptr().cast::<c_void>(),
                    length,
                    ptr::null_mut(),
                )
            };
            if let Err(error) = done(answer) {
                if error.raw_os_error() == Some(ERROR_MORE_DATA.cast_signed()) {
                    room *= 2;
                    continue;
                }
                return Err(error);
            }
            // SAFETY: what was asked for begins with this structure, of plain numbers.
            let head = unsafe { words.as_ptr().cast::<JOBOBJECT_BASIC_PROCESS_ID_LIST>().read() };
            let listed = usize::try_from(head.NumberOfProcessIdsInList).map_err(io::Error::other)?;
            // Not for ever, where some that are assigned are never listed.
            if head.NumberOfAssignedProcesses > head.NumberOfProcessIdsInList && listed >= room {
                room *= 2;
                continue;
            }
            let pids = words.iter().skip(HEAD / WORD).take(listed);
            // A process id is a number of 32 bits in a word of any size.
            return Ok(pids
                .filter_map(|pid| u32::try_from(*pid).ok())
                .map(u32::cast_signed)
                .collect());
        }
    }
}
