//! Waiting with a limit, and looking at processes.
#![allow(dead_code, reason = "each test program uses its own part")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

use std::process::Command;
use std::time::{Duration, Instant};

/// How long any single thing may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, future).await;
    done.unwrap_or_else(|late| panic!("{what}: {late} ({PATIENCE:?})"))
}

/// Look again and again until it is so.
pub(crate) async fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !so() {
        assert!(Instant::now() < give_up, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process of this number runs; a zombie does not.
pub(crate) fn runs(pid: u32) -> bool {
    state(pid).is_some_and(|state| state != 'Z')
}

/// Whether a process of this number has ended, and nobody has waited for it.
pub(crate) fn is_zombie(pid: u32) -> bool {
    state(pid) == Some('Z')
}

fn state(pid: u32) -> Option<char> {
    let mut ps = Command::new("/bin/ps");
    let told = ps.args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    String::from_utf8_lossy(&told.stdout).trim().chars().next()
}

/// The children of this process but its guard, zombies too, whichever of its threads started them. Linux tells;
/// elsewhere none.
pub(crate) fn children() -> Vec<String> {
    let threads = std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let guard = fusion_cursor_native::process::guard::pid().map(|pid| pid.to_string());
    lists
        .flat_map(|list| list.split_whitespace().map(String::from).collect::<Vec<_>>())
        .filter(|child| Some(child) != guard.as_ref())
        .collect()
}

/// Ends what a test keeps, by its number, when the test is over.
pub(crate) struct Ends(pub(crate) Vec<u32>);

impl Drop for Ends {
    fn drop(&mut self) {
        for pid in &self.0 {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}
