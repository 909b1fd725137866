//! The config's text with our entries, and without. Pure: the operator's bytes stay as they are.
//!
//! A config is edited where it stands, by what a scan says of its braces, members and commas; nothing is printed
//! anew. What is put in is shaped so that it can be told from what was there, and taking it out gives the bytes
//! from before, for every config: see `insert` and `remove`.

mod insert;
mod remove;
mod style;

use std::collections::{HashMap, HashSet};

use super::manifest::ServerEntry;
use super::syntax::{self, Broken, CONFIG, Object};

/// All keys with this prefix are ours, and no others.
pub const PREFIX: &str = "fusion-custom-tools-";

/// The one member of a config that we look into.
const SERVERS: &str = "mcpServers";

/// How many keys a quarantine record names at most.
const SOUGHT_KEYS: usize = 100;

/// How long a key in such a record may be, in bytes.
const SOUGHT_LEN: usize = 200;

/// Why a config cannot be edited without a guess.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Not JSON with comments.
    #[error("it is not valid JSON (line {line}, column {column}): {what}")]
    Unparsable {
        /// From 1.
        line: usize,
        /// In characters, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// This key stands twice where it may stand once.
    #[error("it has the key {0:?} twice, and which one Cursor reads is not certain")]
    Duplicate(String),
    /// `mcpServers` that is no object, or a top level that is no object: which.
    #[error("{0} is not an object; make it one, or remove it")]
    Shape(String),
    /// UTF-16, or bytes that are no UTF-8: which.
    #[error("it is not UTF-8 text: {0}")]
    NotUtf8(String),
}

/// What a config holds, as far as we care.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Has `mcpServers` at all.
    pub has_servers: bool,
    /// Keys of ours in it, decoded, in their order.
    pub fusion_keys: Vec<String>,
    /// Nothing is in it: no text, or an object without members and comments.
    pub is_empty: bool,
}

/// A config's two levels.
#[derive(Debug)]
struct Levels<'a> {
    /// `None` where the text holds nothing but white space and comments.
    root: Option<Object<'a>>,
    /// Which member of the root `mcpServers` is, and what is in it.
    servers: Option<(usize, Object<'a>)>,
}

/// Look at a config's bytes. Empty or blank text is an empty config, not an error; so is one of comments alone.
///
/// # Errors
///
/// A [`Refusal`] where it cannot be edited without a guess.
pub fn look(bytes: &[u8]) -> Result<Config, Refusal> {
    let text = decode(bytes)?;
    let levels = Levels::of(text)?;
    let fusion_keys = levels.ours().map(ToOwned::to_owned).collect();
    let is_empty = match &levels.root {
        None => text.trim_start_matches('\u{feff}').trim_ascii().is_empty(),
        Some(root) => text[root.open + 1..root.close].trim_ascii().is_empty(),
    };
    Ok(Config {
        has_servers: levels.servers.is_some(),
        fusion_keys,
        is_empty,
    })
}

/// A config's bytes as text.
///
/// # Errors
///
/// [`Refusal::NotUtf8`].
pub fn decode(bytes: &[u8]) -> Result<&str, Refusal> {
    let wide = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        // Without its mark: every other byte of what a JSON text begins with is NUL.
        [0, first, ..] | [first, 0, ..] => *first != 0,
        _ => false,
    };
    if wide {
        let how = "it is UTF-16, as some Windows editors write; save it as UTF-8";
        return Err(Refusal::NotUtf8(how.to_owned()));
    }
    simdutf8::compat::from_utf8(bytes).map_err(|error| {
        let (line, column) = syntax::position(
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
            error.valid_up_to(),
        );
        Refusal::NotUtf8(format!("a stray byte at line {line}, column {column}"))
    })
}

/// The operator's text without any key of ours. `mcpServers` goes with the last of them if nothing is in it then and
/// `had_servers` is false: we put it there. A text without a key of ours stays as it is.
///
/// # Errors
///
/// A [`Refusal`] where the text cannot be edited without a guess.
pub fn strip(text: &str, had_servers: bool) -> Result<String, Refusal> {
    let levels = Levels::of(text)?;
    Ok(remove::without(text, &levels, had_servers, |_| true).unwrap_or_else(|| text.to_owned()))
}

