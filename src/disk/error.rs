//! Why something could not be done.

use std::io;
use std::path::{Path, PathBuf};

use super::{Kind, system};

/// Why something could not be done, and to which path.
#[derive(Debug, thiserror::Error)]
#[error("{doing} {}: {what}", path.display())]
#[non_exhaustive]
pub struct Error {
    /// What was tried: "reading", "writing".
    pub doing: &'static str,
    /// To which file or folder.
    pub path: PathBuf,
    /// What was wrong.
    #[source]
    pub what: Fault,
}

/// What was wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A symbolic link, which is never followed.
    #[error("it is a symbolic link")]
    Symlink,
    /// A FIFO, device, socket or directory in the place of a file.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// Something else in the place of a folder.
    #[error("it is {0}, not a folder")]
    NotAFolder(&'static str),
    /// More than the limit, in bytes.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    /// EROFS, EACCES, EPERM.
    #[error("{0}")]
    Denied(io::Error),
    /// The folder is gone: removed, or replaced by another one.
    #[error("the folder is gone")]
    Gone,
    /// Anything else: ENOSPC, EIO, ...
    #[error("{0}")]
    Io(io::Error),
}

/// What the calls of this room give.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(super) fn new(doing: &'static str, path: &Path, what: Fault) -> Self {
        Self {
            doing,
            path: path.to_owned(),
            what,
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Gone,
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::Denied(error),
            _ if system::is_link_refused(&error) => Self::Symlink,
            _ => Self::Io(error),
        }
    }
}

impl Fault {
    /// What is wrong with something of this kind where a file should be.
    pub(super) fn no_file(kind: Kind) -> Self {
        match kind {
            Kind::Symlink => Self::Symlink,
            kind => Self::NotAFile(kind.name()),
        }
    }

    /// What is wrong with something of this kind where a folder should be.
    pub(super) fn no_folder(kind: Kind) -> Self {
        match kind {
            Kind::Symlink => Self::Symlink,
            kind => Self::NotAFolder(kind.name()),
        }
    }
}
