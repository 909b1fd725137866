//! Which working trees a repository has, and whether our files lie in them.

use std::path::{Path, PathBuf};

use super::config::core_worktree;
use super::names::{CONFIG, CURSOR, LOCK, MANIFEST};
use super::shape::path_line;
use super::system::path_of;
use super::{GitError, Repository};
use crate::disk::{Fault, Folder};

/// In the common git directory: a folder for each linked working tree.
const WORKTREES: &str = "worktrees";
/// In that folder: the path of the working tree's `.git`.
const GITDIR: &str = "gitdir";
/// In the common git directory: its config, and what of it is the main working tree's alone.
const CONFIGS: [&str; 2] = ["config", "config.worktree"];
/// What those files are at most as long as, in bytes.
const PATH_LIMIT: u64 = 64 * 1024;
const CONFIG_LIMIT: u64 = 8 * 1024 * 1024;
/// What a key of ours begins with, as it stands in a config.
const KEY: &[u8] = b"\"fusion-custom-tools-";
/// More working trees than anybody has.
const MOST: usize = 100_000;

/// The tops of all working trees that git's own files name, some of which may be gone.
pub(super) fn tops(common: &Folder) -> Result<Vec<PathBuf>, GitError> {
    let mut tops = main_tops(common)?;
    if let Some(linked) = common.child(WORKTREES)? {
        let names = linked.names(MOST)?;
        if names.len() == MOST {
            return Err(GitError::Failed(format!(
                "{} has too many folders; run `git worktree prune`",
                linked.path().display()
            )));
        }
        for name in names {
            // Pruned at this moment, or a stray file.
            if let Ok(folder) = Folder::open(&linked.path().join(name)) {
                tops.extend(linked_top(&folder)?);
            }
        }
    }
    Ok(tops)
}

/// Whether git's own files name this working tree. Those of one that was moved by hand do not; nor is there one that
/// names the main working tree of a repository whose git directory lies apart.
pub(super) fn is_named(repository: &Repository, common: &Folder) -> Result<bool, GitError> {
    let tops = if repository.git_dir == repository.common_dir {
        main_tops(common)?
    } else {
        let own = Folder::open(&repository.git_dir)?;
        linked_top(&own)?.into_iter().collect()
    };
    Ok(tops.iter().any(|top| {
        // As it is spelled there it may lead over links.
        *top == repository.top || Folder::open(top).is_ok_and(|folder| folder.path() == repository.top)
    }))
}

/// Where the main working tree may lie.
fn main_tops(common: &Folder) -> Result<Vec<PathBuf>, GitError> {
    let mut tops = Vec::new();
    for name in CONFIGS {
        if let Some(config) = common.read(name, CONFIG_LIMIT)?
            && let Some(top) = core_worktree(&config.bytes)
        {
            tops.push(common.path().join(path_of(&top)));
        }
    }
    if common.path().ends_with(".git") {
        tops.extend(common.path().parent().map(Path::to_owned));
    }
    Ok(tops)
}

/// The top of the linked working tree that a folder in `worktrees` is for.
fn linked_top(folder: &Folder) -> Result<Option<PathBuf>, GitError> {
    let Some(file) = folder.read(GITDIR, PATH_LIMIT)? else {
        return Ok(None);
    };
    let marker = folder.path().join(path_of(path_line(&file.bytes)));
    Ok(marker.parent().map(Path::to_owned))
}

/// Whether a manifest, or a lock that somebody holds, lies in the folder of this prefix; or a config with a key of ours,
/// which nobody could take out when somebody removed the other two.
///
/// Who is not let in to see is told that it does: the lines then stay, which nobody notices, and without them a
/// commit could take a token.
pub(super) fn in_use(top: &Path, prefix: &[u8]) -> bool {
    let lies_there = || -> crate::disk::Result<bool> {
        let Some(cursor) = Folder::open(&top.join(path_of(prefix)))?.child(CURSOR)? else {
            return Ok(false);
        };
        if cursor.entry(MANIFEST)?.is_some() {
            return Ok(true);
        }
        if let Some(lock) = cursor.child(LOCK)?
            && !lock.names(1)?.is_empty()
        {
            return Ok(true);
        }
        // What is no file that can be read is none that we wrote.
        let config = cursor.read(CONFIG, CONFIG_LIMIT).ok().flatten();
        Ok(config.is_some_and(|config| memchr::memmem::find(&config.bytes, KEY).is_some()))
    };
    lies_there().unwrap_or_else(|error| match error.what {
        // A working tree that is gone; and git does not look behind a link.
        Fault::Gone | Fault::Symlink | Fault::NotAFolder(_) => false,
        Fault::Io(io) => !matches!(
            io.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
        ),
        _ => true,
    })
}
