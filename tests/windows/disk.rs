//! Folders, files, their names and their modes.

use std::ffi::OsStr;
use std::fs;
use std::os::windows::fs::{MetadataExt, symlink_dir, symlink_file};
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use fusion_cursor_native::disk::{Durability, Fault, Folder, Kind, UNCLAIMED, is_temp};
use tempfile::{TempDir, tempdir};

const LIMIT: u64 = 1000;
/// What Wine says of a path that is too long for it. The system itself has no such limit.
const MORE_DATA: Option<i32> = Some(234);
/// How Wine says that it has lost the way to a folder that was moved.
const INVALID_HANDLE: &str = "(os error 6)";

pub(crate) fn place() -> (TempDir, Folder) {
    let temp = tempdir().unwrap();
    let folder = Folder::open(temp.path()).unwrap();
    (temp, folder)
}

pub(crate) fn only_these(folder: &Folder, expected: &[&str]) {
    let mut names = folder.names(100).unwrap();
    names.sort();
    assert_eq!(names, expected);
}

fn replace(folder: &Folder, name: &str, bytes: &[u8], mode: u32) {
    folder
        .replace(name, bytes, mode, folder, Durability::Durable)
        .unwrap();
}

#[test]
fn what_is_in_the_way_is_told() {
    let (temp, folder) = place();
    fs::create_dir(temp.path().join("folder")).unwrap();
    fs::write(temp.path().join("file"), "kept").unwrap();
    let read = folder.read("folder", LIMIT).unwrap_err();
    let written = folder
        .replace("folder", b"x", 0o600, &folder, Durability::Atomic)
        .unwrap_err();
    let path = folder.path().join("folder");
    for (error, doing) in [(read, "reading"), (written, "writing")] {
        let expected = format!("{doing} {}: it is a folder, not a file", path.display());
        assert_eq!(error.to_string(), expected);
    }
    assert!(matches!(
        folder.child("file").unwrap_err().what,
        Fault::NotAFolder("a file")
    ));
    assert!(matches!(
        Folder::open(&temp.path().join("file")).unwrap_err().what,
        Fault::NotAFolder("a file")
    ));
    assert!(matches!(
        Folder::open(&temp.path().join("none")).unwrap_err().what,
        Fault::Gone
    ));
    assert!(folder.child("none").unwrap().is_none() && folder.read("none", LIMIT).unwrap().is_none());
    assert!(!folder.create("folder", b"x", 0o600).unwrap() && !folder.try_make("file", 0o700).unwrap());
    only_these(&folder, &["file", "folder"]);
    assert_eq!(fs::read(temp.path().join("file")).unwrap(), b"kept");
}

#[test]
fn a_link_is_refused_and_never_followed() {
    let (temp, folder) = place();
    let outside = tempdir().unwrap();
    fs::write(outside.path().join("file"), "kept").unwrap();
    let (to_folder, to_file) = (temp.path().join("to-folder"), temp.path().join("to-file"));
    let made = symlink_dir(outside.path(), &to_folder)
        .and_then(|()| symlink_file(outside.path().join("file"), &to_file));
    let is_link =
        |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.file_attributes() & 0x400 != 0);
    if made.is_err() || !is_link(&to_folder) {
        eprintln!("skipped: this system makes no links for this user");
        return;
    }
    assert_eq!(folder.entry("to-folder").unwrap().unwrap().kind, Kind::Symlink);
    assert!(matches!(
        folder.child("to-folder").unwrap_err().what,
        Fault::Symlink
    ));
    assert!(matches!(
        folder.remove_child("to-folder").unwrap_err().what,
        Fault::Symlink
    ));
    assert!(matches!(
        folder.read("to-file", LIMIT).unwrap_err().what,
        Fault::Symlink
    ));
    let written = folder.replace("to-file", b"x", 0o600, &folder, Durability::Atomic);
    assert!(matches!(written.unwrap_err().what, Fault::Symlink));
    for name in ["to-folder", "to-file"] {
        assert!(folder.remove(name, Durability::Atomic).unwrap());
    }
    assert_eq!(fs::read(outside.path().join("file")).unwrap(), b"kept");
}

