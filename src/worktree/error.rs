//! Why git, or its exclude file, stands in the way.

use crate::disk::{self, Fault};
use crate::lock::LockError;

/// Why a worktree cannot be kept clean, and what the user can do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GitError {
    /// Git could not be run, did not answer in time, or said no: what it said, and what to do.
    #[error("{0}")]
    Failed(String),
    /// Git tracks these paths, relative to the worktree.
    #[error(
        "git tracks {list}, and a commit would take what is staged there; run `git rm --cached -- {list}` in the \
         worktree and commit that, or work in a folder where it is not tracked",
        list = .paths.join(" ")
    )]
    Tracked {
        /// As git spells them.
        paths: Vec<String>,
    },
    /// Git would show this path in spite of the exclusion.
    #[error("git would not ignore {path}: {}", because(.rule.as_deref()))]
    NotIgnored {
        /// Relative to the worktree.
        path: String,
        /// The rule that wins, as `source:line:pattern`, if git names one.
        rule: Option<String>,
    },
    /// The exclude file, or a folder on the way to it, is not what it has to be, or cannot be read or written.
    #[error("{error}; {cure}", error = .0, cure = cure(&.0.what))]
    Disk(#[from] disk::Error),
    /// The lock on the exclude file could not be had.
    #[error(transparent)]
    Lock(#[from] LockError),
}

fn because(rule: Option<&str>) -> String {
    rule.map_or_else(
        || "its exclude file has the line for it, and has no effect; see `git check-ignore -v`".into(),
        |rule| format!("the rule {rule} overrules its exclude file; take that rule away, or narrow it"),
    )
}

/// What the user can do about a folder or file of git's.
fn cure(what: &Fault) -> &'static str {
    match what {
        Fault::Symlink | Fault::NotAFile(_) | Fault::NotAFolder(_) => {
            "put a real one in its place, with the same lines"
        }
        Fault::TooLarge(_) => "make it smaller",
        Fault::Denied(_) => "make it readable and writable for this user",
        Fault::Gone => "see whether the repository was moved or removed",
        _ => "see whether the disk is full or failing, and try again",
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn every_message_says_what_where_and_what_to_do() {
        let disk = |what| {
            GitError::Disk(disk::Error {
                doing: "writing",
                path: "/r/.git/info/exclude".into(),
                what,
            })
        };
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        for (error, words) in [
            (
                GitError::Tracked {
                    paths: vec![".cursor/mcp.json".into()],
                },
                ["tracks .cursor/mcp.json", "git rm --cached -- .cursor/mcp.json"],
            ),
            (
                GitError::NotIgnored {
                    path: ".cursor/mcp.json".into(),
                    rule: Some(".gitignore:3:!mcp.json".into()),
                },
                [".cursor/mcp.json", "the rule .gitignore:3:!mcp.json"],
            ),
            (
                GitError::NotIgnored {
                    path: ".cursor/mcp.json".into(),
                    rule: None,
                },
                [".cursor/mcp.json", "git check-ignore -v"],
            ),
            (disk(Fault::Symlink), ["/r/.git/info/exclude", "a real one"]),
            (disk(Fault::TooLarge(8)), ["/r/.git/info/exclude", "smaller"]),
            (disk(Fault::Denied(denied)), ["/r/.git/info/exclude", "writable"]),
            (disk(Fault::Gone), ["/r/.git/info/exclude", "moved or removed"]),
            (
                disk(Fault::Io(io::Error::other("EIO"))),
                ["/r/.git/info/exclude", "full or failing"],
            ),
        ] {
            let said = error.to_string();
            for word in words {
                assert!(said.contains(word), "{word:?} in {said:?}");
            }
        }
    }
}
