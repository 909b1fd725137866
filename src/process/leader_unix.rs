//! The process that a tree begins with, on Linux and macOS: it leads a group of its own. `windows/leader.rs` is its
//! twin.

pub(super) use std::process::Child;

use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use super::platform::Signal;
use super::{Exit, Reach};

/// A started process that leads its group.
#[derive(Debug, Clone)]
pub(super) struct Leader(Pid);

impl Leader {
    pub(super) fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// Its process id.
    pub(super) fn number(&self) -> i32 {
        self.0.as_raw_pid()
    }

    /// Signal it, or its group. To be called only while it is not reaped.
    pub(super) fn signal(&self, reach: Reach, signal: Signal) {
        let sent = if reach == Reach::Leader {
            kill_process(self.0, signal)
        } else {
            let sent = kill_process_group(self.0, signal);
            if signal == Signal::KILL {
                // It may have left its own group for another one.
                let _as_well = kill_process(self.0, signal);
            }
            sent
        };
        match sent {
            // macOS answers EPERM for a group of zombies.
            Ok(()) | Err(Errno::SRCH | Errno::PERM) => {}
            Err(error) => tracing::warn!(pid = self.number(), %error, "signal not delivered"),
        }
    }

    /// Wait until it has ended, and leave its zombie, which keeps its number. `None` where somebody else has waited
    /// for it.
    pub(super) fn wait(&self) -> Option<Exit> {
        let status = loop {
            match waitid(WaitId::Pid(self.0), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
                Ok(Some(status)) => break status,
                Ok(None) | Err(Errno::INTR) => {}
                Err(error) => {
                    tracing::error!(pid = self.number(), %error, "cannot wait for the process");
                    return None;
                }
            }
        };
        let code = status.exit_status().map(Exit::Code);
        let exit = code.or_else(|| status.terminating_signal().map(Exit::Signal));
        Some(exit.unwrap_or(Exit::KILLED))
    }

    /// It has ended: give its number back.
    pub(super) fn reap(&self, mut child: Child) {
        if let Err(error) = child.wait() {
            tracing::warn!(pid = self.number(), %error, "the process was reaped by somebody else");
        }
    }

    /// Kill the group, and give the number back.
    pub(super) fn kill_and_reap(&self) {
        let _gone = kill_process_group(self.0, Signal::KILL);
        let _status = waitid(WaitId::Pid(self.0), WaitIdOptions::EXITED);
    }
}
