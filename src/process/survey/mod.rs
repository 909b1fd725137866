//! Finding all processes of a turn, wherever they went, and ending them.
//!
//! A process belongs to a turn where one of these holds:
//! - its environment carries the turn's [mark](super::mark), which children inherit;
//! - its parent belongs to it, so a cleared environment alone hides nobody;
//! - it is the turn's leader, or in the group of that;
//! - it is in a session that the turn made: one with a member of the turn, and not the one this host is in;
//! - it belonged to it when it was seen before.
//!
//! What has cleared its environment, gone into a session of its own *and* lost its parent before the first look is
//! not found. Whose program runs as another user is found where it descends from the turn, and cannot be signalled.
//!
//! On Windows the job that the turn's leader was put into tells who belongs to it: nobody leaves a job. Marks, groups
//! and sessions play no part there, and parents do where no job could be had. What the leader has started as a mere
//! launcher counts as its group; see `chain.rs`.
//!
//! Nothing here needs an async runtime: looks and waits block. `linux.rs`, `macos.rs` and `windows.rs` are twins, and
//! so are `unbound.rs` and `bound.rs`.

#[cfg_attr(windows, path = "bound.rs")]
#[cfg_attr(not(windows), path = "unbound.rs")]
mod bonds;
#[cfg(any(windows, test))]
mod chain;
mod end;
mod kin;
#[cfg(unix)]
mod posix;
#[cfg(target_os = "linux")]
mod room;
#[cfg(target_os = "linux")]
mod stat;
#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod system;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "macos.rs"]
mod system;
#[cfg(windows)]
#[path = "windows.rs"]
mod system;

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use super::leader::Leader;
use super::mark::Mark;
use super::platform::Signal;

use bonds::Bonds;
pub use end::Reach;
pub(super) use end::{Hold, KILL_PATIENCE, end};
use kin::{Roots, kin};

/// Which process: its number alone may be another's by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Its process id.
    pub pid: i32,
    /// When it started, in a unit of the system's own that only grows.
    pub started: u64,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Which one.
    pub id: Identity,
    /// The process id of its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// Its session; 0 where the leader of that has no number here, or the system does not tell.
    pub session: i32,
    /// It has ended, and nobody has waited for it yet.
    pub zombie: bool,
}

impl Process {
    /// Its command line, the words joined by blanks; `None` where it is gone, or has none.
    #[must_use]
    pub fn command(&self) -> Option<String> {
        let line = system::command(self.id.pid)?;
        // Read first, then compared: a number that changed hands in between gives nothing.
        if !system::alive(self.id) {
            return None;
        }
        let words = line.strip_suffix(b"\0").unwrap_or(&line);
        let joined = String::from_utf8_lossy(words).replace('\0', " ");
        (!joined.is_empty()).then_some(joined)
    }

    /// Whether it has not ended yet.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        system::alive(self.id)
    }
}

/// A process as one look shows it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    process: Process,
    /// Whether its environment carries a mark that is looked for.
    marked: bool,
}

/// The processes of the machine, one after the other, and not as of one moment.
#[derive(Debug, Default)]
struct Walk {
    seen: Vec<Seen>,
    /// Somebody was listed and gone when it was looked at.
    vanished: bool,
}

/// So often a look begins again where it finds nothing and cannot be sure of it.
const WALKS: u32 = 3;

/// Whose processes are looked for.
#[derive(Debug, Clone)]
pub enum Marked {
    /// All of a host, by its [name](super::mark::host), but for the turns of these numbers.
    Host {
        /// The host.
        host: String,
        /// The turns that are left alone.
        kept: Vec<u64>,
    },
    /// Of these turns of this host.
    Turns(Vec<u64>),
}

impl Marked {
    #[cfg(any(unix, test))]
    fn covers(&self, value: &[u8]) -> bool {
        use super::mark;
        match self {
            Self::Host { host, kept } => {
                mark::number_in(value, host).is_some_and(|number| !kept.contains(&number))
            }
            Self::Turns(numbers) => {
                mark::number_in(value, mark::host()).is_some_and(|number| numbers.contains(&number))
            }
        }
    }
}

