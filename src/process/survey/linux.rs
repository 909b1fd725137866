//! Processes as Linux tells of them, in `/proc`.

use std::fmt::Write as _;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::fs::{CWD, Mode, OFlags, RawDir, openat};
use rustix::io::{Errno, read};
use rustix::process::{PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::super::mark;
pub(super) use super::posix::reap;
use super::posix::{gone_is_fine, signalled};
use super::room::{self, with_room};
use super::stat::{Stat, number, parse};
use super::{Identity, Seen, Walk};

/// How long a process that is just becoming another program is given in all, until its environment can be read,
/// and how often that is looked at. On an idle machine it takes some microseconds.
const BECOMING: Duration = Duration::from_millis(200);
const GLANCE: Duration = Duration::from_millis(1);

/// An entry of `/proc` as the last look found it. The system gives every process there an inode of its own, so one
/// that has the number and the inode of before is the process of before, and when that started need not be read
/// again. Most of a machine is older than a turn, and reading is what a look takes its time for.
#[derive(Debug, Clone, Copy)]
struct Listed {
    pid: i32,
    inode: u64,
    started: u64,
}

static LISTED: LazyLock<Mutex<Arc<[Listed]>>> = LazyLock::new(|| Mutex::new(Arc::new([])));

/// Have what a look takes when the host has run out of it.
pub(super) fn prepare() {
    room::put_aside();
}

/// Whether a look that failed for this may soon succeed.
pub(super) fn passes(error: &io::Error) -> bool {
    room::is_want(error)
}

/// Everything that started at `since` or later.
pub(super) fn walk(since: u64, marked: &dyn Fn(&[u8]) -> bool) -> io::Result<Walk> {
    with_room(|| walk_once(since, marked))
}

fn walk_once(since: u64, marked: &dyn Fn(&[u8]) -> bool) -> io::Result<Walk> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let proc = openat(CWD, "/proc", flags, Mode::empty())?;
    let mut names = [MaybeUninit::<u8>::uninit(); 16 * 1024];
    let mut entries = RawDir::new(&proc, &mut names);
    let mut reader = Reader::new(proc.as_fd());
    let (mut seen, mut vanished) = (Vec::new(), false);
    let mut blank = Vec::new();
    let before = Arc::clone(&LISTED.lock());
    let mut before = before.iter().peekable();
    let mut listed = Vec::with_capacity(before.len() + 16);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let Some(pid) = number(entry.file_name().to_bytes()) else {
            continue;
        };
        let inode = entry.ino();
        // Both lists are in the order of the numbers.
        while before.next_if(|known| known.pid < pid).is_some() {}
        if let Some(known) = before.next_if(|known| known.pid == pid && known.inode == inode)
            && known.started < since
        {
            listed.push(*known);
            continue;
        }
        let Some(Stat {
            process,
            kernel,
            headless,
            ..
        }) = reader.stat(pid)
        else {
            vanished = true;
            continue;
        };
        listed.push(Listed {
            pid,
            inode,
            started: process.id.started,
        });
        if process.id.started < since || kernel {
            continue;
        }
        let environment = if process.zombie {
            Environment::Other
        } else if headless {
            reader.environment_of_threads(pid, marked)
        } else {
            reader.environment(pid, marked)
        };
        if environment == Environment::Blank {
            blank.push(seen.len());
        }
        let marked = environment == Environment::Marked;
        seen.push(Seen { process, marked });
    }
    wait_until_readable(&mut reader, &mut seen, blank, marked);
    if let Some(errno) = reader.wanted {
        return Err(errno.into());
    }
    *LISTED.lock() = listed.into();
    Ok(Walk { seen, vanished })
}

/// Look again at those of `seen` at the places `blank`, whose environments had nothing in them: until each has one,
/// or is known to have none.
fn wait_until_readable(
    reader: &mut Reader<'_>,
    seen: &mut [Seen],
    mut blank: Vec<usize>,
    marked: &dyn Fn(&[u8]) -> bool,
) {
    let give_up = Instant::now() + BECOMING;
    loop {
        blank.retain(|index| {
            let Seen { process, marked: is } = &mut seen[*index];
            // In this order: where it is not becoming any more, its environment may have come since the last look.
            let Some(stat) = reader
                .stat(process.id.pid)
                .filter(|stat| stat.process.id == process.id)
            else {
                return false;
            };
            let environment = reader.environment(process.id.pid, marked);
            *is = environment == Environment::Marked;
            stat.becoming && environment == Environment::Blank
        });
        if blank.is_empty() || Instant::now() >= give_up {
            return;
        }
        pause(GLANCE);
    }
}

#[allow(clippy::disallowed_methods, reason = "a look has a thread for itself")]
fn pause(time: Duration) {
    thread::sleep(time);
}

