//! What of a host is to be seen on this machine: read here anew, and not by what is under test.

use std::fs::{read, read_dir, read_link, read_to_string};
use std::thread;
use std::time::{Duration, Instant};

/// Where nothing but a hang takes as long.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// How long anything of a host may be there after its death.
pub(crate) const GONE_WITHIN: Duration = Duration::from_secs(3);

/// Look until there is something to see.
pub(crate) fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < give_up, "{what}: not within {PATIENCE:?}");
        pause();
    }
}

pub(crate) fn pause() {
    thread::sleep(Duration::from_millis(5));
}

fn pids() -> impl Iterator<Item = u32> {
    let all = read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// All that carry a mark of this host, with their command lines.
pub(crate) fn marked(host: u32) -> Vec<(u32, String)> {
    let (one, inner) = (format!("FUSION_CURSOR_TURN={host}-"), format!(":{host}-"));
    let carries = |pid: &u32| {
        let environment = read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|pair| {
            let pair = String::from_utf8_lossy(pair);
            pair.starts_with(&one) || pair.starts_with("FUSION_CURSOR_TURN=") && pair.contains(&inner)
        })
    };
    pids().filter(carries).map(|pid| (pid, command(pid))).collect()
}

/// The guards of this host.
pub(crate) fn guards(host: u32) -> Vec<u32> {
    let argument = format!("fusion-cursor-guard {host}-");
    pids().filter(|pid| command(*pid).contains(&argument)).collect()
}

/// The mark of a process: the whole value.
pub(crate) fn mark(pid: u32) -> Option<String> {
    let environment = read(format!("/proc/{pid}/environ")).ok()?;
    let mut pairs = environment.split(|byte| *byte == 0);
    pairs.find_map(|pair| {
        let value = pair.strip_prefix(b"FUSION_CURSOR_TURN=")?;
        Some(String::from_utf8_lossy(value).into_owned())
    })
}

fn command(pid: u32) -> String {
    let words = read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).replace('\0', " ")
}

pub(crate) fn runs(pid: u32) -> bool {
    state(pid).is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

pub(crate) fn is_zombie(pid: u32) -> bool {
    state(pid) == Some('Z')
}

fn state(pid: u32) -> Option<char> {
    field(pid, 0)?.chars().next()
}

/// A field of `stat`, counted from the state.
pub(crate) fn field(pid: u32, number: usize) -> Option<String> {
    let stat = read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(number).map(str::to_owned)
}

/// What is open in a process, by number.
pub(crate) fn open(pid: u32) -> Vec<(u32, String)> {
    let listing = read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let mut open: Vec<_> = listing
        .filter_map(|entry| {
            let target = read_link(entry.path()).ok()?;
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                target.display().to_string(),
            ))
        })
        .collect();
    open.sort();
    open
}

/// All of a host is gone, its guard too, and soon enough after its death.
pub(crate) fn all_gone(host: u32, died: Instant, about: &str) {
    loop {
        let (left, guards) = (marked(host), guards(host));
        if left.is_empty() && guards.is_empty() {
            return;
        }
        assert!(
            died.elapsed() < GONE_WITHIN,
            "{about}: after {:?} there still are {left:?}, and guards {guards:?}",
            died.elapsed()
        );
        pause();
    }
}
