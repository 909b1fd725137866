//! A stage for the stand-in agent: a folder with a scenario, deadlines, and no process left behind.
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]
#![allow(dead_code, reason = "each test file uses its own part of the stage")]

use std::cell::RefCell;
use std::fmt::Display;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Far more than anything here takes; only a hang gets there.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

pub(crate) struct Stage {
    pub(crate) dir: tempfile::TempDir,
    /// Processes to end when the test is over, whatever its outcome.
    left: RefCell<Vec<u32>>,
}

impl Stage {
    /// A folder with the given scenario in it.
    pub(crate) fn new(scenario: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("scenario.json"), scenario).unwrap();
        Self {
            dir,
            left: RefCell::default(),
        }
    }

    /// A scenario of one turn with these steps.
    pub(crate) fn turn(steps: impl Display) -> Self {
        Self::new(&format!("{{\"turn\":[{steps}]}}"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = stand_in(args);
        command.env("FUSION_CURSOR_SCENARIO", self.path("scenario.json"));
        command
    }

    /// Starts a turn with an empty stdin and all its streams piped.
    pub(crate) fn start(&self) -> Child {
        let mut command = self.command(&["-p"]);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        self.left.borrow_mut().push(child.id());
        child
    }

    /// Plays a turn to its end.
    pub(crate) fn play(&self) -> Output {
        finish(self.command(&["-p"]), b"")
    }

    /// Waits until the file is there and gives its content.
    pub(crate) fn wait_for(&self, name: &str) -> String {
        until(&format!("the file {name}"), || self.path(name).exists());
        self.text(name)
    }

    /// Waits for the pid that a step put into the file.
    pub(crate) fn wait_for_pid(&self, name: &str) -> u32 {
        let pid = self.wait_for(name).trim().parse().unwrap();
        self.left.borrow_mut().push(pid);
        pid
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for pid in self.left.take() {
            end(pid);
        }
    }
}

#[cfg(unix)]
fn end(pid: u32) {
    // Only what is still the program under test: the number may belong to somebody else by now.
    if alive(pid) {
        let _ = rustix::process::kill_process(pid_of(pid), rustix::process::Signal::KILL);
    }
}

#[cfg(windows)]
fn end(_: u32) {}

#[cfg(unix)]
pub(crate) fn pid_of(pid: u32) -> rustix::process::Pid {
    rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}

/// Whether the process is a stand-in that runs; a zombie does not.
#[cfg(unix)]
pub(crate) fn alive(pid: u32) -> bool {
    let output = Command::new("ps")
        .args(["-o", "stat=,args=", "-p", &pid.to_string()])
        .output()
        .unwrap()
        .stdout;
    let text = String::from_utf8_lossy(&output);
    text.contains("fusion-cursor-stand-in") && !text.trim_start().starts_with('Z')
}

/// The stand-in, with nothing of this process's own settings.
pub(crate) fn stand_in(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fusion-cursor-stand-in"));
    command
        .args(args)
        .env_remove("FUSION_CURSOR_SCENARIO")
        .env_remove("FUSION_CURSOR_ECHO");
    command
}

/// Runs the command to its end with this stdin; a hang is a failure.
pub(crate) fn finish(mut command: Command, stdin: &[u8]) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let stdin = stdin.to_vec();
    // The stand-in may go without having read all.
    thread::spawn(move || drop(pipe.write_all(&stdin)));
    output(child)
}

/// The output of a process that ends by itself.
pub(crate) fn output(child: Child) -> Output {
    within_deadline(move || child.wait_with_output().unwrap())
}

/// The exit of a process whose streams may stay open.
pub(crate) fn exit(mut child: Child) -> ExitStatus {
    within_deadline(move || child.wait().unwrap())
}

pub(crate) fn within_deadline<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(work()));
    receiver
        .recv_timeout(DEADLINE)
        .expect("still not done at the deadline")
}

pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < DEADLINE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