/// Whether this very process has not ended.
pub(super) fn alive(id: Identity) -> bool {
    match stat_of(id.pid) {
        Ok(stat) => stat.is_some_and(|stat| stat.process.id == id && !stat.process.zombie),
        // Who cannot be looked at is not known to be gone.
        Err(_) => true,
    }
}

/// When the process of this number started.
pub(super) fn started(pid: i32) -> Option<u64> {
    Some(stat_of(pid).ok()??.process.id.started)
}

/// The boot and the namespace of process numbers; `None` where `/proc` is of another one than this process.
pub(super) fn birthplace() -> Option<String> {
    let own = std::fs::read_link("/proc/self").ok()?;
    if own.to_str() != Some(super::own_pid().to_string().as_str()) {
        return None;
    }
    let boot = whole(format_args!("/proc/sys/kernel/random/boot_id")).ok()??;
    let boot = std::str::from_utf8(&boot).ok()?.trim();
    // As in `pid:[4026531836]`.
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace = namespace.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    Some(format!("{boot}:{namespace}"))
}

/// The session of this process; 0 where its leader has no number here. A system call would answer the same, but
/// its wrapper takes 0 for impossible.
pub(super) fn own_session() -> i32 {
    let own = stat_of(super::own_pid()).ok().flatten();
    own.map_or(0, |stat| stat.process.session)
}

/// Its words, each ended by a NUL.
pub(super) fn command(pid: i32) -> Option<Vec<u8>> {
    whole(format_args!("/proc/{pid}/cmdline")).ok().flatten()
}

