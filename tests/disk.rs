//! The door to the file system: what lies in the way is told, nothing is followed, nothing is half done.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

mod aside;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fusion_cursor_native::disk::{Durability, Fault, Folder, Kind, is_temp, synced};
use tempfile::{TempDir, tempdir};

const LIMIT: u64 = 1000;

fn place() -> (TempDir, Folder) {
    let temp = tempdir().unwrap();
    let folder = Folder::open(temp.path()).unwrap();
    (temp, folder)
}

fn mode(path: impl AsRef<Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn only_these(folder: &Folder, expected: &[&str]) {
    let mut names = folder.names(100).unwrap();
    names.sort();
    assert_eq!(names, expected);
}

/// One of each that is no file, by its name and what is said of it.
fn obstacles(temp: &TempDir) -> Vec<(&'static str, &'static str)> {
    fs::write(temp.path().join("target"), "kept").unwrap();
    symlink("target", temp.path().join("link")).unwrap();
    symlink("nowhere", temp.path().join("dangling")).unwrap();
    symlink("loop", temp.path().join("loop")).unwrap();
    fs::create_dir(temp.path().join("folder")).unwrap();
    drop(UnixListener::bind(temp.path().join("socket")).unwrap());
    let fifo = temp.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(fifo).status().unwrap();
    assert!(made.success());
    vec![
        ("link", "it is a symbolic link"),
        ("dangling", "it is a symbolic link"),
        ("loop", "it is a symbolic link"),
        ("folder", "it is a folder, not a file"),
        ("socket", "it is a socket, not a file"),
        ("fifo", "it is a FIFO, not a file"),
    ]
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let (temp, folder) = place();
    let began = Instant::now();
    for (name, said) in obstacles(&temp) {
        let read = folder.read(name, LIMIT).unwrap_err();
        let written = folder
            .replace(name, b"x", 0o600, &folder, Durability::Durable)
            .unwrap_err();
        let path = folder.path().join(name);
        assert_eq!(read.to_string(), format!("reading {}: {said}", path.display()));
        assert_eq!(written.to_string(), format!("writing {}: {said}", path.display()));
        assert!(!folder.create(name, b"x", 0o600).unwrap(), "{name} is taken");
    }
    let devices = Folder::open(Path::new("/dev")).unwrap();
    let device = devices.read("null", LIMIT).unwrap_err();
    assert!(matches!(device.what, Fault::NotAFile("a device")), "{device}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(fs::read(temp.path().join("target")).unwrap(), b"kept");
    assert!(!temp.path().join("nowhere").exists());
    assert!(!folder.names(100).unwrap().iter().any(|name| is_temp(name)));
}

#[test]
fn what_is_no_folder_is_refused() {
    let (temp, folder) = place();
    for (name, _) in obstacles(&temp) {
        if name == "folder" {
            assert!(folder.child(name).unwrap().is_some());
            continue;
        }
        let refused = folder.child(name).unwrap_err();
        let link = matches!(refused.what, Fault::Symlink);
        assert!(link || matches!(refused.what, Fault::NotAFolder(_)), "{refused}");
        assert_eq!(link, ["link", "dangling", "loop"].contains(&name), "{refused}");
        assert!(!folder.try_make(name, 0o700).unwrap());
        folder.make_child(name, 0o700).unwrap_err();
    }
    let file = Folder::open(&temp.path().join("target")).unwrap_err();
    assert!(matches!(file.what, Fault::NotAFolder("a file")), "{file}");
    let nothing = Folder::open(&temp.path().join("nothing")).unwrap_err();
    assert!(matches!(nothing.what, Fault::Gone), "{nothing}");
    assert!(folder.child("nothing").unwrap().is_none());
}

#[test]
fn a_folder_that_a_link_leads_to_has_one_path_however_it_is_spelled() {
    let (temp, folder) = place();
    fs::create_dir(temp.path().join("real")).unwrap();
    symlink("real", temp.path().join("alias")).unwrap();
    let real = Folder::open(&temp.path().join("real")).unwrap();
    for spelling in ["alias", "./alias/", "real/../alias"] {
        let opened = Folder::open(&temp.path().join(spelling)).unwrap();
        assert_eq!(opened.path(), real.path(), "{spelling}");
        assert_eq!(opened.identity().unwrap(), real.identity().unwrap());
    }
    assert_eq!(real.path().parent(), Some(folder.path()));
}

#[test]
fn a_file_is_read_up_to_the_limit() {
    let (temp, folder) = place();
    assert!(folder.read("file", LIMIT).unwrap().is_none());
    for (size, fits) in [(0_usize, true), (1000, true), (1001, false), (100_000, false)] {
        fs::write(temp.path().join("file"), vec![7; size]).unwrap();
        match folder.read("file", LIMIT) {
            Ok(contents) => assert!(fits && contents.unwrap().bytes == vec![7; size]),
            Err(error) => assert!(!fits && matches!(error.what, Fault::TooLarge(LIMIT)), "{error}"),
        }
    }
    let path = temp.path().join("file");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    fs::write(&path, "x").unwrap();
    let contents = folder.read("file", LIMIT).unwrap().unwrap();
    let entry = folder.entry("file").unwrap().unwrap();
    assert_eq!((contents.mode, contents.mode & 0o7777), (entry.mode, 0o640));
    assert_eq!(
        (entry.kind, entry.size, entry.identity),
        (Kind::File, 1, contents.identity)
    );
    assert_eq!(entry.identity.inode, fs::metadata(&path).unwrap().ino());
    assert_eq!(entry.modified, fs::metadata(&path).unwrap().modified().unwrap());
}

#[test]
fn a_replaced_file_has_the_mode_that_was_asked_for() {
    let (temp, folder) = place();
    let path = temp.path().join("file");
    for wanted in [0o600, 0o640, 0o644, 0o444, 0o664, 0o4755, 0o400] {
        for durability in [Durability::Durable, Durability::Atomic, Durability::Fleeting] {
            let text = format!("{wanted:o} {durability:?}");
            folder
                .replace("file", text.as_bytes(), wanted, &folder, durability)
                .unwrap();
            assert_eq!((fs::read_to_string(&path).unwrap(), mode(&path)), (text, wanted));
        }
    }
    only_these(&folder, &["file"]);
    let before = synced();
    folder
        .replace("file", b"x", 0o600, &folder, Durability::Durable)
        .unwrap();
    let after = synced();
    assert!(
        after.count >= before.count + 2 && after.time > before.time,
        "{after:?}"
    );
}

#[test]
fn a_file_comes_from_the_folder_it_is_written_in_and_leaves_nothing_there() {
    let (temp, folder) = place();
    let (via, made) = folder.make_child("via", 0o700).unwrap();
    assert!(made && !folder.make_child("via", 0o700).unwrap().1);
    folder
        .replace("file", b"x", 0o644, &via, Durability::Atomic)
        .unwrap();
    only_these(&folder, &["file", "via"]);
    only_these(&via, &[]);
    assert_eq!(fs::read(temp.path().join("file")).unwrap(), b"x");
}

#[test]
fn a_replaced_file_stays_whose_it_was() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("left out: only root may give a file away");
        return;
    }
    let (temp, folder) = place();
    let path = temp.path().join("file");
    fs::write(&path, "before").unwrap();
    std::os::unix::fs::chown(&path, Some(1234), Some(4321)).unwrap();
    folder
        .replace("file", b"after", 0o4640, &folder, Durability::Atomic)
        .unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!(
        (metadata.uid(), metadata.gid(), mode(&path)),
        (1234, 4321, 0o4640)
    );
}

