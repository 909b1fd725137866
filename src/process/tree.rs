//! A started process and all that comes of it, watched until its leader is reaped.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::sync::{oneshot, watch};
use tokio::time::timeout;

use super::apart::apart;
use super::leader::{Child, Leader};
use super::mark::Mark;
use super::platform::Signal;
use super::registry::{self, Owner};
use super::survey::{self, Hold, KILL_PATIENCE, Lineage, Process, Reach};
use super::{Exit, Pending, Presence};

/// A started process and all that comes of it.
///
/// Dropping it kills everything that belongs to it, also outside its group, and has its leader reaped.
#[derive(Debug)]
pub struct Tree {
    shared: Arc<Shared>,
    state: watch::Receiver<State>,
    /// True once somebody else sees to the teardown.
    handed_over: bool,
}

/// How far the leader's life is.
#[derive(Debug, Clone, Copy)]
enum State {
    Running,
    /// A zombie: its number, and with it the group's, cannot become another's.
    Ended(Exit),
    Reaped(Exit),
}

impl State {
    fn exit(self) -> Option<Exit> {
        match self {
            Self::Running => None,
            Self::Ended(exit) | Self::Reaped(exit) => Some(exit),
        }
    }
}

/// What a teardown came to.
#[derive(Debug)]
pub struct Ended {
    /// How the leader ended.
    pub exit: Exit,
    /// Who is alive of all that came of it: out of reach, or impossible to end.
    pub left: Vec<Process>,
    /// What finds those who are left again.
    pub(crate) lineage: Lineage,
}

/// What the tree, the thread that watches it, whoever ends it and the registry hold together.
#[derive(Debug)]
pub(super) struct Shared {
    leader: Leader,
    mark: Mark,
    life: Mutex<Life>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Life {
    phase: Phase,
    /// Nobody needs the leader's zombie any more.
    released: bool,
    hurried: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Running,
    Ended,
    /// From now on the leader's number may be another's, and nothing is signalled.
    Reaped,
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut Life)) {
        change(&mut self.life.lock());
        self.changed.notify_all();
    }

    fn let_go(&self) {
        self.change(|life| life.released = true);
    }

    /// From now on there is no time for a grace.
    pub(super) fn kill(&self) {
        self.change(|life| life.hurried = true);
        self.signal(Reach::All, Signal::KILL);
    }
}

impl Hold for Shared {
    fn runs(&self) -> bool {
        self.life.lock().phase == Phase::Running
    }

    fn is_held(&self) -> bool {
        self.life.lock().phase != Phase::Reaped
    }

    /// What is not reaped keeps its number, so that is still the leader's. No process left is a success.
    fn signal(&self, reach: Reach, signal: Signal) {
        let life = self.life.lock();
        if life.phase == Phase::Reaped {
            return;
        }
        self.leader.signal(reach, signal);
    }

    fn hurried(&self) -> bool {
        self.life.lock().hurried
    }

    fn wait(&self, pause: Duration) {
        self.changed.wait_for(&mut self.life.lock(), pause);
    }
}

impl Tree {
    /// Watch a child that leads its own group. On an error the group is killed and reaped.
    pub(super) fn watch(child: Child, mark: Mark, owner: Owner, presence: Presence) -> io::Result<Self> {
        let leader = Leader::of(&child);
        let shared = Arc::new(Shared {
            leader: leader.clone(),
            mark,
            life: Mutex::default(),
            changed: Condvar::new(),
        });
        let (tell, state) = watch::channel(State::Running);
        let tree = Self {
            shared: Arc::clone(&shared),
            state,
            handed_over: false,
        };
        registry::add(mark, owner, &shared);
        // A thread for each tree, not a SIGCHLD handler: that one belongs to Node. And not the runtime:
        // the child is reaped also where whoever waited for it is gone.
        let watching = thread::Builder::new()
            .name("cursor-wait".into())
            .stack_size(128 * 1024)
            .spawn(move || {
                await_and_reap(child, &shared, &tell);
                drop(presence);
            });
        if let Err(error) = watching {
            // Without a thread to watch it: end it here and now rather than leave it to itself.
            leader.kill_and_reap();
            tree.shared.change(|life| life.phase = Phase::Reaped);
            tree.dismiss();
            registry::remove(mark);
            return Err(error);
        }
        Ok(tree)
    }

