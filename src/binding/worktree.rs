//! What lies in a worktree as JavaScript sees it: inspect and reconcile.

use std::path::Path;

use napi::Env;
use napi::bindgen_prelude::{Object, Result};
use napi_derive::napi;

use crate::mcp::{
    self, Action, ConfigReport, ExclusionState, GitReport, LeaseReport, LockReport, ManifestReport,
    PendingReport, Problem, QuarantineReport, ReconcileReport, Residue, WorktreeReport,
};
use crate::process::Owner;

use super::lease::{StagingProblem, git, lock_timeout, text};
use super::promise::answer;
use super::turn::absolute;

/// What `lib/` has checked and passes on.
#[napi(object, object_to_js = false)]
pub struct WorktreeOptions {
    pub worktree_path: String,
    pub lock_timeout_ms: Option<f64>,
    /// Names and values of the host's environment, one after the other.
    pub host_env: Vec<String>,
}

#[napi(object, object_from_js = false)]
pub struct WorktreeAnswer {
    pub worktree_path: String,
    pub exists: bool,
    pub git: GitAnswer,
    pub tracked: Vec<String>,
    pub exclusion: Option<ExclusionAnswer>,
    pub config: ConfigAnswer,
    pub manifest: ManifestAnswer,
    pub leases: Vec<LeaseAnswer>,
    pub pending: Option<PendingAnswer>,
    pub quarantine: Option<QuarantineAnswer>,
    pub operator_edit_observed: bool,
    pub locks: Vec<LockAnswer>,
    pub residue: Vec<ResidueAnswer>,
    pub problems: Vec<StagingProblem>,
}

#[napi(object, object_from_js = false)]
pub struct GitAnswer {
    pub kind: &'static str,
    pub top: Option<String>,
    pub git_dir: Option<String>,
    pub common_dir: Option<String>,
    pub prefix: Option<String>,
    pub error: Option<String>,
}

#[napi(object, object_from_js = false)]
pub struct ExclusionAnswer {
    pub file: String,
    pub present: bool,
    pub prefixes: Vec<String>,
    pub ignored: Option<bool>,
}

#[napi(object, object_from_js = false)]
pub struct ConfigAnswer {
    pub state: &'static str,
    pub fusion_keys: Vec<String>,
    pub mode: Option<u32>,
    pub detail: Option<String>,
}

#[napi(object, object_from_js = false)]
pub struct ManifestAnswer {
    pub state: &'static str,
    pub detail: Option<String>,
}

#[napi(object, object_from_js = false)]
pub struct LeaseAnswer {
    pub server_key: String,
    pub pid: f64,
    pub hostname: String,
    pub heartbeat_at: f64,
    pub age_ms: f64,
    pub owner: &'static str,
    pub live: bool,
    pub held_here: bool,
}

#[napi(object, object_from_js = false)]
pub struct PendingAnswer {
    pub kind: &'static str,
    pub seq: f64,
}

#[napi(object, object_from_js = false)]
pub struct QuarantineAnswer {
    pub observed_at: String,
    pub fusion_keys: Vec<String>,
    pub cure: String,
}

#[napi(object, object_from_js = false)]
pub struct LockAnswer {
    pub path: String,
    pub pid: Option<u32>,
    pub hostname: Option<String>,
    pub since: Option<f64>,
    pub stale: bool,
}

#[napi(object, object_from_js = false)]
pub struct ResidueAnswer {
    pub path: String,
    pub what: String,
}

#[napi(object, object_from_js = false)]
pub struct ReconcileAnswer {
    pub worktree_path: String,
    pub clean: bool,
    pub actions: Vec<ActionAnswer>,
    pub problems: Vec<StagingProblem>,
    pub quarantine: Option<QuarantineAnswer>,
    pub leases_left: u32,
}

#[napi(object, object_from_js = false)]
pub struct ActionAnswer {
    pub kind: &'static str,
    pub path: String,
    pub detail: String,
}

/// Look at a worktree.
#[napi(catch_unwind, ts_return_type = "Promise<WorktreeAnswer>")]
pub fn inspect_worktree(env: &Env, scope: u32, options: WorktreeOptions) -> Result<Object<'_>> {
    let worktree = absolute(options.worktree_path);
    answer(env, async move {
        let git = git(Owner(scope), options.host_env);
        WorktreeAnswer::from(mcp::inspect(worktree.into(), git).await)
    })
}

/// Put a worktree in order. What has begun is brought to its end, whoever still waits for it.
#[napi(catch_unwind, ts_return_type = "Promise<ReconcileAnswer>")]
pub fn reconcile_worktree(env: &Env, scope: u32, options: WorktreeOptions) -> Result<Object<'_>> {
    let worktree = absolute(options.worktree_path);
    answer(env, async move {
        let git = git(Owner(scope), options.host_env);
        let timeout = lock_timeout(options.lock_timeout_ms);
        ReconcileAnswer::from(mcp::reconcile(worktree.into(), git, timeout).await)
    })
}

