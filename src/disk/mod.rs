//! The one door to the file system: no links followed, bounded reads, atomic durable writes, failpoints.
//!
//! Everything goes through an open directory ([`Folder`]), so nothing that is renamed or replaced by a link
//! underneath leads a write elsewhere. All calls block; async code calls them on a blocking thread.

mod error;
pub mod failpoint;
mod folder;
mod replace;
mod sync;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;
mod temp;

use std::time::SystemTime;

pub use error::{Error, Fault, Result};
pub use folder::Folder;
pub use sync::{Synced, synced};
#[cfg(windows)]
pub(crate) use system::Sole;
pub use temp::{is_temp, temp_owner};

/// Device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The number within it.
    pub inode: u64,
}

/// What lies under a name; a link is itself.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// The whole `st_mode`.
    pub mode: u32,
    /// In bytes.
    pub size: u64,
    /// When it was last written.
    pub modified: SystemTime,
    /// Which one it is, whatever it is called.
    pub identity: Identity,
    /// The user and the group that it belongs to.
    pub(in crate::disk) owner: (u32, u32),
}

impl Entry {
    /// Whether it belongs to the user that this process runs as.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.owner.0 == system::user()
    }

    /// Whether it is a folder with the mode [`UNCLAIMED`].
    #[must_use]
    pub fn is_unclaimed(&self) -> bool {
        self.kind == Kind::Folder && self.mode & 0o7777 == UNCLAIMED
    }
}

/// What may lie under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A device, or what is none of the others.
    Device,
}

impl Kind {
    /// As in "is a FIFO".
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Symlink => "a symbolic link",
            Self::Fifo => "a FIFO",
            Self::Socket => "a socket",
            Self::Device => "a device",
        }
    }
}

/// The permission bits of a folder that was made, until something else says by whom: so one that was left behind in
/// between is known again. The sticky bit means nothing there, and nobody else sets it; macOS leaves it out at the
/// making of a folder.
pub const UNCLAIMED: u32 = if cfg!(target_os = "macos") { 0o700 } else { 0o1700 };

/// A file that was read whole.
#[derive(Debug, Clone)]
pub struct Contents {
    /// All of it.
    pub bytes: Vec<u8>,
    /// The whole `st_mode`.
    pub mode: u32,
    /// Which file it was.
    pub identity: Identity,
}

/// Whether a change survives a power cut once the call has returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// File and directory are synced.
    Durable,
    /// Atomic for all readers, and whole after a power cut; but then it may be the old one.
    Atomic,
    /// Atomic for all readers; after a power cut it may be empty or gone. For what means nothing by then.
    Fleeting,
}
