//! From a launch to a process.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{Launch, Refusal, guard, script, unguarded};

/// Start a process in a group of its own, with three pipes. To be called from the spawning thread alone.
pub(super) fn spawn(launch: &Launch) -> io::Result<Child> {
    let starting = guard::starting();
    let spawn = |program: &Path, before: Option<&Path>| {
        let mut command = command(launch, program, before);
        if !starting.is_guarded() {
            unguarded::bind(&mut command)?;
        }
        // Without anything to be done between fork and exec, std leaves both to `posix_spawn`, which copies
        // nothing of a large host.
        command.spawn()
    };
    match spawn(&launch.program, None) {
        Err(error)
            if Refusal::of(&launch.program, &error) == Refusal::WrongFormat
                && script::is_for_the_shell(&launch.program) =>
        {
            spawn(Path::new(script::SHELL), Some(&launch.program))
        }
        outcome => outcome,
    }
}

/// `before`: a first argument before those of the launch.
#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn command(launch: &Launch, program: &Path, before: Option<&Path>) -> Command {
    let mut command = Command::new(program);
    command
        .args(before)
        .args(&launch.args)
        .current_dir(&launch.cwd)
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}
