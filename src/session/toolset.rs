//! A host's tools in reach of Cursor: the bridge that runs them, and the server in the worktree that leads there.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::bridge::{self, Bridge, BridgeError, BridgeRequest, Child, Start, Tools};
use crate::cancel::Cancelled;
use crate::mcp::manifest::ServerEntry;
use crate::mcp::{self, Lease, Problem, StageRequest, StagingError};
use crate::process::Owner;
use crate::runtime::{self, joined};
use crate::worktree::Git;

use super::trouble::not_in_force;

/// A host's tools.
pub struct ToolsetRequest {
    /// `fusion-custom-tools-` and an id.
    pub server_key: String,
    /// What Cursor is to start.
    pub child: Child,
    /// What runs the tools.
    pub tools: Arc<dyn Tools>,
    /// The names of the tools, in the order in which they are told.
    pub names: Vec<String>,
    /// The text for the child: its server and its tools.
    pub schema: String,
    /// Where the bridge's private folder is made.
    pub folder: PathBuf,
    /// How long one call may take.
    pub call_limit: Duration,
    /// Whose it is.
    pub start: Start,
}

/// Where a server is staged, and how.
pub(super) struct Place {
    pub(super) worktree: PathBuf,
    pub(super) lock_timeout: Duration,
    pub(super) git: Git,
    pub(super) owner: Owner,
}

/// A bridge that no server leads to yet.
pub(super) struct Opened {
    bridge: Guarded,
    server_key: String,
    child: Child,
    names: Vec<String>,
}

/// Where the work on a session ends in the middle, nobody else would close its bridge.
struct Guarded(Option<Bridge>);

impl Guarded {
    fn keep(mut self) -> Option<Bridge> {
        self.0.take()
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(bridge) = self.0.take() {
            bridge.close();
        }
    }
}

impl Opened {
    pub(super) async fn open(request: ToolsetRequest) -> Result<Self, BridgeError> {
        let ToolsetRequest {
            server_key,
            child,
            tools,
            names,
            schema,
            folder,
            call_limit,
            start,
        } = request;
        let bridge = bridge::open(BridgeRequest {
            tools,
            names: names.iter().cloned().collect(),
            schema,
            folder,
            call_limit,
            start,
        });
        Ok(Self {
            bridge: Guarded(Some(bridge.await?)),
            server_key,
            child,
            names,
        })
    }

    /// Lead Cursor there.
    ///
    /// # Errors
    /// The bridge is gone then.
    pub(super) async fn stage(self, place: Place, off: Cancelled) -> Result<Toolset, StagingError> {
        let Self {
            bridge: guarded,
            server_key,
            child,
            names,
        } = self;
        let Some(entry) = guarded.0.as_ref().map(|bridge| bridge.entry(&child)) else {
            return Err(StagingError::Cancelled);
        };
        let staged = mcp::stage(
            StageRequest {
                worktree: place.worktree,
                server_key,
                entry: ServerEntry::new(entry.command, entry.args, entry.env),
                lock_timeout: place.lock_timeout,
                git: place.git,
                scope: place.owner,
            },
            off,
        );
        let staged = staged.await;
        let bridge = guarded.keep().ok_or(StagingError::Cancelled)?;
        match staged {
            Ok(lease) => {
                let shown = |name: &String| format!("{}-{name}", lease.server_key());
                Ok(Toolset {
                    names: names.iter().map(shown).collect(),
                    bridge,
                    lease,
                })
            }
            Err(error) => {
                bridge.dispose().await;
                Err(error)
            }
        }
    }

    /// Nobody wants it any more.
    pub(super) async fn close(self) {
        if let Some(bridge) = self.bridge.keep() {
            bridge.dispose().await;
        }
    }
}

/// Tools that Cursor can call.
pub(super) struct Toolset {
    bridge: Bridge,
    lease: Lease,
    /// As the CLI shows them.
    names: Vec<String>,
}

impl Toolset {
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    pub(super) fn server_key(&self) -> &str {
        self.lease.server_key()
    }

    /// See to it that the server is in force, which is work of its own: whoever forgets about it in the middle does
    /// not stop it there.
    ///
    /// # Errors
    /// Why it is not.
    pub(super) async fn check(&self) -> Result<(), Problem> {
        let lease = self.lease.clone();
        let beaten = match runtime::spawn(async move { lease.beat().await }) {
            Ok(beat) => joined(beat).await,
            Err(_) => self.lease.beat().await,
        };
        beaten.map_err(|error| not_in_force(error, self.server_key(), self.lease.worktree().to_owned()))
    }

    /// Take the server out, and close the bridge, whether or not that went well.
    ///
    /// # Errors
    /// What kept the server there.
    pub(super) async fn take_down(&self) -> Result<(), StagingError> {
        let down = self.lease.dispose().await;
        self.bridge.dispose().await;
        down
    }
}
