//! Bringing what was written onto the disk, and how long that took.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::system;

static COUNT: AtomicU64 = AtomicU64::new(0);
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// What this process has spent on bringing its writes onto the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synced {
    /// How often.
    pub count: u64,
    /// How long in all.
    pub time: Duration,
}

/// Since the process started.
#[must_use]
pub fn synced() -> Synced {
    Synced {
        count: COUNT.load(Ordering::Relaxed),
        time: Duration::from_nanos(NANOSECONDS.load(Ordering::Relaxed)),
    }
}

/// A file's bytes, and what it takes to read them.
pub(super) fn file(file: &File) -> io::Result<()> {
    timed(|| file.sync_data())
}

/// The names in a folder. A file system that has no such thing keeps its names in its own way.
pub(super) fn folder(handle: &File) -> io::Result<()> {
    match timed(|| system::sync_names(handle)) {
        Err(error) if system::is_unsupported(&error) => Ok(()),
        synced => synced,
    }
}

fn timed(sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let began = Instant::now();
    let synced = sync();
    let spent = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
    COUNT.fetch_add(1, Ordering::Relaxed);
    NANOSECONDS.fetch_add(spent, Ordering::Relaxed);
    tracing::trace!(duration_us = spent / 1000, "synced");
    synced
}
