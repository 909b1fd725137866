//! MCP servers staged in a worktree's `.cursor/mcp.json`: manifest, journal, lease, compose, quarantine. The only
//! room that knows the manifest.
//!
//! [`stage`] gives a [`Lease`]; [`reconcile`] puts a worktree in order and [`inspect`] tells of it. Beneath them,
//! `ops` is the work itself, with the locks of a `site` held: it blocks, waits for nobody, and is the same in a
//! session and at the exit of a process. A `desk` has config and manifest side by side; the `journal` writes them.

pub mod compose;
mod config;
mod desk;
mod ending;
mod error;
mod inspect;
mod journal;
mod lease;
pub mod manifest;
mod memo;
mod needs;
pub mod ops;
mod problems;
mod reconcile;
pub mod recover;
mod registry;
mod report;
pub mod site;
mod spell;
mod stage;
mod syntax;
mod waiting;

pub use error::{Problem, Reason, StagingError};
pub use inspect::inspect;
pub use lease::Lease;
pub use reconcile::reconcile;
pub use registry::{dispose_in_background, release_held};
pub use report::*;
pub use stage::{BEAT, LOCK_TIMEOUT, StageRequest, stage, stage_beating};
