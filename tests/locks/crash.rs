//! A holder that dies at any step, and a disk that fails at any step.

use std::fs;

use fusion_cursor_native::disk::failpoint::{Moment, Verdict, arm};
use fusion_cursor_native::lock::{Attempt, DirectoryLock, KernelLock, LockError, Machine, World};
use rustix::io::Errno;

use super::aside::told;
use super::support::{NAME, Other, Place, TTL, dead_pid, say, taken, until};

fn dead_owner() -> String {
    let hostname = Machine::get().hostname();
    format!(
        r#"{{"pid":{},"hostname":"{hostname}","acquiredAt":1}}"#,
        dead_pid()
    )
}

#[test]
fn whoever_dies_at_any_step_is_followed_by_another() {
    for stale in [false, true] {
        let mut number = 1;
        loop {
            let place = Place::new();
            if stale {
                place.plugins(Some(&dead_owner()));
            }
            let mut other = Other::start("crash::inside::dies", &place);
            other.tell(&number.to_string());
            let whole = other.child.wait().unwrap().success();
            let kernel = place.kernel();
            // Long before its time to live has passed.
            let lock = until("the lock", || match place.attempt(&kernel).unwrap() {
                Attempt::Taken(lock) => Some(lock),
                Attempt::Busy(_) => None,
            });
            lock.check().unwrap();
            lock.release().unwrap();
            assert!(place.is_empty(), "step {number}");
            if whole {
                assert!(number > 6, "{number}");
                break;
            }
            number += 1;
        }
    }
}

#[test]
fn a_disk_that_fails_leaves_a_lock_as_it_was() {
    for stale in [false, true] {
        for errno in [Errno::NOSPC, Errno::IO] {
            for number in 1.. {
                let place = Place::new();
                let kernel = place.kernel();
                if stale {
                    place.plugins(Some(&dead_owner()));
                }
                let owner = fs::read(place.lock().join("owner.json")).ok();
                let armed = arm(
                    place.folder.path(),
                    Box::new(move |step| {
                        if step.number == number && step.moment == Moment::Before {
                            Verdict::Fail(errno.raw_os_error())
                        } else {
                            Verdict::Go
                        }
                    }),
                );
                let attempt = place.attempt(&kernel);
                let hit = armed.count() >= number;
                drop(armed);
                match attempt {
                    Err(LockError::Disk(_)) => {
                        let left = fs::read(place.lock().join("owner.json")).ok();
                        assert!(left.is_none() || left == owner, "step {number}");
                        assert!(stale || place.is_empty(), "step {number}");
                    }
                    other => drop(taken(other)),
                }
                let _armed_no_more = place.taken(&kernel).release();
                assert!(place.is_empty(), "step {number}");
                if !hit {
                    break;
                }
            }
        }
    }
}

mod inside {
    use super::*;
    use fusion_cursor_native::disk::Folder;

    #[test]
    #[ignore = "it is run and killed by another test"]
    fn dies() {
        let folder = Folder::open(told().as_ref()).unwrap();
        let number: u64 = told().parse().unwrap();
        let kernel = KernelLock::attempt(&folder).unwrap().unwrap();
        let _armed = arm(
            folder.path(),
            Box::new(move |step| {
                if step.number == number && step.moment == Moment::Before {
                    let own = rustix::process::getpid();
                    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
                }
                Verdict::Go
            }),
        );
        let attempt = DirectoryLock::attempt(&folder, NAME, TTL, &kernel, Machine::get());
        let mut lock = taken(attempt);
        lock.check().unwrap();
        lock.vacate().unwrap();
        lock.release().unwrap();
        say("whole");
    }
}
