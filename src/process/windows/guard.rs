//! What a guard does elsewhere, the job of each process does on Windows: the system ends all in it when this host has
//! gone, however that happened. So there is no guard here, and the functions are those of the twin.

use std::path::PathBuf;
use std::process::ExitCode;

use parking_lot::Mutex;

static KEPT: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Note that the processes of this turn stay when the host has gone. Their job must be let go too.
pub fn keep(turn: u64) {
    let mut kept = KEPT.lock();
    if !kept.contains(&turn) {
        kept.push(turn);
    }
}

/// All numbers that were given to [`keep`].
#[must_use]
pub fn kept() -> Vec<u64> {
    KEPT.lock().clone()
}

/// There is none.
#[must_use]
pub fn pid() -> Option<u32> {
    None
}

/// There is nothing to start.
pub fn use_program(_path: impl Into<PathBuf>) {}

/// The program has nothing to do here.
#[must_use]
pub fn stand() -> ExitCode {
    ExitCode::from(64)
}