/// The text with exactly these entries of ours: others of ours go, those that are there and equal stay as they are.
/// `None` is a file that is not there. Without entries it is [`strip`].
///
/// # Errors
///
/// A [`Refusal`] where the text cannot be edited without a guess.
pub fn compose(
    text: Option<&str>,
    entries: &[(&str, &ServerEntry)],
    had_servers: bool,
) -> Result<String, Refusal> {
    if entries.is_empty() {
        return strip(text.unwrap_or_default(), had_servers);
    }
    let Some(text) = text else {
        return Ok(insert::new_file(entries));
    };
    let levels = Levels::of(text)?;
    let wanted: HashMap<&str, &ServerEntry> = entries.iter().copied().collect();
    let stays = |key: &str, value: &str| wanted.get(key).is_some_and(|entry| entry.is_written(value));
    let servers = levels.servers.iter().flat_map(|(_, servers)| &servers.members);
    let kept: HashSet<&str> = servers
        .filter(|member| is_ours(&member.key) && stays(&member.key, member.value(text)))
        .map(|member| &*member.key)
        .collect();
    let missing: Vec<_> = entries
        .iter()
        .filter(|(key, _)| !kept.contains(key))
        .copied()
        .collect();
    let grown = insert::with(text, &levels, &missing);
    let levels = Levels::scan(&grown)?;
    // What was put in stands before what was there under the same key.
    let mut seen: HashSet<String> = HashSet::new();
    let goes = |key: &str| !wanted.contains_key(key) || !seen.insert(key.to_owned());
    Ok(remove::without(&grown, &levels, true, goes).unwrap_or(grown))
}

/// The keys of ours that a config which cannot be parsed seems to hold, in whatever encoding: for the quarantine
/// record.
#[must_use]
pub fn seek_fusion_keys(bytes: &[u8]) -> Vec<String> {
    if memchr::memchr(0, bytes).is_some() {
        let narrow: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
        return seek_fusion_keys(&narrow);
    }
    let mut keys: Vec<String> = Vec::new();
    for at in memchr::memmem::find_iter(bytes, PREFIX.as_bytes()) {
        let key: String = bytes[at..]
            .iter()
            .take(SOUGHT_LEN)
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
            .copied()
            .map(char::from)
            .collect();
        if key.len() > PREFIX.len() && !keys.contains(&key) {
            keys.push(key);
        }
        if keys.len() == SOUGHT_KEYS {
            break;
        }
    }
    keys
}

fn is_ours(key: &str) -> bool {
    key.starts_with(PREFIX)
}

impl<'a> Levels<'a> {
    /// Scanned, and with nothing in it that would need a guess.
    fn of(text: &'a str) -> Result<Self, Refusal> {
        let levels = Self::scan(text)?;
        let mut seen = HashSet::new();
        let twice = levels
            .ours()
            .find(|key| !seen.insert(*key))
            .map(ToOwned::to_owned);
        twice.map_or(Ok(levels), |key| Err(Refusal::Duplicate(key)))
    }

    fn scan(text: &'a str) -> Result<Self, Refusal> {
        let root = syntax::root(text, CONFIG).map_err(|broken| match broken {
            Some(Broken { at, what }) => {
                let (line, column) = syntax::position(text, at);
                let what = what.to_owned();
                Refusal::Unparsable { line, column, what }
            }
            None => Refusal::Shape("the top level".to_owned()),
        })?;
        let Some(object) = &root else {
            return Ok(Self { root, servers: None });
        };
        let mut found = (0..object.members.len()).filter(|index| object.members[*index].key == SERVERS);
        let servers = match (found.next(), found.next()) {
            (Some(_), Some(_)) => return Err(Refusal::Duplicate(SERVERS.to_owned())),
            (Some(index), None) => {
                let inner = syntax::object_at(text, object.members[index].value, CONFIG)
                    .ok_or_else(|| Refusal::Shape(format!("{SERVERS:?}")))?;
                Some((index, inner))
            }
            (None, _) => None,
        };
        Ok(Self { root, servers })
    }

    /// The keys of ours, in their order.
    fn ours(&self) -> impl Iterator<Item = &str> {
        let members = self.servers.iter().flat_map(|(_, servers)| &servers.members);
        members.map(|member| &*member.key).filter(|key| is_ours(key))
    }
}