/// All that came of one turn or of several, followed from look to look.
#[derive(Debug)]
pub struct Lineage {
    marked: Marked,
    bonds: Bonds,
    /// The leader whose group belongs to it, while that is not reaped.
    leader: Option<i32>,
    /// Nothing that started earlier belongs to it; `None` until the leader was looked at.
    since: Option<u64>,
    known: HashSet<Identity>,
    /// Those who were asked to end, and who is another user's and cannot be.
    asked: HashSet<Identity>,
    denied: HashSet<Identity>,
    /// The session that this host is in.
    home: i32,
    /// The last look saw nothing, for want of what a look takes: nobody found is not nobody there.
    blind: bool,
}

impl Lineage {
    /// All that a host started, but for the turns of the numbers in `kept`. To be called in the session that the
    /// host is in: by the guard, before it makes one of its own.
    #[must_use]
    pub fn of_host(host: &str, kept: Vec<u64>) -> Self {
        let host = host.to_owned();
        Self::new(Marked::Host { host, kept }, Bonds::none(), None, Some(0))
    }

    /// All that comes of a started process that is not reaped yet.
    pub(super) fn of_leader(mark: Mark, leader: &Leader) -> Self {
        let marked = Marked::Turns(vec![mark.number()]);
        Self::new(marked, Bonds::of(leader), Some(leader.number()), None)
    }

    fn new(marked: Marked, bonds: Bonds, leader: Option<i32>, since: Option<u64>) -> Self {
        Self {
            marked,
            bonds,
            leader,
            since,
            known: HashSet::new(),
            asked: HashSet::new(),
            denied: HashSet::new(),
            home: system::own_session(),
            blind: false,
        }
    }

    /// Turns of this host whose processes are left alone from now on, where it is a whole host's.
    pub fn keep(&mut self, number: u64) {
        if let Marked::Host { kept, .. } = &mut self.marked {
            kept.push(number);
        }
    }

    /// Whether the last look could not see.
    pub(super) fn is_blind(&self) -> bool {
        self.blind
    }

    /// The leader is about to be reaped: its number, and with it the group's, may soon be another's.
    pub(super) fn forget_leader(&mut self) {
        self.leader = None;
    }

    /// Take in what another one follows; both are of turns of this host, and that one's leader is forgotten.
    pub(super) fn absorb(&mut self, other: Self) {
        if let (Marked::Turns(numbers), Marked::Turns(more)) = (&mut self.marked, other.marked) {
            numbers.extend(more);
        }
        let began = self.began();
        self.since = Some(other.since.map_or(0, |earlier| earlier.min(began)));
        self.known.extend(other.known);
        self.denied.extend(other.denied);
        self.bonds.join(other.bonds);
    }

    /// Let all of it outlive this host.
    pub(super) fn release(&self) {
        self.bonds.release();
    }

    /// When the first of it started, as far as that is known.
    fn began(&mut self) -> u64 {
        let leader = self.leader;
        *self
            .since
            .get_or_insert_with(|| leader.and_then(system::started).unwrap_or(0))
    }

    /// Look for all that is alive. One that was an orphan of ours and has ended is waited for, where that falls
    /// to this process.
    pub fn look(&mut self) -> Vec<Process> {
        let since = self.began();
        let mut ended: HashSet<Identity> = self.leader_if_ended(since).into_iter().collect();
        let mut walks = 1;
        loop {
            let walked = self.bonds.walk(since, self.leader, &self.marked);
            self.blind = walked.as_ref().is_err_and(system::passes);
            let walk = walked.unwrap_or_else(|error| {
                tracing::warn!(%error, "the processes of this machine cannot be listed");
                Walk::default()
            });
            let found = self.sort_out(&walk.seen);
            // Whoever ended between the list and the look at it may have started another one in between, which is
            // on no list.
            let before = ended.len();
            let zombies = walk.seen.iter().filter(|seen| seen.process.zombie);
            ended.extend(zombies.map(|seen| seen.process.id));
            let sure = !walk.vanished && ended.len() == before;
            if !found.is_empty() || sure || walks == WALKS {
                return found;
            }
            walks += 1;
        }
    }

