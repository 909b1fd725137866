//! Whether git tracks the config of a folder, for those who cannot wait for a future.

use std::path::Path;
use std::sync::mpsc::channel;

use super::names::OURS;
use super::{Git, GitError, Shape, look};
use crate::disk::Folder;
use crate::runtime;

/// What git makes of a folder's config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracking {
    /// It is tracked: nothing can be staged there.
    Tracked,
    /// It is not, whether it is there or not.
    Untracked,
    /// The folder lies in no working tree.
    NonGit,
}

/// Whether git tracks our config in this folder. Blocks, for as long as git is given at most: not to be called on a
/// thread of the [runtime].
///
/// # Errors
/// As [`look`], and where the folder cannot be opened.
pub fn classify(path: &Path, git: &Git) -> Result<Tracking, GitError> {
    let root = Folder::open(path)?;
    let git = git.clone();
    let (answer, answered) = channel();
    let asked = runtime::spawn(async move {
        // Nobody waits any more where the thread that asked is gone.
        let _heard = answer.send(look(&root, &git).await);
    });
    let failed = |why: String| {
        GitError::Failed(format!(
            "git could not be asked about {}: {why}; try again",
            path.display()
        ))
    };
    asked.map_err(|error| failed(error.to_string()))?;
    let looked = answered
        .recv()
        .map_err(|_| failed("the question was dropped".into()))??;
    Ok(match looked.shape {
        Shape::NoGit => Tracking::NonGit,
        Shape::Repository(_)
            if looked
                .tracked
                .iter()
                .any(|path| path.eq_ignore_ascii_case(OURS[0])) =>
        {
            Tracking::Tracked
        }
        Shape::Repository(_) => Tracking::Untracked,
    })
}
