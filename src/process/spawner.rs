//! The thread that starts every process.
//!
//! Linux ties a child's "kill me when my parent dies" to the *thread* that forked it: a child that a pool's
//! worker started is killed when that worker is retired. So one thread, which lives as long as the host,
//! does all the forking. It also keeps the fork of a large host off the event loop.

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use tokio::sync::oneshot;

use super::{Launch, unix};

struct Job {
    launch: Launch,
    answer: oneshot::Sender<io::Result<Unclaimed>>,
}

/// A child on its way to whoever asked for it. Where that one is gone, before or after the answer was sent, it
/// is dropped, and so ended: a plain [`Child`] would live on, and then stay a zombie.
struct Unclaimed(Option<Child>);

impl Unclaimed {
    fn claim(mut self) -> io::Result<Child> {
        self.0
            .take()
            .ok_or_else(|| io::Error::other("a new process was claimed twice"))
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            unix::kill_group_of(&child);
            // The group was just killed, so this returns at once; the status interests nobody.
            let _status = child.wait();
        }
    }
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
            for Job { launch, answer } in inbox {
                if answer.is_closed() {
                    continue;
                }
                let child = spawn_now(&launch).map(|child| Unclaimed(Some(child)));
                // Unheard, the answer is dropped.
                let _heard = answer.send(child);
            }
        })?;
    // Where two callers race, the loser's thread ends with its sender.
    Ok(SPAWNER.get_or_init(|| jobs))
}

/// Start a process from the spawning thread.
pub(super) async fn spawn(launch: Launch) -> io::Result<Child> {
    let (answer, child) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts processes is gone");
    spawner()?.send(Job { launch, answer }).map_err(|_| gone())?;
    child.await.map_err(|_| gone())??.claim()
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn spawn_now(launch: &Launch) -> io::Result<Child> {
    let mut command = Command::new(&launch.program);
    command
        .args(&launch.args)
        .current_dir(&launch.cwd)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    unix::prepare(&mut command);
    command.spawn()
}
