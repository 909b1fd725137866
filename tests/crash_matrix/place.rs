//! Folders to work in: made once, copied for every try, and compared.
#![allow(dead_code, reason = "each test program uses its own part")]

#[path = "../git/mod.rs"]
mod git;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fusion_cursor_native::process::Owner;
use fusion_cursor_native::worktree::{Git, LIMIT};
use tempfile::TempDir;

pub(crate) const CONFIG: &str = ".cursor/mcp.json";
pub(crate) const MANIFEST: &str = ".cursor/.fusion-mcp-state.json";

/// A folder that lies in memory, where there is such a place: whether a disk has it makes no difference to whoever
/// is killed, and the many syncs would.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir()
        && let Ok(folder) = tempfile::tempdir_in(memory)
    {
        return folder;
    }
    tempfile::tempdir().unwrap()
}

/// The environment that git is run in.
pub(crate) fn environment() -> Vec<(OsString, OsString)> {
    let path = std::env::var_os("PATH").unwrap();
    vec![("PATH".into(), path), ("HOME".into(), "/nonexistent".into())]
}

pub(crate) fn git() -> Git {
    Git {
        env: environment(),
        owner: Owner(0),
        limit: LIMIT,
    }
}

/// What git prints; it has to succeed.
pub(crate) fn run(folder: &Path, args: &[&str]) -> String {
    git::run("git", &environment(), &["core.excludesFile="], folder, args)
}

/// A folder that sessions work in, with all that belongs to it.
#[derive(Debug)]
pub(crate) struct Place {
    /// Gone with this; all else lies in it.
    room: TempDir,
    /// From there to the folder.
    inner: PathBuf,
    /// From there to the working trees of the repository; none where there is no repository.
    trees: Vec<PathBuf>,
}

impl Place {
    /// A repository, or a plain folder.
    pub(crate) fn new(repository: bool) -> Self {
        let room = folder();
        let top = room.path().join("top");
        fs::create_dir(&top).unwrap();
        fs::write(top.join("README"), "hello\n").unwrap();
        if repository {
            // Without the many files that git puts there as examples.
            run(&top, &["init", "-q", "--template="]);
            fs::create_dir(top.join(".git/info")).unwrap();
            fs::write(top.join(".git/info/exclude"), "# mine\n*.o\n").unwrap();
            run(&top, &["add", "README"]);
            run(&top, &["commit", "-qm", "first"]);
        }
        Self {
            room,
            inner: "top".into(),
            trees: if repository {
                vec!["top".into()]
            } else {
                Vec::new()
            },
        }
    }

    /// Work in a linked worktree of it.
    pub(crate) fn linked(mut self) -> Self {
        let top = self.room.path().join("top");
        run(&top, &["worktree", "add", "-q", "--detach", "../linked"]);
        self.inner = "linked".into();
        self.trees.push("linked".into());
        self
    }

    /// Work in a folder below.
    pub(crate) fn below(mut self, name: &str) -> Self {
        self.inner.push(name);
        fs::create_dir_all(self.path()).unwrap();
        fs::write(self.path().join("README"), "below\n").unwrap();
        run(&self.path(), &["add", "README"]);
        run(&self.path(), &["commit", "-qm", "second"]);
        self
    }

    /// The same once more, elsewhere.
    pub(crate) fn copy(&self) -> Self {
        self.copy_into(folder())
    }

    /// The same once more, in a folder that is empty.
    pub(crate) fn copy_into(&self, room: TempDir) -> Self {
        let copy = Self {
            room,
            inner: self.inner.clone(),
            trees: self.trees.clone(),
        };
        copy_all(self.room.path(), copy.room.path());
        for tree in &copy.trees {
            // A linked worktree and its repository know each other by their paths.
            let to = copy.room.path().join(tree).join(".git");
            if to.is_file() {
                let at = copy.room.path().join("top/.git/worktrees").join(tree);
                fs::write(&to, format!("gitdir: {}\n", at.display())).unwrap();
                fs::write(at.join("gitdir"), format!("{}\n", to.display())).unwrap();
            }
        }
        copy
    }

    /// All of it.
    pub(crate) fn room(&self) -> PathBuf {
        self.room.path().canonicalize().unwrap()
    }

    /// The folder that sessions work in.
    pub(crate) fn path(&self) -> PathBuf {
        self.room().join(&self.inner)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn common(&self) -> Option<PathBuf> {
        (!self.trees.is_empty()).then(|| self.room().join("top/.git"))
    }

    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn config(&self) -> Option<String> {
        fs::read_to_string(self.file(CONFIG)).ok()
    }

    /// Keys of ours in the config.
    pub(crate) fn keys(&self) -> Vec<String> {
        let text = self.config().unwrap_or_default();
        fusion_cursor_native::mcp::compose::look(text.as_bytes())
            .map(|config| config.fusion_keys)
            .unwrap_or_default()
    }

    /// What git would take into the next commit, in all working trees.
    pub(crate) fn taken_by_git(&self) -> String {
        let all = self.trees.iter();
        all.map(|tree| run(&self.room().join(tree), &["add", "-A", "-n"]))
            .collect()
    }

    /// What git shows, in all working trees.
    pub(crate) fn shown_by_git(&self) -> String {
        let status = ["status", "--porcelain", "-uall"];
        let all = self.trees.iter();
        all.map(|tree| run(&self.room().join(tree), &status)).collect()
    }

    /// Kind, mode and bytes of all that lies in it, but for what only git itself writes.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut all = BTreeMap::new();
        walk(&self.room(), &self.room(), &mut all);
        let gits = |path: &Path| {
            let mut parts = path
                .components()
                .map(|part| part.as_os_str().to_string_lossy().into_owned());
            let inside = parts.any(|part| part == ".git");
            inside && !path.to_string_lossy().contains("/info") && !path.to_string_lossy().contains("fusion")
        };
        all.retain(|path, _| !gits(path));
        all
    }
}

/// By the path in the room.
pub(crate) type Snapshot = BTreeMap<PathBuf, (char, u32, String)>;

/// What is not the same.
pub(crate) fn difference(before: &Snapshot, after: &Snapshot) -> Vec<String> {
    let mut all: Vec<_> = before.keys().chain(after.keys()).collect();
    all.sort();
    all.dedup();
    let changed = all
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    changed
        .map(|path| {
            format!(
                "{}: {:?} became {:?}",
                path.display(),
                before.get(path),
                after.get(path)
            )
        })
        .collect()
}

fn walk(room: &Path, path: &Path, all: &mut Snapshot) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o7777;
        let name = path.strip_prefix(room).unwrap().to_owned();
        if metadata.is_dir() {
            all.insert(name, ('d', mode, String::new()));
            walk(room, &path, all);
        } else {
            let text = fs::read(&path).unwrap().escape_ascii().to_string();
            all.insert(name, ('f', mode, text));
        }
    }
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (old, new) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&new).unwrap();
            copy_all(&old, &new);
            fs::set_permissions(&new, entry.metadata().unwrap().permissions()).unwrap();
        } else {
            fs::copy(&old, &new).unwrap();
        }
    }
}