#[test]
fn a_name_leads_nowhere_else() {
    let (temp, outer) = place();
    let (folder, _) = outer.make_child("folder", 0o700).unwrap();
    fs::write(temp.path().join("file"), "kept").unwrap();
    fs::create_dir(temp.path().join("folder/inner")).unwrap();
    for name in [
        r"..\file", "../file", r"inner\x", "inner/x", "x:stream", r"C:\x", "..",
    ] {
        folder.create(name, b"x", 0o600).unwrap_err();
        folder.try_make(name, 0o700).unwrap_err();
        folder.remove(name, Durability::Atomic).unwrap_err();
        folder.read(name, LIMIT).unwrap_err();
    }
    only_these(&folder, &["inner"]);
    assert_eq!(fs::read(temp.path().join("file")).unwrap(), b"kept");
}

#[test]
fn names_have_no_case_and_a_folder_has_one_path() {
    let (temp, outer) = place();
    fs::create_dir(temp.path().join("W\u{f6}rk")).unwrap();
    let folder = Folder::open(&temp.path().join("W\u{f6}rk")).unwrap();
    replace(&folder, "Mcp.json", b"x", 0o600);
    for spelling in ["w\u{f6}rk", "W\u{d6}RK", "W\u{f6}rk/.", "x\\..\\w\u{f6}RK"] {
        let opened = Folder::open(&temp.path().join(spelling)).unwrap();
        assert_eq!(opened.path(), folder.path(), "{spelling}");
        assert_eq!(opened.identity().unwrap(), folder.identity().unwrap());
    }
    assert!(folder.path().ends_with("W\u{f6}rk"));
    assert!(
        !folder.path().to_str().unwrap().starts_with(r"\\?\"),
        "git does not know that spelling"
    );
    assert_eq!(folder.path().parent(), Some(outer.path()));
    assert_eq!(folder.read("MCP.JSON", LIMIT).unwrap().unwrap().bytes, b"x");
    assert!(!folder.create("mcp.json", b"y", 0o600).unwrap(), "it is taken");
    replace(&folder, "mcp.json", b"z", 0o600);
    assert_eq!(folder.names(10).unwrap().len(), 1);
}

#[test]
fn a_path_may_be_long() {
    let (_temp, outer) = place();
    let name = "a-folder-with-a-long-name".repeat(3);
    let mut folder = outer.share().unwrap();
    for _ in 0..6 {
        folder = folder.make_child(&name, 0o700).unwrap().0;
    }
    replace(&folder, "file", b"x", 0o600);
    if fs::canonicalize(folder.path()).is_err_and(|error| error.raw_os_error() == MORE_DATA) {
        assert!(folder.remove("file", Durability::Durable).unwrap());
        eprintln!("skipped in part: this system does not tell where a long path leads");
        return;
    }
    let again = Folder::open(folder.path()).unwrap();
    assert!(again.path().as_os_str().len() > 400);
    assert_eq!(again.identity().unwrap(), folder.identity().unwrap());
    assert_eq!(again.read("file", LIMIT).unwrap().unwrap().bytes, b"x");
    assert!(again.remove("file", Durability::Durable).unwrap());
    only_these(&folder, &[]);
}

#[test]
fn read_only_is_what_a_mode_says_of_a_file() {
    let (temp, folder) = place();
    let path = temp.path().join("file");
    let mode = || folder.entry("file").unwrap().unwrap().mode;
    for (wanted, expected) in [(0o600, 0o666), (0o444, 0o444), (0o400, 0o444), (0o644, 0o666)] {
        replace(&folder, "file", format!("{wanted:o}").as_bytes(), wanted);
        assert_eq!(mode(), 0o100_000 | expected, "as Node has it");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().readonly(),
            expected == 0o444
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{wanted:o}"));
    }
    assert!(folder.create("other", b"x", 0o400).unwrap());
    for name in ["file", "other"] {
        assert!(folder.remove(name, Durability::Atomic).unwrap());
        assert!(!folder.remove(name, Durability::Atomic).unwrap());
    }
    only_these(&folder, &[]);
}

#[test]
fn a_folder_that_nobody_has_claimed_says_so() {
    let (_temp, outer) = place();
    let (new, made) = outer.make_child("new", UNCLAIMED).unwrap();
    let (plain, _) = outer.make_child("plain", 0o755).unwrap();
    if !new.itself().unwrap().is_unclaimed() {
        eprintln!("skipped: this file system keeps no attributes");
        return;
    }
    assert!(made && !plain.itself().unwrap().is_unclaimed());
    assert!(outer.entry("new").unwrap().unwrap().is_own());
    new.set_mode(0o755).unwrap();
    plain.set_mode(UNCLAIMED).unwrap();
    for (folder, unclaimed) in [(&new, false), (&plain, true)] {
        assert_eq!(folder.itself().unwrap().is_unclaimed(), unclaimed);
        assert!(
            outer
                .remove_child(folder.path().file_name().unwrap().to_str().unwrap())
                .unwrap()
        );
    }
}

#[test]
fn what_was_moved_away_is_still_the_one_and_what_was_removed_is_gone() {
    let (temp, outer) = place();
    let (folder, _) = outer.make_child("folder", 0o700).unwrap();
    fs::rename(temp.path().join("folder"), temp.path().join("moved")).unwrap();
    fs::create_dir(temp.path().join("folder")).unwrap();
    match folder.create("file", b"x", 0o600) {
        Err(error) if error.to_string().ends_with(INVALID_HANDLE) => {
            eprintln!("skipped: {error}");
            return;
        }
        created => assert!(created.unwrap()),
    }
    assert_eq!(fs::read(temp.path().join("moved/file")).unwrap(), b"x");
    only_these(&outer.child("folder").unwrap().unwrap(), &[]);
    assert!(folder.remove("file", Durability::Atomic).unwrap());
    drop(folder);
    assert!(outer.remove_child("moved").unwrap() && !outer.remove_child("moved").unwrap());
    only_these(&outer, &["folder"]);
}

#[test]
fn removing_takes_one_thing_and_never_what_is_in_it() {
    let (temp, folder) = place();
    fs::create_dir(temp.path().join("folder")).unwrap();
    fs::write(temp.path().join("folder/inner"), "x").unwrap();
    fs::write(temp.path().join("file"), "x").unwrap();
    assert!(!folder.remove_child("folder").unwrap(), "it is not empty");
    folder.remove_any(OsStr::new("folder")).unwrap();
    assert!(temp.path().join("folder/inner").exists());
    let refused = folder.remove("folder", Durability::Atomic).unwrap_err();
    assert!(matches!(refused.what, Fault::NotAFile(_)), "{refused}");
    let refused = folder.remove_child("file").unwrap_err();
    assert!(matches!(refused.what, Fault::NotAFolder("a file")), "{refused}");
    fs::remove_file(temp.path().join("folder/inner")).unwrap();
    for name in ["folder", "file", "none"] {
        folder.remove_any(OsStr::new(name)).unwrap();
    }
    only_these(&folder, &[]);
}

#[test]
fn names_are_listed_up_to_a_limit_and_a_touch_makes_a_folder_young() {
    let (temp, folder) = place();
    // More than one call of the system gives.
    let many: Vec<String> = (0..700).map(|number| format!("{number:0>60}")).collect();
    for name in &many {
        fs::write(temp.path().join(name), "").unwrap();
    }
    assert_eq!(folder.names(7).unwrap().len(), 7);
    let mut names = folder.names(10_000).unwrap();
    names.sort();
    assert!(
        names.iter().eq(many.iter().map(OsStr::new)),
        "{} names",
        names.len()
    );
    assert!(!names.iter().any(|name| is_temp(name)));
    folder.touch().unwrap();
    let touched = folder.itself().unwrap().modified;
    assert!(touched > UNIX_EPOCH && touched.elapsed().unwrap() < Duration::from_secs(60));
}
