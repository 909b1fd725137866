//! What binds the processes of a turn to each other beside marks and parents: nothing, on Linux and macOS. `bound.rs`
//! is its twin.

use std::io;

use super::{Marked, Process, Reach, Walk, system};
use crate::process::leader::Leader;
use crate::process::platform::Signal;

/// Nothing.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bonds;

impl Bonds {
    pub(super) fn none() -> Self {
        Self
    }

    pub(super) fn of(_leader: &Leader) -> Self {
        Self
    }

    #[allow(
        clippy::needless_pass_by_value,
        clippy::unused_self,
        reason = "its twin keeps what it is given"
    )]
    pub(super) fn join(&mut self, _other: Self) {}

    #[allow(clippy::unused_self, reason = "its twin holds something to let go")]
    pub(super) fn release(self) {}

    #[allow(clippy::unused_self, reason = "its twin looks at what it holds")]
    pub(super) fn walk(self, since: u64, _leader: Option<i32>, marked: &Marked) -> io::Result<Walk> {
        system::walk(since, &|value| marked.covers(value))
    }

    #[allow(clippy::unused_self, reason = "its twin holds what can be signalled")]
    pub(super) fn signal(self, _reach: Reach, _signal: Signal) {}

    /// Whether a process has to be signalled by itself, as it is in no group that was.
    #[allow(clippy::unused_self, reason = "its twin looks at what it holds")]
    pub(super) fn leaves_out(self, process: &Process, leader: Option<i32>, reach: Reach) -> bool {
        // The leader alone, wherever it is, has its signal.
        reach != Reach::Leader && leader != Some(process.group)
    }
}
