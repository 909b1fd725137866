//! The kernel lock between processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::failpoint::{Moment, Verdict, arm};
use fusion_cursor_native::lock::{KernelLock, LockError, Machine, World};
use fusion_cursor_native::process::{Launch, Owner, start};
use tokio::time::Instant;

use super::aside::told;
use super::support::{Other, PATIENCE, Place, no_kernel, refuse_kernel_locks, say, told_folder, until};

fn held(place: &Place) -> bool {
    KernelLock::attempt(&place.folder).unwrap().is_none()
}

#[tokio::test]
async fn another_process_waits_and_is_told_for_whom() {
    let place = Place::new();
    let mut other = Other::start("kernel::inside::holds", &place);
    other.hear("held");
    assert!(held(&place));
    let (_calm, calm) = cancel();
    let deadline = Instant::now() + Duration::from_millis(300);
    let late = KernelLock::acquire(&place.folder, deadline, &calm)
        .await
        .unwrap_err();
    let said = late.to_string();
    let LockError::TimedOut { holder, waited, .. } = late else {
        panic!("{late}");
    };
    if cfg!(target_os = "linux") {
        let holder = holder.unwrap();
        assert_eq!(holder.pid, Some(other.pid()));
        let expected = format!(
            "{} is locked by process {} on {}; gave up after {:.1} s",
            place.folder.path().display(),
            other.pid(),
            Machine::get().hostname(),
            waited.as_secs_f64()
        );
        assert_eq!(said, expected);
    }
    let waiting = KernelLock::acquire(&place.folder, Instant::now() + PATIENCE, &calm);
    other.tell("go");
    let lock = waiting.await.unwrap();
    assert!(lock.held);
}

#[test]
fn it_is_gone_with_its_process() {
    let place = Place::new();
    let mut other = Other::start("kernel::inside::holds", &place);
    other.hear("held");
    assert!(held(&place));
    other.kill();
    assert!(!held(&place));
}

#[test]
fn what_a_holder_starts_does_not_inherit_it() {
    let place = Place::new();
    let mut other = Other::start("kernel::inside::holds_and_starts", &place);
    let started: u32 = other.hear("started").parse().unwrap();
    assert!(held(&place));
    if cfg!(target_os = "linux") {
        for entry in std::fs::read_dir(format!("/proc/{started}/fd")).unwrap() {
            let open = std::fs::read_link(entry.unwrap().path()).unwrap();
            assert!(!open.starts_with(place.folder.path()), "{}", open.display());
        }
    }
    other.kill();
    assert!(!held(&place));
}

#[tokio::test]
async fn waiting_costs_next_to_nothing() {
    let place = Place::new();
    let mut other = Other::start("kernel::inside::holds", &place);
    other.hear("held");
    let tries = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&tries);
    let _armed = arm(
        place.folder.path(),
        Box::new(move |step| {
            if step.what == "lock.kernel" && step.moment == Moment::Before {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            Verdict::Go
        }),
    );
    let (_calm, calm) = cancel();
    let deadline = Instant::now() + Duration::from_secs(1);
    // Of several in one process only the first asks the kernel.
    let acquire = || KernelLock::acquire(&place.folder, deadline, &calm);
    let waited = tokio::join!(acquire(), acquire(), acquire(), acquire());
    assert!(waited.0.is_err() && waited.1.is_err() && waited.2.is_err() && waited.3.is_err());
    let tries = tries.load(Ordering::Relaxed);
    assert!((2..=150).contains(&tries), "{tries} tries in a second");
}

#[test]
fn a_file_system_without_kernel_locks_is_no_failure() {
    let place = Place::new();
    let lock = no_kernel(&place.folder);
    // In this process it is a lock all the same.
    let _armed = refuse_kernel_locks(place.folder.path());
    assert!(KernelLock::attempt(&place.folder).unwrap().is_none());
    drop(lock);
    assert!(!KernelLock::attempt(&place.folder).unwrap().unwrap().held);
}

#[tokio::test]
async fn a_wait_is_called_off_at_once() {
    let place = Place::new();
    let mut other = Other::start("kernel::inside::holds", &place);
    other.hear("held");
    let (off, is_off) = cancel();
    let waiting = KernelLock::acquire(&place.folder, Instant::now() + PATIENCE, &is_off);
    let call_off = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        off.cancel();
    };
    let began = Instant::now();
    let (waited, ()) = tokio::join!(waiting, call_off);
    assert!(matches!(waited, Err(LockError::Cancelled)));
    assert!(began.elapsed() < PATIENCE / 2);
}

mod inside {
    use super::*;

    #[test]
    #[ignore = "it is run beside another test"]
    fn holds() {
        let folder = told_folder();
        let lock = until("the lock", || KernelLock::attempt(&folder).unwrap());
        say("held");
        told();
        drop(lock);
    }

    #[tokio::test]
    #[ignore = "it is run beside another test, and killed"]
    async fn holds_and_starts() {
        let folder = told_folder();
        let _lock = KernelLock::attempt(&folder).unwrap().unwrap();
        let launch = Launch {
            program: "/bin/sleep".into(),
            args: vec!["100".into()],
            cwd: "/".into(),
            env: Vec::new(),
            owner: Owner(1),
            via: None,
        };
        let running = start(launch).await.unwrap();
        say(&format!("started {}", running.tree.pid()));
        told();
    }
}
