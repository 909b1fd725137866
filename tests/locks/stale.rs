//! Locks of the dead, the stopped, and of those whose clock was set.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fusion_cursor_native::disk::failpoint::{Moment, Verdict, arm};
use fusion_cursor_native::lock::{Attempt, DirectoryLock, KernelLock, Life, LockError, Machine, World};
use rustix::process::Signal;

use super::aside::told;
use super::support::{
    Fake, NAME, Other, Place, TTL, busy, dead_pid, refuse_kernel_locks, say, taken, told_folder, until,
};

/// A TTL that passes while a test waits.
const SHORT: Duration = Duration::from_millis(300);

fn owner(pid: u32, hostname: &str, more: &str) -> String {
    let now = Machine::get().now_ms();
    format!(r#"{{"pid":{pid},"hostname":"{hostname}","acquiredAt":{now}{more}}}"#)
}

fn here() -> &'static str {
    Machine::get().hostname()
}

fn try_with(place: &Place, ttl: Duration, kernel: &KernelLock, world: &dyn World) -> Option<DirectoryLock> {
    match DirectoryLock::attempt(&place.folder, NAME, ttl, kernel, world).unwrap() {
        Attempt::Taken(lock) => Some(lock),
        Attempt::Busy(_) => None,
    }
}

#[test]
fn the_plugins_is_taken_over_in_place_when_it_is_dead() {
    let place = Place::new();
    let kernel = place.no_kernel();
    place.plugins(Some(&owner(dead_pid(), here(), "")));
    fs::write(place.lock().join("x.tmp"), "left").unwrap();
    let inode = place.folder.entry(NAME).unwrap().unwrap().identity;
    let lock = place.taken(&kernel);
    assert_eq!(place.folder.entry(NAME).unwrap().unwrap().identity, inode);
    assert_eq!(place.owner()["pid"], std::process::id());
    let mut names = lock.folder().names(10).unwrap();
    names.sort();
    assert_eq!(names, ["owner.json", "takeover.1"]);
    lock.check().unwrap();
    lock.release().unwrap();
    assert!(place.is_empty());
}

#[test]
fn the_living_and_those_elsewhere_keep_theirs() {
    let place = Place::new();
    let kernel = place.kernel();
    let living = std::process::id();
    place.plugins(None);
    for (pid, hostname) in [(living, here()), (living, "elsewhere"), (dead_pid(), "elsewhere")] {
        fs::write(place.lock().join("owner.json"), owner(pid, hostname, "")).unwrap();
        let holder = place.busy(&kernel).unwrap();
        assert_eq!(
            (holder.pid, holder.hostname.as_deref()),
            (Some(pid), Some(hostname))
        );
    }
}

