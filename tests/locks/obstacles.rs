//! Something else in the place of a lock, or of what lies in it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::{Duration, Instant};

use fusion_cursor_native::disk::Fault;
use fusion_cursor_native::lock::{Attempt, LockError, Machine, World};

use super::aside;
use super::support::{Place, until};

fn refused(place: &Place) -> Fault {
    let kernel = place.kernel();
    match place.attempt(&kernel) {
        Err(LockError::Disk(error)) => {
            assert_eq!(error.path, place.lock());
            error.what
        }
        other => panic!("{other:?}"),
    }
}

fn fifo(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn what_is_no_folder_is_an_error_at_once() {
    let began = Instant::now();
    let place = Place::new();
    fs::write(place.lock(), "kept").unwrap();
    assert!(matches!(refused(&place), Fault::NotAFolder("a file")));
    assert_eq!(fs::read(place.lock()).unwrap(), b"kept");

    let (place, elsewhere) = (Place::new(), Place::new());
    symlink(elsewhere.folder.path(), place.lock()).unwrap();
    assert!(matches!(refused(&place), Fault::Symlink));
    assert!(elsewhere.is_empty());

    let place = Place::new();
    symlink("nowhere", place.lock()).unwrap();
    assert!(matches!(refused(&place), Fault::Symlink));

    let place = Place::new();
    fifo(&place.lock());
    assert!(matches!(refused(&place), Fault::NotAFolder("a FIFO")));
    // Without a wait for a lock or for a writer.
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_parent_that_is_gone_is_an_error_at_once() {
    let place = Place::new();
    let kernel = place.kernel();
    fs::remove_dir(place.temp.path()).unwrap();
    let error = place.attempt(&kernel).unwrap_err();
    assert!(
        matches!(&error, LockError::Disk(error) if matches!(error.what, Fault::Gone)),
        "{error}"
    );
    fs::create_dir(place.temp.path()).unwrap();
}

#[test]
fn an_unreadable_one_is_an_error_at_once() {
    aside::as_ordinary_user("obstacles::inside::unreadable");
}

/// Each makes an `owner.json` of which nobody can say whose it is.
type Maker = fn(&std::path::Path);

#[test]
fn an_owner_file_that_names_nobody_leaves_only_its_age() {
    let makers: [(&str, Maker); 9] = [
        ("empty", |path| fs::write(path, "").unwrap()),
        ("garbage", |path| fs::write(path, "\0\0{").unwrap()),
        ("half", |path| fs::write(path, r#"{"pid":12,"hos"#).unwrap()),
        ("no pid", |path| fs::write(path, r#"{"hostname":"h"}"#).unwrap()),
        ("too large", |path| fs::write(path, vec![b' '; 70_000]).unwrap()),
        ("link", |path| symlink("/etc/hostname", path).unwrap()),
        ("dangling link", |path| symlink("nowhere", path).unwrap()),
        ("FIFO", fifo),
        ("folder", |path| fs::create_dir(path).unwrap()),
    ];
    let look = |(what, make): (&'static str, Maker)| {
        let place = Place::new();
        let kernel = place.kernel();
        place.plugins(None);
        make(&place.lock().join("owner.json"));
        assert_eq!(place.busy(&kernel), None, "{what}: it is young");
        place.aged(3600);
        assert_eq!(place.busy(&kernel), None, "{what}: it was not watched");
        let lock = until(what, || match place.attempt(&kernel).unwrap() {
            Attempt::Taken(lock) => Some(lock),
            Attempt::Busy(_) => None,
        });
        assert_eq!(place.owner()["pid"], std::process::id());
        lock.release().unwrap();
        assert!(place.is_empty(), "{what}");
    };
    std::thread::scope(|scope| {
        for maker in makers {
            scope.spawn(move || look(maker));
        }
    });
}

#[test]
fn fields_of_a_later_version_do_no_harm() {
    let place = Place::new();
    let kernel = place.kernel();
    let own = std::process::id();
    let hostname = Machine::get().hostname();
    place.plugins(Some(&format!(
        r#"{{"version":9,"pid":{own},"hostname":"{hostname}","acquiredAt":1e15,"token":{{}},"kernelLock":"no"}}"#
    )));
    assert_eq!(place.busy(&kernel).unwrap().pid, Some(own));
}

mod inside {
    use super::*;

    #[test]
    #[ignore = "it is run as an ordinary user by another test"]
    fn unreadable() {
        let place = Place::new();
        fs::create_dir(place.lock()).unwrap();
        fs::set_permissions(place.lock(), Permissions::from_mode(0o000)).unwrap();
        assert!(matches!(refused(&place), Fault::Denied(_)));
        fs::remove_dir(place.lock()).unwrap();
        fs::set_permissions(place.temp.path(), Permissions::from_mode(0o555)).unwrap();
        assert!(matches!(refused(&place), Fault::Denied(_)));
        fs::set_permissions(place.temp.path(), Permissions::from_mode(0o755)).unwrap();
        assert!(place.is_empty());
    }
}
