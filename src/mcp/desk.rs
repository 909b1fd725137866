//! Config and manifest side by side, with the locks held: what they say of each other, before anything is changed.

use crate::disk::Folder;
use crate::lock::{Life, iso8601};
use crate::worktree::names;

use super::compose;
use super::config::Config;
use super::error::{Problem, Reason, StagingError};
use super::manifest::{Baseline, Lease, Manifest, ManifestError, Quarantine, Unknown};
use super::memo::Memo;
use super::recover::{self, PendingVerdict, QuarantineVerdict, is_edited, judge_pending, judge_quarantine};
use super::report::{Action, ActionKind};
use super::site::{Held, Site};

/// A manifest holds the config up to three times.
pub(super) const LIMIT: u64 = 64 * 1024 * 1024;
/// A lease of a process that nobody can ask about is dead without a beat for so long, in milliseconds.
pub(super) const SILENCE: i64 = 15 * 60 * 1000;
/// A beat that lies further in the future than this is no beat: somebody's clock was wrong.
const FUTURE: i64 = 24 * 60 * 60 * 1000;

/// Where the manifest in hand comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// There is none on the disk.
    New,
    Stored,
    /// What is on the disk is no JSON.
    Torn,
}

/// Config and manifest.
pub(super) struct Desk<'a> {
    pub(super) site: &'a Site,
    pub(super) held: &'a Held,
    pub(super) config: Config,
    pub(super) manifest: Manifest,
    pub(super) origin: Origin,
    /// The manifest as it is on the disk.
    pub(super) stored: Option<Vec<u8>>,
    pub(super) memo: Memo,
    /// Whether the text that is there was written by the plugin, which does not keep modes.
    pub(super) of_the_plugin: bool,
    /// Whether entries may be put into the config that are not in it. One that has come with a commit since must not
    /// get any: the next commit would take them.
    pub(super) adds: bool,
    /// The number of the last journal.
    pub(super) seq: u64,
    pub(super) actions: Vec<Action>,
}

impl<'a> Desk<'a> {
    /// Read both, and see what happened since somebody last wrote: a journal is finished or discarded, an
    /// operator's edit noticed. Nothing is written.
    ///
    /// # Errors
    /// Where there is a manifest that must not be touched.
    pub(super) fn open(site: &'a Site, held: &'a Held) -> Result<Self, StagingError> {
        let config = Config::read(&held.cursor);
        let stored = held.cursor.read(names::MANIFEST, LIMIT)?;
        let stored = stored.map(|contents| contents.bytes);
        let (manifest, origin) = match stored.as_deref().map(Manifest::parse) {
            None => (fresh(&config, site, held, false), Origin::New),
            Some(Ok(manifest)) => (manifest, Origin::Stored),
            Some(Err(ManifestError::Torn(_))) => (fresh(&config, site, held, true), Origin::Torn),
            Some(Err(error)) => return Err(foreign(&held.cursor, &error).into()),
        };
        let memo = Memo::from_baseline(&manifest);
        let mut desk = Self {
            site,
            held,
            config,
            manifest,
            origin,
            stored,
            memo,
            of_the_plugin: false,
            adds: true,
            seq: 0,
            actions: Vec::new(),
        };
        desk.recover();
        desk.observe();
        Ok(desk)
    }

    fn recover(&mut self) {
        let current = self.config.bytes();
        let found = self.manifest.pending.as_ref().map(|pending| {
            let verdict = judge_pending(pending, current, self.manifest.confirmed());
            (pending.seq, verdict)
        });
        recover::settle(&mut self.manifest, current);
        if let Some((seq, verdict)) = found {
            self.seq = seq;
            let said = match verdict {
                PendingVerdict::Made => "it was carried out",
                PendingVerdict::NotMade => "it was not carried out",
                PendingVerdict::Edited => "the operator has changed the config since",
            };
            self.note(ActionKind::JournalRecovered, names::MANIFEST, said);
        }
    }

    /// See whether the operator has changed the config. Again after it was read again.
    pub(super) fn observe(&mut self) {
        let known = Memo::of(&self.manifest);
        if !is_edited(&self.manifest, self.config.bytes()) {
            self.of_the_plugin = known.is_none() && self.manifest.last_written.is_some();
            if let Some(known) = known {
                self.memo = known;
            }
            return;
        }
        self.manifest.operator_edit_observed = true;
        self.of_the_plugin = false;
        let known = known.unwrap_or_else(|| self.memo.clone());
        self.memo = match &self.config {
            Config::Absent => Memo {
                existed: false,
                had_servers: false,
            },
            // Without keys of ours, all of it is the operator's.
            Config::Text(text) if text.keys.is_empty() => Memo {
                existed: true,
                had_servers: text.has_servers,
            },
            // Somebody's editor has saved our own file in another layout.
            Config::Text(text) if !known.existed && is_ours_alone(&text.raw, known.had_servers) => known,
            _ => Memo {
                existed: true,
                ..known
            },
        };
    }

    /// Read the config again, which somebody has changed in between.
    pub(super) fn look_again(&mut self) {
        self.config = Config::read(&self.held.cursor);
        self.manifest.pending = None;
        self.observe();
    }

