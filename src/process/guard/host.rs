//! The host's side: starting the guard, telling it things, and starting it again.

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::program;
use super::protocol::{Kept, READY, Word};
use crate::process::{Refusal, mark};

/// How long a new guard may take to say that it is there. Only a machine that hardly runs needs as long.
const PATIENCE: Duration = Duration::from_secs(5);
/// So many guards in a row may end early. Then something here does not let any live.
const RESTARTS: u32 = 5;
/// A guard that has lived as long has not ended early; and where there is none, as long a time is left to what kept it
/// away.
const LIVED: Duration = Duration::from_secs(60);

static HOST: Mutex<Host> = Mutex::new(Host {
    program: None,
    phase: Phase::Idle,
    kept: Kept::NONE,
    restarts: 0,
});

struct Host {
    /// What [`use_program`] said.
    program: Option<PathBuf>,
    phase: Phase,
    kept: Kept,
    /// Guards in a row that ended early.
    restarts: u32,
}

enum Phase {
    /// Nothing was started yet.
    Idle,
    Guarded(Link),
    /// There is none, and no further try before that moment: it could not be started, or did not live.
    Without(Instant),
}

/// The line to a living guard. To close it is to say that this host is dead.
struct Link {
    socket: UnixStream,
    guard: u32,
    since: Instant,
    /// What it has not heard yet, since it did not listen.
    unsent: Vec<u8>,
}

/// A process is being started, from before the system is asked until this is dropped.
pub(in crate::process) struct Starting {
    guarded: bool,
}

impl Starting {
    /// Whether a guard will find the new process when this host has gone.
    pub(in crate::process) fn is_guarded(&self) -> bool {
        self.guarded
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if self.guarded {
            HOST.lock().say(Word::Started);
        }
    }
}

/// A process is about to be started. The first call starts the guard, and waits until it is there. Where that failed,
/// a later one tries again: a system that was short of something may have it now.
pub(in crate::process) fn starting() -> Starting {
    let mut host = HOST.lock();
    match host.phase {
        Phase::Idle => host.start(),
        Phase::Without(again) if again <= Instant::now() => {
            host.restarts = 0;
            host.start();
        }
        Phase::Guarded(_) | Phase::Without(_) => {}
    }
    host.say(Word::Starting);
    Starting {
        guarded: matches!(host.phase, Phase::Guarded(_)),
    }
}

/// Leave the processes whose [mark](crate::process::Mark) has this number alone when the host has gone.
pub fn keep(turn: u64) {
    let mut host = HOST.lock();
    host.kept.add(turn, turn);
    host.say(Word::Keep(turn, turn));
}

/// All numbers that were given to [`keep`].
#[must_use]
pub fn kept() -> Vec<u64> {
    HOST.lock().kept.turns().collect()
}

/// The process id of the guard, while there is one.
#[must_use]
pub fn pid() -> Option<u32> {
    match &HOST.lock().phase {
        Phase::Guarded(link) => Some(link.guard),
        Phase::Idle | Phase::Without(_) => None,
    }
}

/// Start the guard from this program, instead of the one beside the file that this code was loaded from. A guard
/// that is there already stays.
pub fn use_program(path: impl Into<PathBuf>) {
    let mut host = HOST.lock();
    host.program = Some(path.into());
    if matches!(host.phase, Phase::Without(_)) {
        host.phase = Phase::Idle;
        host.restarts = 0;
    }
}

impl Host {
    /// Start a guard, the first one or another one. Where there is none afterwards, the reader of the log has been
    /// told why.
    fn start(&mut self) {
        let Some(program) = self.program.clone().or_else(program::find) else {
            tracing::warn!("no guard: the system does not say which file this code was loaded from");
            self.phase = Phase::Without(Instant::now() + LIVED);
            return;
        };
        match launch(&program) {
            Ok(link) => {
                tracing::debug!(pid = link.guard, "the guard is there");
                self.phase = Phase::Guarded(link);
                for word in self.kept.clone().words() {
                    self.say(word);
                }
            }
            Err(error) => {
                tracing::warn!(
                    program = %program.display(), %error,
                    "the guard cannot be started. Turns run as ever, but what an agent has started may outlive a \
                     host that is killed. Where it is missing, put the program of this version back beside the addon"
                );
                let passes = Refusal::of(&program, &error).is_transient();
                let pause = if passes { Duration::ZERO } else { LIVED };
                self.phase = Phase::Without(Instant::now() + pause);
            }
        }
    }

