//! What the guard itself is, and that nobody is in its way.

use std::fs::read_link;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::host::{GUARD, Host, Stage, init};
use crate::seen::{field, guards, open, runs, until};

#[test]
fn it_holds_nothing_of_the_host() {
    let stage = Stage::new(&json!({ "turn": [init(), { "touch": "leader" }, { "linger": true }] }));
    let mut host = Host::start();
    assert_eq!(host.hear(), "here");
    host.play(&stage);
    let leader = stage.pid("leader");
    let guard = host.guard().unwrap();
    let targets: Vec<_> = open(guard)
        .into_iter()
        .map(|(number, target)| (number, target.split(':').next().unwrap().to_owned()))
        .collect();
    let null = || "/dev/null".to_owned();
    assert_eq!(targets, [(0, "socket".to_owned()), (1, null()), (2, null())]);
    assert_eq!(
        read_link(format!("/proc/{guard}/cwd")).unwrap(),
        PathBuf::from("/")
    );
    assert_eq!(std::fs::read(format!("/proc/{guard}/environ")).unwrap(), b"");
    let in_its_own = [field(guard, 2), field(guard, 3)];
    assert_eq!(in_its_own, [Some(guard.to_string()), Some(guard.to_string())]);
    assert_eq!(guards(host.pid()), [guard], "there is one");
    assert!(runs(leader));
}

#[test]
fn signals_but_kill_do_not_end_it() {
    let stage = Stage::new(&json!({ "turn": [init(), { "touch": "leader" }, { "linger": true }] }));
    let mut host = Host::start();
    assert_eq!(host.hear(), "here");
    host.play(&stage);
    stage.pid("leader");
    let guard = host.guard().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{guard}/status")).unwrap();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::PIPE] {
        // It might take its time to die of one that it does not ignore.
        assert!(ignored & 1 << (signal.as_raw() - 1) != 0, "{signal:?} is ignored");
        kill_process(Pid::from_raw(guard.cast_signed()).unwrap(), signal).unwrap();
    }
    assert_eq!(host.guard(), Some(guard));
    assert!(runs(guard));
}

#[test]
fn descriptors_that_stay_open_across_an_exec_are_closed_in_it() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut command = Command::new("/bin/sh");
    command
        .args([
            "-c",
            "exec 7</dev/null 9>/dev/null; exec \"$0\" 1-0000000000000000",
            GUARD,
        ])
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut guard = command.spawn().unwrap();
    drop(command);
    let mut ready = [0];
    ours.read_exact(&mut ready).unwrap();
    assert_eq!(&ready, b"!");
    let numbers: Vec<_> = open(guard.id()).into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, [0, 1, 2]);
    ours.write_all(b"starting\nwhat nobody says\nstarted\n").unwrap();
    drop(ours);
    let status = until("it ends", || guard.try_wait().unwrap());
    assert!(status.success(), "{status}");
}

#[test]
fn without_a_host_it_does_nothing_and_says_nothing() {
    let done = Command::new(GUARD).stdin(Stdio::null()).output().unwrap();
    assert_eq!(done.status.code(), Some(64));
    assert!(done.stdout.is_empty() && done.stderr.is_empty());
}