    /// See to the record of a config that nobody can edit: made, renewed or taken away. Whether it stands.
    pub(super) fn judge_quarantine(&mut self) -> bool {
        let now = iso8601(self.site.world.now_ms());
        let Some(record) = &mut self.manifest.quarantine else {
            let Config::Refused(refused) = &self.config else {
                return false;
            };
            if !refused.may_hold_ours() {
                return false;
            }
            self.manifest.quarantine = Some(Quarantine {
                raw: refused.text().map(str::to_owned),
                fusion_keys: refused.keys.clone(),
                observed_at: now,
                unknown: Unknown::new(),
            });
            let said = "it cannot be edited, and is left as it is";
            self.note(ActionKind::Quarantined, names::CONFIG, said);
            return true;
        };
        let verdict = match &self.config {
            Config::Refused(refused) if refused.bytes.is_none() && refused.may_hold_ours() => {
                QuarantineVerdict::Stands
            }
            // A link or the like is not the file that was recorded.
            Config::Refused(refused) if refused.bytes.is_none() => QuarantineVerdict::Clears,
            config => judge_quarantine(record.raw.as_deref(), config.bytes()),
        };
        let (kind, said) = match verdict {
            QuarantineVerdict::Stands => return true,
            QuarantineVerdict::Clears => (ActionKind::QuarantineCleared, "it is mended, or gone"),
            QuarantineVerdict::Repin { raw, fusion_keys } => {
                record.raw = raw;
                record.fusion_keys = fusion_keys;
                record.observed_at = now;
                (ActionKind::Quarantined, "it was changed, and is not mended")
            }
        };
        if kind == ActionKind::QuarantineCleared {
            self.manifest.quarantine = None;
        }
        self.note(kind, names::CONFIG, said);
        self.manifest.quarantine.is_some()
    }

    /// Drop the leases of the dead, but for this one.
    pub(super) fn drop_dead(&mut self, but: Option<&str>) {
        let world = self.site.world;
        let leases = &mut self.manifest.leases;
        let mut dropped = Vec::new();
        leases.retain(|key, lease| {
            let stays = but == Some(key) || is_live(lease, world);
            if !stays {
                dropped.push(format!("{key}, of process {} on {}", lease.pid, lease.hostname));
            }
            stays
        });
        for lease in dropped {
            self.note(ActionKind::LeaseDropped, names::MANIFEST, &lease);
        }
    }

    /// Whether this entry is in the config.
    pub(super) fn has_entry(&self, key: &str) -> bool {
        self.config.keys().iter().any(|there| there == key)
    }

    /// Note what was done, for whoever asked for it.
    pub(super) fn note(&mut self, kind: ActionKind, name: &str, detail: &str) {
        let path = self.held.cursor.path().join(name);
        tracing::debug!(kind = kind.as_str(), path = %path.display(), detail, "in a worktree");
        self.actions.push(Action {
            kind,
            path,
            detail: detail.to_owned(),
        });
    }
}

/// See whether there is a manifest that must not be touched; nothing is written.
pub(super) fn look_at_manifest(cursor: &Folder) -> Result<(), StagingError> {
    let stored = cursor.read(names::MANIFEST, LIMIT)?;
    match stored.map(|contents| Manifest::parse(&contents.bytes)) {
        None | Some(Ok(_) | Err(ManifestError::Torn(_))) => Ok(()),
        Some(Err(error)) => Err(foreign(cursor, &error).into()),
    }
}

/// Whether the next session keeps this lease.
pub(super) fn is_live(lease: &Lease, world: &dyn crate::lock::World) -> bool {
    match world.life(lease.pid, &lease.hostname, lease.process_start.as_deref()) {
        Life::Alive => true,
        Life::Dead => false,
        Life::MaybeAlive | Life::Unknown => {
            let age = world.now_ms().saturating_sub(lease.heartbeat_at);
            (-FUTURE..=SILENCE).contains(&age)
        }
    }
}

/// Whether nothing is left of a text without our keys.
fn is_ours_alone(text: &str, had_servers: bool) -> bool {
    let left = compose::strip(text, had_servers).and_then(|left| compose::look(left.as_bytes()));
    left.is_ok_and(|left| left.is_empty)
}

/// A manifest for what lies there now. Keys of ours that nobody answers for are not the operator's.
fn fresh(config: &Config, site: &Site, held: &Held, torn: bool) -> Manifest {
    let (raw, edited) = match config {
        Config::Text(text) if !text.keys.is_empty() => match compose::strip(&text.raw, true) {
            Ok(stripped) => (Some(stripped), true),
            Err(_) => (Some(text.raw.clone()), true),
        },
        config => (config.text().map(str::to_owned), torn),
    };
    let baseline = Baseline {
        existed: !matches!(config, Config::Absent),
        raw,
        mode: config.mode().map(|mode| mode | REGULAR),
        parsable: matches!(config, Config::Absent | Config::Text(_)),
        created_dir: held.made_cursor.get() || site.is_marked().unwrap_or(false),
        unknown: Unknown::new(),
    };
    Manifest {
        exclusion_owned: site.repository().is_some(),
        operator_edit_observed: edited,
        ..Manifest::new(baseline)
    }
}

/// `S_IFREG`: version 1 keeps the whole `st_mode`.
const REGULAR: u32 = 0o100_000;

/// A manifest of another version or shape.
pub(super) fn foreign(cursor: &Folder, error: &ManifestError) -> Problem {
    Problem::at(
        Reason::UnexpectedShape,
        &cursor.path().join(names::MANIFEST),
        format_args!(
            "{error}. It is left as it is: update this package, or, if no session runs here, remove it and the keys \
             `{}…` in {}",
            compose::PREFIX,
            names::CONFIG
        ),
    )
}
