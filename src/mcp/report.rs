//! What [`inspect`](super::inspect) and [`reconcile`](super::reconcile) say of a worktree.

use std::path::PathBuf;

use crate::disk::Folder;
use crate::worktree::names;

use super::error::Problem;
use super::manifest::Quarantine;

/// What lies in a worktree, read without a lock and without a write.
#[derive(Debug, Clone)]
pub struct WorktreeReport {
    /// Canonical where the folder exists, else as it was given.
    pub worktree: PathBuf,
    /// Whether it is a folder that can be opened.
    pub exists: bool,
    /// What git says of it.
    pub git: GitReport,
    /// Which of our paths git tracks, as git spells them.
    pub tracked: Vec<String>,
    /// The marker block; `None` outside of a repository.
    pub exclusion: Option<ExclusionState>,
    /// `.cursor/mcp.json`.
    pub config: ConfigReport,
    /// `.cursor/.fusion-mcp-state.json`.
    pub manifest: ManifestReport,
    /// Those in the manifest, by their keys.
    pub leases: Vec<LeaseReport>,
    /// A journal that somebody has not finished.
    pub pending: Option<PendingReport>,
    /// A config that is no JSON, and left alone.
    pub quarantine: Option<QuarantineReport>,
    /// Whether the operator changed the config during the leases.
    pub operator_edit_observed: bool,
    /// The lock directories that are there.
    pub locks: Vec<LockReport>,
    /// What nobody uses any more; [`reconcile`](super::reconcile) takes it away.
    pub residue: Vec<Residue>,
    /// What could not be read, or stands in the way of staging.
    pub problems: Vec<Problem>,
}

/// What git says of a folder.
#[derive(Debug, Clone, Default)]
pub struct GitReport {
    /// Whether it lies in a working tree.
    pub kind: GitKind,
    /// The top of the working tree.
    pub top: Option<PathBuf>,
    /// The git directory of this worktree.
    pub git_dir: Option<PathBuf>,
    /// The one that all worktrees of the repository share.
    pub common_dir: Option<PathBuf>,
    /// From the top to the folder, with a final `/`, or empty.
    pub prefix: Option<String>,
    /// Why git could not say.
    pub error: Option<String>,
}

/// Whether a folder lies in a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GitKind {
    /// In a working tree.
    Repository,
    /// In none.
    NonGit,
    /// Git could not say.
    #[default]
    Unknown,
}

impl GitKind {
    /// `repository`, `non-git`, `unknown`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::NonGit => "non-git",
            Self::Unknown => "unknown",
        }
    }
}

/// The marker block in `info/exclude`.
#[derive(Debug, Clone, Default)]
pub struct ExclusionState {
    /// The exclude file.
    pub file: PathBuf,
    /// Whether it has the block.
    pub present: bool,
    /// The prefixes in the block.
    pub prefixes: Vec<String>,
    /// Whether git ignores our three paths; `None` where it was not asked, as nothing of ours lies there.
    pub ignored: Option<bool>,
}

/// The state of `.cursor/mcp.json`.
#[derive(Debug, Clone)]
pub struct ConfigReport {
    /// `absent`, `ok`, or a [`Reason`](super::Reason) as a word.
    pub state: &'static str,
    /// Keys of ours in it.
    pub fusion_keys: Vec<String>,
    /// Its permission bits.
    pub mode: Option<u32>,
    /// What is wrong with it.
    pub detail: Option<String>,
}

/// The state of the manifest.
#[derive(Debug, Clone)]
pub struct ManifestReport {
    /// `absent`, `ok`, `torn`, `unknown-version`, `unexpected-shape`, `unreadable`.
    pub state: &'static str,
    /// What is wrong with it.
    pub detail: Option<String>,
}

/// One lease of the manifest.
#[derive(Debug, Clone)]
pub struct LeaseReport {
    /// The key in `mcpServers`.
    pub server_key: String,
    /// Who holds it.
    pub pid: i64,
    /// On which machine.
    pub hostname: String,
    /// Epoch milliseconds of the last beat.
    pub heartbeat_at: i64,
    /// How long ago that was; negative where it lies in the future.
    pub age_ms: i64,
    /// `alive`, `dead`, `maybe-alive` (a process of that number), `unknown` (another machine).
    pub owner: &'static str,
    /// Whether the next session keeps it.
    pub live: bool,
    /// Whether it is one of this process.
    pub held_here: bool,
}