    /// Say something, and never wait: what a guard does not hear now it is told before the next thing, but for words
    /// that mean nothing by then.
    fn say(&mut self, word: Word) {
        let Phase::Guarded(link) = &mut self.phase else {
            return;
        };
        let passing = !matches!(word, Word::Keep(..));
        if passing && !link.unsent.is_empty() {
            return;
        }
        link.unsent.extend_from_slice(word.line().as_bytes());
        match link.send() {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // Its end is closed: it has gone, and whoever waits for it may not know yet.
            Err(error) => {
                tracing::debug!(pid = link.guard, %error, "the guard does not listen");
                self.replace();
                self.say(word);
            }
        }
    }

    /// The guard has gone. Start another one, as long as they live.
    fn replace(&mut self) {
        if let Phase::Guarded(link) = &self.phase {
            self.restarts = if link.since.elapsed() > LIVED {
                0
            } else {
                self.restarts + 1
            };
        }
        if self.restarts > RESTARTS {
            tracing::error!(
                restarts = RESTARTS,
                "the guard was ended again and again. What an agent has started may now outlive a host that is killed"
            );
            self.phase = Phase::Without(Instant::now() + LIVED);
            return;
        }
        tracing::warn!(
            restarts = self.restarts,
            "the guard was ended, and is started again"
        );
        self.start();
    }
}

impl Link {
    fn send(&mut self) -> io::Result<()> {
        while !self.unsent.is_empty() {
            match self.socket.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Start a guard and wait until it says that it is there.
fn launch(program: &Path) -> io::Result<Link> {
    // A socket and not a pipe: a write to one that nobody reads raises no SIGPIPE, whatever the host does at one.
    let (mut socket, theirs) = UnixStream::pair()?;
    let mut child = spawn(program, theirs)?;
    let guard = child.id();
    let watched = await_ready(&mut socket).and_then(|()| {
        // The child is handed over only to a thread that runs: it must be waited for on every way.
        let (hand, taken) = std::sync::mpsc::sync_channel(1);
        thread::Builder::new()
            .name("cursor-guard".into())
            .stack_size(128 * 1024)
            .spawn(move || taken.recv().map(watch))?;
        Ok(hand)
    });
    let hand = match watched {
        Ok(hand) => hand,
        Err(error) => {
            // Before the socket is closed, which to a guard that lives is the death of this host.
            let _gone = child.kill();
            let _status = child.wait();
            return Err(error);
        }
    };
    // The thread takes exactly this one.
    let _taken = hand.send(child);
    Ok(Link {
        socket,
        guard,
        since: Instant::now(),
        unsent: Vec::new(),
    })
}

#[allow(
    clippy::disallowed_methods,
    reason = "it is started where all others are, by the thread that starts them"
)]
fn spawn(program: &Path, socket: UnixStream) -> io::Result<Child> {
    let mut command = Command::new(program);
    command
        .arg(mark::host())
        .current_dir("/")
        .env_clear()
        .stdin(OwnedFd::from(socket))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // With the command goes this side's copy of the guard's end.
    command.spawn()
}

/// Wait for the first word. Until it has left the host's session a signal of the terminal would end it, so nothing
/// that it has to guard may be started.
fn await_ready(socket: &mut UnixStream) -> io::Result<()> {
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut word = [0];
    socket.read_exact(&mut word).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::other("it ended at once"),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => io::Error::other("it did not answer"),
        _ => error,
    })?;
    if word != [READY] {
        return Err(io::Error::other("it answered as no guard does"));
    }
    socket.set_nonblocking(true)
}

/// Wait for this guard, and for no other child, until it ends.
fn watch(mut guard: Child) {
    let pid = guard.id();
    let ended = guard.wait();
    let mut host = HOST.lock();
    match (ended, &mut host.phase) {
        (Ok(status), Phase::Guarded(link)) if link.guard == pid => {
            tracing::debug!(pid, %status, "the guard ended");
            host.replace();
        }
        (Err(error), Phase::Guarded(link)) if link.guard == pid => {
            // Somebody in this host waits for every child, or has the system do so. The guard may well live, so
            // its socket stays open: where it closes, the guard takes this host for dead.
            tracing::debug!(pid, %error, "the guard's end will not be noticed");
        }
        // Another one has taken its place already.
        _ => {}
    }
}
