//! Where there is no guard.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::host::{FOREST, GUARD, Host, Stage, forest};
use crate::seen::{PATIENCE, guards, pause, runs, until};

fn end(pid: u32) {
    let _gone = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
}

/// The agent is bound to the host by the kernel; what it has started is not.
fn bound_to_the_host(host: &mut Host) {
    let stage = Stage::new(&forest());
    host.play(&stage);
    let pids = FOREST.map(|name| stage.pid(name));
    host.signal(Signal::KILL);
    let died = host.died();
    until("the agent itself is gone", || (!runs(pids[0])).then_some(()));
    assert!(died.elapsed() < Duration::from_secs(3));
    for pid in pids {
        end(pid);
    }
}

#[test]
fn a_guard_that_is_missing_is_told_of_once_and_the_agent_dies_with_the_host() {
    let mut host = Host::start();
    assert_eq!(host.hear(), "here");
    host.tell("log");
    host.tell("program /none/guard");
    let program = "run /bin/true";
    let told = host.ask(program);
    assert!(told.starts_with("log warn the guard cannot be started"), "{told}");
    assert_eq!(host.hear(), "Code(0) ");
    assert_eq!(host.ask(program), "Code(0) ", "and nothing more is said of it");
    assert_eq!(host.guard(), Some(0));
    bound_to_the_host(&mut host);
}

#[test]
fn programs_that_are_no_guard_are_as_good_as_none() {
    for other in ["/bin/true", "/bin/echo", "/dev/null"] {
        let mut host = Host::start();
        assert_eq!(host.hear(), "here");
        host.tell(&format!("program {other}"));
        assert_eq!(host.ask("run /bin/true"), "Code(0) ", "{other}");
        assert_eq!(host.guard(), Some(0), "{other}");
        assert!(guards(host.pid()).is_empty(), "{other}");
    }
}

#[test]
fn a_guard_that_never_lives_long_is_given_up_and_another_program_is_another_chance() {
    let mut host = Host::start();
    assert_eq!(host.hear(), "here");
    assert_eq!(host.ask("run /bin/true"), "Code(0) ");
    let give_up = Instant::now() + PATIENCE;
    let mut ended = 0;
    let mut last = 0;
    loop {
        match host.guard() {
            Some(0) | None => break,
            Some(guard) if guard == last => pause(),
            Some(guard) => {
                ended += 1;
                last = guard;
                end(guard);
            }
        }
        assert!(Instant::now() < give_up, "after {ended}");
    }
    assert_eq!(ended, 6, "the first, and five more");
    assert_eq!(host.ask("run /bin/true"), "Code(0) ");
    host.tell(&format!("program {GUARD}"));
    assert_eq!(host.ask("run /bin/true"), "Code(0) ");
    assert_ne!(host.guard(), Some(0));
}