#[test]
fn a_reused_pid_is_not_the_holder() {
    let place = Place::new();
    let kernel = place.no_kernel();
    let start = &Machine::get().start().unwrap().0;
    place.plugins(None);
    let file = place.lock().join("owner.json");
    let same = format!(r#","processStart":"{start}""#);
    fs::write(&file, owner(std::process::id(), here(), &same)).unwrap();
    place.busy(&kernel);
    // As after a reuse: the number lives, and its process started at another time.
    let other = format!(r#","processStart":"{start}0""#);
    fs::write(&file, owner(std::process::id(), here(), &other)).unwrap();
    drop(place.taken(&kernel));
    assert!(place.is_empty());
}

#[test]
fn what_our_own_left_is_free_to_whoever_has_the_kernel_lock() {
    let place = Place::new();
    let (kernel, none) = (place.kernel(), Place::new().no_kernel());
    let start = &Machine::get().start().unwrap().0;
    place.plugins(None);
    // Of a container on the same kernel: its processes cannot be seen.
    let mut parts: Vec<&str> = start.split(':').collect();
    parts[2] = "1";
    let more = format!(r#","processStart":"{}","kernelLock":true"#, parts.join(":"));
    fs::write(place.lock().join("owner.json"), owner(7, "container", &more)).unwrap();
    place.busy(&none);
    drop(place.taken(&kernel));
    assert!(place.is_empty());
}

#[test]
fn one_that_died_between_two_steps_is_not_waited_for_long() {
    let place = Place::new();
    let kernel = place.kernel();
    place.taken(&kernel).vacate().unwrap();
    let leave = |temp: Option<u32>| {
        assert!(place.folder.try_make(NAME, 0o1700).unwrap());
        if let Some(pid) = temp {
            fs::write(
                place.lock().join(format!(".fusion-tmp-{pid}-0123456789abcdef")),
                "{",
            )
            .unwrap();
        }
    };
    leave(Some(dead_pid()));
    drop(place.taken(&kernel));
    assert!(place.is_empty(), "with the temporary file");
    leave(None);
    place.busy(&kernel);
    // Long before its time to live has passed.
    drop(until("the lock", || {
        try_with(&place, TTL, &kernel, Machine::get())
    }));
    assert!(place.is_empty());
}

#[test]
fn a_clock_that_jumps_ahead_does_not_take_a_lock_in_use() {
    let place = Place::new();
    let kernel = place.no_kernel();
    place.plugins(Some(&owner(std::process::id(), here(), "")));
    let ahead = Fake::ahead(3600);
    let began = std::time::Instant::now();
    while began.elapsed() < Duration::from_millis(1500) {
        let lock = try_with(&place, TTL, &kernel, &ahead);
        assert!(lock.is_none(), "after {:?}: {lock:?}", began.elapsed());
        std::thread::sleep(Duration::from_millis(50));
        // What a holder does who still works.
        let touched = fs::File::open(place.lock()).unwrap();
        touched.set_modified(std::time::SystemTime::now()).unwrap();
    }
    drop(until("one that nobody uses", || {
        try_with(&place, TTL, &kernel, &ahead)
    }));
    assert!(place.is_empty());
}

#[test]
fn a_clock_that_jumps_back_leaves_no_lock_for_ever() {
    let place = Place::new();
    let kernel = place.no_kernel();
    place.plugins(Some(&owner(std::process::id(), here(), "")));
    let back = Fake::ahead(-3600);
    let began = std::time::Instant::now();
    let lock = until("the lock", || try_with(&place, SHORT, &kernel, &back));
    assert!(began.elapsed() >= SHORT, "it is waited out");
    drop(lock);
    place.plugins(Some(&owner(dead_pid(), here(), "")));
    drop(try_with(&place, TTL, &kernel, &back).expect("the dead do not come back"));
    assert!(place.is_empty());
}

#[test]
fn who_was_stopped_past_its_time_notices_before_it_writes() {
    let place = Place::new();
    let kernel = place.no_kernel();
    let mut other = Other::start("stale::inside::holds_for_a_short_time", &place);
    other.hear("held");
    other.signal(Signal::STOP);
    let lock = until("the lock of one that stands still", || {
        try_with(&place, SHORT, &kernel, Machine::get())
    });
    other.signal(Signal::CONT);
    other.tell("check");
    assert_eq!(other.hear("checked"), "lost");
    lock.check().unwrap();
    other.tell("release");
    assert_eq!(other.hear("released"), "lost");
    lock.check().unwrap();
    lock.release().unwrap();
    assert!(place.is_empty());
}

#[test]
fn who_was_stopped_past_its_time_without_a_rival_goes_on() {
    let place = Place::new();
    let mut other = Other::start("stale::inside::holds_for_a_short_time", &place);
    other.hear("held");
    let modified = || fs::metadata(place.lock()).unwrap().modified().unwrap();
    other.signal(Signal::STOP);
    let before = modified();
    until("its time to pass", || {
        before.elapsed().ok().filter(|age| *age > SHORT * 2)
    });
    other.signal(Signal::CONT);
    other.tell("check");
    assert_eq!(other.hear("checked"), "held");
    assert!(modified() > before, "and it is young again");
    other.tell("release");
    assert_eq!(other.hear("released"), "held");
    until("nothing", || place.is_empty().then_some(()));
}

/// In the successor's world all others are dead, so whoever is in the middle of taking it over is as well.
#[test]
fn a_claimant_that_stood_still_in_the_middle_does_not_disturb_its_successor() {
    let cases = [true, false].into_iter().flat_map(|dead_first| {
        ["replace.create", "replace.rename"]
            .into_iter()
            .flat_map(move |stops_at| [1, 2].map(|successors| (dead_first, stops_at, successors)))
    });
    for (dead_first, stops_at, successors) in cases {
        let place = Place::new();
        let kernel = place.no_kernel();
        if dead_first {
            place.plugins(Some(&owner(dead_pid(), here(), "")));
        }
        let successor = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&successor);
        let folder = place.folder.share().unwrap();
        let other_kernel = Place::new().no_kernel();
        let armed = arm(
            &place.lock(),
            Box::new(move |step| {
                // About to say that the lock is its own.
                if step.what == stops_at && step.moment == Moment::Before {
                    let world = Fake {
                        ahead_ms: 3_600_000.into(),
                        life: Some(Life::Dead),
                    };
                    let attempt =
                        || match DirectoryLock::attempt(&folder, NAME, TTL, &other_kernel, &world).unwrap() {
                            Attempt::Taken(lock) => Some(lock),
                            Attempt::Busy(_) => None,
                        };
                    for _ in 0..successors {
                        let before = slot.lock().unwrap().replace(until("the successor", attempt));
                        // As if it had died with it.
                        std::mem::forget(before);
                    }
                }
                Verdict::Go
            }),
        );
        match place.attempt(&kernel) {
            Ok(Attempt::Busy(_)) => {}
            other => panic!("{dead_first} {stops_at}: {other:?}"),
        }
        drop(armed);
        let lock = successor.lock().unwrap().take().unwrap();
        lock.check().unwrap();
        let claim = u64::from(dead_first) + successors;
        assert_eq!(
            place.owner()["claim"],
            claim,
            "{stops_at}: it says again whose it is"
        );
        lock.release().unwrap();
        assert!(place.is_empty());
    }
}

/// The plugin takes a stale one over by removing it, and whoever is late must not take the new one from it.
#[test]
fn one_that_got_a_new_owner_since_it_was_looked_at_is_left_alone() {
    for removed in [false, true] {
        let place = Place::new();
        let kernel = place.no_kernel();
        place.plugins(Some(&owner(dead_pid(), here(), "")));
        let lock = place.lock();
        let theirs = owner(std::process::id(), here(), "");
        let said = theirs.clone();
        let _armed = arm(
            &place.lock(),
            Box::new(move |step| {
                if step.what == "create" && step.moment == Moment::Before {
                    if removed {
                        fs::remove_dir_all(&lock).unwrap();
                        fs::create_dir(&lock).unwrap();
                    }
                    fs::write(lock.join("owner.json"), &said).unwrap();
                }
                Verdict::Go
            }),
        );
        match place.attempt(&kernel) {
            Ok(Attempt::Busy(_)) => {}
            other => panic!("{other:?}"),
        }
        assert_eq!(
            fs::read_to_string(place.lock().join("owner.json")).unwrap(),
            theirs
        );
        let names = fs::read_dir(place.lock()).unwrap().count();
        assert_eq!(names, 1, "no claim is left in it");
    }
}

#[test]
fn a_dead_claimant_is_taken_over_like_a_dead_owner() {
    let place = Place::new();
    let kernel = place.no_kernel();
    place.plugins(Some(&owner(dead_pid(), here(), "")));
    let claim = |pid| owner(pid, here(), r#","claim":1"#);
    fs::write(place.lock().join("takeover.1"), claim(std::process::id())).unwrap();
    let holder = busy(place.attempt(&kernel)).unwrap();
    assert_eq!(
        holder.pid,
        Some(std::process::id()),
        "a living one is about to have it"
    );
    fs::write(place.lock().join("takeover.1"), claim(dead_pid())).unwrap();
    let lock = taken(place.attempt(&kernel));
    assert_eq!(place.owner()["claim"], 2);
    lock.release().unwrap();
    assert!(place.is_empty());
}

mod inside {
    use super::*;

    #[test]
    #[ignore = "it is run beside another test"]
    fn holds_for_a_short_time() {
        let folder = told_folder();
        let armed = refuse_kernel_locks(folder.path());
        let kernel = KernelLock::attempt(&folder).unwrap().unwrap();
        drop(armed);
        let attempt = DirectoryLock::attempt(&folder, NAME, SHORT, &kernel, Machine::get());
        let lock = taken(attempt);
        say("held");
        let told_of = |result: Result<(), LockError>| match result {
            Ok(()) => "held".to_owned(),
            Err(LockError::Lost { .. }) => "lost".to_owned(),
            Err(error) => error.to_string(),
        };
        told();
        say(&format!("checked {}", told_of(lock.check())));
        told();
        say(&format!("released {}", told_of(lock.release())));
    }
}