#[test]
fn readers_never_see_half_a_file() {
    let (temp, folder) = place();
    let path = temp.path().join("file");
    let text = |letter: u8| vec![letter; 100_000];
    fs::write(&path, text(b'a')).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let bytes = fs::read(&path).unwrap();
                assert!(bytes.len() == 100_000 && bytes.iter().all(|byte| *byte == bytes[0]));
                reads += 1;
            }
            reads
        });
        for letter in (b'a'..=b'z').cycle().take(300) {
            folder
                .replace("file", &text(letter), 0o600, &folder, Durability::Fleeting)
                .unwrap();
        }
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}

#[test]
fn a_folder_that_was_moved_away_is_still_the_one() {
    let (temp, outer) = place();
    let (folder, _) = outer.make_child("folder", 0o700).unwrap();
    let outside = tempdir().unwrap();
    fs::rename(temp.path().join("folder"), temp.path().join("moved")).unwrap();
    symlink(outside.path(), temp.path().join("folder")).unwrap();
    folder
        .replace("file", b"x", 0o600, &folder, Durability::Durable)
        .unwrap();
    folder.create("other", b"y", 0o600).unwrap();
    assert_eq!(fs::read(temp.path().join("moved/file")).unwrap(), b"x");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert!(matches!(outer.child("folder").unwrap_err().what, Fault::Symlink));
}

#[test]
fn a_folder_that_was_removed_is_gone() {
    let (temp, outer) = place();
    let (folder, _) = outer.make_child("folder", 0o700).unwrap();
    fs::remove_dir(temp.path().join("folder")).unwrap();
    let gone = [
        folder
            .replace("file", b"x", 0o600, &folder, Durability::Durable)
            .unwrap_err(),
        folder.create("file", b"x", 0o600).unwrap_err(),
        folder.try_make("child", 0o700).unwrap_err(),
        folder.make_child("child", 0o700).unwrap_err(),
    ];
    for error in gone {
        assert!(matches!(error.what, Fault::Gone), "{error}");
        assert!(error.to_string().ends_with("the folder is gone"), "{error}");
    }
    assert!(folder.read("file", LIMIT).unwrap().is_none());
    assert!(!folder.remove("file", Durability::Durable).unwrap());
}

