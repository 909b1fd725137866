//! Folders with repositories in them, and what git shows of our files there.
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

#[path = "../git/mod.rs"]
mod git;
#[path = "../processes/mod.rs"]
mod processes;

use std::ffi::{OsStr, OsString};
use std::fs::{create_dir_all, read_to_string, remove_dir_all, write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::lock::Machine;
use fusion_cursor_native::process::Owner;
use fusion_cursor_native::worktree::{Exclusion, Git, GitError, LIMIT, Looked, Repository, Shape, look};
use tempfile::TempDir;
use tokio::time::Instant;

pub(crate) use processes::*;

/// What of ours lies in a worktree, with what a lock holds.
pub(crate) const OURS: [&str; 4] = [
    ".cursor/mcp.json",
    ".cursor/.fusion-mcp-state.json",
    ".cursor/.fusion-mcp.lock/owner.json",
    ".cursor/.fusion-mcp.lock/.fusion-tmp-1-0123456789abcdef",
];

/// The plugin's block for the top of a repository.
pub(crate) const BLOCK: &str = "# >>> fusion cursor-runtime >>>\n/.cursor/mcp.json\n\
    /.cursor/.fusion-mcp-state.json\n/.cursor/.fusion-mcp.lock/\n# <<< fusion cursor-runtime <<<\n";

pub(crate) struct Place {
    folder: TempDir,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) limit: Duration,
}

impl Place {
    /// An empty folder, and an empty home.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        create_dir_all(&home).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        Self {
            folder,
            env: vec![("PATH".into(), path), ("HOME".into(), home.into())],
            limit: LIMIT,
        }
    }

    /// The canonical path of something in it.
    pub(crate) fn at(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name.as_ref())
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.into(), value.into()));
    }

    pub(crate) fn git(&self) -> Git {
        Git {
            env: self.env.clone(),
            owner: Owner(0),
            limit: self.limit,
        }
    }

    /// What git prints; it has to succeed.
    pub(crate) fn run(&self, folder: &Path, args: &[&str]) -> String {
        git::run("git", &self.env, &["protocol.file.allow=always"], folder, args)
    }

    /// A repository with one commit.
    pub(crate) fn repository(&self, name: impl AsRef<OsStr>) -> PathBuf {
        let top = self.at(name);
        create_dir_all(&top).unwrap();
        self.run(&top, &["init", "-q"]);
        write(top.join("README"), "hello\n").unwrap();
        self.run(&top, &["add", "README"]);
        self.run(&top, &["commit", "-qm", "first"]);
        top
    }

    pub(crate) fn worktree(&self, top: &Path, name: impl AsRef<OsStr>) -> PathBuf {
        let linked = self.at(name);
        self.run(
            top,
            &["worktree", "add", "-q", "--detach", linked.to_str().unwrap()],
        );
        linked
    }

    pub(crate) async fn look(&self, folder: &Path) -> Result<Looked, GitError> {
        let root = Folder::open(folder).unwrap();
        within("the look", look(&root, &self.git())).await
    }

    pub(crate) async fn shape(&self, folder: &Path) -> Repository {
        match self.look(folder).await.unwrap().shape {
            Shape::Repository(repository) => repository,
            Shape::NoGit => panic!("{} is in a repository", folder.display()),
        }
    }

    pub(crate) async fn verify(&self, folder: &Path) -> Result<(), GitError> {
        let root = Folder::open(folder).unwrap();
        let repository = self.shape(folder).await;
        within("the check", repository.verify_ignored(&root, &self.git())).await
    }

    /// Which of our files git would take from here, whatever its user has configured.
    pub(crate) fn shown(&self, top: &Path) -> Vec<String> {
        let plain = ["-c", "core.excludesFile=", "-c", "status.showUntrackedFiles=all"];
        let status = [&plain[..], &["status", "--porcelain", "-z"]].concat();
        let status = self.run(top, &status);
        let names = status.split('\0').filter(|entry| entry.contains(".cursor"));
        let mut shown: Vec<String> = names.map(str::to_owned).collect();
        self.run(top, &[&plain[..], &["add", "-A"]].concat());
        let added = self.run(top, &["diff", "--cached", "--name-only", "-z"]);
        shown.extend(
            added
                .split('\0')
                .filter(|name| name.contains(".cursor"))
                .map(str::to_owned),
        );
        self.run(top, &["reset", "-q"]);
        shown
    }

    /// All there is to it: nothing of ours is seen while the exclusion stands, and the exclude file is afterwards
    /// what it was.
    pub(crate) async fn is_kept_clean(&self, top: &Path, folder: &Path) {
        let repository = self.shape(folder).await;
        assert_eq!(repository.top, top.canonicalize().unwrap());
        let before = Snapshot::of(&repository);
        assert!(ensure(&repository).await.unwrap(), "the lines are new");
        fill(folder);
        assert_eq!(self.shown(top), [""; 0], "{}", exclude_text(&repository));
        self.verify(folder).await.unwrap();
        assert!(!withdraw(&repository).await.unwrap(), "the lines are in use");
        assert!(!ensure(&repository).await.unwrap(), "the lines are there");
        clear(folder);
        assert!(withdraw(&repository).await.unwrap(), "nobody uses the lines");
        assert_eq!(Snapshot::of(&repository), before);
    }
}

