//! What becomes of a file where a step of writing it fails, or is never done.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

mod aside;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fusion_cursor_native::disk::failpoint::{Armed, Moment, Verdict, arm};
use fusion_cursor_native::disk::{Durability, Fault, Folder, is_temp};
use rustix::io::Errno;
use tempfile::{TempDir, tempdir};

const LIMIT: u64 = 1000;

fn place() -> (TempDir, Folder) {
    let temp = tempdir().unwrap();
    fs::write(temp.path().join("file"), "before").unwrap();
    fs::set_permissions(temp.path().join("file"), fs::Permissions::from_mode(0o640)).unwrap();
    let folder = Folder::open(temp.path()).unwrap();
    (temp, folder)
}

fn replace(folder: &Folder) -> Result<(), Fault> {
    folder
        .replace("file", b"after", 0o640, folder, Durability::Durable)
        .map_err(|error| error.what)
}

fn is(folder: &Folder, text: &str) {
    let file = folder.read("file", LIMIT).unwrap().unwrap();
    assert_eq!(
        (file.bytes.as_slice(), file.mode & 0o7777),
        (text.as_bytes(), 0o640)
    );
}

#[test]
fn a_hook_that_takes_its_time_holds_up_no_other_folder() {
    let ((_one, slow), (_two, other)) = (place(), place());
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let (reached, is_reached) = std::sync::mpsc::channel();
    let mut once = Some(());
    let _armed = arm(
        slow.path(),
        Box::new(move |_| {
            if once.take().is_some() {
                reached.send(()).unwrap();
                wait.recv().unwrap();
            }
            Verdict::Go
        }),
    );
    let held_up = std::thread::spawn(move || replace(&slow));
    is_reached.recv().unwrap();
    replace(&other).unwrap();
    is(&other, "after");
    go.send(()).unwrap();
    held_up.join().unwrap().unwrap();
}

#[test]
fn a_link_that_comes_while_a_file_is_written_is_not_replaced() {
    let (temp, folder) = place();
    let path = temp.path().join("file");
    let _armed = arm(
        folder.path(),
        Box::new(move |step| {
            if step.what == "replace.sync" && step.moment == Moment::After {
                fs::remove_file(&path).unwrap();
                std::os::unix::fs::symlink("elsewhere", &path).unwrap();
            }
            Verdict::Go
        }),
    );
    assert!(matches!(replace(&folder).unwrap_err(), Fault::Symlink));
    assert!(temp.path().join("file").is_symlink());
    assert_eq!(folder.names(10).unwrap(), ["file"], "nothing beside it");
}

/// All steps of what is done, by their names.
fn steps(folder: &Folder, act: impl FnOnce()) -> Vec<&'static str> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&seen);
    let armed = arm(
        folder.path(),
        Box::new(move |step| {
            if step.moment == Moment::Before {
                list.lock().unwrap().push(step.what);
            }
            Verdict::Go
        }),
    );
    act();
    drop(armed);
    let seen = seen.lock().unwrap();
    seen.clone()
}

/// The step of this number has this verdict, so many times.
fn fail_at(folder: &Folder, number: u64, times: u64, verdict: Verdict) -> Armed {
    arm(
        folder.path(),
        Box::new(move |step| {
            let there = (number..number + times).contains(&step.number);
            if there && step.moment == Moment::Before {
                verdict
            } else {
                Verdict::Go
            }
        }),
    )
}

const REPLACE: [&str; 6] = [
    "replace.create",
    "replace.write",
    "replace.chmod",
    "replace.sync",
    "replace.rename",
    "replace.sync-folder",
];

