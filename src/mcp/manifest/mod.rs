//! The state file, version 1. Pure: text in, text out.
//!
//! Fields that this version does not know stay where they are, as they were spelled, at every level. A file that
//! the plugin wrote and nothing changed in is printed as it was, byte for byte.

mod hidden;
mod print;
mod read;

pub use print::Unknown;

use std::collections::HashMap;

/// What a session and its peers know of a worktree's config.
#[derive(Clone, PartialEq, Eq)]
pub struct Manifest {
    /// What was there before the first session.
    pub baseline: Baseline,
    /// `exclusionOwnedByFusion`: the marker block came with a session.
    pub exclusion_owned: bool,
    /// `lastWrittenRaw`: what a session last wrote into the config, and confirmed.
    pub last_written: Option<String>,
    /// A change that was begun and not confirmed.
    pub pending: Option<Pending>,
    /// `operatorEditObserved`: the config was changed by somebody else. Never unset.
    pub operator_edit_observed: bool,
    /// `configUnwritable`.
    pub config_unwritable: bool,
    /// The config cannot be parsed, and must stay as it is.
    pub quarantine: Option<Quarantine>,
    /// By server key, in the file's order.
    pub leases: Leases,
    /// What else the file holds.
    pub unknown: Unknown,
}

/// The config before the first session.
#[derive(Clone, PartialEq, Eq)]
pub struct Baseline {
    /// There was one.
    pub existed: bool,
    /// Its text.
    pub raw: Option<String>,
    /// Its whole `st_mode`.
    pub mode: Option<u32>,
    /// It was JSON that can be edited.
    pub parsable: bool,
    /// `createdDir`: a session made `.cursor/`.
    pub created_dir: bool,
    /// What else stands here.
    pub unknown: Unknown,
}

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingKind {
    /// Entries of ours go in or out.
    Write,
    /// The last session puts the operator's text back.
    Restore,
    /// The last session removes a file that was not there before.
    Delete,
    /// The config is recorded as not parsable.
    Quarantine,
}

/// A change that was begun.
#[derive(Clone, PartialEq, Eq)]
pub struct Pending {
    /// What it does.
    pub kind: PendingKind,
    /// The text that the config has once it is done; `None` for no file.
    pub raw: Option<String>,
    /// Counts the changes.
    pub seq: u64,
    /// What else stands here.
    pub unknown: Unknown,
}

/// The record of a config that cannot be parsed.
#[derive(Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// Its text; `None` where it is none.
    pub raw: Option<String>,
    /// The keys of ours that seem to be in it.
    pub fusion_keys: Vec<String>,
    /// ISO 8601.
    pub observed_at: String,
    /// What else stands here.
    pub unknown: Unknown,
}

/// One session's claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Of the session's process.
    pub pid: i64,
    /// Where it runs.
    pub hostname: String,
    /// Epoch milliseconds.
    pub heartbeat_at: i64,
    /// What Cursor is told of its server.
    pub entry: ServerEntry,
    /// Ours only, the field `processStart`: see `lock::ProcessStart`.
    pub process_start: Option<String>,
    /// What else stands here.
    pub unknown: Unknown,
}

/// An entry of `mcpServers`.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, in the caller's order.
    pub env: Vec<(String, String)>,
    /// What else stands here.
    pub unknown: Unknown,
}

/// The leases of a worktree, each under a key of its own, in the order in which they came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leases(Vec<(String, Lease)>);

/// Why a state file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// Empty or no JSON: what a crash leaves. It may be replaced.
    #[error("it is empty or cut off: {0}")]
    Torn(String),
    /// Of a version that this one does not know. It must not be touched.
    #[error("it is of version {0}, and this release knows version 1; a newer one is in use here")]
    Version(String),
    /// JSON, and not of the shape of version 1: which field.
    #[error("its field {0} is missing or not what it should be")]
    Shape(String),
}

impl Manifest {
    /// The first one of a worktree.
    #[must_use]
    pub fn new(baseline: Baseline) -> Self {
        Self {
            baseline,
            exclusion_owned: false,
            last_written: None,
            pending: None,
            operator_edit_observed: false,
            config_unwritable: false,
            quarantine: None,
            leases: Leases::default(),
            unknown: Unknown::new(),
        }
    }

