//! Telling what lies in a worktree, by reading alone.

use std::path::{Path, PathBuf};

use crate::disk::Folder;
use crate::lock::{DirectoryLock, Life, Machine, World};
use crate::runtime::blocking;
use crate::worktree::{Git, GitError, Repository, Shape, look, names};

use super::config::Config;
use super::desk::{self, is_live};
use super::error::StagingError;
use super::manifest::{Lease, Manifest, ManifestError, PendingKind};
use super::registry;
use super::report::{
    ConfigReport, ExclusionState, GitKind, GitReport, LeaseReport, LockReport, ManifestReport, PendingReport,
    Residue, WorktreeReport, quarantine,
};
use super::site::TTL;

/// Look at a worktree. Nothing is opened for writing and no lock is taken, which would change times on the disk: so
/// where a session is at work, the report may show a moment in between.
pub async fn inspect(worktree: PathBuf, git: Git) -> WorktreeReport {
    let mut report = WorktreeReport::of_nothing(worktree.clone());
    let root = match blocking(move || Folder::open(&worktree)).await {
        Ok(root) => root,
        Err(error) => {
            report.problems.push(error.into());
            return report;
        }
    };
    root.path().clone_into(&mut report.worktree);
    report.exists = true;
    let repository = match look(&root, &git).await {
        Ok(looked) => {
            if !looked.tracked.is_empty() {
                let paths = looked.tracked.clone();
                report.note(GitError::Tracked { paths }.into());
            }
            report.tracked = looked.tracked;
            match looked.shape {
                Shape::NoGit => {
                    report.git.kind = GitKind::NonGit;
                    None
                }
                Shape::Repository(repository) => Some(repository),
            }
        }
        Err(error) => {
            report.git.error = Some(error.to_string());
            report.note(error.into());
            None
        }
    };
    if let Some(repository) = &repository {
        report.git = of_repository(repository);
        let mut exclusion = report.exclusion_of(repository);
        if exclusion.present {
            exclusion.ignored = match repository.verify_ignored(&root, &git).await {
                Ok(()) => Some(true),
                Err(error) => {
                    let tracked = matches!(error, GitError::Tracked { .. });
                    let shown = tracked || matches!(error, GitError::NotIgnored { .. });
                    // Else it was told above.
                    if !tracked || report.tracked.is_empty() {
                        report.note(error.into());
                    }
                    shown.then_some(false)
                }
            };
        }
        report.exclusion = Some(exclusion);
    }
    blocking(move || {
        report.look_into(&root, repository.as_ref());
        report
    })
    .await
}

fn of_repository(repository: &Repository) -> GitReport {
    GitReport {
        kind: GitKind::Repository,
        top: Some(repository.top.clone()),
        git_dir: Some(repository.git_dir.clone()),
        common_dir: Some(repository.common_dir.clone()),
        prefix: Some(String::from_utf8_lossy(&repository.prefix).into_owned()),
        error: None,
    }
}

