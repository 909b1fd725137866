use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::time::SystemTime;

use tempfile::TempDir;

use super::*;
use crate::lock::ProcessStart;

/// A table of processes in which these are dead.
#[derive(Debug)]
struct Table(&'static [i64]);

impl World for Table {
    fn now_ms(&self) -> i64 {
        Machine::get().now_ms()
    }

    fn pid(&self) -> u32 {
        1
    }

    fn hostname(&self) -> &'static str {
        "here"
    }

    fn start(&self) -> Option<&ProcessStart> {
        None
    }

    fn life(&self, pid: i64, hostname: &str, _: Option<&str>) -> Life {
        match (hostname == "here", self.0.contains(&pid)) {
            (false, _) => Life::Unknown,
            (true, true) => Life::Dead,
            (true, false) => Life::Alive,
        }
    }
}

const DEAD: Table = Table(&[77]);

struct Room {
    parent: TempDir,
}

impl Room {
    fn new() -> Self {
        Self {
            parent: TempDir::new().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.parent.path().join(name)
    }

    /// A folder as the bridge of a process makes it.
    fn folder(&self, name: &str, owner: Option<&str>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(FOLDER_MODE)).unwrap();
        fs::write(path.join(SCHEMA), "{}").unwrap();
        if let Some(owner) = owner {
            fs::write(path.join(OWNER), owner).unwrap();
        }
        path
    }

    fn sweep(&self) {
        sweep(&Folder::open(self.parent.path()).unwrap(), &DEAD);
    }

    /// As if it were from before the last minute.
    fn age(path: &Path) {
        #[allow(clippy::disallowed_methods, reason = "the file system counts in that clock")]
        let now = SystemTime::now();
        let folder = fs::File::open(path).unwrap();
        folder.set_modified(now - UNSAID * 2).unwrap();
    }
}

const NAME: &str = "fusion-cursor-bridge-77-000000000123456789abcdef";
const OF_THE_DEAD: &str = r#"{"pid":77,"hostname":"here","processStart":"linux:b:1:5"}"#;

