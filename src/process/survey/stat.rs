//! One `/proc/<pid>/stat`, as Linux writes it.

use super::{Identity, Process};

/// `flags` in `stat` of a thread of the kernel's own.
const KERNEL_THREAD: u32 = 0x0020_0000;

/// What one `stat` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) process: Process,
    pub(super) kernel: bool,
    /// Its first thread has ended and others run on: all that the system tells of a process by its number is gone,
    /// but the process is not.
    pub(super) headless: bool,
    /// The old program is given up, and the new one not in place: it has no environment yet.
    pub(super) becoming: bool,
}

pub(super) fn number(name: &[u8]) -> Option<i32> {
    name.first().filter(|byte| byte.is_ascii_digit())?;
    std::str::from_utf8(name).ok()?.parse().ok()
}

/// Reads one `stat`: `pid (comm) state ppid pgrp session tty tpgid flags …`, the start as the 22nd, where `comm`
/// may hold anything.
pub(super) fn parse(stat: &[u8]) -> Option<Stat> {
    let name = memchr::memchr(b' ', stat)?;
    let pid = number(&stat[..name])?;
    let rest = std::str::from_utf8(&stat[memchr::memrchr(b')', stat)? + 1..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let flags: u32 = fields.nth(2)?.parse().ok()?;
    let threads: u32 = fields.nth(10)?.parse().ok()?;
    let started = fields.nth(1)?.parse().ok()?;
    // The 51st; 0 also where it may not be known, and then the environment cannot be read either.
    let environment_ends = fields.nth(28);
    let headless = state == "Z" && threads > 1;
    let process = Process {
        id: Identity { pid, started },
        parent,
        group,
        session,
        zombie: matches!(state, "Z" | "X" | "x") && !headless,
    };
    Some(Stat {
        process,
        kernel: flags & KERNEL_THREAD != 0,
        headless,
        becoming: !process.zombie && !headless && environment_ends == Some("0"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 9900 1000000 200 18446744073709551615";

    fn stat(head: &str) -> Option<Process> {
        parse(format!("{head} {REST}").as_bytes()).map(|stat| stat.process)
    }

    #[test]
    fn a_stat_is_read_whatever_the_program_calls_itself() {
        let is = |state: &str| Process {
            id: Identity {
                pid: 12,
                started: 9900,
            },
            parent: 3,
            group: 7,
            session: 5,
            zombie: state == "Z",
        };
        for (head, state) in [
            ("12 (node) S 3 7 5", "S"),
            ("12 (node) Z 3 7 5", "Z"),
            ("12 (a) Z 1 8 (b) R 3 7 5", "R"),
            ("12 () S 3 7) Z 3 7 5", "Z"),
            ("12 (two words) S 3 7 5", "S"),
        ] {
            assert_eq!(stat(head), Some(is(state)), "{head}");
        }
        for cut in [
            "",
            "12",
            "12 (cut",
            "12 (node)",
            "12 (node) S 3 7",
            "x (node) S 3 7 5 4",
        ] {
            assert_eq!(parse(cut.as_bytes()), None, "{cut:?}");
        }
    }

    #[test]
    fn one_between_two_programs_is_told() {
        let with = |state: &str, environment_ends: &str| {
            let gap = "0 ".repeat(25);
            parse(format!("12 (node) {state} 3 7 5 {REST} {gap}{environment_ends} 0").as_bytes())
        };
        for (state, environment_ends, becoming) in [
            ("R", "0", true),
            ("R", "140730156285897", false),
            ("Z", "0", false),
        ] {
            let stat = with(state, environment_ends).unwrap();
            assert_eq!(stat.becoming, becoming, "{state} {environment_ends}");
        }
        let own = std::fs::read("/proc/self/stat").unwrap();
        assert!(!parse(&own).unwrap().becoming);
    }

    #[test]
    fn one_whose_first_thread_alone_has_ended_is_alive() {
        let with = |state: &str, threads: &str| {
            let rest = REST.replacen("20 0 1 0 9900", &format!("20 0 {threads} 0 9900"), 1);
            let stat = parse(format!("12 (node) {state} 3 7 5 {rest}").as_bytes()).unwrap();
            (stat.process.zombie, stat.headless, stat.becoming)
        };
        assert_eq!(with("Z", "2"), (false, true, false));
        assert_eq!(with("Z", "1"), (true, false, false));
        assert_eq!(with("Z", "0"), (true, false, false));
        assert_eq!(with("S", "2"), (false, false, false));
    }

    #[test]
    fn threads_of_the_kernel_are_told() {
        let kernel = b"9 (kworker/0:0) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 9900 0 0";
        assert!(parse(kernel).unwrap().kernel);
        assert!(
            !parse(format!("12 (node) S 3 7 5 {REST}").as_bytes())
                .unwrap()
                .kernel
        );
    }
}
