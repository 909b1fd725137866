//! The thread that starts every process.
//!
//! It keeps what a start takes off the event loop. And where a child has to ask the kernel for its end, Linux ties
//! that to the *thread* that forked it: a child that a pool's worker started is killed when that worker is retired.
//! So one thread, which lives as long as the host, starts them all.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::sync::oneshot;

use super::platform::{NewStderr, NewStdin, NewStdout};
use super::{Busy, Launch, Mark, Presence, Tree, exec, survey};

struct Job {
    launch: Launch,
    presence: Presence,
    /// A host that ends waits for the answer, and for what becomes of it.
    busy: Busy,
    answer: oneshot::Sender<io::Result<Fresh>>,
}

/// What was just started. Where whoever asked for it is gone, before or after the answer was sent, it is dropped,
/// and so ended.
pub(super) struct Fresh {
    pub(super) tree: Tree,
    pub(super) stdin: NewStdin,
    pub(super) stdout: NewStdout,
    pub(super) stderr: NewStderr,
}

static SPAWNER: OnceLock<Sender<Job>> = OnceLock::new();

fn spawner() -> io::Result<&'static Sender<Job>> {
    if let Some(jobs) = SPAWNER.get() {
        return Ok(jobs);
    }
    let (jobs, inbox) = channel::<Job>();
    thread::Builder::new()
        .name("cursor-spawn".into())
        .spawn(move || {
            for Job {
                launch,
                presence,
                busy,
                answer,
            } in inbox
            {
                if answer.is_closed() {
                    continue;
                }
                let fresh = spawn_now(launch, presence);
                // From here on the tree is what is waited for.
                drop(busy);
                // Unheard, the answer is dropped.
                let _heard = answer.send(fresh);
            }
        })?;
    // Where two callers race, the loser's thread ends with its sender.
    Ok(SPAWNER.get_or_init(|| jobs))
}

/// Start a process from the spawning thread.
pub(super) async fn spawn(launch: Launch, presence: Presence) -> io::Result<Fresh> {
    let busy = Busy::starting(launch.owner)?;
    let (answer, fresh) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts processes is gone");
    let job = Job {
        launch,
        presence,
        busy,
        answer,
    };
    spawner()?.send(job).map_err(|_| gone())?;
    fresh.await.map_err(|_| gone())?
}

fn spawn_now(mut launch: Launch, presence: Presence) -> io::Result<Fresh> {
    let mark = Mark::next();
    mark.put_into(&mut launch.env);
    let mut child = exec::spawn(&launch)?;
    survey::prepare();
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // From here on a failure kills and reaps what was started, since the tree is dropped.
    let tree = Tree::watch(child, mark, launch.owner, presence)?;
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("a pipe of the new process is missing"));
    };
    Ok(Fresh {
        tree,
        stdin,
        stdout,
        stderr,
    })
}
