//! The names of what lives in a worktree and in its git directories.

/// The folder in a worktree.
pub const CURSOR: &str = ".cursor";
/// In [`CURSOR`]: the operator's config.
pub const CONFIG: &str = "mcp.json";
/// In [`CURSOR`]: the manifest.
pub const MANIFEST: &str = ".fusion-mcp-state.json";
/// In [`CURSOR`]: the main lock, a folder.
pub const LOCK: &str = ".fusion-mcp.lock";
/// In a lock folder: who holds it.
pub const OWNER: &str = "owner.json";
/// In a git directory: the lock on the exclude file, a folder.
pub const EXCLUDE_LOCK: &str = "fusion-cursor-exclude.lock";
/// In the common git directory: the folder of [`EXCLUDE`].
pub const INFO: &str = "info";
/// In [`INFO`]: the exclude file.
pub const EXCLUDE: &str = "exclude";

/// What git is asked about, relative to the worktree: config, manifest, and all that lies in the lock.
pub(super) const OURS: [&str; 3] = [
    ".cursor/mcp.json",
    ".cursor/.fusion-mcp-state.json",
    ".cursor/.fusion-mcp.lock",
];
