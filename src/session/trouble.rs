//! Why a session has no tools, in the words of a staging.

use std::path::PathBuf;

use crate::bridge::BridgeError;
use crate::disk::Fault;
use crate::mcp::{Problem, Reason, StagingError};

/// Why a bridge could not be opened.
#[must_use]
pub fn told(error: &BridgeError) -> Problem {
    let (reason, path) = match error {
        BridgeError::NoFolder(disk) => {
            let reason = match disk.what {
                Fault::Denied(_) => Reason::ReadOnly,
                Fault::Symlink => Reason::Symlink,
                Fault::NotAFolder(_) | Fault::NotAFile(_) => Reason::NotAFile,
                _ => Reason::Io,
            };
            (reason, Some(disk.path.clone()))
        }
        _ => (Reason::Io, None),
    };
    Problem {
        reason,
        path,
        message: error.to_string(),
    }
}

/// Why a server that was staged is not in force.
pub(super) fn not_in_force(error: StagingError, key: &str, worktree: PathBuf) -> Problem {
    match error {
        StagingError::Failed(problem) => problem,
        // The host has released what it holds while the session lives.
        StagingError::Cancelled => Problem {
            reason: Reason::Io,
            message: format!(
                "{key} was taken out of {} by this host: make a new session to have its tools again",
                worktree.display()
            ),
            path: Some(worktree),
        },
    }
}