#[test]
fn removing_takes_one_thing_and_never_what_is_in_it() {
    let (temp, folder) = place();
    obstacles(&temp);
    fs::write(temp.path().join("folder/inner"), "x").unwrap();
    assert!(!folder.remove_child("folder").unwrap(), "it is not empty");
    assert!(matches!(
        folder.remove("folder", Durability::Atomic).unwrap_err().what,
        Fault::NotAFile(_)
    ));
    assert!(matches!(
        folder.remove_child("link").unwrap_err().what,
        Fault::Symlink
    ));
    assert!(matches!(
        folder.remove_child("fifo").unwrap_err().what,
        Fault::NotAFolder("a FIFO")
    ));
    assert!(folder.remove("link", Durability::Durable).unwrap());
    assert!(!folder.remove("link", Durability::Durable).unwrap());
    assert!(temp.path().join("target").exists());
    fs::remove_file(temp.path().join("folder/inner")).unwrap();
    assert!(folder.remove_child("folder").unwrap());
    assert!(!folder.remove_child("folder").unwrap());
}

#[test]
fn names_are_listed_up_to_a_limit_and_a_touch_makes_a_folder_young() {
    let (temp, folder) = place();
    for number in 0..20 {
        fs::write(temp.path().join(number.to_string()), "").unwrap();
    }
    assert_eq!(folder.names(7).unwrap().len(), 7);
    assert_eq!(folder.names(100).unwrap().len(), 20);
    let past = std::time::UNIX_EPOCH + Duration::from_secs(1000);
    fs::File::open(temp.path()).unwrap().set_modified(past).unwrap();
    assert_eq!(folder.itself().unwrap().modified, past);
    folder.touch().unwrap();
    assert!(folder.itself().unwrap().modified.elapsed().unwrap() < Duration::from_secs(60));
}

#[test]
fn what_may_not_be_read_or_written_is_told_so() {
    aside::as_ordinary_user("inside::denied");
}

mod inside {
    use super::*;

    #[test]
    #[ignore = "it is run as an ordinary user by another test"]
    fn denied() {
        let (temp, folder) = place();
        let path = temp.path().join("file");
        fs::write(&path, "kept").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o000)).unwrap();
        let unreadable = folder.read("file", LIMIT).unwrap_err();
        assert!(matches!(unreadable.what, Fault::Denied(_)), "{unreadable}");
        fs::set_permissions(temp.path(), Permissions::from_mode(0o555)).unwrap();
        let refused = [
            folder
                .replace("file", b"x", 0o600, &folder, Durability::Durable)
                .unwrap_err(),
            folder.create("other", b"x", 0o600).unwrap_err(),
            folder.remove("file", Durability::Durable).unwrap_err(),
            folder.try_make("child", 0o700).unwrap_err(),
        ];
        fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
        for error in refused {
            assert!(matches!(error.what, Fault::Denied(_)), "{error}");
        }
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"kept");
        only_these(&folder, &["file"]);
    }
}

#[test]
fn a_file_that_may_not_be_read_may_be_replaced() {
    let temp = tempdir().unwrap();
    let folder = Folder::open(temp.path()).unwrap();
    fs::write(temp.path().join("file"), "before").unwrap();
    fs::set_permissions(temp.path().join("file"), Permissions::from_mode(0o000)).unwrap();
    folder
        .replace("file", b"after", 0o600, &folder, Durability::Fleeting)
        .unwrap();
    assert_eq!(fs::read(temp.path().join("file")).unwrap(), b"after");
}

/// A list as the kernel takes it: who, what he may do.
#[cfg(target_os = "linux")]
fn access(named_user: u16, group: u16) -> Vec<u8> {
    const NOBODY: u32 = u32::MAX;
    let entries = [
        (1, 6, NOBODY),
        (2, named_user, 12_345),
        (4, group, NOBODY),
        (16, named_user | group, NOBODY),
        (32, 0, NOBODY),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, may, id) in entries {
        list.extend([u16::to_le_bytes(tag), u16::to_le_bytes(may)].concat());
        list.extend(u32::to_le_bytes(id));
    }
    list
}

#[cfg(target_os = "linux")]
#[test]
fn an_access_control_list_stays_and_none_comes() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    const OWN: &str = "system.posix_acl_access";
    const OF_WHAT_IS_MADE: &str = "system.posix_acl_default";
    let temp = tempdir().unwrap();
    let folder = Folder::open(temp.path()).unwrap();
    let (listed, plain) = (temp.path().join("listed"), temp.path().join("plain"));
    fs::write(&listed, "before").unwrap();
    fs::write(&plain, "before").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o640)).unwrap();
    // Its group may read nothing, although the bits of its mode seem to say so.
    let list = access(4, 0);
    if setxattr(&listed, OWN, &list, XattrFlags::empty()).is_err() {
        eprintln!("skipped: this file system has no access control lists");
        return;
    }
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&listed), 0o640);
    setxattr(temp.path(), OF_WHAT_IS_MADE, &access(6, 4), XattrFlags::empty()).unwrap();
    for name in ["listed", "plain"] {
        folder
            .replace(name, b"after", 0o640, &folder, Durability::Atomic)
            .unwrap();
        assert_eq!(mode(&temp.path().join(name)), 0o640);
    }
    let mut now = vec![0; 1024];
    let length = getxattr(&listed, OWN, &mut now[..]).unwrap();
    assert_eq!(now[..length], list);
    assert!(getxattr(&plain, OWN, &mut now[..]).is_err(), "no list came");
}
