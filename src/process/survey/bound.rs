//! What binds the processes of a turn to each other on Windows: the job that its leader was put into. `unbound.rs` is
//! its twin.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use super::chain::{Link, chain};
use super::{Identity, Marked, Process, Reach, Seen, Walk, system};
use crate::process::leader::Leader;
use crate::process::platform::Signal;
use crate::process::platform::job::Job;

/// The window of a console is drawn by a process of its own, which is in the job and ends with the last one that it
/// draws for.
const CONSOLE: &str = "conhost.exe";

/// Jobs, and whether there is a leader that has none.
#[derive(Debug, Default)]
pub(super) struct Bonds {
    jobs: Vec<Arc<Job>>,
    loose: bool,
}

impl Bonds {
    pub(super) fn none() -> Self {
        Self::default()
    }

    pub(super) fn of(leader: &Leader) -> Self {
        Self {
            jobs: leader.job().cloned().into_iter().collect(),
            loose: leader.job().is_none(),
        }
    }

    pub(super) fn join(&mut self, other: Self) {
        self.jobs.extend(other.jobs);
        self.loose |= other.loose;
    }

    pub(super) fn release(&self) {
        for job in &self.jobs {
            if let Err(error) = job.release() {
                tracing::warn!(%error, "what the turn has left running will end with this host");
            }
        }
    }

    /// Those in the jobs; and all of the machine where parents have to tell, from `since` on.
    pub(super) fn walk(&self, since: u64, leader: Option<i32>, _marked: &Marked) -> io::Result<Walk> {
        let mut members = HashSet::new();
        for job in &self.jobs {
            members.extend(job.members()?);
        }
        if members.is_empty() && !self.loose {
            return Ok(Walk::default());
        }
        let mut table = system::table()?;
        let listed = table.len();
        table.retain(|link| members.contains(&link.pid) || self.loose);
        if let Some(pid) = leader.filter(|leader| self.loose && table.iter().all(|link| link.pid != *leader))
        {
            // It has ended, and its number is kept: it is still the parent of its children.
            table.push(Link {
                pid,
                parent: 0,
                image: String::new(),
            });
        }
        let ours: Vec<Link> = table
            .iter()
            .filter(|link| members.contains(&link.pid) || Some(link.pid) == leader)
            .cloned()
            .collect();
        let group = leader.map(|leader| chain(leader, if self.loose { &table } else { &ours }));
        let group = group.unwrap_or_default();
        // One that is in a job and in no table has started, or ended, in between.
        let mut vanished = listed > 0 && ours.len() < members.len();
        let mut seen = Vec::new();
        for link in &table {
            if link.image.eq_ignore_ascii_case(CONSOLE) {
                continue;
            }
            let Some((started, ended)) = system::life(link.pid) else {
                vanished |= members.contains(&link.pid);
                continue;
            };
            let marked = members.contains(&link.pid);
            if !marked && started < since {
                continue;
            }
            seen.push(Seen {
                process: Process {
                    id: Identity {
                        pid: link.pid,
                        started,
                    },
                    parent: link.parent,
                    group: leader.filter(|_| group.contains(&link.pid)).unwrap_or(link.pid),
                    session: 0,
                    zombie: ended,
                },
                marked,
            });
        }
        Ok(Walk { seen, vanished })
    }

    /// End the jobs as a whole, so that nobody starts another one meanwhile.
    pub(super) fn signal(&self, reach: Reach, signal: Signal) {
        if reach != Reach::All || signal != Signal::KILL {
            return;
        }
        for job in &self.jobs {
            if let Err(error) = job.terminate() {
                tracing::warn!(%error, "a job was not ended as a whole");
            }
        }
    }

    /// Whether a process has to be ended by itself: each that is still there.
    #[allow(clippy::unused_self, reason = "its twin is called so too")]
    pub(super) fn leaves_out(&self, _process: &Process, _leader: Option<i32>, _reach: Reach) -> bool {
        true
    }
}