impl From<WorktreeReport> for WorktreeAnswer {
    fn from(report: WorktreeReport) -> Self {
        Self {
            worktree_path: text(&report.worktree),
            exists: report.exists,
            git: report.git.into(),
            tracked: report.tracked,
            exclusion: report.exclusion.map(ExclusionAnswer::from),
            config: report.config.into(),
            manifest: report.manifest.into(),
            leases: all(report.leases),
            pending: report.pending.map(PendingAnswer::from),
            quarantine: report.quarantine.map(QuarantineAnswer::from),
            operator_edit_observed: report.operator_edit_observed,
            locks: all(report.locks),
            residue: all(report.residue),
            problems: problems(&report.problems, &report.worktree),
        }
    }
}

impl From<ReconcileReport> for ReconcileAnswer {
    fn from(report: ReconcileReport) -> Self {
        Self {
            worktree_path: text(&report.worktree),
            clean: report.clean,
            actions: all(report.actions),
            problems: problems(&report.problems, &report.worktree),
            quarantine: report.quarantine.map(QuarantineAnswer::from),
            leases_left: u32::try_from(report.leases_left).unwrap_or(u32::MAX),
        }
    }
}

fn problems(problems: &[Problem], worktree: &Path) -> Vec<StagingProblem> {
    let told = |problem| StagingProblem::told(problem, worktree);
    problems.iter().map(told).collect()
}

fn all<From, To: std::convert::From<From>>(from: Vec<From>) -> Vec<To> {
    from.into_iter().map(To::from).collect()
}

impl From<GitReport> for GitAnswer {
    fn from(git: GitReport) -> Self {
        Self {
            kind: git.kind.as_str(),
            top: git.top.as_deref().map(text),
            git_dir: git.git_dir.as_deref().map(text),
            common_dir: git.common_dir.as_deref().map(text),
            prefix: git.prefix,
            error: git.error,
        }
    }
}

impl From<ExclusionState> for ExclusionAnswer {
    fn from(exclusion: ExclusionState) -> Self {
        Self {
            file: text(&exclusion.file),
            present: exclusion.present,
            prefixes: exclusion.prefixes,
            ignored: exclusion.ignored,
        }
    }
}

impl From<ConfigReport> for ConfigAnswer {
    fn from(config: ConfigReport) -> Self {
        Self {
            state: config.state,
            fusion_keys: config.fusion_keys,
            mode: config.mode,
            detail: config.detail,
        }
    }
}

impl From<ManifestReport> for ManifestAnswer {
    fn from(manifest: ManifestReport) -> Self {
        Self {
            state: manifest.state,
            detail: manifest.detail,
        }
    }
}

impl From<LeaseReport> for LeaseAnswer {
    fn from(lease: LeaseReport) -> Self {
        Self {
            server_key: lease.server_key,
            pid: number(lease.pid),
            hostname: lease.hostname,
            heartbeat_at: number(lease.heartbeat_at),
            age_ms: number(lease.age_ms),
            owner: lease.owner,
            live: lease.live,
            held_here: lease.held_here,
        }
    }
}

impl From<PendingReport> for PendingAnswer {
    #[allow(clippy::cast_precision_loss, reason = "it counts writes")]
    fn from(pending: PendingReport) -> Self {
        Self {
            kind: pending.kind,
            seq: pending.seq as f64,
        }
    }
}

impl From<QuarantineReport> for QuarantineAnswer {
    fn from(quarantine: QuarantineReport) -> Self {
        Self {
            observed_at: quarantine.observed_at,
            fusion_keys: quarantine.fusion_keys,
            cure: quarantine.cure,
        }
    }
}

impl From<LockReport> for LockAnswer {
    fn from(lock: LockReport) -> Self {
        Self {
            path: text(&lock.path),
            pid: lock.pid,
            hostname: lock.hostname,
            since: lock.since.map(number),
            stale: lock.stale,
        }
    }
}

impl From<Residue> for ResidueAnswer {
    fn from(residue: Residue) -> Self {
        Self {
            path: text(&residue.path),
            what: residue.what,
        }
    }
}

impl From<Action> for ActionAnswer {
    fn from(action: Action) -> Self {
        Self {
            kind: action.kind.as_str(),
            path: text(&action.path),
            detail: action.detail,
        }
    }
}

/// A pid or a time in milliseconds, as JavaScript counts.
#[allow(
    clippy::cast_precision_loss,
    reason = "what is over 2^53 was made up by whoever wrote it"
)]
fn number(number: i64) -> f64 {
    number as f64
}
