//! Processes: started on one thread, watched, signalled as a tree, and always reaped.
//!
//! [`start`] gives a [`Running`]: the three pipes and the [`Tree`]; [`brief`] runs a program for its output. A
//! tree that is dropped while its processes live is killed, so no early return, panic or cancelled future leaves
//! anything behind. [`survey`] finds what left the group of its tree, by the [`mark`] that all of it carries.

mod apart;
pub mod brief;
mod departure;
#[cfg_attr(unix, path = "exec_unix.rs")]
#[cfg_attr(windows, path = "windows/exec.rs")]
mod exec;
#[cfg_attr(windows, path = "windows/guard.rs")]
pub mod guard;
#[cfg(windows)]
pub(crate) mod identity_windows;
#[cfg(unix)]
mod in_turns;
#[cfg(unix)]
#[path = "last_unix.rs"]
mod last;
#[cfg_attr(unix, path = "leader_unix.rs")]
#[cfg_attr(windows, path = "windows/leader.rs")]
mod leader;
pub mod mark;
mod pending;
#[cfg_attr(unix, path = "unix.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod platform;
pub mod quote;
mod refusal;
mod registry;
#[cfg(unix)]
mod script;
mod spawner;
pub mod survey;
mod tail;
mod tree;
#[cfg(unix)]
#[cfg_attr(target_os = "linux", path = "unguarded_linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "unguarded_other.rs")]
mod unguarded;

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::PathBuf;

use spawner::Fresh;

pub use departure::{Departure, Presence, presence};
#[cfg(unix)]
pub use in_turns::InTurns;
#[cfg(unix)]
pub use last::at_exit;
pub use mark::Mark;
pub use pending::Pending;
#[cfg(windows)]
pub use platform::handle::not_inherited;
pub use platform::{Stderr, Stdin, Stdout, system_folder};
pub use refusal::Refusal;
pub use registry::{Busy, Owner, Whose, call_off, called_off, end_owned_by};
pub use survey::Reach;
pub use tail::Tail;
pub use tree::{Ended, Tree};

#[cfg(not(any(unix, windows)))]
compile_error!(
    "fusion-cursor-native starts processes on Linux, macOS and Windows; this platform is not supported"
);

/// What to start.
#[derive(Clone)]
pub struct Launch {
    /// An absolute path.
    pub program: PathBuf,
    /// Behind the program's own name.
    pub args: Vec<OsString>,
    /// An existing directory.
    pub cwd: PathBuf,
    /// The whole environment: nothing else is inherited.
    pub env: Vec<(OsString, OsString)>,
    /// Who answers for it: [`end_owned_by`] ends all processes of one owner.
    pub owner: Owner,
    /// What runs the program, where that is not the system itself. Only Windows has it: a script for `cmd` there has
    /// rules of its own for its command line, and those are not this room's to know.
    pub via: Option<Via>,
}

/// An interpreter, and its whole command line with the program and the arguments in it.
#[derive(Clone, PartialEq, Eq)]
pub struct Via {
    /// An absolute path.
    pub interpreter: PathBuf,
    /// As the interpreter is to see it, its own name included.
    pub line: String,
}

impl fmt::Debug for Via {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Via")
            .field("interpreter", &self.interpreter)
            .field("line", &self.line.len())
            .finish()
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A prompt is no matter of a log, and a host has keys in its environment.
        formatter
            .debug_struct("Launch")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("cwd", &self.cwd)
            .field("env", &self.env.len())
            .field("owner", &self.owner)
            .field("via", &self.via)
            .finish()
    }
}

/// A started process and its three pipes.
#[derive(Debug)]
pub struct Running {
    /// What was started.
    pub program: PathBuf,
    /// Its standard input.
    pub stdin: Stdin,
    /// Its standard output.
    pub stdout: Stdout,
    /// Its standard error.
    pub stderr: Stderr,
    /// The process and all others of its group.
    pub tree: Tree,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// How one that this library has killed ends.
    pub(crate) const KILLED: Self = platform::KILLED;

    /// The exit code, unless a signal ended it.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }

    /// The name of the signal that ended it, as in `SIGTERM`; `SIG64` and the like where it has none.
    #[must_use]
    pub fn signal_name(self) -> Option<String> {
        match self {
            Self::Code(_) => None,
            Self::Signal(number) => Some(platform::signal_name(number)),
        }
    }
}

/// Whether something of this process's output waits to be read, be it the end. An async runtime may not know yet.
#[must_use]
pub fn has_output(stdout: &Stdout) -> bool {
    platform::has_input(stdout)
}

/// Start a process in a group of its own, with a [mark] in its environment.
///
/// Its pipes are not inherited by any other process. When this host dies, however that happens, the [`guard`]
/// ends it and what it has started. A script that names no interpreter is run by `/bin/sh`.
///
/// On Windows it is in a job of its own before its first instruction, without a console window, and the job ends
/// with this host.
///
/// Of this host's descriptors it gets those that are open across an exec, as with Node's own `spawn`; nothing of
/// this crate is.
///
/// # Errors
/// What the operating system said: `NotFound` for a missing program, interpreter or directory,
/// `PermissionDenied`, `ENOEXEC` and so on.
pub async fn start(launch: Launch) -> io::Result<Running> {
    start_under(launch, presence().0).await
}

/// The same, for whoever may give up the start and still wants to know when what came of it is gone.
///
/// # Errors
/// As [`start`].
pub async fn start_under(launch: Launch, presence: Presence) -> io::Result<Running> {
    let program = launch.program.clone();
    let Fresh {
        tree,
        stdin,
        stdout,
        stderr,
    } = spawner::spawn(launch, presence).await?;
    platform::widen(&stdout);
    Ok(Running {
        program,
        stdin: platform::stdin(stdin)?,
        stdout: platform::stdout(stdout)?,
        stderr: platform::stderr(stderr)?,
        tree,
    })
}
