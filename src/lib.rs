//! The native core of fusion-cursor-native: it drives Cursor's CLI, one supervised process per prompt.
//!
//! The rooms, and the one way data walks through them:
//!
//! - [`cli`]: what Cursor's CLI is. Where its program lies, its flags, its environment, its answers, its failure
//!   texts; and short commands of it that find out who is logged in and which models there are.
//! - [`process`]: starting, watching, signalling and reaping process trees.
//! - [`stream`]: bytes to lines to events, and events packed for the crossing into JavaScript.
//! - [`turn`]: one prompt. Launches through `process`, reads through `stream`, decides the outcome.
//! - [`session`]: prompts that Cursor remembers, one after the other, with a host's tools.
//! - [`mcp`]: MCP servers staged in a worktree's `.cursor/mcp.json`: the manifest, composing, staging, leases, putting
//!   in order. The only room that knows the manifest.
//! - [`worktree`]: a worktree as git sees it, and the lines in the exclude file. The only room that knows git.
//! - [`bridge`]: the loopback server by which Cursor's child calls the host's tools.
//! - [`lock`]: the kernel's locks and the lock directories, and who holds them.
//! - [`disk`]: the one door to the files of a worktree: no links followed, atomic durable writes, failpoints.
//! - [`cancel`]: telling something that runs that it is not wanted any more.
//! - [`runtime`]: the threads that turns live on.
//! - [`diagnostics`]: log records and where they go.
//! - `binding`: the only room that knows N-API. Built with the feature `addon`; all else builds without it.
//!
//! A prompt walks `binding` → `session` → `turn` → `process` (standard input), past `session` where it stands alone;
//! bytes come back through `process` → `stream` → `turn` → `binding` → the callbacks. A probe walks `binding` → `cli` →
//! `process`, and its output goes back to the parsers of `cli`. A lease walks `binding` → `session` → `mcp` →
//! `worktree` → `lock` → `disk`, past `session` too; git is run by `process`. A tool call comes in by `bridge` →
//! `binding` → the tool, and its result goes the same way back. No room calls one that is before it on these ways.

#[cfg(feature = "addon")]
#[allow(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    reason = "JavaScript is the only caller, and what it may rely on is said in index.d.ts"
)]
pub mod binding;

pub mod bridge;
pub mod cancel;
pub mod cli;
pub mod diagnostics;
pub mod disk;
mod hidden;
pub mod lock;
pub mod mcp;
pub mod process;
pub mod runtime;
pub mod session;
pub mod stream;
pub mod turn;
pub mod worktree;