    /// The leader's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.shared.leader.number().cast_unsigned()
    }

    /// The mark that all of it carries.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.shared.mark
    }

    /// How the leader ended, as soon as it has.
    pub async fn exited(&self) -> Exit {
        let mut state = self.state.clone();
        let ended = state.wait_for(|state| state.exit().is_some()).await;
        // An error comes only from a panic in the watching thread; the leader is then not ours to ask about.
        ended.ok().and_then(|state| state.exit()).unwrap_or(Exit::KILLED)
    }

    /// End it as far as `reach` goes, and what is pending with it: SIGTERM, up to `grace`, SIGKILL, and again until
    /// nothing is found; then reap the leader.
    ///
    /// Returns as soon as nothing within reach is left and the leader is reaped. It goes on where the future is
    /// dropped.
    pub async fn end(mut self, reach: Reach, grace: Duration, pending: Option<Pending>) -> Ended {
        let leader = self.shared.leader.number();
        let mut lineage = Lineage::of_leader(self.shared.mark, &self.shared.leader);
        if !self.shared.is_held() {
            lineage.forget_leader();
        }
        if self.state.borrow().exit().is_some() && pending.is_none() {
            // The usual end: one look, nobody there, done.
            let looked = crate::runtime::spawn_blocking(move || {
                let found = lineage.look();
                (lineage, found)
            });
            let Ok((looked, left)) = looked.await else {
                return self.killed().await;
            };
            lineage = looked;
            let here = |process: &Process| reach.covers(process, Some(leader));
            if !lineage.is_blind() && !left.iter().any(here) {
                lineage.forget_leader();
                self.handed_over = true;
                self.shared.let_go();
                let exit = self.reaped().await;
                return Ended { exit, left, lineage };
            }
        }
        let (answer, ended) = oneshot::channel();
        self.tear_down(lineage, reach, grace, pending, Some(answer));
        let Ok((lineage, left)) = ended.await else {
            return self.killed().await;
        };
        let exit = self.reaped().await;
        Ended { exit, left, lineage }
    }

    /// The end where a better one panicked.
    async fn killed(mut self) -> Ended {
        let mut lineage = Lineage::of_leader(self.shared.mark, &self.shared.leader);
        lineage.forget_leader();
        if !std::mem::replace(&mut self.handed_over, true) {
            self.shared.signal(Reach::All, Signal::KILL);
            self.shared.let_go();
        }
        let (exit, left) = (self.reaped().await, Vec::new());
        Ended { exit, left, lineage }
    }

    /// What is left of its group is killed, and its leader reaped, without a look at anything else. For one that
    /// has ended by itself.
    pub(super) fn dismiss(mut self) {
        self.handed_over = true;
        self.shared.signal(Reach::All, Signal::KILL);
        self.shared.let_go();
    }

    fn tear_down(
        &mut self,
        mut lineage: Lineage,
        reach: Reach,
        grace: Duration,
        pending: Option<Pending>,
        answer: Option<oneshot::Sender<(Lineage, Vec<Process>)>>,
    ) {
        self.handed_over = true;
        let held = Held {
            shared: Arc::clone(&self.shared),
            reach,
        };
        apart(grace, move |time| {
            if let Some(more) = pending.and_then(Pending::take) {
                lineage.absorb(more);
            }
            let left = survey::end(&mut lineage, &*held.shared, reach, time.grace, time.patience);
            lineage.forget_leader();
            drop(held);
            if let Some(answer) = answer {
                // Unheard where the turn was dropped.
                let _heard = answer.send((lineage, left));
            }
        });
    }

    /// Only so that nobody sees a zombie of a turn that is over; it is as good as reaped.
    async fn reaped(&self) -> Exit {
        let mut state = self.state.clone();
        let reaped = state.wait_for(|state| matches!(state, State::Reaped(_)));
        let _late = timeout(KILL_PATIENCE, reaped).await;
        let exit = self.state.borrow().exit();
        exit.unwrap_or(Exit::KILLED)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        if !self.handed_over {
            let lineage = Lineage::of_leader(self.shared.mark, &self.shared.leader);
            self.tear_down(lineage, Reach::All, Duration::ZERO, None, None);
        }
    }
}

/// A leader that is let go when its teardown is over, or never began.
struct Held {
    shared: Arc<Shared>,
    reach: Reach,
}

impl Drop for Held {
    fn drop(&mut self) {
        // After a teardown nobody is there to hear it.
        self.shared.signal(self.reach, Signal::KILL);
        self.shared.let_go();
    }
}

/// Tell when the leader has ended, keep its zombie (and so its number) until it is let go, then reap it.
fn await_and_reap(child: Child, shared: &Shared, tell: &watch::Sender<State>) {
    let ended = shared.leader.wait();
    // Where somebody else has waited for it, its number may be another's from now on.
    let ours = ended.is_some();
    let exit = ended.unwrap_or(Exit::KILLED);
    shared.change(|life| life.phase = if ours { Phase::Ended } else { Phase::Reaped });
    tell.send_replace(State::Ended(exit));
    let mut life = shared.life.lock();
    while !life.released {
        shared.changed.wait(&mut life);
    }
    if ours {
        shared.leader.reap(child);
    }
    life.phase = Phase::Reaped;
    drop(life);
    registry::remove(shared.mark);
    tell.send_replace(State::Reaped(exit));
}