/// The exclude file and its folder: bytes and modes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    folder: Option<u32>,
    file: Option<(u32, String)>,
    locks: Vec<PathBuf>,
}

impl Snapshot {
    pub(crate) fn of(repository: &Repository) -> Self {
        let mode = |path: &Path| Some(path.symlink_metadata().ok()?.permissions().mode());
        let file = exclude_file(repository);
        let locks =
            [&repository.common_dir, &repository.git_dir].map(|dir| dir.join("fusion-cursor-exclude.lock"));
        Self {
            folder: mode(file.parent().unwrap()),
            file: mode(&file).map(|mode| (mode, exclude_text(repository))),
            locks: locks.into_iter().filter(|path| path.exists()).collect(),
        }
    }
}

impl Snapshot {
    pub(crate) fn locks(&self) -> Vec<&Path> {
        self.locks.iter().map(PathBuf::as_path).collect()
    }
}

pub(crate) fn exclude_file(repository: &Repository) -> PathBuf {
    repository.common_dir.join("info/exclude")
}

pub(crate) fn exclude_text(repository: &Repository) -> String {
    std::fs::read(exclude_file(repository)).map_or_else(
        |error| format!("({error})"),
        |bytes| bytes.escape_ascii().to_string().replace("\\n", "\n"),
    )
}

/// Put what we would put into a folder.
pub(crate) fn fill(folder: &Path) {
    for name in OURS {
        let path = folder.join(name);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, "{}").unwrap();
    }
}

pub(crate) fn clear(folder: &Path) {
    remove_dir_all(folder.join(".cursor")).unwrap();
}

pub(crate) fn deadline() -> Instant {
    Instant::now() + PATIENCE
}

pub(crate) async fn lock(repository: &Repository) -> Result<Exclusion, GitError> {
    let (_calm, calm) = cancel();
    repository.lock_exclusion(deadline(), &calm, Machine::get()).await
}

pub(crate) async fn ensure(repository: &Repository) -> Result<bool, GitError> {
    let exclusion = lock(repository).await?;
    let added = exclusion.ensure();
    exclusion.release().unwrap();
    added
}

pub(crate) async fn withdraw(repository: &Repository) -> Result<bool, GitError> {
    let exclusion = lock(repository).await?;
    let taken = exclusion.withdraw();
    exclusion.release().unwrap();
    taken
}

/// The sentence of an error of this kind.
pub(crate) fn failed<T: std::fmt::Debug>(result: Result<T, GitError>) -> String {
    match result {
        Err(GitError::Failed(why)) => why,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn append(path: &Path, text: &str) {
    let before = read_to_string(path).unwrap_or_default();
    create_dir_all(path.parent().unwrap()).unwrap();
    write(path, before + text).unwrap();
}

/// Whether a tool of the system did what it was to do.
pub(crate) fn tool(program: &str, args: &[&OsStr]) -> bool {
    let ran = Command::new(program).args(args).output();
    ran.is_ok_and(|ran| ran.status.success())
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
