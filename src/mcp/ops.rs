//! The operations, with the locks held. They block, and never wait for anybody.

use crate::disk::Durability;
use crate::worktree::names;

use super::config::Config;
use super::desk::{Desk, Origin, is_live, look_at_manifest};
use super::error::{Problem, Reason, StagingError};
use super::journal::Settled;
use super::manifest::{Lease, Manifest, ServerEntry, Unknown};
use super::report::ReconcileReport;
use super::site::{Held, Site};

/// Whether a server can be staged here, as far as can be told without a lock; nothing is written.
///
/// # Errors
/// What would stand in the way. A quarantine is not looked for: it must be recorded.
pub fn foresee(site: &Site) -> Result<(), StagingError> {
    let Some(cursor) = site.root.child(names::CURSOR)? else {
        return Ok(());
    };
    if let Config::Refused(refused) = Config::read(&cursor)
        && refused.problem.reason != Reason::Unparsable
    {
        return Err(refused.problem.into());
    }
    look_at_manifest(&cursor)
}

/// Put an entry into the config.
///
/// # Errors
/// [`StagingError::Failed`]; config and manifest are then as they were, but for a record of a config that is no
/// JSON.
pub fn stage_held(site: &Site, held: &Held, key: &str, entry: &ServerEntry) -> Result<(), StagingError> {
    let mut desk = Desk::open(site, held)?;
    let before = Before::of(&desk);
    let stood = desk.manifest.quarantine.is_some();
    if let Some(lease) = desk.manifest.leases.get(key)
        && is_live(lease, site.world)
    {
        return Err(StagingError::Failed(Problem {
            reason: Reason::DuplicateKeys,
            path: Some(site.root.path().to_owned()),
            message: format!(
                "{key} is staged in {} already, by process {} on {}: use another key, or dispose that lease",
                site.root.path().display(),
                lease.pid,
                lease.hostname
            ),
        }));
    }
    desk.drop_dead(None);
    if desk.judge_quarantine() {
        desk.save_if_new(Durability::Durable)?;
        return Err(quarantined(&desk, stood).into());
    }
    if let Config::Refused(refused) = &desk.config {
        return Err(refused.problem.clone().into());
    }
    desk.manifest.leases.insert(key.to_owned(), lease(site, entry));
    let error = match desk.settle() {
        Ok(Settled::InForce | Settled::Finished) => return Ok(()),
        // It became so just now.
        Ok(Settled::Quarantined(_)) => {
            desk.manifest.leases.remove(key);
            desk.save_if_new(Durability::Durable)?;
            return Err(quarantined(&desk, false).into());
        }
        Ok(Settled::Refused(problem)) => problem.into(),
        Err(error) => error,
    };
    Err(before.put_back(site, held, error))
}

/// Whether this entry is in the config now; nothing is written.
#[must_use]
pub fn has_entry(site: &Site, key: &str) -> bool {
    let cursor = site.root.child(names::CURSOR).ok().flatten();
    cursor.is_some_and(|cursor| Config::read(&cursor).keys().iter().any(|there| there == key))
}

/// What a beat has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Beaten {
    /// The entry is in the config.
    InForce,
    /// Somebody took it out, and it is not put back.
    TakenOut,
    /// The config cannot be edited.
    Refused(Problem),
}

/// Refresh a lease, and put its entry back if somebody took it out. Whether it is in force.
///
/// Put back only where git was asked and tracks nothing of ours, `untracked`: what took it out may have been a commit
/// that has a config of its own, and the next one would take the entry.
///
/// # Errors
/// What the disk says.
pub fn beat_held(
    site: &Site,
    held: &Held,
    key: &str,
    entry: &ServerEntry,
    untracked: bool,
) -> Result<Beaten, StagingError> {
    let mut desk = Desk::open(site, held)?;
    desk.adds = untracked || desk.has_entry(key);
    desk.drop_dead(Some(key));
    let now = lease(site, entry);
    if let Some(lease) = desk.manifest.leases.get_mut(key) {
        lease.heartbeat_at = now.heartbeat_at;
    } else {
        let worktree = site.root.path().display();
        tracing::warn!(%worktree, key, "a lease had been dropped by somebody; it is put back");
        desk.manifest.leases.insert(key.to_owned(), now);
    }
    Ok(match desk.settle()? {
        Settled::InForce if desk.has_entry(key) => Beaten::InForce,
        Settled::InForce | Settled::Finished => Beaten::TakenOut,
        Settled::Quarantined(problem) | Settled::Refused(problem) => Beaten::Refused(problem),
    })
}