#[test]
fn it_is_private_and_goes() {
    let room = Room::new();
    let folder = SchemaFolder::make(room.parent.path(), r#"{"tools":[]}"#, 5).unwrap();
    let schema = folder.schema();
    assert_eq!(fs::read_to_string(&schema).unwrap(), r#"{"tools":[]}"#);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let path = schema.parent().unwrap();
    assert_eq!(mode(path), 0o700);
    assert_eq!((mode(&schema), mode(&path.join(OWNER))), (0o600, 0o600));
    let name = path.file_name().unwrap().to_str().unwrap();
    let here = table(Machine::get()).unwrap();
    assert_eq!(maker(name), Some((i64::from(std::process::id()), here)));
    let parent = Folder::open(room.parent.path()).unwrap();
    sweep(&parent, Machine::get());
    assert!(schema.exists(), "its owner lives");
    folder.remove();
    folder.remove();
    assert_eq!(fs::read_dir(room.parent.path()).unwrap().count(), 0);
    assert!(
        folder.parent.lock().is_none(),
        "a bridge that is over holds no descriptor"
    );
    assert!(!OURS.lock().contains(name));
}

/// Fails where it is asked of whom a folder is.
#[derive(Debug)]
struct Unasked;

impl World for Unasked {
    fn now_ms(&self) -> i64 {
        Machine::get().now_ms()
    }

    fn pid(&self) -> u32 {
        1
    }

    fn hostname(&self) -> &'static str {
        "here"
    }

    fn start(&self) -> Option<&ProcessStart> {
        None
    }

    fn life(&self, _: i64, _: &str, _: Option<&str>) -> Life {
        panic!("a folder of this very process was looked into")
    }
}

#[test]
fn those_of_this_process_are_not_looked_into() {
    let room = Room::new();
    let folder = SchemaFolder::make(room.parent.path(), "{}", 8).unwrap();
    sweep(&Folder::open(room.parent.path()).unwrap(), &Unasked);
    assert!(folder.schema().exists());
    folder.remove();
}

#[test]
fn what_the_dead_left_is_removed() {
    let room = Room::new();
    let said = room.folder(NAME, Some(OF_THE_DEAD));
    let unsaid = room.folder("fusion-cursor-bridge-77-000000000000000000000000", None);
    let torn = room.folder(
        "fusion-cursor-bridge-77-000000001111111111111111",
        Some(r#"{"pid":7"#),
    );
    for path in [&unsaid, &torn] {
        Room::age(path);
    }
    room.sweep();
    for path in [said, unsaid, torn] {
        assert!(!path.exists(), "{}", path.display());
    }
}

/// The number of no process.
const NOBODY: i64 = i32::MAX as i64;

#[test]
fn one_that_was_killed_before_it_said_whose_the_folder_is_is_known_by_the_name() {
    let room = Room::new();
    let here = table(Machine::get()).unwrap();
    let living = i64::from(std::process::id());
    let said = [None, Some(""), Some(r#"{"pid":7"#)];
    let left_by = |pid: i64, table: u32| {
        let name = |at: usize| format!("{PREFIX}{pid}-{table:08x}{at:016x}");
        let folders = said.iter().enumerate();
        folders
            .map(|(at, owner)| room.folder(&name(at), *owner))
            .collect::<Vec<_>>()
    };
    let killed = left_by(NOBODY, here);
    let kept = [left_by(living, here), left_by(NOBODY, here ^ 1)];
    sweep(&Folder::open(room.parent.path()).unwrap(), Machine::get());
    for path in killed {
        assert!(!path.exists(), "{}", path.display());
    }
    for path in kept.concat() {
        assert!(path.join(SCHEMA).exists(), "{}", path.display());
    }
}

#[test]
fn what_is_not_of_the_dead_stays() {
    let room = Room::new();
    let mut kept = vec![
        room.folder(
            "fusion-cursor-bridge-5-000000000123456789abcdef",
            Some(r#"{"pid":5,"hostname":"here"}"#),
        ),
        room.folder(
            "fusion-cursor-bridge-77-000000002222222222222222",
            Some(r#"{"pid":77,"hostname":"there"}"#),
        ),
        // Its maker may be about to say whose it is.
        room.folder("fusion-cursor-bridge-77-000000003333333333333333", None),
        room.folder("fusion-cursor-bridge-77-000000004444444444444444", Some("{}")),
    ];
    let living = room.folder("fusion-cursor-bridge-5-000000005555555555555555", None);
    Room::age(&living);
    kept.push(living);
    for name in [
        "fusion-cursor-bridge-77",
        "fusion-cursor-bridge-77-",
        "fusion-cursor-bridge--000000000123456789abcdef",
        "fusion-cursor-bridge-+7-000000000123456789abcdef",
        "fusion-cursor-bridge-77-000000000123456789abcdeg",
        "fusion-cursor-bridge-77-000000000123456789abcdef0",
        "xfusion-cursor-bridge-77-000000000123456789abcdef",
    ] {
        kept.push(room.folder(name, Some(OF_THE_DEAD)));
    }
    room.sweep();
    for path in kept {
        assert!(path.join(SCHEMA).exists(), "{}", path.display());
    }
}

#[test]
fn what_only_looks_like_one_stays() {
    let room = Room::new();
    let target = room.folder("elsewhere", Some(OF_THE_DEAD));
    symlink(&target, room.path(NAME)).unwrap();
    let wide = room.folder(
        "fusion-cursor-bridge-77-000000000000000000000001",
        Some(OF_THE_DEAD),
    );
    fs::set_permissions(&wide, fs::Permissions::from_mode(0o755)).unwrap();
    let sticky = room.folder(
        "fusion-cursor-bridge-77-000000000000000000000002",
        Some(OF_THE_DEAD),
    );
    fs::set_permissions(&sticky, fs::Permissions::from_mode(0o1700)).unwrap();
    let file = room.path("fusion-cursor-bridge-77-000000000000000000000003");
    fs::write(&file, "").unwrap();
    // A link in the place of who its owner is: nothing is read through it.
    let linked = room.folder("fusion-cursor-bridge-77-000000000000000000000004", None);
    symlink(target.join(OWNER), linked.join(OWNER)).unwrap();
    let foreign = room.folder(
        "fusion-cursor-bridge-77-000000000000000000000005",
        Some(OF_THE_DEAD),
    );
    let given = chown(&foreign, Some(12_345), Some(12_345)).is_ok();
    if !given {
        println!("not as root: that the folder of another user stays is not shown");
    }
    room.sweep();
    for path in [&target, &wide, &sticky, &linked] {
        assert!(path.join(SCHEMA).exists(), "{}", path.display());
    }
    assert!(file.exists() && fs::symlink_metadata(room.path(NAME)).is_ok());
    assert!(!given || foreign.join(SCHEMA).exists());
}

#[test]
fn what_else_lies_in_one_stays_with_it() {
    let room = Room::new();
    let path = room.folder(NAME, Some(OF_THE_DEAD));
    fs::write(path.join("mine"), "").unwrap();
    room.sweep();
    assert!(path.join("mine").exists() && !path.join(SCHEMA).exists());
}

#[test]
fn another_folder_that_took_the_name_is_not_removed() {
    let room = Room::new();
    let folder = SchemaFolder::make(room.parent.path(), "{}", 6).unwrap();
    let path = folder.schema().parent().unwrap().to_owned();
    fs::rename(&path, room.path("moved")).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join(SCHEMA), "not ours").unwrap();
    folder.remove();
    assert!(path.join(SCHEMA).exists());
}

#[test]
fn where_no_folder_can_be_made_the_path_is_told() {
    let room = Room::new();
    let file = room.path("file");
    fs::write(&file, "").unwrap();
    let error = SchemaFolder::make(&file, "{}", 7).unwrap_err();
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    assert!(SchemaFolder::make(&room.path("none"), "{}", 7).is_err());
}