#[test]
fn every_step_is_seen() {
    let (_temp, folder) = place();
    let seen = steps(&folder, || replace(&folder).unwrap());
    assert_eq!(seen, REPLACE);
    let seen = steps(&folder, || {
        folder.create("other", b"x", 0o644).unwrap();
        folder.remove("other", Durability::Durable).unwrap();
        folder.make_child("child", 0o700).unwrap();
        folder.remove_child("child").unwrap();
        folder.touch().unwrap();
    });
    let expected = [
        "create",
        "create.write",
        "create.chmod",
        "remove",
        "remove.sync-folder",
        "make",
        "remove-folder",
        "touch",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_step_that_fails_leaves_the_file_as_it_was_and_nothing_beside_it() {
    for errno in [Errno::NOSPC, Errno::IO, Errno::DQUOT, Errno::ACCESS, Errno::ROFS] {
        for number in 1..=6 {
            let (_temp, folder) = place();
            let armed = fail_at(&folder, number, 1, Verdict::Fail(errno.raw_os_error()));
            let fault = replace(&folder).unwrap_err();
            drop(armed);
            let denied = [Errno::ACCESS, Errno::ROFS].contains(&errno);
            assert_eq!(matches!(fault, Fault::Denied(_)), denied, "{fault}");
            assert_eq!(matches!(fault, Fault::Io(_)), !denied, "{fault}");
            // The last one is the only one after which it is in its place.
            is(&folder, if number == 6 { "after" } else { "before" });
            assert_eq!(folder.names(10).unwrap(), ["file"], "{errno} at step {number}");
        }
    }
}

#[test]
fn a_disk_that_is_full_in_the_middle_of_a_file_leaves_the_old_one() {
    let (_temp, folder) = place();
    for written in [0, 1, 4, 5] {
        let short = Verdict::Short(written, Errno::NOSPC.raw_os_error());
        let armed = fail_at(&folder, 2, 1, short);
        assert!(matches!(replace(&folder), Err(Fault::Io(_))));
        drop(armed);
        is(&folder, "before");
        let armed = fail_at(&folder, 2, 1, short);
        folder.create("other", b"after", 0o600).unwrap_err();
        drop(armed);
        assert_eq!(folder.names(10).unwrap(), ["file"]);
    }
}

#[test]
fn what_a_signal_or_a_network_file_system_interrupts_is_tried_again() {
    for errno in [Errno::INTR, Errno::STALE] {
        for number in [1, 3, 4, 5, 6] {
            let (_temp, folder) = place();
            let armed = fail_at(&folder, number, 2, Verdict::Fail(errno.raw_os_error()));
            replace(&folder).unwrap();
            assert_eq!(armed.count(), 8, "two more than without");
            drop(armed);
            is(&folder, "after");
            assert_eq!(folder.names(10).unwrap(), ["file"]);
        }
    }
}

#[test]
fn what_stays_stale_is_gone() {
    let (_temp, folder) = place();
    let stale = Verdict::Fail(Errno::STALE.raw_os_error());
    let armed = fail_at(&folder, 1, 100, stale);
    assert!(matches!(replace(&folder), Err(Fault::Gone)));
    assert!(!folder.remove("file", Durability::Durable).unwrap());
    drop(armed);
    is(&folder, "before");
}

/// Runs `inside::killed` up to a step, and looks what it has left.
fn killed_at(number: u64, moment: &str) -> (TempDir, Folder) {
    let (temp, folder) = place();
    let word = format!("{number} {moment} {}", folder.path().display());
    let output = aside::start("inside::killed", &word).wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(9), "{output:?}");
    (temp, folder)
}

#[test]
fn whoever_dies_at_a_step_leaves_the_old_file_or_the_new_one() {
    for (index, name) in REPLACE.iter().enumerate() {
        for moment in ["Before", "After"] {
            let number = u64::try_from(index).unwrap() + 1;
            let (_temp, folder) = killed_at(number, moment);
            let placed = number > 5 || (number == 5 && moment == "After");
            is(&folder, if placed { "after" } else { "before" });
            let names = folder.names(10).unwrap();
            let left: Vec<_> = names.iter().filter(|name| is_temp(name)).collect();
            let expected = !placed && (number > 1 || moment == "After");
            assert_eq!(left.len(), usize::from(expected), "{moment} {name}: {names:?}");
            assert_eq!(names.len(), left.len() + 1);
        }
    }
}

#[test]
fn nothing_is_wider_than_asked_for_even_for_a_moment() {
    aside::passed(&aside::test("inside::without_a_umask").output().unwrap());
}

mod inside {
    use super::*;

    #[test]
    #[ignore = "it is run and killed by another test"]
    fn killed() {
        let told = aside::told();
        let mut words = told.splitn(3, ' ');
        let number: u64 = words.next().unwrap().parse().unwrap();
        let moment = words.next().unwrap().to_owned();
        let folder = Folder::open(Path::new(words.next().unwrap())).unwrap();
        let _armed = arm(
            folder.path(),
            Box::new(move |step| {
                if step.number == number && format!("{:?}", step.moment) == moment {
                    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
                        .unwrap();
                }
                Verdict::Go
            }),
        );
        replace(&folder).unwrap();
    }

    #[test]
    #[ignore = "it changes the umask of its process"]
    fn without_a_umask() {
        rustix::process::umask(rustix::fs::Mode::empty());
        for (wanted, made) in [(0o600, 0o700), (0o640, 0o750), (0o444, 0o500), (0o644, 0o755)] {
            let (_temp, folder) = place();
            let path = folder.path().to_owned();
            let looks = Arc::new(Mutex::new(0));
            let looked = Arc::clone(&looks);
            let _armed = arm(
                &path.clone(),
                Box::new(move |_| {
                    for entry in fs::read_dir(&path).unwrap() {
                        let entry = entry.unwrap();
                        let mode = entry.metadata().unwrap().mode() & 0o7777;
                        let most = match entry.file_name().to_str().unwrap() {
                            "file" => wanted | 0o640,
                            "child" => made,
                            _ => wanted | 0o600,
                        };
                        assert_eq!(mode & !most, 0, "{}: {mode:o}", entry.path().display());
                        *looked.lock().unwrap() += 1;
                    }
                    Verdict::Go
                }),
            );
            folder
                .replace("file", b"after", wanted, &folder, Durability::Durable)
                .unwrap();
            folder.create("other", b"x", wanted).unwrap();
            folder.make_child("child", made).unwrap();
            assert!(*looks.lock().unwrap() > 10);
            let mode = |name: &str| folder.entry(name).unwrap().unwrap().mode & 0o7777;
            assert_eq!(
                (mode("file"), mode("other"), mode("child")),
                (wanted, wanted, made)
            );
        }
    }
}
