//! A place to lock, and a world whose clock and processes a test decides on.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::disk::failpoint::{Armed, Verdict, arm};
use fusion_cursor_native::lock::{
    Attempt, DirectoryLock, Holder, KernelLock, Life, LockError, Machine, ProcessStart, World,
};
use rustix::io::Errno;
use tempfile::{TempDir, tempdir};

pub(crate) const NAME: &str = "a.lock";
pub(crate) const TTL: Duration = Duration::from_secs(30);
/// Less than [`TTL`]: what comes within it was not waited out.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Place {
    pub(crate) temp: TempDir,
    pub(crate) folder: Folder,
}

impl Place {
    pub(crate) fn new() -> Self {
        let temp = tempdir().unwrap();
        let folder = Folder::open(temp.path()).unwrap();
        Self { temp, folder }
    }

    /// A lock directory with this `owner.json`, as the plugin makes it.
    pub(crate) fn plugins(&self, owner: Option<&str>) {
        fs::create_dir(self.lock()).unwrap();
        if let Some(owner) = owner {
            fs::write(self.lock().join("owner.json"), owner).unwrap();
        }
    }

    pub(crate) fn lock(&self) -> std::path::PathBuf {
        self.folder.path().join(NAME)
    }

    pub(crate) fn owner(&self) -> serde_json::Value {
        serde_json::from_slice(&fs::read(self.lock().join("owner.json")).unwrap()).unwrap()
    }

    /// Set the age of the lock directory; negative for a time ahead.
    pub(crate) fn aged(&self, seconds: i64) {
        let now = Machine::get().now_ms();
        let then = u64::try_from(now - seconds * 1000).unwrap();
        let time = std::time::UNIX_EPOCH + Duration::from_millis(then);
        fs::File::open(self.lock()).unwrap().set_modified(time).unwrap();
    }

    pub(crate) fn attempt(&self, kernel: &KernelLock) -> Result<Attempt, LockError> {
        DirectoryLock::attempt(&self.folder, NAME, TTL, kernel, Machine::get())
    }

    pub(crate) fn taken(&self, kernel: &KernelLock) -> DirectoryLock {
        taken(self.attempt(kernel))
    }

    pub(crate) fn busy(&self, kernel: &KernelLock) -> Option<Holder> {
        busy(self.attempt(kernel))
    }

    pub(crate) fn kernel(&self) -> KernelLock {
        KernelLock::attempt(&self.folder).unwrap().unwrap()
    }

    /// As on a file system without kernel locks.
    pub(crate) fn no_kernel(&self) -> KernelLock {
        no_kernel(&self.folder)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.folder.names(10).unwrap().is_empty()
    }
}

pub(crate) fn taken(attempt: Result<Attempt, LockError>) -> DirectoryLock {
    match attempt.unwrap() {
        Attempt::Taken(lock) => lock,
        Attempt::Busy(holder) => panic!("busy: {holder:?}"),
    }
}

pub(crate) fn busy(attempt: Result<Attempt, LockError>) -> Option<Holder> {
    match attempt.unwrap() {
        Attempt::Taken(_) => panic!("taken"),
        Attempt::Busy(holder) => holder,
    }
}

pub(crate) fn no_kernel(folder: &Folder) -> KernelLock {
    let armed = refuse_kernel_locks(folder.path());
    let lock = KernelLock::attempt(folder).unwrap().unwrap();
    drop(armed);
    assert!(!lock.held);
    lock
}

pub(crate) fn refuse_kernel_locks(under: &Path) -> Armed {
    arm(
        under,
        Box::new(|step| match step.what {
            "lock.kernel" => Verdict::Fail(Errno::NOLCK.raw_os_error()),
            _ => Verdict::Go,
        }),
    )
}

/// Try until it is so.
pub(crate) fn until<T>(what: &str, mut so: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(so) = so() {
            return so;
        }
        assert!(Instant::now() < give_up, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The number of a process that has ended.
pub(crate) fn dead_pid() -> u32 {
    let mut child = Command::new("/bin/sh").args(["-c", "exit"]).spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

/// A world with a clock of its own, in which all others live as is said.
#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) ahead_ms: AtomicI64,
    pub(crate) life: Option<Life>,
}

impl Fake {
    pub(crate) fn ahead(seconds: i64) -> Self {
        Self {
            ahead_ms: AtomicI64::new(seconds * 1000),
            life: None,
        }
    }
}

impl World for Fake {
    fn now_ms(&self) -> i64 {
        Machine::get().now_ms() + self.ahead_ms.load(Ordering::Relaxed)
    }

    fn pid(&self) -> u32 {
        Machine::get().pid()
    }

    fn hostname(&self) -> &str {
        Machine::get().hostname()
    }

    fn start(&self) -> Option<&ProcessStart> {
        Machine::get().start()
    }

    fn life(&self, pid: i64, hostname: &str, start: Option<&str>) -> Life {
        self.life
            .unwrap_or_else(|| Machine::get().life(pid, hostname, start))
    }
}

/// An ignored test that runs as a process of its own, and what it says; killed when this is dropped.
pub(crate) struct Other {
    pub(crate) child: Child,
    said: BufReader<ChildStdout>,
}

impl Other {
    pub(crate) fn start(name: &str, place: &Place) -> Self {
        let word = place.folder.path().to_str().unwrap();
        let mut child = super::aside::start(name, word);
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The rest of the next line that begins with this word.
    pub(crate) fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(
                self.said.read_line(&mut line).unwrap(),
                0,
                "it ended without {word:?}"
            );
            // The harness says things of its own, without an end of the line before what is said here.
            if let Some((_, rest)) = line.split_once(&format!("@{word}")) {
                return rest.trim().to_owned();
            }
        }
    }

    pub(crate) fn tell(&mut self, word: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.pid().cast_signed()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _status = self.child.wait();
    }
}

/// What such a process says.
pub(crate) fn say(word: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "@{word}").unwrap();
    out.flush().unwrap();
}

/// The folder that such a process was started for.
pub(crate) fn told_folder() -> Folder {
    Folder::open(Path::new(&super::aside::told())).unwrap()
}
