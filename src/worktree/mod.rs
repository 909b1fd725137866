//! A worktree as git sees it: where its git directories lie, whether git tracks or ignores our files, and the marker
//! block in the exclude file. The only room that knows git.
//!
//! Git is asked where the answer is its own to give (`shape`, `tracked`, `ignored`); what it reads from files that
//! are documented and old (`worktrees`, `config`, the exclude file) is read here, without a process.

mod block;
mod classify;
mod config;
mod error;
mod exclusion;
mod git;
mod ignored;
mod locking;
pub mod names;
mod pattern;
mod shape;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;
mod tracked;
mod worktrees;

pub use classify::{Tracking, classify};
pub use error::GitError;
pub use exclusion::{Exclusion, ExclusionReport, LONGEST_READ};
pub(crate) use git::is_marked_as_repository;
pub use git::{Git, LIMIT};
pub use locking::TTL;
pub use shape::{Looked, Repository, Shape, look};
