//! Every way that a host ends.

use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::host::{FOREST, Host, Stage, forest, init};
use crate::seen::{all_gone, guards, is_zombie, mark, marked, runs, until};

/// A host in the middle of a turn, with all of its processes.
fn under_way(stage: &Stage) -> (Host, Vec<u32>) {
    let mut host = Host::start();
    host.play(stage);
    (host, FOREST.map(|name| stage.pid(name)).to_vec())
}

fn check(name: &str, end: impl FnOnce(&mut Host)) {
    let stage = Stage::new(&forest());
    let (mut host, pids) = under_way(&stage);
    assert!(pids.iter().all(|pid| runs(*pid)), "{name}");
    assert_eq!(marked(host.pid()).len(), pids.len(), "{name}: all carry the mark");
    end(&mut host);
    let died = host.died();
    all_gone(host.pid(), died, name);
    assert!(!pids.iter().any(|pid| runs(*pid)), "{name}");
}

#[test]
fn by_a_signal() {
    for signal in [Signal::KILL, Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        check(&format!("{signal:?}"), |host| host.signal(signal));
    }
}

#[test]
fn by_a_signal_to_its_whole_group_as_a_terminal_sends_it() {
    for signal in [Signal::INT, Signal::HUP, Signal::KILL] {
        check(&format!("{signal:?}"), |host| host.signal_group(signal));
    }
}

#[test]
fn by_itself() {
    for order in ["exit", "abort"] {
        check(order, |host| host.tell(order));
    }
}

#[test]
fn all_of_it_is_asked_before_it_is_killed() {
    let trap = |name: &str| json!({ "trap": ["SIGTERM"], "report": format!("asked-{name}"), "thenExit": 0 });
    let child = json!([trap("daemon"), { "touch": "daemon" }, { "linger": true }]);
    let stage = Stage::new(&json!({ "turn": [
        trap("leader"), init(), { "start": child, "as": "daemon" }, { "waitFile": "daemon" },
        { "touch": "leader" }, { "linger": true },
    ] }));
    let mut host = Host::start();
    host.play(&stage);
    stage.pid("leader");
    host.signal(Signal::KILL);
    let died = host.died();
    all_gone(host.pid(), died, "asked");
    for name in ["leader", "daemon"] {
        let signals = std::fs::read_to_string(stage.path(&format!("asked-{name}")));
        assert_eq!(signals.unwrap().trim(), "SIGTERM", "{name}");
    }
}

#[test]
fn with_nothing_running_the_guard_leaves_at_once() {
    let stage = Stage::new(&json!({ "turn": [init(), { "touch": "leader" }] }));
    let mut host = Host::start();
    assert_eq!(host.hear(), "here");
    assert!(
        guards(host.pid()).is_empty(),
        "before the first process there is none"
    );
    host.play(&stage);
    let leader = stage.pid("leader");
    let guard = host.guard().unwrap();
    until("the turn is over", || (!runs(leader)).then_some(()));
    assert!(runs(guard));
    host.signal(Signal::KILL);
    let died = host.died();
    until("the guard has gone", || (!runs(guard)).then_some(()));
    assert!(died.elapsed().as_millis() < 500, "{:?}", died.elapsed());
}

#[test]
fn a_kept_turn_is_not_touched() {
    let (kept, other) = (Stage::new(&forest()), Stage::new(&forest()));
    let mut host = Host::start();
    assert_eq!(host.hear(), "here");
    host.play(&kept);
    let stays = FOREST.map(|name| kept.pid(name));
    let number = mark(stays[0]).unwrap().rsplit_once('.').unwrap().1.to_owned();
    host.tell(&format!("keep {number}"));
    host.play(&other);
    let goes = FOREST.map(|name| other.pid(name));
    // Another guard has to know it too.
    let first = host.guard().unwrap();
    end(first);
    until("another guard", || {
        host.guard().filter(|pid| ![0, first].contains(pid))
    });
    host.signal(Signal::KILL);
    let died = host.died();
    until("the other turn is gone", || {
        goes.iter().all(|pid| !runs(*pid)).then_some(())
    });
    assert!(died.elapsed().as_secs() < 3);
    until("the guard has gone", || {
        guards(host.pid()).is_empty().then_some(())
    });
    let left = stays.map(runs);
    for pid in stays {
        end(pid);
    }
    assert_eq!(left, [true; 5]);
}

#[test]
fn a_guard_that_is_killed_is_replaced_at_once_and_the_next_one_cleans_up() {
    let stage = Stage::new(&forest());
    let (mut host, pids) = under_way(&stage);
    assert_eq!(host.hear(), "here");
    let mut before = host.guard().unwrap();
    for _ in 0..3 {
        end(before);
        let next = until("another guard", || {
            host.guard().filter(|pid| ![0, before].contains(pid))
        });
        assert!(!runs(before) && !is_zombie(before), "it was waited for");
        assert_eq!(guards(host.pid()), [next]);
        before = next;
    }
    assert!(pids.iter().all(|pid| runs(*pid)), "its death is not the host's");
    host.signal(Signal::KILL);
    all_gone(host.pid(), host.died(), "the fourth guard");
}

#[test]
fn a_guard_and_its_host_killed_in_one_moment_leave_the_agent_no_worse() {
    // Nobody is left who could: this says how far it goes, and that it is known.
    let stage = Stage::new(&forest());
    let (mut host, pids) = under_way(&stage);
    assert_eq!(host.hear(), "here");
    let guard = host.guard().unwrap();
    // Stopped, the host cannot start another one.
    host.signal(Signal::STOP);
    end(guard);
    host.signal(Signal::KILL);
    let _died: Instant = host.died();
    assert!(pids.iter().all(|pid| runs(*pid)));
    for pid in pids {
        end(pid);
    }
}

#[test]
fn a_host_within_another_hosts_turn_is_found_by_both() {
    let stage = Stage::new(&forest());
    let outer = "1-00000000000000ff.1";
    let mut host = Host::start_with(|command| {
        command.env("FUSION_CURSOR_TURN", outer);
    });
    host.play(&stage);
    let pids = FOREST.map(|name| stage.pid(name));
    for pid in pids {
        let mark = mark(pid).unwrap();
        let (first, second) = mark.split_once(':').unwrap();
        assert_eq!(first, outer);
        assert!(second.starts_with(&format!("{}-", host.pid())), "{mark}");
    }
    host.signal(Signal::KILL);
    all_gone(host.pid(), host.died(), "the inner host");
    assert!(!pids.iter().any(|pid| runs(*pid)));
}

fn end(pid: u32) {
    let pid = Pid::from_raw(pid.cast_signed()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}
