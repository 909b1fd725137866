//! From what the other rooms say to what the user reads: the reason, where, and the cure.

use std::path::Path;

use crate::disk::{self, Fault};
use crate::lock::LockError;
use crate::worktree::GitError;

use super::compose::Refusal;
use super::error::{Problem, Reason, StagingError};

impl Problem {
    /// Of this path: what is wrong with it, then the cure.
    pub(super) fn at(reason: Reason, path: &Path, what: impl std::fmt::Display) -> Self {
        let cure = cure(reason);
        let between = if cure.is_empty() { "" } else { ". " };
        Self {
            reason,
            path: Some(path.to_owned()),
            message: format!("{}: {what}{between}{cure}", path.display()),
        }
    }
}

fn cure(reason: Reason) -> &'static str {
    match reason {
        Reason::Symlink => "Put the file or folder itself there: links are never followed here",
        Reason::NotAFile => "Remove it, or move it elsewhere",
        Reason::TooLarge => "Make it smaller",
        Reason::NotUtf8 => "Save it as UTF-8",
        Reason::DuplicateKeys => "Keep one of the two",
        Reason::Unparsable => "Mend it, or remove it; until then it is left as it is",
        Reason::ReadOnly => "Make it readable and writable for this user",
        _ => "",
    }
}

/// The reason in what a disk says.
pub(super) fn reason_of(fault: &Fault) -> Reason {
    match fault {
        Fault::Symlink => Reason::Symlink,
        Fault::NotAFile(_) | Fault::NotAFolder(_) => Reason::NotAFile,
        Fault::TooLarge(_) => Reason::TooLarge,
        Fault::Denied(_) => Reason::ReadOnly,
        Fault::Gone | Fault::Io(_) => Reason::Io,
    }
}

/// The reason in what is wrong with a config.
pub(super) fn reason_of_refusal(refusal: &Refusal) -> Reason {
    match refusal {
        Refusal::Unparsable { .. } => Reason::Unparsable,
        Refusal::Duplicate(_) => Reason::DuplicateKeys,
        Refusal::Shape(_) => Reason::UnexpectedShape,
        Refusal::NotUtf8(_) => Reason::NotUtf8,
    }
}

impl From<disk::Error> for Problem {
    fn from(error: disk::Error) -> Self {
        Self::at(
            reason_of(&error.what),
            &error.path,
            format_args!("{} failed: {}", error.doing, error.what),
        )
    }
}

impl From<disk::Error> for StagingError {
    fn from(error: disk::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<LockError> for StagingError {
    fn from(error: LockError) -> Self {
        let message = error.to_string();
        match error {
            LockError::Cancelled => Self::Cancelled,
            LockError::Disk(error) => error.into(),
            LockError::TimedOut { path, .. } | LockError::Lost { path } => Self::Failed(Problem {
                reason: Reason::LockTimeout,
                path: Some(path),
                message,
            }),
        }
    }
}

impl From<GitError> for StagingError {
    fn from(error: GitError) -> Self {
        let message = error.to_string();
        let (reason, path) = match error {
            GitError::Lock(error) => return error.into(),
            GitError::Disk(error) => (reason_of(&error.what), Some(error.path.display().to_string())),
            GitError::Failed(_) => (Reason::GitFailed, None),
            GitError::Tracked { paths } => (Reason::Tracked, paths.into_iter().next()),
            GitError::NotIgnored { path, .. } => (Reason::NotIgnored, Some(path)),
        };
        Self::Failed(Problem {
            reason,
            path: path.map(Into::into),
            message,
        })
    }
}
