//! The config as it lies there.

use std::string::FromUtf8Error;

use crate::disk::{Fault, Folder, Identity};
use crate::worktree::names;

use super::compose::{self, Refusal};
use super::error::{Problem, Reason};
use super::problems::{reason_of, reason_of_refusal};

/// A larger config is not read.
pub(super) const LIMIT: u64 = 8 * 1024 * 1024;

/// What lies in the config's place.
#[derive(Clone)]
pub(super) enum Config {
    Absent,
    Text(Text),
    Refused(Refused),
}

/// A config that can be edited.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) raw: String,
    /// Permission bits.
    pub(super) mode: u32,
    pub(super) keys: Vec<String>,
    pub(super) has_servers: bool,
    identity: Identity,
}

/// A config that nobody can edit without a guess, or that is none.
#[derive(Clone)]
pub(super) struct Refused {
    pub(super) problem: Problem,
    /// Where it could be read.
    pub(super) bytes: Option<Vec<u8>>,
    /// Permission bits.
    pub(super) mode: Option<u32>,
    /// Keys of ours that seem to be in it.
    pub(super) keys: Vec<String>,
    identity: Option<Identity>,
}

impl Config {
    /// Never fails: what cannot be read is refused.
    pub(super) fn read(cursor: &Folder) -> Self {
        let path = cursor.path().join(names::CONFIG);
        let contents = match cursor.read(names::CONFIG, LIMIT) {
            Ok(None) => return Self::Absent,
            Ok(Some(contents)) => contents,
            Err(error) => {
                let problem = match error.what {
                    Fault::TooLarge(limit) => Problem::at(
                        Reason::TooLarge,
                        &path,
                        format_args!("it is larger than {} MiB", limit >> 20),
                    ),
                    what => Problem::at(reason_of(&what), &path, what),
                };
                return Self::Refused(Refused {
                    problem,
                    bytes: None,
                    mode: None,
                    keys: Vec::new(),
                    identity: None,
                });
            }
        };
        let (mode, identity) = (contents.mode & 0o7777, contents.identity);
        let looked = compose::look(&contents.bytes);
        match (looked, String::from_utf8(contents.bytes)) {
            (Ok(looked), Ok(raw)) => Self::Text(Text {
                raw,
                mode,
                keys: looked.fusion_keys,
                has_servers: looked.has_servers,
                identity,
            }),
            (looked, bytes) => {
                let bytes = bytes.map_or_else(FromUtf8Error::into_bytes, String::into_bytes);
                let refusal = looked
                    .err()
                    .unwrap_or_else(|| Refusal::NotUtf8("invalid bytes".to_owned()));
                Self::Refused(Refused {
                    problem: Problem::at(reason_of_refusal(&refusal), &path, refusal),
                    keys: compose::seek_fusion_keys(&bytes),
                    bytes: Some(bytes),
                    mode: Some(mode),
                    identity: Some(identity),
                })
            }
        }
    }

    /// What is compared with what was written; `None` for no file. What could not be read is like no text at all.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Absent => None,
            Self::Text(text) => Some(text.raw.as_bytes()),
            Self::Refused(refused) => Some(refused.bytes.as_deref().unwrap_or(b"\0")),
        }
    }

    /// Its text, where it has one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Absent => None,
            Self::Text(text) => Some(&text.raw),
            Self::Refused(refused) => refused.text(),
        }
    }

    /// Whether it is exactly this text; `None` for no file.
    pub(super) fn is(&self, raw: Option<&str>) -> bool {
        self.bytes() == raw.map(str::as_bytes)
    }

    /// Keys of ours that are in it, or seem to be.
    pub(super) fn keys(&self) -> &[String] {
        match self {
            Self::Absent => &[],
            Self::Text(text) => &text.keys,
            Self::Refused(refused) => &refused.keys,
        }
    }

    /// Permission bits.
    pub(super) fn mode(&self) -> Option<u32> {
        match self {
            Self::Absent => None,
            Self::Text(text) => Some(text.mode),
            Self::Refused(refused) => refused.mode,
        }
    }

    /// Whether it lies there as it was when it was read: the same file with the same bytes and mode.
    pub(super) fn is_still_there(&self, cursor: &Folder) -> bool {
        let now = Self::read(cursor);
        let identity = |config: &Self| match config {
            Self::Absent => None,
            Self::Text(text) => Some(text.identity),
            Self::Refused(refused) => refused.identity,
        };
        identity(&now) == identity(self) && now.bytes() == self.bytes() && now.mode() == self.mode()
    }
}

impl Refused {
    /// Its text, where it is UTF-8.
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.bytes.as_deref()?).ok()
    }

    /// Whether something of ours may be in it that nobody can take out: then git must not see it until it is mended.
    pub(super) fn may_hold_ours(&self) -> bool {
        match self.problem.reason {
            Reason::Unparsable | Reason::TooLarge => true,
            // A link or the like is not the file that we wrote.
            Reason::Symlink | Reason::NotAFile => false,
            _ => !self.keys.is_empty(),
        }
    }
}