    /// The leader, where it is a zombie before anybody is listed.
    fn leader_if_ended(&self, since: u64) -> Option<Identity> {
        let pid = self.leader?;
        let started = system::started(pid).filter(|started| *started >= since)?;
        let id = Identity { pid, started };
        (!system::alive(id)).then_some(id)
    }

    /// All of these that are ours and alive.
    fn sort_out(&mut self, seen: &[Seen]) -> Vec<Process> {
        let roots = Roots {
            leader: self.leader,
            known: &self.known,
            home: self.home,
            own: own_pid(),
        };
        let mut found = kin(seen, &roots);
        self.known.extend(found.iter().map(|process| process.id));
        found.retain(|process| {
            if process.zombie {
                self.reap_adopted(process);
            }
            !process.zombie
        });
        found
    }

    /// Where this host is process 1, or a subreaper, it becomes the parent of orphans. Whoever started them is
    /// gone, so nobody waits for them but us.
    fn reap_adopted(&self, process: &Process) {
        if process.parent == own_pid() && Some(process.id.pid) != self.leader {
            system::reap(process.id.pid);
        }
    }

    /// Ask a process to end, once, or kill it.
    fn signal(&mut self, process: &Process, signal: Signal) {
        if signal == Signal::TERM && !self.asked.insert(process.id) {
            return;
        }
        match system::signal(process.id, signal) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.denied.insert(process.id);
            }
            Err(error) => {
                tracing::warn!(pid = process.id.pid, %error, "signal not delivered");
            }
        }
    }

    /// End all of it: SIGTERM, up to `grace`, SIGKILL, and again until nothing is found, for at most `patience`
    /// after the first SIGKILL. Gives what is still alive. It blocks.
    pub fn end(&mut self, grace: Duration, patience: Duration) -> Vec<Process> {
        end(self, &end::Nobody, Reach::All, grace, patience)
    }
}

/// To be called while the host is well: a look may later take what it has no more.
pub(super) fn prepare() {
    system::prepare();
}

/// When the process of this number started, in a unit of the system's own that only grows; `None` where there is
/// none, or it may not be known.
#[cfg(unix)]
pub(crate) fn started(pid: i32) -> Option<u64> {
    system::started(pid)
}

/// Whether this very process has not ended; a zombie has.
#[cfg(unix)]
pub(crate) fn is_alive(id: Identity) -> bool {
    system::alive(id)
}

/// Which run of which system this is, and in which room of it process numbers mean what they mean here:
/// `<boot>:<room>`. `None` where that cannot be told.
#[cfg(unix)]
pub(crate) fn birthplace() -> Option<String> {
    system::birthplace()
}

/// Kill exactly this process.
#[cfg(all(windows, test))]
pub(super) fn end_one(process: &Process) -> io::Result<()> {
    system::signal(process.id, Signal::KILL)
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

#[cfg(test)]
mod tests {
    use super::super::mark;
    use super::*;

    #[test]
    fn a_host_covers_all_its_turns_but_the_kept_ones() {
        let all = Marked::Host {
            host: "12-ab".into(),
            kept: vec![3],
        };
        for (value, covered) in [
            ("12-ab.1", true),
            ("12-ab.3", false),
            ("12-ab.30", true),
            ("1-x.1", false),
        ] {
            assert_eq!(all.covers(value.as_bytes()), covered, "{value}");
        }
        let two = Marked::Turns(vec![1, 7]);
        for (number, covered) in [(1, true), (7, true), (17, false)] {
            let value = format!("{}.{number}", mark::host());
            assert_eq!(two.covers(value.as_bytes()), covered, "{value}");
        }
        assert!(!two.covers(b"1-x.1"), "another host's");
    }
}
