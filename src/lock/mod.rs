//! Locks: a kernel lock on an open directory among our own processes, and a lock directory for the peers that know
//! only that one.
//!
//! Used by `worktree` (the exclude file) and `mcp` (the config). Both blocking parts are one attempt; waiting is
//! async and in one place.

mod claim;
mod directory;
#[cfg_attr(target_os = "linux", path = "holders_linux.rs")]
#[cfg_attr(windows, path = "holders_windows.rs")]
#[cfg_attr(not(any(target_os = "linux", windows)), path = "holders_other.rs")]
mod holders;
mod kernel;
mod owner;
mod seen;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows.rs")]
mod system;
mod time;
mod verdict;
mod wait;
mod watched;
mod who;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::disk;

pub use directory::{Attempt, DirectoryLock};
pub use kernel::KernelLock;
pub use seen::Seen;
pub use time::iso8601;
pub use wait::Wait;
pub use who::{Life, Machine, ProcessStart, World, table};

/// Who holds a lock, as far as can be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holder {
    /// Its process id, on its own machine.
    pub pid: Option<u32>,
    /// The name of its machine.
    pub hostname: Option<String>,
    /// Epoch milliseconds.
    pub since: Option<i64>,
}

impl fmt::Display for Holder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(formatter, "process {pid}")?,
            None => formatter.write_str("an unknown process")?,
        }
        if let Some(hostname) = &self.hostname {
            write!(formatter, " on {}", hostname.escape_debug())?;
        }
        if let Some(since) = self.since {
            write!(formatter, " since {}", iso8601(since))?;
        }
        Ok(())
    }
}

/// Why a lock was not had, or is not any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// It was somebody else's until the deadline.
    #[error(
        "{} is locked by {}; gave up after {:.1} s",
        path.display(),
        holder.clone().unwrap_or_default(),
        waited.as_secs_f64()
    )]
    TimedOut {
        /// What is locked.
        path: PathBuf,
        /// How long was waited for it.
        waited: Duration,
        /// Who has it, as far as can be told.
        holder: Option<Holder>,
    },
    /// Taken over by somebody while this process was stopped, or removed.
    #[error("the lock {} was taken over or removed by another program meanwhile", path.display())]
    Lost {
        /// The lock directory.
        path: PathBuf,
    },
    /// The wait was called off.
    #[error("the wait for a lock was called off")]
    Cancelled,
    /// It could not be read or written.
    #[error(transparent)]
    Disk(#[from] disk::Error),
}

impl LockError {
    /// A timeout that does not say all about the holder, completed by what somebody else knows.
    #[must_use]
    pub fn held_by(mut self, known: Option<Holder>) -> Self {
        if let (Self::TimedOut { holder, .. }, Some(known)) = (&mut self, known) {
            match holder {
                Some(holder) if holder.pid.is_some() && holder.pid != known.pid => {}
                Some(holder) => {
                    holder.pid = holder.pid.or(known.pid);
                    holder.hostname = known.hostname.or(holder.hostname.take());
                    holder.since = known.since.or(holder.since);
                }
                None => *holder = Some(known),
            }
        }
        self
    }
}
