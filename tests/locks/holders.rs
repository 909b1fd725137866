//! A lock directory in good hands.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::time::{Duration, UNIX_EPOCH};

use fusion_cursor_native::disk::Durability;
use fusion_cursor_native::lock::{DirectoryLock, LockError, Machine, World};

use super::support::{NAME, Place, TTL, busy, dead_pid, taken};

#[test]
fn it_says_whose_it_is_and_leaves_nothing() {
    let place = Place::new();
    let kernel = place.kernel();
    let before = Machine::get().now_ms();
    let lock = place.taken(&kernel);
    let owner = place.owner();
    assert_eq!(owner["pid"], std::process::id());
    assert_eq!(owner["hostname"], Machine::get().hostname());
    let acquired = owner["acquiredAt"].as_i64().unwrap();
    assert!((before..=Machine::get().now_ms()).contains(&acquired));
    assert_eq!(owner["processStart"], Machine::get().start().unwrap().0);
    assert_eq!(owner["kernelLock"], true);
    assert_eq!(
        fs::metadata(place.lock().join("owner.json")).unwrap().mode() & 0o7777,
        0o600
    );
    assert_eq!(fs::metadata(place.lock()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(lock.folder().names(10).unwrap(), ["owner.json"]);
    lock.check().unwrap();
    let holder = place.busy(&Place::new().no_kernel()).unwrap();
    assert_eq!(
        (holder.pid, holder.since),
        (Some(std::process::id()), Some(acquired))
    );
    assert_eq!(DirectoryLock::holder(&place.folder, NAME), Some(holder));
    lock.release().unwrap();
    assert!(place.is_empty());
    drop(place.taken(&kernel));
    assert!(place.is_empty());
}

#[test]
fn only_a_free_one_is_taken_where_that_was_asked_for() {
    let place = Place::new();
    let kernel = place.kernel();
    let free = || {
        let (folder, ttl) = (&place.folder, TTL);
        DirectoryLock::attempt_free(folder, NAME, ttl, &kernel, Machine::get())
    };
    let dead = dead_pid();
    let hostname = Machine::get().hostname();
    place.plugins(Some(&format!(
        r#"{{"pid":{dead},"hostname":"{hostname}","acquiredAt":1}}"#
    )));
    assert_eq!(busy(free()).unwrap().pid, Some(dead));
    fs::remove_dir_all(place.lock()).unwrap();
    drop(taken(free()));
    assert!(place.is_empty());
}

#[test]
fn a_vacated_one_is_an_empty_folder_until_it_is_released() {
    let place = Place::new();
    let kernel = place.kernel();
    let mut lock = place.taken(&kernel);
    lock.folder().create("left", b"x", 0o600).unwrap();
    lock.vacate().unwrap();
    assert!(lock.folder().names(10).unwrap().is_empty());
    lock.vacate().unwrap();
    lock.check().unwrap();
    assert_eq!(place.busy(&Place::new().no_kernel()), None);
    lock.release().unwrap();
    assert!(place.is_empty());
}

#[test]
fn it_stays_young_while_it_is_used() {
    let place = Place::new();
    let kernel = place.no_kernel();
    let lock = place.taken(&kernel);
    for age in [11, -5] {
        place.aged(age);
        let before = place.owner();
        lock.check().unwrap();
        let (now, owner) = (Machine::get().now_ms(), place.owner());
        let modified = fs::metadata(place.lock()).unwrap().modified().unwrap();
        let modified = modified.duration_since(UNIX_EPOCH).unwrap();
        assert!(modified + Duration::from_secs(4) > Duration::from_millis(now.unsigned_abs()));
        assert!(owner["acquiredAt"].as_i64() >= before["acquiredAt"].as_i64());
        assert_eq!(
            owner["since"], before["since"],
            "since when it is held does not change"
        );
        assert_eq!(owner["token"], before["token"]);
    }
    place.aged(5);
    let modified = fs::metadata(place.lock()).unwrap().modified().unwrap();
    lock.check().unwrap();
    assert_eq!(
        fs::metadata(place.lock()).unwrap().modified().unwrap(),
        modified,
        "no write without need"
    );
}

#[test]
fn one_that_was_taken_away_is_lost_and_what_came_instead_is_left_alone() {
    let place = Place::new();
    let kernel = place.no_kernel();
    let lock = place.taken(&kernel);
    fs::remove_dir_all(place.lock()).unwrap();
    let lost = lock.check().unwrap_err();
    assert!(matches!(lost, LockError::Lost { .. }), "{lost}");
    assert!(lost.to_string().contains("taken over"), "{lost}");
    place.plugins(Some(r#"{"pid":1,"hostname":"elsewhere","acquiredAt":1}"#));
    assert!(matches!(lock.check(), Err(LockError::Lost { .. })));
    assert!(matches!(lock.release(), Err(LockError::Lost { .. })));
    assert_eq!(place.owner()["hostname"], "elsewhere");

    fs::remove_dir_all(place.lock()).unwrap();
    let mut lock = place.taken(&kernel);
    fs::remove_dir_all(place.lock()).unwrap();
    assert!(matches!(lock.vacate(), Err(LockError::Lost { .. })));
    drop(lock);
    assert!(place.is_empty());
}

#[test]
fn a_lost_owner_file_is_a_lost_lock() {
    let place = Place::new();
    let kernel = place.no_kernel();
    for other in [
        None,
        Some(r#"{"pid":1,"hostname":"elsewhere","acquiredAt":1}"#),
        Some(""),
    ] {
        let lock = place.taken(&kernel);
        fs::remove_file(place.lock().join("owner.json")).unwrap();
        if let Some(other) = other {
            fs::write(place.lock().join("owner.json"), other).unwrap();
        }
        assert!(matches!(lock.check(), Err(LockError::Lost { .. })), "{other:?}");
        drop(lock);
        assert!(place.lock().exists(), "it is not ours to remove");
        fs::remove_dir_all(place.lock()).unwrap();
    }
}

#[test]
fn what_lies_in_it_goes_with_it() {
    let place = Place::new();
    let kernel = place.kernel();
    let lock = place.taken(&kernel);
    let target = place.temp.path().join("target");
    fs::write(&target, "kept").unwrap();
    fs::write(place.lock().join("note"), "x").unwrap();
    fs::create_dir(place.lock().join("folder")).unwrap();
    std::os::unix::fs::symlink(&target, place.lock().join("link")).unwrap();
    fs::set_permissions(place.lock().join("note"), fs::Permissions::from_mode(0o000)).unwrap();
    lock.folder()
        .replace("x", b"x", 0o600, lock.folder(), Durability::Fleeting)
        .unwrap();
    lock.release().unwrap();
    assert!(!place.lock().exists());
    assert_eq!(fs::read(target).unwrap(), b"kept");
}