    /// Read a state file.
    ///
    /// Older writers may lack `exclusionOwnedByFusion`, `lastWrittenRaw`, `pending`, `operatorEditObserved`,
    /// `configUnwritable`, `quarantine` and `leases`; `mode`, `parsable` and `createdDir` of the baseline; `seq` of
    /// what is pending; `fusionKeys` and `observedAt` of a quarantine; `args` and `env` of an entry: they are then
    /// what they are in a worktree where nothing has happened. All else must be there: without the baseline nobody
    /// knows what to restore, without pid, host and heartbeat whether a lease lives.
    ///
    /// # Errors
    ///
    /// A [`ManifestError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, ManifestError> {
        read::manifest(bytes)
    }

    /// Two-space indented, as the plugin's; unknown fields as they were.
    #[must_use]
    pub fn to_json(&self) -> String {
        print::manifest(self)
    }

    /// The config's text when a session last knew it: what was last written, or what was there before.
    #[must_use]
    pub fn confirmed(&self) -> Option<&str> {
        self.last_written.as_deref().or(self.baseline.raw.as_deref())
    }

    /// The entries of all leases, as [`super::compose::compose`] takes them.
    #[must_use]
    pub fn entries(&self) -> Vec<(&str, &ServerEntry)> {
        self.leases
            .iter()
            .map(|(key, lease)| (key, &lease.entry))
            .collect()
    }
}

impl ServerEntry {
    /// An entry with nothing else in it.
    #[must_use]
    pub fn new(command: String, args: Vec<String>, env: Vec<(String, String)>) -> Self {
        Self {
            command,
            args,
            env,
            unknown: Unknown::new(),
        }
    }

    /// Two-space indented, from the first column on.
    pub(super) fn to_json(&self) -> String {
        print::entry(self, "")
    }

    /// Whether a value in a config says the same.
    pub(super) fn is_written(&self, value: &str) -> bool {
        let same = |one: &Self, other: &Self| {
            let sorted = |entry: &Self| entry.env.iter().cloned().collect::<HashMap<_, _>>();
            one.command == other.command
                && one.args == other.args
                && sorted(one) == sorted(other)
                && one.unknown.is_same(&other.unknown)
        };
        read::entry(value).is_some_and(|written| same(&written, self))
    }
}

impl Leases {
    /// True without any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The lease under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Lease> {
        self.iter().find(|(name, _)| *name == key).map(|(_, lease)| lease)
    }

    /// The lease under a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Lease> {
        self.0
            .iter_mut()
            .find(|(name, _)| name == key)
            .map(|(_, lease)| lease)
    }

    /// True where there is one under the key.
    #[must_use]
    pub fn contains_key(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Put a lease under a key, in the place of the one that was there; a new key goes last.
    pub fn insert(&mut self, key: String, lease: Lease) -> Option<Lease> {
        if let Some(there) = self.get_mut(&key) {
            return Some(std::mem::replace(there, lease));
        }
        self.0.push((key, lease));
        None
    }

    /// Take the lease under a key out.
    pub fn remove(&mut self, key: &str) -> Option<Lease> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Keep only those of which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Lease) -> bool) {
        self.0.retain_mut(|(key, lease)| keep(key, lease));
    }

    /// Keys and leases, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Lease)> {
        self.0.iter().map(|(key, lease)| (key.as_str(), lease))
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(key, _)| key)
    }

    /// The leases, in order.
    pub fn values(&self) -> impl Iterator<Item = &Lease> {
        self.iter().map(|(_, lease)| lease)
    }
}

impl FromIterator<(String, Lease)> for Leases {
    fn from_iter<T: IntoIterator<Item = (String, Lease)>>(leases: T) -> Self {
        let mut all = Self::default();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (key, lease) in leases {
            if let Some(place) = places.get(&key) {
                all.0[*place].1 = lease;
            } else {
                places.insert(key.clone(), all.0.len());
                all.0.push((key, lease));
            }
        }
        all
    }
}
