//! One question to the CLI: a short run of one of its commands.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

use super::environment::without_colours;
use super::launcher::{Order, launch};
use super::locate::Program;
use super::secrets::Secrets;
use crate::process::brief::{Ran, run};
use crate::process::{Owner, Refusal, system_folder};

/// Why a question could not be put.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The file is gone.
    #[error("was there a moment ago (ENOENT)")]
    Vanished,
    /// It is there and cannot be started.
    #[error("{0}")]
    NotRunnable(String),
    /// The system could not start anything now.
    #[error("could not be started: {0}")]
    NotStarted(String),
    /// The time for the whole call is used up.
    #[error("was not asked: the time for the whole call was used up")]
    OutOfTime,
}

/// Puts questions, all with the same environment and within one time limit.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    environment: Vec<(OsString, OsString)>,
    /// The keys in it.
    secrets: Secrets,
    owner: Owner,
    /// For one question.
    pub(super) limit: Duration,
    /// For all.
    deadline: Instant,
}

/// Less than this is no time to start a program in.
const SHORTEST: Duration = Duration::from_millis(1);

impl Asker {
    /// `limit` is for each question, and `questions` times that for all of them.
    pub(super) fn new(
        environment: Vec<(OsString, OsString)>,
        owner: Owner,
        limit: Duration,
        questions: u32,
    ) -> Self {
        Self {
            secrets: Secrets::of(&environment),
            environment: without_colours(environment),
            owner,
            limit,
            deadline: Instant::now() + limit * questions,
        }
    }

    /// Run `program` with these arguments.
    pub(super) async fn ask(&self, program: &Program, args: &[&str]) -> Result<Ran, AskError> {
        let limit = self
            .limit
            .min(self.deadline.saturating_duration_since(Instant::now()));
        if limit < SHORTEST {
            return Err(AskError::OutOfTime);
        }
        let order = Order {
            program: program.clone(),
            args: args.iter().map(OsString::from).collect(),
            cwd: neutral_folder(),
            environment: self.environment.clone(),
            owner: self.owner,
        };
        // It looks at the disk.
        let arranged = crate::runtime::spawn_blocking(move || launch(order)).await;
        let launch = arranged
            .map_err(|ended| AskError::NotStarted(ended.to_string()))?
            .map_err(|refused| AskError::NotRunnable(refused.to_string()))?;
        let started = launch.program.clone();
        let mut answer = run(launch, limit).await;
        if let Ok(ran) = &mut answer {
            // Before anybody reads it: a program may repeat the key that it was given.
            ran.stdout = self.secrets.hide(std::mem::take(&mut ran.stdout));
            ran.stderr = self.secrets.hide(std::mem::take(&mut ran.stderr));
            tracing::debug!(
                command = args.first().copied().unwrap_or_default(),
                code = ran.exit.code(),
                timed_out = ran.timed_out,
                truncated = ran.truncated,
                duration_ms = u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
                "asked the CLI"
            );
        }
        answer.map_err(|error| refused(&started, &error))
    }
}

/// Not the host's own folder, which may be gone, and whose `.cursor` would have a say in the answer. On Windows the
/// system's: that of temporary files may be missing or lie on a network, and others may write to a drive's top.
fn neutral_folder() -> PathBuf {
    system_folder().unwrap_or_else(|| "/".into())
}

/// What a failed start means.
fn refused(program: &Path, error: &io::Error) -> AskError {
    let not_runnable = |what: &str| AskError::NotRunnable(what.to_owned());
    match Refusal::of(program, error) {
        Refusal::Gone => AskError::Vanished,
        Refusal::NoInterpreter => {
            not_runnable("cannot be started: its interpreter or loader does not exist (ENOENT)")
        }
        Refusal::NotPermitted => not_runnable("may not be executed (EACCES)"),
        Refusal::WrongFormat => not_runnable("is no program for this system (ENOEXEC)"),
        Refusal::Busy => not_runnable("is being written to (ETXTBSY)"),
        _ => AskError::NotStarted(error.to_string()),
    }
}

/// Whether this is a script for a shell of Windows, by its name: what it holds could be a script for any shell, and
/// so the shell here has tried it.
pub(super) fn is_windows_script(program: &Path) -> bool {
    let extension = program.extension().unwrap_or_default();
    !cfg!(windows)
        && ["cmd", "bat", "ps1"]
            .iter()
            .any(|known| extension.eq_ignore_ascii_case(known))
}
