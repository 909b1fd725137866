//! Processes as macOS tells of them. It keeps the environment of programs that the system protects to itself, so
//! those are found by their parent and their group alone.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use libc::{c_int, c_void};
use rustix::process::{Signal, kill_process};

use super::super::mark;
pub(super) use super::posix::reap;
use super::posix::{gone_is_fine, signalled};
use super::{Identity, Process, Seen, Walk};

/// How much room is left for processes that start while they are listed.
const SPARE: usize = 64;

/// A look opens no files here.
pub(super) fn prepare() {}

/// Whether a look that failed for this may soon succeed.
pub(super) fn passes(_error: &io::Error) -> bool {
    false
}

/// Everything that started at `since` or later.
pub(super) fn walk(since: u64, marked: &dyn Fn(&[u8]) -> bool) -> io::Result<Walk> {
    let pids = pids()?;
    let listed: Vec<Process> = pids.iter().copied().filter_map(about).collect();
    // Also where one may not be known, which costs another walk and no more.
    let vanished = listed.len() < pids.len();
    let young = listed.into_iter().filter(|process| process.id.started >= since);
    let seen = young
        .map(|process| {
            let arguments = if process.zombie {
                None
            } else {
                arguments(process.id.pid)
            };
            let (_, environment) = arguments.as_deref().and_then(split).unwrap_or_default();
            Seen {
                process,
                marked: mark::value_in(environment).is_some_and(marked),
            }
        })
        .collect();
    Ok(Walk { seen, vanished })
}

/// Whether this very process has not ended.
pub(super) fn alive(id: Identity) -> bool {
    about(id.pid).is_some_and(|process| process.id == id && !process.zombie)
}

/// When the process of this number started, in microseconds since 1970.
pub(super) fn started(pid: i32) -> Option<u64> {
    about(pid).map(|process| process.id.started)
}

/// The boot; process numbers mean the same everywhere.
pub(super) fn birthplace() -> Option<String> {
    // 36 characters and a NUL.
    let mut boot = [0_u8; 64];
    let mut length = boot.len();
    let name = c"kern.bootsessionuuid";
    // SAFETY: the name ends with a NUL, and the buffer is as large as `length` says.
    let answer = unsafe {
        libc::sysctlbyname(
            name.as_ptr(),
            boot.as_mut_ptr().cast(),
            &raw mut length,
            ptr::null_mut(),
            0,
        )
    };
    let boot = boot.get(..length).filter(|_| answer == 0)?;
    let boot = std::str::from_utf8(boot).ok()?.trim_end_matches('\0');
    (!boot.is_empty() && !boot.contains(':')).then(|| format!("{boot}:0"))
}

/// The session of this process.
pub(super) fn own_session() -> i32 {
    session_of(0)
}

/// Its words, each ended by a NUL.
pub(super) fn command(pid: i32) -> Option<Vec<u8>> {
    let arguments = arguments(pid)?;
    split(&arguments).map(|(words, _)| words.to_vec())
}

/// Signal exactly this process, as far as a look just before it tells. One that is gone is a success.
pub(super) fn signal(id: Identity, signal: Signal) -> io::Result<()> {
    match signalled(id.pid) {
        Some(pid) if alive(id) => gone_is_fine(kill_process(pid, signal)),
        _ => Ok(()),
    }
}

fn pids() -> io::Result<Vec<c_int>> {
    // SAFETY: without a buffer the call only says how many there are.
    let count = unsafe { libc::proc_listallpids(ptr::null_mut(), 0) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let mut pids: Vec<c_int> = vec![0; count + SPARE];
    let room = c_int::try_from(pids.len() * size_of::<c_int>()).map_err(io::Error::other)?;
    // SAFETY: the buffer is as large as is said, and lives through the call.
    let written = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast::<c_void>(), room) };
    pids.truncate(usize::try_from(written).map_err(|_| io::Error::last_os_error())?);
    Ok(pids)
}

fn about(pid: c_int) -> Option<Process> {
    let mut info = MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let room = c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    // SAFETY: the buffer is as large as is said, and lives through the call. The 1 asks for zombies too.
    let written =
        unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 1, info.as_mut_ptr().cast(), room) };
    if written != room {
        return None;
    }
    // SAFETY: it was filled, and all of it are plain numbers.
    let info = unsafe { info.assume_init() };
    let started = info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec;
    Some(Process {
        id: Identity { pid, started },
        parent: info.pbi_ppid.cast_signed(),
        group: info.pbi_pgid.cast_signed(),
        session: session_of(pid),
        zombie: info.pbi_status == libc::SZOMB,
    })
}

/// 0 where it has none any more.
fn session_of(pid: c_int) -> i32 {
    // SAFETY: it takes a number and gives one.
    let session = unsafe { libc::getsid(pid) };
    session.max(0)
}

/// What the system keeps of a program's start: the count of its words, its path, the words, the environment.
fn arguments(pid: c_int) -> Option<Vec<u8>> {
    let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid];
    let mut length = 0;
    for fill in [false, true] {
        let mut bytes = vec![0_u8; length];
        let buffer = if fill {
            bytes.as_mut_ptr().cast()
        } else {
            ptr::null_mut()
        };
        // SAFETY: the name has three parts; the buffer is none, or as large as `length` says.
        let answer =
            unsafe { libc::sysctl(name.as_mut_ptr(), 3, buffer, &raw mut length, ptr::null_mut(), 0) };
        if answer != 0 {
            return None;
        }
        if fill {
            bytes.truncate(length);
            return Some(bytes);
        }
    }
    None
}

/// The words and the environment in what [`arguments`] gives, each of them ended by a NUL.
fn split(arguments: &[u8]) -> Option<(&[u8], &[u8])> {
    let (count, rest) = arguments.split_first_chunk::<4>()?;
    // The path, padded with NULs.
    let path = memchr::memchr(0, rest)?;
    let words = rest[path..].iter().position(|byte| *byte != 0)? + path;
    let mut end = words;
    for _ in 0..u32::from_ne_bytes(*count) {
        end += memchr::memchr(0, &rest[end..])? + 1;
    }
    Some((&rest[words..end], &rest[end..]))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_and_environment_are_told_apart() {
        let kept = [
            &2_u32.to_ne_bytes()[..],
            b"/bin/a\0\0\0a\0two words\0B=1\0C=2\0\0",
        ]
        .concat();
        let (words, environment) = split(&kept).unwrap();
        assert_eq!(words, b"a\0two words\0");
        assert_eq!(environment, b"B=1\0C=2\0\0");
        assert!(split(b"").is_none());
        assert!(split(&[9, 0, 0, 0, b'/', 0, b'a', 0]).is_none());
    }
}
