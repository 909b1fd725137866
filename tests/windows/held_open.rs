//! Files that somebody else has open: an editor, a virus scanner, an indexer.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use fusion_cursor_native::disk::{Durability, Folder};

use super::disk::{only_these, place};

/// Longer than it is waited for others to close a file.
const LONG: Duration = Duration::from_secs(20);

fn replace(folder: &Folder, bytes: &[u8]) -> fusion_cursor_native::disk::Result<()> {
    folder.replace("file", bytes, 0o600, folder, Durability::Atomic)
}

/// Open as programs do that let nobody rename or remove the file meanwhile, or not even read it.
fn hold(path: &Path, share: u32) -> File {
    OpenOptions::new()
        .read(true)
        .share_mode(share)
        .open(path)
        .unwrap()
}

/// While the file is in somebody's hands for a moment.
fn for_a_moment(path: &Path, share: u32, act: impl FnOnce()) {
    let held = hold(path, share);
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(300));
            drop(held);
        });
        act();
    });
}

#[test]
fn what_is_held_for_a_moment_is_waited_for() {
    const READ_AND_WRITE: u32 = 3;
    let (temp, folder) = place();
    let path = temp.path().join("file");
    for share in [0, 1, READ_AND_WRITE] {
        fs::write(&path, "before").unwrap();
        for_a_moment(&path, share, || replace(&folder, b"after").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"after", "{share}");
        for_a_moment(&path, share, || {
            assert_eq!(folder.read("file", 100).unwrap().unwrap().bytes, b"after");
        });
        for_a_moment(&path, share, || {
            assert!(folder.remove("file", Durability::Atomic).unwrap());
        });
        only_these(&folder, &[]);
    }
}

#[test]
fn what_is_held_for_long_is_told_and_left_as_it_is() {
    let (temp, folder) = place();
    let path = temp.path().join("file");
    fs::write(&path, "kept").unwrap();
    let began = Instant::now();
    let held = hold(&path, 0);
    let replaced = replace(&folder, b"lost").unwrap_err();
    let removed = folder.remove("file", Durability::Atomic).unwrap_err();
    let read = folder.read("file", 100).unwrap_err();
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    for error in [replaced, removed, read] {
        assert!(
            error
                .to_string()
                .contains(path.file_name().unwrap().to_str().unwrap()),
            "{error}"
        );
        assert!(error.to_string().contains("(os error 32)"), "{error}");
    }
    assert!(folder.entry("file").unwrap().is_some(), "looking needs no turn");
    drop(held);
    assert_eq!(fs::read(&path).unwrap(), b"kept");
    only_these(&folder, &["file"]);
}

#[test]
fn what_is_read_only_and_cannot_be_replaced_stays_read_only() {
    const ALL: u32 = 7;
    let (temp, folder) = place();
    let path = temp.path().join("file");
    let set = |read_only| {
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(read_only);
        fs::set_permissions(&path, permissions).unwrap();
    };
    for share in [0, 1, ALL] {
        fs::write(&path, "kept").unwrap();
        set(true);
        let held = hold(&path, share);
        // Where others may remove it, a system of today replaces it.
        let replaced = folder.replace("file", b"new", 0o400, &folder, Durability::Atomic);
        assert!(share == ALL || replaced.is_err(), "{share}");
        assert!(fs::metadata(&path).unwrap().permissions().readonly(), "{share}");
        drop(held);
        let expected = if replaced.is_ok() { "new" } else { "kept" };
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{share}");
        set(false);
    }
    only_these(&folder, &["file"]);
}

#[test]
fn readers_never_see_half_a_file() {
    let (temp, folder) = place();
    let path = temp.path().join("file");
    let text = |letter: u8| vec![letter; 20_000];
    fs::write(&path, text(b'a')).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                // As Node and std open: others may rename and remove it.
                thread::sleep(Duration::from_millis(2));
                let Ok(mut file) = File::open(&path) else { continue };
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes).unwrap();
                assert!(bytes.len() == 20_000 && bytes.iter().all(|byte| *byte == bytes[0]));
                reads += 1;
            }
            reads
        });
        let replaced: Result<(), _> = (b'a'..=b'z').try_for_each(|letter| replace(&folder, &text(letter)));
        // Before a failure ends this thread: the reader would go on for ever.
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
        replaced.unwrap();
    });
    only_these(&folder, &["file"]);
}
