//! The end of a turn's processes: what is ended, when, and what of them the caller is told.

use std::time::Duration;

use crate::cli::secrets::Secrets;
use crate::process::{Busy, Exit, Mark, Owner, Pending, Reach, Tree, survey};

use super::workspace::{Last, Stay};

/// What becomes of the processes of a good turn that are still there at its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Leftovers {
    /// They are ended.
    #[default]
    Kill,
    /// They live on.
    Keep,
}

/// A process of a turn that is still there when the turn is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its process id.
    pub pid: u32,
    /// Its command line, the words joined by blanks: at most 200 characters, without keys, invalid UTF-8 replaced.
    pub command: String,
}

/// How much of a command line is told, in characters.
const COMMAND_LIMIT: usize = 200;

/// The processes of a turn whose stream is over.
#[derive(Debug)]
pub(super) struct Teardown {
    pub(super) tree: Tree,
    pub(super) stay: Stay,
    pub(super) owner: Owner,
    pub(super) leftovers: Leftovers,
    pub(super) grace: Duration,
}

/// The leader is reaped, and what is within the first reach is gone.
#[derive(Debug)]
pub(super) struct Behind {
    /// How the leader ended.
    pub(super) exit: Exit,
    left: Vec<survey::Process>,
    /// Finds them again; dropped, it kills them, as is right for a turn whose future is dropped.
    pending: Pending,
    stay: Stay,
    mark: Mark,
    leftovers: Leftovers,
    /// Whether those outside the reach were left for a reason that a good turn has.
    spared: bool,
    grace: Duration,
    _busy: Busy,
}

impl Teardown {
    /// End what may be ended at once: everything after a bad turn; after a good one the group alone, where another
    /// turn runs in the workspace, and the leader alone, where the caller keeps the rest.
    pub(super) async fn begin(self, good: bool) -> Behind {
        let Self {
            tree,
            mut stay,
            owner,
            leftovers,
            grace,
        } = self;
        let busy = Busy::with(owner);
        let mark = tree.mark();
        let last = stay.leave();
        let (reach, pending) = match (good, leftovers, last) {
            (true, Leftovers::Keep, Last::Yes(pending)) => {
                // What other turns left is not kept for this one's sake.
                if let Some(pending) = pending {
                    pending.end(grace).await;
                }
                (Reach::Leader, None)
            }
            (true, Leftovers::Keep, Last::No) => (Reach::Leader, None),
            (true, Leftovers::Kill, Last::No) => (Reach::Group, None),
            (_, _, Last::Yes(pending)) => (Reach::All, pending),
            (false, _, Last::No) => (Reach::All, None),
        };
        let ended = tree.end(reach, grace, pending).await;
        Behind {
            exit: ended.exit,
            left: ended.left,
            pending: Pending::new(ended.lineage, owner),
            stay,
            mark,
            leftovers,
            spared: reach != Reach::All,
            grace,
            _busy: busy,
        }
    }
}

impl Behind {
    /// See to those who are left, and tell who of them stays.
    pub(super) async fn settle(self, good: bool, secrets: &Secrets) -> Vec<Leftover> {
        let Self {
            mut left,
            pending,
            stay,
            mark,
            leftovers,
            spared,
            grace,
            ..
        } = self;
        if left.is_empty() || !spared {
            // Whoever is left cannot be ended.
            pending.spare();
        } else if !good {
            // It was a good one until its last events were taken.
            left = pending.end(grace).await;
        } else if leftovers == Leftovers::Keep {
            pending.keep(mark);
        } else if let Some(pending) = stay.leave_behind(pending) {
            left = pending.end(grace).await;
        }
        if left.is_empty() {
            return Vec::new();
        }
        let secrets = secrets.clone();
        let told = crate::runtime::spawn_blocking(move || {
            let there = left.iter().filter(|process| process.is_alive());
            there.map(|process| told(process, &secrets)).collect()
        });
        told.await.unwrap_or_default()
    }
}

fn told(process: &survey::Process, secrets: &Secrets) -> Leftover {
    Leftover {
        pid: process.id.pid.cast_unsigned(),
        command: shown(process.command().unwrap_or_default(), secrets),
    }
}

/// A command line as it may be told. Keys go before it is cut: half of one is still a secret.
fn shown(command: String, secrets: &Secrets) -> String {
    let shown = secrets.redact(command);
    match shown.char_indices().nth(COMMAND_LIMIT) {
        Some((end, _)) => shown[..end].to_owned(),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_told_without_keys_and_not_in_full() {
        let secrets = Secrets::of(&[("CURSOR_API_KEY".into(), "plain words".into())]);
        for (command, told) in [
            ("node worker-server", "node worker-server".to_owned()),
            (
                "agent --api-key plain words -p",
                "agent --api-key *** -p".to_owned(),
            ),
            ("agent --api-key=abc", "agent --api-key=***".to_owned()),
            (&"é".repeat(300), "é".repeat(200)),
            (
                &format!("{} plain words", "x".repeat(194)),
                format!("{} ***", "x".repeat(194)),
            ),
            ("", String::new()),
        ] {
            assert_eq!(shown(command.into(), &secrets), told);
        }
    }
}
