//! Why a server could not be staged, in the words that JavaScript sees.

use std::path::PathBuf;

/// What stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Git tracks the config: a commit would take the token.
    Tracked,
    /// The operator's config is no JSON, and is left alone until it is mended.
    Quarantined,
    /// The config is no JSON.
    Unparsable,
    /// Git would show our files in spite of the exclusion.
    NotIgnored,
    /// Somebody held a lock for too long.
    LockTimeout,
    /// A symbolic link lies in the place of one of our files or folders.
    Symlink,
    /// Something else than a file or folder lies there.
    NotAFile,
    /// A file is larger than 8 MiB.
    TooLarge,
    /// The config is no UTF-8.
    NotUtf8,
    /// A key that matters is in the config twice.
    DuplicateKeys,
    /// The config or the manifest is JSON of another shape.
    UnexpectedShape,
    /// A file or folder may not be written.
    ReadOnly,
    /// Git could not be asked, or did not answer.
    GitFailed,
    /// Anything else that a disk does.
    Io,
}

impl Reason {
    /// The word for it, as in `error.reason`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tracked => "tracked",
            Self::Quarantined => "quarantined",
            Self::Unparsable => "unparsable",
            Self::NotIgnored => "not-ignored",
            Self::LockTimeout => "lock-timeout",
            Self::Symlink => "symlink",
            Self::NotAFile => "not-a-file",
            Self::TooLarge => "too-large",
            Self::NotUtf8 => "not-utf8",
            Self::DuplicateKeys => "duplicate-keys",
            Self::UnexpectedShape => "unexpected-shape",
            Self::ReadOnly => "read-only",
            Self::GitFailed => "git-failed",
            Self::Io => "io",
        }
    }

    /// Whether the same call may succeed a moment later with nothing changed by the user.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        matches!(self, Self::LockTimeout | Self::Io)
    }
}

/// What stands in the way, where, and what the user can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What stands in the way.
    pub reason: Reason,
    /// The file or folder, where it is about one.
    pub path: Option<PathBuf>,
    /// The whole sentence, with the path and the cure.
    pub message: String,
}

/// Why an operation on a worktree did not come about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StagingError {
    /// It was called off by the caller, or its JavaScript environment has ended. All is as before.
    #[error("the staging was called off")]
    Cancelled,
    /// It was refused or failed. What had been done was taken back.
    #[error("{}", .0.message)]
    Failed(Problem),
}

impl StagingError {
    /// What stood in the way; `None` where it was called off.
    #[must_use]
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Cancelled => None,
            Self::Failed(problem) => Some(problem),
        }
    }
}

impl From<Problem> for StagingError {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}
