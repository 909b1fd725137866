//! Ending what belongs to a turn: the one way, whatever the reason.

use std::thread;
use std::time::{Duration, Instant};

use super::{Lineage, Process};
use crate::process::platform::{CAN_ASK, LEADER_IS_ALL, Signal};

/// How far a teardown goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The leader alone; where a launcher stays beside what it has launched, both.
    Leader,
    /// The leader and its group.
    Group,
    /// All that came of it, wherever it is.
    All,
}

impl Reach {
    /// Whether it covers a process of a lineage that has this leader.
    pub(in crate::process) fn covers(self, process: &Process, leader: Option<i32>) -> bool {
        match self {
            Self::Leader if LEADER_IS_ALL => leader == Some(process.id.pid),
            Self::Leader | Self::Group => leader == Some(process.group) || leader == Some(process.id.pid),
            Self::All => true,
        }
    }
}

/// Whoever ends processes, and the leader that it may hold: while that is not reaped its group can be signalled as
/// one. As it stands no leader is held, and all are signalled one by one.
pub(in crate::process) trait Hold {
    /// Whether the leader itself has not ended.
    fn runs(&self) -> bool {
        false
    }
    /// Whether the leader is not reaped: its number, and the group's, cannot be another's.
    fn is_held(&self) -> bool {
        false
    }
    /// Signal the leader, or the whole group, while it is held.
    fn signal(&self, _reach: Reach, _signal: Signal) {}
    /// Whether nobody has time for a grace any more.
    fn hurried(&self) -> bool {
        false
    }
    /// Wait for that long, or until one of the above has changed.
    fn wait(&self, pause: Duration) {
        thread::park_timeout(pause);
    }
}

/// The guard, which holds nothing and has the time.
pub(super) struct Nobody;

impl Hold for Nobody {}

/// How long after a SIGKILL something may still be there before it is given up, as may be one that is in an
/// uninterruptible wait.
pub(in crate::process) const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// Between two looks at whether those who were signalled are gone: from, and up to.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));
/// How long after a SIGKILL the machine is looked over again, for those who were born in between.
const AGAIN: Duration = Duration::from_millis(100);

/// SIGTERM, up to `grace`, SIGKILL; again until nothing within reach is found, for at most `patience` after the
/// first SIGKILL. Gives all that is still alive, out of reach or not.
///
/// One in an uninterruptible wait, or of another user, does not go, and must not hold whoever waits.
pub(in crate::process) fn end(
    lineage: &mut Lineage,
    hold: &dyn Hold,
    reach: Reach,
    grace: Duration,
    patience: Duration,
) -> Vec<Process> {
    let leader = lineage.leader;
    // Where nobody can be asked to end, there is nothing to wait for.
    let grace = if CAN_ASK { grace } else { Duration::ZERO };
    let kill_from = Instant::now() + grace;
    let mut killing_since = None;
    let mut asked = false;
    loop {
        if !hold.is_held() {
            lineage.forget_leader();
        }
        // Before any signal: of one that has cleared its environment, only the parent tells.
        let found = lineage.look();
        let mut reached = found.clone();
        reached.retain(|process| reach.covers(process, leader) && !lineage.denied.contains(&process.id));
        if reached.is_empty() && !hold.runs() && !lineage.blind {
            return found;
        }
        let now = Instant::now();
        if now >= kill_from || hold.hurried() {
            let since = *killing_since.get_or_insert(now);
            if now >= since + patience {
                tracing::warn!(left = reached.len(), "processes are still there after SIGKILL");
                return found;
            }
        }
        let until = if killing_since.is_some() {
            hold.signal(reach, Signal::KILL);
            signal_outsiders(lineage, &reached, reach, Signal::KILL);
            now + AGAIN
        } else {
            // The group once: a second SIGTERM makes some programs drop what they save.
            if !std::mem::replace(&mut asked, true) {
                hold.signal(reach, Signal::TERM);
            }
            signal_outsiders(lineage, &reached, reach, Signal::TERM);
            kill_from
        };
        wait_for(&reached, hold, until, killing_since.is_none());
        if lineage.blind {
            hold.wait(PAUSES.1);
        }
    }
}

/// Those who are in no group that can be signalled, one by one.
fn signal_outsiders(lineage: &mut Lineage, reached: &[Process], reach: Reach, signal: Signal) {
    lineage.bonds.signal(reach, signal);
    let outside: Vec<Process> = reached
        .iter()
        .filter(|process| lineage.bonds.leaves_out(process, lineage.leader, reach))
        .copied()
        .collect();
    for process in &outside {
        lineage.signal(process, signal);
    }
}

/// Until none of these is alive, at most until then. Only these are looked at, not the whole machine.
fn wait_for(reached: &[Process], hold: &dyn Hold, until: Instant, asking: bool) {
    let (mut pause, longest) = PAUSES;
    loop {
        let now = Instant::now();
        let there = hold.runs() || reached.iter().any(Process::is_alive);
        if !there || now >= until || (asking && hold.hurried()) {
            return;
        }
        hold.wait(pause.min(until - now));
        pause = (pause * 2).min(longest);
    }
}