/// Signal exactly this process. One that is gone is a success.
pub(super) fn signal(id: Identity, signal: Signal) -> io::Result<()> {
    let Some(pid) = signalled(id.pid) else {
        return Ok(());
    };
    match pidfd_open(pid, PidfdFlags::empty()) {
        // The descriptor is of whoever has the number now, and stays so: what is read here cannot change hands.
        Ok(process) if started(id.pid) == Some(id.started) => {
            gone_is_fine(pidfd_send_signal(process, signal))
        }
        Err(Errno::NOSYS | Errno::PERM | Errno::MFILE | Errno::NFILE)
            if started(id.pid) == Some(id.started) =>
        {
            gone_is_fine(kill_process(pid, signal))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// An error only for want of a descriptor.
fn stat_of(pid: i32) -> io::Result<Option<Stat>> {
    let stat = whole(format_args!("/proc/{pid}/stat"))?;
    Ok(stat.and_then(|stat| parse(&stat)))
}

fn whole(name: std::fmt::Arguments<'_>) -> io::Result<Option<Vec<u8>>> {
    with_room(|| {
        let mut reader = Reader::new(CWD);
        let read = reader.read(name);
        match reader.wanted {
            Some(errno) => Err(errno.into()),
            None => Ok(read.map(|()| reader.bytes)),
        }
    })
}

#[derive(Debug, PartialEq, Eq)]
enum Environment {
    Marked,
    /// Without a mark that is looked for, or it may not be read.
    Other,
    /// Nothing in it: cleared, or not filled yet.
    Blank,
}

/// Reads small files below a folder, into a buffer that is used again.
struct Reader<'fd> {
    folder: BorrowedFd<'fd>,
    name: String,
    bytes: Vec<u8>,
    /// Something could not be read for want of a descriptor.
    wanted: Option<Errno>,
}

impl<'fd> Reader<'fd> {
    fn new(folder: BorrowedFd<'fd>) -> Self {
        Self {
            folder,
            name: String::with_capacity(32),
            bytes: Vec::new(),
            wanted: None,
        }
    }

    fn stat(&mut self, pid: i32) -> Option<Stat> {
        self.read(format_args!("{pid}/stat"))?;
        parse(&self.bytes)
    }

    fn environment(&mut self, pid: i32, marked: &dyn Fn(&[u8]) -> bool) -> Environment {
        self.environment_in(format_args!("{pid}/environ"), marked)
    }

    /// As any of its threads that has not ended knows it.
    fn environment_of_threads(&mut self, pid: i32, marked: &dyn Fn(&[u8]) -> bool) -> Environment {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(self.folder, format!("{pid}/task"), flags, Mode::empty());
        let Ok(threads) = opened.map_err(|error| self.failed(error)) else {
            return Environment::Other;
        };
        let mut names = [MaybeUninit::<u8>::uninit(); 1024];
        let mut entries = RawDir::new(threads, &mut names);
        while let Some(Ok(entry)) = entries.next() {
            let Some(thread) = number(entry.file_name().to_bytes()) else {
                continue;
            };
            // One that has ended tells nothing.
            let told = self.environment_in(format_args!("{pid}/task/{thread}/environ"), marked);
            if told == Environment::Marked {
                return told;
            }
        }
        Environment::Other
    }

    fn environment_in(
        &mut self,
        name: std::fmt::Arguments<'_>,
        marked: &dyn Fn(&[u8]) -> bool,
    ) -> Environment {
        match self.read(name) {
            Some(()) if self.bytes.is_empty() => Environment::Blank,
            Some(()) if mark::value_in(&self.bytes).is_some_and(marked) => Environment::Marked,
            _ => Environment::Other,
        }
    }

    fn failed(&mut self, error: Errno) {
        if room::is_want(&error.into()) {
            self.wanted = Some(error);
        }
    }

    fn read(&mut self, name: std::fmt::Arguments<'_>) -> Option<()> {
        const STEP: usize = 8 * 1024;
        self.name.clear();
        self.name.write_fmt(name).ok()?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = openat(self.folder, self.name.as_str(), flags, Mode::empty());
        let file = opened.map_err(|error| self.failed(error)).ok()?;
        let mut length = 0;
        loop {
            if self.bytes.len() < length + STEP {
                self.bytes.resize(length + STEP, 0);
            }
            let room = self.bytes.len() - length;
            match read(&file, &mut self.bytes[length..]) {
                // These files are given in one go, as far as there is room.
                Ok(more) if more < room => {
                    length += more;
                    break;
                }
                Ok(more) => length += more,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        self.bytes.truncate(length);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    #[test]
    fn this_very_process_is_seen_and_not_what_is_older() {
        let own = super::super::own_pid();
        let since = started(own).unwrap();
        let id = Identity {
            pid: own,
            started: since,
        };
        assert!(alive(id));
        assert!(!alive(Identity { started: 0, ..id }));
        let walked = walk(since, &|_| false).unwrap().seen;
        assert!(walked.iter().any(|seen| seen.process.id == id && !seen.marked));
        assert!(walked.iter().all(|seen| seen.process.id.started >= since));
        let words = command(own).unwrap();
        assert!(words.ends_with(b"\0") && words.len() > 1);
    }

    #[test]
    fn a_number_in_other_hands_is_not_signalled() {
        let own = super::super::own_pid();
        for id in [
            Identity { pid: own, started: 1 },
            Identity {
                pid: 1,
                started: started(1).unwrap_or(0),
            },
            Identity { pid: 0, started: 0 },
            Identity { pid: -1, started: 0 },
        ] {
            signal(id, Signal::KILL).unwrap();
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test is its own host")]
    fn one_with_the_number_of_an_older_one_is_seen() {
        let mut unshare = Command::new("unshare");
        unshare.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]);
        unshare.arg(std::env::current_exe().unwrap());
        unshare.args(["--exact", "--ignored", "--nocapture"]);
        let told = unshare.arg(
            concat!(module_path!(), "::reuses_a_number")
                .split_once("::")
                .unwrap()
                .1,
        );
        let told = told.output().unwrap();
        let said = String::from_utf8_lossy(&told.stdout);
        // Where no namespace may be made, there is nothing to see.
        let permitted = said.contains("running 1 test");
        assert!(
            !permitted || told.status.success(),
            "{said}{}",
            String::from_utf8_lossy(&told.stderr)
        );
    }

    #[test]
    #[ignore = "it is run in a namespace of its own by the test above"]
    #[allow(clippy::disallowed_methods, reason = "a test is its own host")]
    fn reuses_a_number() {
        let start = || Command::new("/bin/sleep").arg("600").spawn().unwrap();
        let end = |child: &mut Child| {
            child.kill().unwrap();
            child.wait().unwrap();
        };
        let pid_of = |child: &Child| child.id().cast_signed();
        for _ in 0..100 {
            let mut old = start();
            pause(Duration::from_millis(30));
            let mut young = start();
            let since = started(pid_of(&young)).unwrap();
            let in_a_look = |pid| {
                walk(since, &|_| false)
                    .unwrap()
                    .seen
                    .iter()
                    .any(|seen| seen.process.id.pid == pid)
            };
            assert!(!in_a_look(pid_of(&old)) && !in_a_look(pid_of(&old)) && in_a_look(pid_of(&young)));
            end(&mut old);
            let before = (old.id() - 1).to_string();
            std::fs::write("/proc/sys/kernel/ns_last_pid", before).unwrap();
            let mut again = start();
            let reused = again.id() == old.id();
            let found = in_a_look(pid_of(&again));
            end(&mut again);
            end(&mut young);
            assert!(found);
            // A thread of the test program may have been quicker.
            if reused {
                return;
            }
        }
        panic!("no number was used again");
    }
}