impl WorktreeReport {
    fn of_nothing(worktree: PathBuf) -> Self {
        Self {
            worktree,
            exists: false,
            git: GitReport::default(),
            tracked: Vec::new(),
            exclusion: None,
            config: ConfigReport {
                state: "absent",
                fusion_keys: Vec::new(),
                mode: None,
                detail: None,
            },
            manifest: ManifestReport {
                state: "absent",
                detail: None,
            },
            leases: Vec::new(),
            pending: None,
            quarantine: None,
            operator_edit_observed: false,
            locks: Vec::new(),
            residue: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn note(&mut self, error: StagingError) {
        if let StagingError::Failed(problem) = error {
            self.problems.push(problem);
        }
    }

    fn left(&mut self, path: &Path, what: impl Into<String>) {
        self.residue.push(Residue {
            path: path.to_owned(),
            what: what.into(),
        });
    }

    fn exclusion_of(&mut self, repository: &Repository) -> ExclusionState {
        match repository.exclusion() {
            Ok(exclusion) => ExclusionState {
                file: exclusion.file,
                present: exclusion.present,
                prefixes: exclusion
                    .prefixes
                    .iter()
                    .map(|prefix| String::from_utf8_lossy(prefix).into_owned())
                    .collect(),
                ignored: None,
            },
            Err(error) => {
                self.note(error.into());
                ExclusionState::default()
            }
        }
    }

    fn look_into(&mut self, root: &Folder, repository: Option<&Repository>) {
        let cursor = root.child(names::CURSOR).unwrap_or_else(|error| {
            self.problems.push(error.into());
            None
        });
        if let Some(cursor) = &cursor {
            let mut stored = self.look_at_manifest(cursor);
            self.look_at_config(cursor);
            // Somebody was at work meanwhile: one more look is enough to see before or after it.
            let again = cursor.read(names::MANIFEST, desk::LIMIT).ok().flatten();
            if again.map(|contents| contents.bytes) != stored {
                stored = self.look_at_manifest(cursor);
                self.look_at_config(cursor);
            }
            self.judge(cursor, stored.is_some());
            self.foresee(cursor);
            self.look_at_lock(cursor, names::LOCK, TTL);
        }
        let Some(repository) = repository else {
            return;
        };
        let mut folders = vec![repository.common_dir.clone()];
        if repository.git_dir != repository.common_dir {
            folders.push(repository.git_dir.clone());
        }
        for folder in folders {
            match Folder::open(&folder) {
                Ok(folder) => self.look_at_lock(&folder, names::EXCLUDE_LOCK, crate::worktree::TTL),
                Err(error) => self.problems.push(error.into()),
            }
        }
        match repository.unused() {
            Ok(unused) if !unused.is_empty() => {
                let file = self.exclusion.as_ref().map(|exclusion| exclusion.file.clone());
                self.left(&file.unwrap_or_default(), "lines for our files that nobody needs");
            }
            Ok(_) => {}
            Err(error) => self.note(error.into()),
        }
    }

    /// The manifest's bytes.
    fn look_at_manifest(&mut self, cursor: &Folder) -> Option<Vec<u8>> {
        (self.leases, self.pending, self.quarantine) = (Vec::new(), None, None);
        let (state, detail, bytes) = match cursor.read(names::MANIFEST, desk::LIMIT) {
            Ok(None) => ("absent", None, None),
            Err(error) => {
                let detail = error.to_string();
                self.problems.push(error.into());
                ("unreadable", Some(detail), None)
            }
            Ok(Some(contents)) => {
                let (state, detail) = match Manifest::parse(&contents.bytes) {
                    Ok(manifest) => {
                        self.tell(cursor, &manifest);
                        ("ok", None)
                    }
                    Err(error) => {
                        let state = match &error {
                            ManifestError::Torn(_) => "torn",
                            ManifestError::Version(_) => "unknown-version",
                            ManifestError::Shape(_) => "unexpected-shape",
                        };
                        (state, Some(error.to_string()))
                    }
                };
                (state, detail, Some(contents.bytes))
            }
        };
        self.manifest = ManifestReport { state, detail };
        bytes
    }

    fn tell(&mut self, cursor: &Folder, manifest: &Manifest) {
        let world = Machine::get();
        self.operator_edit_observed = manifest.operator_edit_observed;
        self.leases = manifest
            .leases
            .iter()
            .map(|(key, lease)| of_lease(&self.worktree, key, lease, world))
            .collect();
        self.pending = manifest.pending.as_ref().map(|pending| PendingReport {
            kind: match pending.kind {
                PendingKind::Write => "write",
                PendingKind::Restore => "restore",
                PendingKind::Delete => "delete",
                PendingKind::Quarantine => "quarantine",
            },
            seq: pending.seq,
        });
        self.quarantine = manifest
            .quarantine
            .as_ref()
            .map(|record| quarantine(cursor, record));
    }

    fn look_at_config(&mut self, cursor: &Folder) {
        let config = Config::read(cursor);
        let (state, detail) = match &config {
            Config::Absent => ("absent", None),
            Config::Text(_) => ("ok", None),
            Config::Refused(refused) => (
                refused.problem.reason.as_str(),
                Some(refused.problem.message.clone()),
            ),
        };
        self.config = ConfigReport {
            state,
            fusion_keys: config.keys().to_vec(),
            mode: config.mode(),
            detail,
        };
    }

    /// What would keep a server from being staged, with its cure. A quarantine has its own.
    fn foresee(&mut self, cursor: &Folder) {
        if let Config::Refused(refused) = Config::read(cursor)
            && self.quarantine.is_none()
        {
            self.problems.push(refused.problem);
        }
        // What cannot be read is told already.
        if self.manifest.state != "unreadable"
            && let Err(error) = desk::look_at_manifest(cursor)
        {
            self.note(error);
        }
    }

    /// What is left of the dead.
    fn judge(&mut self, cursor: &Folder, stored: bool) {
        let (config, manifest) = (
            cursor.path().join(names::CONFIG),
            cursor.path().join(names::MANIFEST),
        );
        if !stored && !self.config.fusion_keys.is_empty() {
            let keys = self.config.fusion_keys.join(", ");
            self.left(&config, format!("keys of ours that no manifest tells of: {keys}"));
        }
        match self.manifest.state {
            "torn" => self.left(&manifest, "a manifest that is no JSON"),
            "ok" => {
                let dead: Vec<String> = self
                    .leases
                    .iter()
                    .filter(|lease| !lease.live)
                    .map(|lease| format!("the lease {} of a process that is gone", lease.server_key))
                    .collect();
                for lease in dead {
                    self.left(&manifest, lease);
                }
                if self.leases.is_empty() && self.quarantine.is_none() {
                    self.left(&manifest, "a manifest without a lease");
                }
            }
            _ => {}
        }
    }

    fn look_at_lock(&mut self, parent: &Folder, name: &'static str, ttl: std::time::Duration) {
        let path = parent.path().join(name);
        match DirectoryLock::look(parent, name, ttl, None, Machine::get()) {
            Ok(None) => {}
            Ok(Some(seen)) => {
                if seen.stale {
                    self.left(&path, "a lock that was left behind");
                }
                let holder = seen.holder.unwrap_or_default();
                self.locks.push(LockReport {
                    path,
                    pid: holder.pid,
                    hostname: holder.hostname,
                    since: holder.since,
                    stale: seen.stale,
                });
            }
            Err(error) => self.note(error.into()),
        }
    }
}

fn of_lease(worktree: &Path, key: &str, lease: &Lease, world: &dyn World) -> LeaseReport {
    let life = world.life(lease.pid, &lease.hostname, lease.process_start.as_deref());
    LeaseReport {
        server_key: key.to_owned(),
        pid: lease.pid,
        hostname: lease.hostname.clone(),
        heartbeat_at: lease.heartbeat_at,
        age_ms: world.now_ms().saturating_sub(lease.heartbeat_at),
        owner: match life {
            Life::Alive => "alive",
            Life::Dead => "dead",
            Life::MaybeAlive => "maybe-alive",
            Life::Unknown => "unknown",
        },
        live: is_live(lease, world),
        held_here: registry::holds(worktree, key),
    }
}