/// Take an entry out of the config, and all that was made for it with the last one. Those of other leases are put back
/// as [`beat_held`] does it.
///
/// # Errors
/// What the disk says. The next one who comes carries on.
pub fn dispose_held(site: &Site, held: &Held, key: &str, untracked: bool) -> Result<(), StagingError> {
    let mut desk = Desk::open(site, held)?;
    desk.adds = untracked || desk.has_entry(key);
    desk.manifest.leases.remove(key);
    desk.drop_dead(None);
    let mine_left = |config: &Config| config.keys().iter().any(|left| left == key);
    // Of a config that nobody can edit and no manifest tells of, only what may hold this key is our business.
    if desk.origin == Origin::New && matches!(desk.config, Config::Refused(_)) && !mine_left(&desk.config) {
        return Ok(());
    }
    match desk.settle()? {
        Settled::InForce | Settled::Finished => {}
        Settled::Quarantined(problem) | Settled::Refused(problem) => {
            tracing::warn!(key, problem = problem.message, "a config could not be cleaned");
        }
    }
    Ok(())
}

/// Drop what the dead have left, and carry out what they began. Entries of the living are put back as [`beat_held`]
/// does it.
///
/// # Errors
/// What the disk says.
pub fn reconcile_held(
    site: &Site,
    held: &Held,
    report: &mut ReconcileReport,
    untracked: bool,
) -> Result<(), StagingError> {
    let mut desk = Desk::open(site, held)?;
    desk.adds = untracked;
    desk.drop_dead(None);
    let settled = if desk.origin == Origin::New && matches!(desk.config, Config::Refused(_)) {
        Ok(None)
    } else {
        desk.settle().map(Some)
    };
    report.actions.append(&mut desk.actions);
    report.leases_left = desk.manifest.leases.len();
    if let Some(quarantine) = &desk.manifest.quarantine {
        report.quarantine = Some(super::report::quarantine(&held.cursor, quarantine));
    }
    match settled? {
        Some(Settled::Refused(problem)) => report.problems.push(problem),
        None => {
            if let Config::Refused(refused) = &desk.config
                && !refused.keys.is_empty()
            {
                report.problems.push(refused.problem.clone());
            }
        }
        Some(Settled::InForce | Settled::Finished | Settled::Quarantined(_)) => {}
    }
    Ok(())
}

fn lease(site: &Site, entry: &ServerEntry) -> Lease {
    Lease {
        pid: i64::from(site.world.pid()),
        hostname: site.world.hostname().to_owned(),
        heartbeat_at: site.world.now_ms(),
        entry: entry.clone(),
        process_start: site.world.start().map(|start| start.0.clone()),
        unknown: Unknown::new(),
    }
}

fn quarantined(desk: &Desk<'_>, stood: bool) -> Problem {
    let path = desk.held.cursor.path().join(names::CONFIG);
    match &desk.config {
        Config::Refused(refused) if !stood => refused.problem.clone(),
        config => Problem {
            reason: Reason::Quarantined,
            message: super::journal::cure(&path, config.keys()),
            path: Some(path),
        },
    }
}

/// What a stage that fails half way goes back to.
struct Before {
    config: Config,
    manifest: Option<Vec<u8>>,
}

impl Before {
    fn of(desk: &Desk<'_>) -> Self {
        Self {
            config: desk.config.clone(),
            manifest: desk.stored.clone(),
        }
    }

    /// Put it back; the error to give.
    fn put_back(self, site: &Site, held: &Held, error: StagingError) -> StagingError {
        let StagingError::Failed(mut problem) = error else {
            return error;
        };
        if let Err(left) = self.try_put_back(site, held) {
            held.left_begun.set(true);
            problem.message = format!(
                "{}; and what had been done was not taken back at once ({left}): inspect this worktree",
                problem.message
            );
        }
        StagingError::Failed(problem)
    }

    fn try_put_back(&self, site: &Site, held: &Held) -> Result<(), StagingError> {
        held.check(site)?;
        let (cursor, via) = (&held.cursor, held.main.folder());
        let now = Config::read(cursor);
        // Of what lies there now, only our own text is put out of the way.
        if is_as_begun(held, &now)? && !now.is(self.config.text()) {
            match (self.config.text(), self.config.mode()) {
                (Some(text), Some(mode)) => {
                    cursor.replace(names::CONFIG, text.as_bytes(), mode, via, Durability::Durable)?;
                }
                _ => {
                    cursor.remove(names::CONFIG, Durability::Durable)?;
                }
            }
        }
        match &self.manifest {
            Some(bytes) => cursor.replace(names::MANIFEST, bytes, 0o600, via, Durability::Durable)?,
            None => {
                cursor.remove(names::MANIFEST, Durability::Durable)?;
            }
        }
        Ok(())
    }
}

/// Whether the config is what the journal on the disk was about to make of it.
fn is_as_begun(held: &Held, config: &Config) -> Result<bool, StagingError> {
    let stored = held.cursor.read(names::MANIFEST, super::desk::LIMIT)?;
    let manifest = stored.and_then(|contents| Manifest::parse(&contents.bytes).ok());
    let pending = manifest.and_then(|manifest| manifest.pending);
    Ok(pending.is_some_and(|pending| config.is(pending.raw.as_deref())))
}
