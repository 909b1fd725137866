//! Whether there is anything to put in order: so that nothing is written where there is not.

use crate::disk::Folder;
use crate::lock::{DirectoryLock, KernelLock};
use crate::worktree::{GitError, names};

use super::compose;
use super::config::Config;
use super::desk::{self, foreign, is_live};
use super::error::{Problem, Reason, StagingError};
use super::manifest::{Manifest, ManifestError};
use super::report::{Action, ActionKind, QuarantineReport, quarantine};
use super::site::{Site, TTL};

/// What a worktree needs, as far as can be told by reading alone.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) cursor: Cursor,
    /// The exclude file has lines that nobody uses, or a lock that somebody left.
    pub(super) exclusion: bool,
    /// A lock that somebody left in `.cursor`.
    pub(super) lock: Option<Action>,
    pub(super) leases: usize,
    pub(super) quarantine: Option<QuarantineReport>,
    pub(super) problems: Vec<Problem>,
}

/// What `.cursor` needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Cursor {
    /// Nothing.
    #[default]
    Fine,
    /// Something of ours lies there, and is not as it should be.
    Work,
    /// It was made by somebody of ours who died, and is nobody's now.
    Forsaken,
    /// It has a manifest of another version, which must not be touched.
    Foreign,
}

impl Needs {
    pub(super) fn of(
        site: &Site,
        kernel: &KernelLock,
        sure: bool,
        tracked: &[String],
    ) -> Result<Self, StagingError> {
        let mut needs = Self::default();
        let cursor = site.root.child(names::CURSOR)?;
        let mut in_use = false;
        if let Some(cursor) = &cursor {
            in_use = needs.look_into(site, cursor, kernel, sure, tracked)?;
            let idle = !in_use && needs.cursor == Cursor::Fine;
            if idle && site.is_marked()? {
                needs.cursor = Cursor::Forsaken;
            }
        }
        if let Some(repository) = site.repository() {
            let exclusion = repository.exclusion()?;
            if in_use && needs.cursor == Cursor::Fine && !exclusion.present {
                needs.cursor = Cursor::Work;
            }
            needs.exclusion = repository.needs_withdrawal()?;
        }
        Ok(needs)
    }

    /// Whether there is a manifest.
    fn look_into(
        &mut self,
        site: &Site,
        cursor: &Folder,
        kernel: &KernelLock,
        sure: bool,
        tracked: &[String],
    ) -> Result<bool, StagingError> {
        if let Some(seen) = DirectoryLock::look(cursor, names::LOCK, TTL, Some(kernel), site.world)? {
            // Either somebody is at work, which is waited for, or was.
            self.cursor = Cursor::Work;
            let who = seen
                .holder
                .map_or_else(|| "somebody".to_owned(), |holder| holder.to_string());
            self.lock = seen.stale.then(|| Action {
                kind: ActionKind::LockRemoved,
                path: cursor.path().join(names::LOCK),
                detail: format!("it was left behind by {who}"),
            });
        }
        let config = Config::read(cursor);
        let Some(stored) = cursor.read(names::MANIFEST, desk::LIMIT)? else {
            self.orphans(cursor, &config, sure, tracked);
            return Ok(false);
        };
        let manifest = match Manifest::parse(&stored.bytes) {
            Ok(manifest) => manifest,
            Err(ManifestError::Torn(_)) => {
                self.cursor = Cursor::Work;
                return Ok(true);
            }
            Err(error) => {
                self.cursor = Cursor::Foreign;
                self.problems.push(foreign(cursor, &error));
                return Ok(true);
            }
        };
        self.leases = manifest.leases.len();
        self.quarantine = manifest
            .quarantine
            .as_ref()
            .map(|record| quarantine(cursor, record));
        let live = manifest.leases.values().all(|lease| is_live(lease, site.world));
        let as_written = match &manifest.quarantine {
            Some(quarantine) => {
                config.is(quarantine.raw.as_deref()) && config.keys() == quarantine.fusion_keys.as_slice()
            }
            None => {
                !manifest.leases.is_empty()
                    && config.is(manifest.last_written.as_deref())
                    && manifest
                        .leases
                        .keys()
                        .all(|key| config.keys().iter().any(|there| there == key))
            }
        };
        if !live || !as_written || manifest.pending.is_some() {
            self.cursor = Cursor::Work;
        }
        Ok(true)
    }

    /// Keys of ours in a config that no manifest tells of.
    fn orphans(&mut self, cursor: &Folder, config: &Config, sure: bool, tracked: &[String]) {
        if config.keys().is_empty() {
            return;
        }
        let path = cursor.path().join(names::CONFIG);
        match config {
            Config::Refused(refused) => self.problems.push(refused.problem.clone()),
            _ if tracked.is_empty() && sure => self.cursor = Cursor::Work,
            _ if sure => {
                let paths = tracked.to_vec();
                let error = StagingError::from(GitError::Tracked { paths });
                self.problems.extend(error.problem().cloned());
            }
            _ => self.problems.push(Problem::at(
                Reason::GitFailed,
                &path,
                format_args!(
                    "it has keys `{}…` that nobody uses; they stay, as git could not say whether it tracks the file",
                    compose::PREFIX
                ),
            )),
        }
    }
}
