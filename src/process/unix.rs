//! Process groups, signals and reaping on Linux and macOS.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::registry::{self, Owner};
use super::{Exit, members};

/// A started process and everything in its group.
///
/// Dropping it kills the group and has its leader reaped.
#[derive(Debug)]
pub struct Tree {
    shared: Arc<Shared>,
    state: watch::Receiver<State>,
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

/// What the tree, the thread that watches it and the registry hold together.
#[derive(Debug)]
pub(super) struct Shared {
    leader: Pid,
    /// True once the leader is reaped: from then on its number may be another's, and nothing is signalled.
    reaped: Mutex<bool>,
    released: Mutex<bool>,
    release: Condvar,
}

impl Shared {
    /// Signal the whole group, the leader's zombie keeping its number ours. No group left is a success.
    fn signal(&self, signal: Signal) {
        let reaped = self.reaped.lock();
        if *reaped {
            return;
        }
        match kill_process_group(self.leader, signal) {
            // macOS answers EPERM for a group of zombies.
            Ok(()) | Err(Errno::SRCH | Errno::PERM) => {}
            Err(error) => tracing::warn!(pid = self.leader.as_raw_pid(), %error, "signal not delivered"),
        }
    }

    pub(super) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn let_go(&self) {
        *self.released.lock() = true;
        self.release.notify_one();
    }
}

/// Put what is about to start into a group of its own, and on Linux bind its life to this host's.
pub(super) fn prepare(command: &mut Command) {
    command.process_group(0);
    #[cfg(target_os = "linux")]
    die_with_host(command);
}

#[cfg(target_os = "linux")]
fn die_with_host(command: &mut Command) {
    use rustix::process::{getpid, getppid, set_parent_process_death_signal};
    let host = getpid();
    let bind = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // A host that died before the line above would never be noticed.
        if getppid() == Some(host) {
            Ok(())
        } else {
            Err(io::Error::from(Errno::SRCH))
        }
    };
    // SAFETY: between fork and exec only system calls are made; nothing allocates, locks or panics.
    unsafe {
        command.pre_exec(bind);
    }
}

/// Let more of the output wait in the pipe, so that the process writes on while what it wrote is read.
/// Where the system allows no more, the pipe is as good as before.
#[cfg(target_os = "linux")]
pub(super) fn widen(pipe: impl std::os::fd::AsFd) {
    let _as_before = rustix::pipe::fcntl_setpipe_size(pipe, 1 << 20);
}

/// Only Linux lets a pipe be widened.
#[cfg(not(target_os = "linux"))]
pub(super) fn widen(_pipe: impl std::os::fd::AsFd) {}

/// Kill the group of a child that was never watched.
pub(super) fn kill_group_of(child: &Child) {
    // The child is not reaped yet, so its number and its group's are still its own; it may be gone already.
    let _gone = kill_process_group(Pid::from_child(child), Signal::KILL);
}

impl Tree {
    /// Watch a child that leads its own group. On an error the group is killed and reaped.
    pub(super) fn watch(child: Child, owner: Owner) -> io::Result<Self> {
        let leader = Pid::from_child(&child);
        let shared = Arc::new(Shared {
            leader,
            reaped: Mutex::default(),
            released: Mutex::default(),
            release: Condvar::new(),
        });
        let (tell, state) = watch::channel(State::Running);
        registry::add(child.id(), owner, &shared);
        let tree = Self {
            shared: Arc::clone(&shared),
            state,
        };
        // A thread for each tree, not a SIGCHLD handler: that one belongs to Node. And not the runtime:
        // the child is reaped also where whoever waited for it is gone.
        thread::Builder::new()
            .name("cursor-wait".into())
            .stack_size(128 * 1024)
            .spawn(move || await_and_reap(child, &shared, &tell))
            .inspect_err(|_| kill_and_reap_unwatched(leader))?;
        Ok(tree)
    }

