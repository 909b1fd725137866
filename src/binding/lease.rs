//! Staged MCP servers as JavaScript sees them: a staging that can be given up, the lease that it gives, and what
//! works without a lease.

use std::path::Path;
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::{Object, Result};
use napi_derive::napi;

use crate::cancel::{Cancel, cancel};
use crate::mcp::manifest::{ServerEntry, Unknown};
use crate::mcp::{self, Lease, Problem, StageRequest, StagingError};
use crate::process::{Owner, Whose};
use crate::worktree::{self, Git, Tracking};

use super::codes::staging_code;
use super::promise::answer;
use super::turn::{absolute, pairs};

/// For one git command.
const GIT_LIMIT: Duration = Duration::from_secs(10);
/// For each lock, where nothing else was said.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// What `lib/` has checked and passes on.
#[napi(object, object_to_js = false)]
pub struct StagingOptions {
    pub worktree_path: String,
    pub server_key: String,
    pub command: String,
    pub args: Vec<String>,
    /// Names and values of what the server's environment gets, one after the other.
    pub env: Vec<String>,
    pub lock_timeout_ms: Option<f64>,
    /// Names and values of the host's environment, one after the other.
    pub host_env: Vec<String>,
}

/// Why something did not come about.
#[napi(object, object_from_js = false)]
pub struct StagingProblem {
    pub code: &'static str,
    pub reason: &'static str,
    pub path: Option<String>,
    pub message: String,
    pub retryable: bool,
}

/// What a staging came to: a lease or a problem; neither where it was given up.
#[napi(object, object_from_js = false)]
pub struct StagingAnswer {
    pub lease: Option<HeldLease>,
    pub problem: Option<StagingProblem>,
}

/// What git says of the config, or why it could not say.
#[napi(object, object_from_js = false)]
pub struct TrackingAnswer {
    pub tracking: Option<&'static str>,
    pub problem: Option<StagingProblem>,
}

/// One staging that can be given up.
#[napi]
pub struct Staging {
    owner: Owner,
    given_up: Cancel,
}

#[napi]
impl Staging {
    #[napi(constructor, catch_unwind)]
    pub fn new(scope: u32) -> Self {
        Self {
            owner: Owner(scope),
            given_up: cancel().0,
        }
    }

    /// Take back what was done. A lease that is there already is the caller's to dispose.
    #[napi(catch_unwind)]
    pub fn give_up(&self) {
        self.given_up.cancel();
    }

    /// Stage the server.
    #[napi(catch_unwind, ts_return_type = "Promise<StagingAnswer>")]
    pub fn stage<'env>(&self, env: &'env Env, options: StagingOptions) -> Result<Object<'env>> {
        let (owner, cancelled) = (self.owner, self.given_up.token());
        let worktree = absolute(options.worktree_path);
        answer(env, async move {
            #[cfg(feature = "panic-hooks")]
            super::panics::trip("staging");
            let request = StageRequest {
                worktree: worktree.clone().into(),
                server_key: options.server_key,
                entry: ServerEntry {
                    command: options.command,
                    args: options.args,
                    env: pairs(options.env),
                    unknown: Unknown::default(),
                },
                lock_timeout: lock_timeout(options.lock_timeout_ms),
                git: git(owner, options.host_env),
                scope: owner,
            };
            match mcp::stage(request, cancelled).await {
                Ok(lease) => StagingAnswer {
                    lease: Some(HeldLease { lease }),
                    problem: None,
                },
                Err(error) => StagingAnswer {
                    lease: None,
                    problem: told(&error, Path::new(&worktree)),
                },
            }
        })
    }
}

/// A staged server. The core knows it too: to forget this object is not to give it up.
#[napi]
pub struct HeldLease {
    lease: Lease,
}

#[napi]
impl HeldLease {
    /// Beat now; whether the server is in force afterwards.
    #[napi(catch_unwind, ts_return_type = "Promise<boolean>")]
    pub fn heartbeat<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let lease = self.lease.clone();
        answer(env, async move { lease.heartbeat().await })
    }

    /// Take the server out; what kept it from that.
    #[napi(catch_unwind, ts_return_type = "Promise<StagingProblem | null>")]
    pub fn dispose<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let lease = self.lease.clone();
        answer(env, async move {
            let outcome = lease.dispose().await;
            outcome.err().and_then(|error| told(&error, lease.worktree()))
        })
    }
}

/// Give up what an environment holds, in one worktree or in all, without any wait. *Sync*: for a host that ends.
#[napi(catch_unwind)]
pub fn release_leases(scope: u32, worktree_path: Option<String>) {
    let worktree = worktree_path.map(absolute);
    mcp::release_held(Whose::Of(Owner(scope)), worktree.as_deref().map(Path::new));
}

/// Whether git tracks the config of a worktree. *Sync*: it waits for git.
#[napi(catch_unwind)]
pub fn classify_tracking(scope: u32, worktree_path: String, host_env: Vec<String>) -> TrackingAnswer {
    let worktree = absolute(worktree_path);
    match worktree::classify(Path::new(&worktree), &git(Owner(scope), host_env)) {
        Ok(tracking) => TrackingAnswer {
            tracking: Some(match tracking {
                Tracking::Tracked => "tracked",
                Tracking::Untracked => "untracked",
                Tracking::NonGit => "non-git",
            }),
            problem: None,
        },
        Err(error) => TrackingAnswer {
            tracking: None,
            problem: told(&StagingError::from(error), Path::new(&worktree)),
        },
    }
}

/// Nothing where it was called off.
pub(super) fn told(error: &StagingError, worktree: &Path) -> Option<StagingProblem> {
    error
        .problem()
        .map(|problem| StagingProblem::told(problem, worktree))
}

pub(super) fn git(owner: Owner, host_env: Vec<String>) -> Git {
    let env = pairs(host_env).into_iter();
    Git {
        env: env.map(|(name, value)| (name.into(), value.into())).collect(),
        owner,
        limit: GIT_LIMIT,
    }
}

/// An hour at most, which keeps sums in range.
pub(super) fn lock_timeout(ms: Option<f64>) -> Duration {
    const LONGEST_MS: f64 = 3_600_000.0;
    ms.and_then(|ms| Duration::try_from_secs_f64(ms.min(LONGEST_MS) / 1000.0).ok())
        .unwrap_or(LOCK_TIMEOUT)
}

impl StagingProblem {
    /// Git spells paths from the worktree.
    pub(super) fn told(problem: &Problem, worktree: &Path) -> Self {
        Self {
            code: staging_code(problem.reason),
            reason: problem.reason.as_str(),
            path: problem.path.as_ref().map(|path| text(&worktree.join(path))),
            message: problem.message.clone(),
            retryable: problem.reason.is_retryable(),
        }
    }
}

/// A path as JavaScript takes it.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
