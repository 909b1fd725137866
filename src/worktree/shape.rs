//! Where a folder lies in a repository, and what git tracks there.

use std::path::{Path, PathBuf};

use super::git::{Answer, Git, marker_above, not_understood, refused};
use super::names::CURSOR;
use super::pattern::is_expressible;
use super::system::{bytes_of, path_of};
use super::{GitError, tracked};
use crate::disk::{Fault, Folder};

/// What git says of a folder.
#[derive(Debug, Clone)]
pub enum Shape {
    /// Not in a working tree of any repository: nothing can be committed from here.
    NoGit,
    /// In a working tree.
    Repository(Repository),
}

/// Where a folder lies in a repository. All paths are canonical.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The top of the working tree.
    pub top: PathBuf,
    /// The git directory of this working tree.
    pub git_dir: PathBuf,
    /// The one that all working trees of the repository share; the same where there is one.
    pub common_dir: PathBuf,
    /// From the top to the folder, with a final `/`, or empty. Bytes, as paths are on Unix.
    pub prefix: Vec<u8>,
}

/// The answer of [`look`].
#[derive(Debug, Clone)]
pub struct Looked {
    /// Where the folder lies.
    pub shape: Shape,
    /// Which of our three paths git tracks, relative to the folder.
    pub tracked: Vec<String>,
}

/// All of it is as old as git 1.6; the last may hold line breaks.
const WHERE: [&str; 6] = [
    "rev-parse",
    "--is-inside-work-tree",
    "--is-inside-git-dir",
    "--show-cdup",
    "--show-prefix",
    "--git-dir",
];
/// In the git directory of a linked worktree: where the common one lies.
const COMMON: &str = "commondir";
/// In every git directory.
const HEAD: &str = "HEAD";
/// What such a file is at most as long as, in bytes.
const PATH_LIMIT: u64 = 64 * 1024;

/// Ask git about a folder: at most two processes, side by side.
///
/// # Errors
/// [`GitError::Failed`] where git does not say, or says what cannot be relied on; [`GitError::Disk`] where what it
/// says is not there.
pub async fn look(root: &Folder, git: &Git) -> Result<Looked, GitError> {
    refuse_nested(root)?;
    let Some(program) = git.program() else {
        return match marker_above(root.path()) {
            None => Ok(Looked::no_git()),
            Some(marker) => Err(GitError::Failed(format!(
                "git is not in PATH, and {} says that {} lies in a repository; install git, or put it in PATH",
                marker.display(),
                root.path().display()
            ))),
        };
    };
    let told = async {
        // What it says is looked up while the other one still works.
        match git.ask(&program, root, &WHERE, &[]).await? {
            Answer::Yes(told) => read(&program, root, &told),
            Answer::No(ran) if ran.err().contains("not a git repository") => {
                match marker_above(root.path()) {
                    None => Ok(Shape::NoGit),
                    Some(marker) => Err(GitError::Failed(format!(
                        "git finds no repository around {}, although there is {}: {}; mend that repository, or remove \
                     its {}",
                        root.path().display(),
                        marker.display(),
                        ran.err().trim(),
                        marker.display()
                    ))),
                }
            }
            Answer::No(ran) => Err(refused(&WHERE, root, &ran)),
        }
    };
    let (shape, tracked) = tokio::join!(told, tracked::list(git, &program, root));
    let shape = shape?;
    if matches!(shape, Shape::NoGit) {
        return Ok(Looked::no_git());
    }
    let tracked = tracked?;
    Ok(Looked { shape, tracked })
}

impl Looked {
    fn no_git() -> Self {
        Self {
            shape: Shape::NoGit,
            tracked: Vec::new(),
        }
    }
}

/// A `.cursor` that is a repository of its own shows our files to its own git, where nothing excludes them.
fn refuse_nested(root: &Folder) -> Result<(), GitError> {
    // What else may be wrong with it is for whoever writes there.
    if let Ok(Some(cursor)) = root.child(CURSOR)
        && matches!(cursor.entry(".git"), Ok(Some(_)))
    {
        return Err(GitError::Failed(format!(
            "{} is a repository of its own, whose git would show what is staged there; keep that repository \
             elsewhere, or make it an ordinary folder",
            cursor.path().display()
        )));
    }
    Ok(())
}

/// From the answer to [`WHERE`].
fn read(program: &Path, root: &Folder, told: &[u8]) -> Result<Shape, GitError> {
    let not_understood = || not_understood(program, &WHERE, told);
    let mut lines = told.splitn(3, |byte| *byte == b'\n');
    let mut flag = || match lines.next() {
        Some(b"true") => Some(true),
        Some(b"false") => Some(false),
        _ => None,
    };
    let (Some(in_work_tree), Some(_)) = (flag(), flag()) else {
        return Err(not_understood());
    };
    if !in_work_tree {
        // A bare repository, a folder in a git directory, or one whose repository has its working tree elsewhere.
        return Ok(Shape::NoGit);
    }
    let rest = lines.next().ok_or_else(not_understood)?;
    let (up, rest) = line(rest).ok_or_else(not_understood)?;
    let depth = up.len() / 3;
    if up != b"../".repeat(depth) {
        return Err(not_understood());
    }
    let top = root.path().ancestors().nth(depth).ok_or_else(not_understood)?;
    let down = root.path().strip_prefix(top).unwrap_or(root.path());
    if !is_expressible(bytes_of(down)) {
        return Err(GitError::Failed(format!(
            "{} has a line break in its name, which git's exclude file has no way to say; rename that folder, or \
             work in one without",
            root.path().display().to_string().escape_debug()
        )));
    }
    let (prefix, git_dir) = line(rest).ok_or_else(not_understood)?;
    let git_dir = git_dir.strip_suffix(b"\n").unwrap_or(git_dir);
    let closed = prefix.is_empty() || prefix.ends_with(b"/");
    let names = prefix.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    if !closed || names.count() != depth || git_dir.is_empty() {
        return Err(not_understood());
    }
    let open = |path: &Path| match Folder::open(path) {
        Err(error) if matches!(error.what, Fault::Gone) => Err(not_understood()),
        opened => Ok(opened?),
    };
    // Not compared byte by byte: a system may know one folder by several spellings, of which git's has to be used.
    let there = open(&top.join(path_of(prefix)))?;
    if there.identity()? != root.identity()? {
        return Err(not_understood());
    }
    let git_dir = open(&root.path().join(path_of(git_dir)))?;
    if git_dir.entry(HEAD)?.is_none() {
        return Err(not_understood());
    }
    let common = common(&git_dir)?;
    // The locks on the two would be one, which waits for itself.
    if common == root.path() {
        return Err(GitError::Failed(format!(
            "{} is the git directory of its own working tree, and a commit may take anything there; set \
             `core.worktree` to another folder, and work there",
            root.path().display()
        )));
    }
    Ok(Shape::Repository(Repository {
        top: top.to_owned(),
        common_dir: common,
        git_dir: git_dir.path().to_owned(),
        prefix: prefix.to_owned(),
    }))
}

fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Read where git reads it: its flag for the common directory is younger than linked worktrees are, and for long
/// gave a wrong answer in subfolders.
fn common(git_dir: &Folder) -> Result<PathBuf, GitError> {
    let Some(file) = git_dir.read(COMMON, PATH_LIMIT)? else {
        return Ok(git_dir.path().to_owned());
    };
    let path = path_line(&file.bytes);
    Ok(Folder::open(&git_dir.path().join(path_of(path)))?
        .path()
        .to_owned())
}

/// The path in a file that holds one, as git reads such files.
pub(super) fn path_line(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_end()
}