    /// The leader's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.shared.leader.as_raw_pid().cast_unsigned()
    }

    /// How the leader ended, as soon as it has.
    pub async fn exited(&self) -> Exit {
        let mut state = self.state.clone();
        let ended = state.wait_for(|state| state.exit().is_some()).await;
        // An error comes only from a panic in the watching thread; the leader is then not ours to ask about.
        ended
            .ok()
            .and_then(|state| state.exit())
            .unwrap_or(Exit::Signal(Signal::KILL.as_raw()))
    }

    /// End the whole group, in order: SIGTERM, up to `grace`, SIGKILL; then reap the leader.
    ///
    /// Returns as soon as nothing of the group is left and the leader is reaped.
    pub async fn end(self, grace: Duration) -> Exit {
        let gone = self.gone().await || {
            self.shared.signal(Signal::TERM);
            timeout(grace, self.all_gone()).await.is_ok()
        };
        if !gone {
            tracing::debug!(pid = self.pid(), "SIGKILL after the grace time");
            self.shared.kill();
            // A killed process goes as soon as the kernel lets it; one in an uninterruptible wait may not, and
            // must not hold the turn.
            let _late = timeout(KILL_PATIENCE, self.all_gone()).await;
        }
        let Some(exit) = self.state.borrow().exit() else {
            return Exit::Signal(Signal::KILL.as_raw());
        };
        self.let_go();
        // Only so that nobody sees a zombie of a turn that is over; it is as good as reaped.
        let mut state = self.state.clone();
        let _late = timeout(
            KILL_PATIENCE,
            state.wait_for(|state| matches!(state, State::Reaped(_))),
        )
        .await;
        exit
    }

    /// The leader may be reaped. Only from then on its number can be another's, whose entry in the registry
    /// must not be the one that is removed.
    fn let_go(&self) {
        registry::remove(self.pid());
        self.shared.let_go();
    }

    /// Whether the leader has ended and nobody else is in its group.
    async fn gone(&self) -> bool {
        self.state.borrow().exit().is_some() && !members::any_alive(self.shared.leader).await
    }

    async fn all_gone(&self) {
        self.exited().await;
        let mut pause = Duration::from_millis(2);
        while members::any_alive(self.shared.leader).await {
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

const KILL_PATIENCE: Duration = Duration::from_secs(2);

impl Drop for Tree {
    fn drop(&mut self) {
        // After `end` this is a last look: a member that was born in between gets no second chance.
        self.shared.kill();
        if !*self.shared.released.lock() {
            self.let_go();
        }
    }
}

/// Tell when the leader has ended, keep its zombie (and so its number) until the tree lets go, then reap it.
fn await_and_reap(mut child: Child, shared: &Shared, tell: &watch::Sender<State>) {
    let ended = loop {
        match waitid(
            WaitId::Pid(shared.leader),
            WaitIdOptions::EXITED | WaitIdOptions::NOWAIT,
        ) {
            Ok(Some(status)) => break Some(status),
            Ok(None) | Err(Errno::INTR) => {}
            Err(error) => {
                tracing::error!(pid = shared.leader.as_raw_pid(), %error, "cannot wait for the process");
                break None;
            }
        }
    };
    let exit = ended.map_or(Exit::Signal(Signal::KILL.as_raw()), |status| {
        status
            .exit_status()
            .map(Exit::Code)
            .or_else(|| status.terminating_signal().map(Exit::Signal))
            .unwrap_or(Exit::Signal(Signal::KILL.as_raw()))
    });
    tell.send_replace(State::Ended(exit));
    let mut released = shared.released.lock();
    while !*released {
        shared.release.wait(&mut released);
    }
    drop(released);
    let mut reaped = shared.reaped.lock();
    if let Err(error) = child.wait() {
        tracing::warn!(pid = shared.leader.as_raw_pid(), %error, "the process was reaped by somebody else");
    }
    *reaped = true;
    drop(reaped);
    tell.send_replace(State::Reaped(exit));
}

fn kill_and_reap_unwatched(leader: Pid) {
    // No thread could be made to watch it: end it here and now rather than leave it to itself.
    let _gone = kill_process_group(leader, Signal::KILL);
    let _status = waitid(WaitId::Pid(leader), WaitIdOptions::EXITED);
}

/// `SIGTERM` for 15, and `SIG64` for a number without a name.
pub(super) fn signal_name(number: i32) -> String {
    const NAMES: [(Signal, &str); 17] = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::HUP, "SIGHUP"),
        (Signal::ILL, "SIGILL"),
        (Signal::INT, "SIGINT"),
        (Signal::KILL, "SIGKILL"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::SYS, "SIGSYS"),
        (Signal::TERM, "SIGTERM"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::XCPU, "SIGXCPU"),
    ];
    NAMES
        .iter()
        .find(|(signal, _)| signal.as_raw() == number)
        .map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}