/// A journal that is not finished.
#[derive(Debug, Clone)]
pub struct PendingReport {
    /// `write`, `restore`, `delete`, `quarantine`.
    pub kind: &'static str,
    /// Its number.
    pub seq: u64,
}

/// A config that is no JSON.
#[derive(Debug, Clone)]
pub struct QuarantineReport {
    /// ISO 8601.
    pub observed_at: String,
    /// Keys of ours that are in the text.
    pub fusion_keys: Vec<String>,
    /// What to do.
    pub cure: String,
}

/// A lock directory.
#[derive(Debug, Clone)]
pub struct LockReport {
    /// The directory.
    pub path: PathBuf,
    /// Who holds it.
    pub pid: Option<u32>,
    /// On which machine.
    pub hostname: Option<String>,
    /// Since when, in epoch milliseconds.
    pub since: Option<i64>,
    /// Whether the next session takes it over.
    pub stale: bool,
}

/// Something that nobody uses any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Residue {
    /// Where.
    pub path: PathBuf,
    /// What it is.
    pub what: String,
}

/// What [`reconcile`](super::reconcile) found and did.
#[derive(Debug, Clone)]
pub struct ReconcileReport {
    /// Canonical where the folder exists, else as it was given.
    pub worktree: PathBuf,
    /// Nothing of ours is left but what live leases need, and nothing went wrong.
    pub clean: bool,
    /// What was done, in order.
    pub actions: Vec<Action>,
    /// What could not be done.
    pub problems: Vec<Problem>,
    /// A config that is no JSON, and left alone.
    pub quarantine: Option<QuarantineReport>,
    /// How many leases are in force.
    pub leases_left: usize,
}

/// One thing that [`reconcile`](super::reconcile) did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// A stable word.
    pub kind: ActionKind,
    /// Where.
    pub path: PathBuf,
    /// A sentence.
    pub detail: String,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ActionKind {
    /// A journal was finished or discarded.
    JournalRecovered,
    /// The lease of a dead process was dropped.
    LeaseDropped,
    /// The operator's config is back, byte for byte.
    ConfigRestored,
    /// Our entries were taken out of a config that the operator changed.
    KeysRemoved,
    /// A config that was ours alone was removed.
    ConfigRemoved,
    /// The entries of live leases were put back.
    ConfigWritten,
    /// A manifest was removed.
    ManifestRemoved,
    /// A manifest that was no JSON was replaced.
    ManifestReplaced,
    /// A config that is no JSON was recorded.
    Quarantined,
    /// A quarantine was lifted.
    QuarantineCleared,
    /// Lines were added to the marker block.
    ExclusionAdded,
    /// Lines nobody needs were taken out of the exclude file.
    ExclusionRemoved,
    /// The lock of a dead process was removed.
    LockRemoved,
    /// A folder that we had made was removed.
    FolderRemoved,
}

impl ActionKind {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::JournalRecovered => "journal-recovered",
            Self::LeaseDropped => "lease-dropped",
            Self::ConfigRestored => "config-restored",
            Self::KeysRemoved => "keys-removed",
            Self::ConfigRemoved => "config-removed",
            Self::ConfigWritten => "config-written",
            Self::ManifestRemoved => "manifest-removed",
            Self::ManifestReplaced => "manifest-replaced",
            Self::Quarantined => "quarantined",
            Self::QuarantineCleared => "quarantine-cleared",
            Self::ExclusionAdded => "exclusion-added",
            Self::ExclusionRemoved => "exclusion-removed",
            Self::LockRemoved => "lock-removed",
            Self::FolderRemoved => "folder-removed",
        }
    }
}

/// A quarantine, with the cure.
pub(super) fn quarantine(cursor: &Folder, record: &Quarantine) -> QuarantineReport {
    QuarantineReport {
        observed_at: record.observed_at.clone(),
        fusion_keys: record.fusion_keys.clone(),
        cure: super::journal::cure(&cursor.path().join(names::CONFIG), &record.fusion_keys),
    }
}
