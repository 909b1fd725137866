//! Running git.

use std::env::split_paths;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::GitError;
use super::system::{ALWAYS, PROGRAM, is_for_git};
use crate::cli::environment::value;
use crate::disk::Folder;
use crate::process::brief::{Ran, run_with};
use crate::process::{Exit, Launch, Owner};

/// How long one command of git may take.
pub const LIMIT: Duration = Duration::from_secs(10);

/// Set for git and nothing else of its name is: it takes no locks that its user's own commands would trip over,
/// speaks the language that its messages are known in, asks nobody, and finds the repository around a mount.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("LC_ALL", "C"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_DISCOVERY_ACROSS_FILESYSTEM", "1"),
];
/// How much of what git says is repeated, in characters.
const REPEATED: usize = 500;

/// How git is found and run.
#[derive(Clone)]
pub struct Git {
    /// The host's environment as the caller gives it: `PATH` says where git lies. Every `GIT_*` is taken out.
    pub env: Vec<(OsString, OsString)>,
    /// Who answers for its processes.
    pub owner: Owner,
    /// For one command; [`LIMIT`] is a good one.
    pub limit: Duration,
}

impl fmt::Debug for Git {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A host has keys in its environment.
        formatter
            .debug_struct("Git")
            .field("env", &self.env.len())
            .field("owner", &self.owner)
            .field("limit", &self.limit)
            .finish()
    }
}

/// What git answered.
#[derive(Debug)]
pub(super) enum Answer {
    /// It ended with 0.
    Yes(Vec<u8>),
    /// It ended otherwise.
    No(Ran),
}

impl Git {
    /// The program; `None` where git is not installed. A relative entry of `PATH` means whatever folder the host
    /// happens to be in, which in a worktree is the agent's to write.
    pub(super) fn program(&self) -> Option<PathBuf> {
        let path = value(&self.env, "PATH")?;
        split_paths(path)
            .filter(|folder| folder.is_absolute())
            .find_map(|folder| which::which_in_global(PROGRAM, Some(folder)).ok()?.next())
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let set = ENVIRONMENT.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        self.env
            .iter()
            .filter(|(name, _)| !is_for_git(name))
            .cloned()
            .chain(set)
            .collect()
    }

    /// Run a command of git in a folder.
    pub(super) async fn ask(
        &self,
        program: &Path,
        folder: &Folder,
        args: &[&str],
        input: &[u8],
    ) -> Result<Answer, GitError> {
        let launch = Launch {
            program: program.to_owned(),
            args: ALWAYS.iter().chain(args).map(OsString::from).collect(),
            cwd: folder.path().to_owned(),
            env: self.environment(),
            owner: self.owner,
            via: None,
        };
        let ran = run_with(launch, input, self.limit).await.map_err(|error| {
            GitError::Failed(format!(
                "{} could not be started in {}: {error}; see whether `git --version` works there",
                program.display(),
                folder.path().display()
            ))
        })?;
        tracing::debug!(
            args = args.join(" "),
            code = ran.exit.code(),
            duration_us = u64::try_from(ran.duration.as_micros()).unwrap_or(u64::MAX),
            "asked git"
        );
        if ran.timed_out {
            return Err(GitError::Failed(format!(
                "`git {}` did not answer in {} within {} s; see whether the disk there is slow, or another git hangs",
                command(args),
                folder.path().display(),
                self.limit.as_secs_f64()
            )));
        }
        Ok(match ran.exit {
            // No answer of use to us is as long as what is kept.
            Exit::Code(0) if !ran.truncated => Answer::Yes(ran.stdout),
            _ => Answer::No(ran),
        })
    }
}

/// The word that says what git is to do.
fn command<'a>(args: &[&'a str]) -> &'a str {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match *word {
            "-c" => _ = words.next(),
            other => return other,
        }
    }
    ""
}

/// That git said no.
pub(super) fn refused(args: &[&str], folder: &Folder, ran: &Ran) -> GitError {
    let said = ran.err();
    let place = folder.path().display();
    // It prints the command that ends the refusal, with the folder that it means.
    let exception = said
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("git config --global --add safe.directory"));
    if said.contains("dubious ownership") || said.contains("unsafe repository") {
        let cure = exception.map_or_else(
            || format!("git config --global --add safe.directory {place}"),
            String::from,
        );
        return GitError::Failed(format!(
            "git refuses to work in {place}, whose repository belongs to another user (dubious ownership); make it \
             yours, or run `{cure}`"
        ));
    }
    let ended = match ran.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(_) => ran.exit.signal_name().unwrap_or_default(),
    };
    let said: String = said.trim().chars().take(REPEATED).collect();
    let said = if said.is_empty() { "nothing".into() } else { said };
    let command = command(args);
    GitError::Failed(format!(
        "`git {command}` failed in {place} ({ended}); it said: {said}; run it there to see what has to be mended"
    ))
}

/// That git answered what no git that is known does.
pub(super) fn not_understood(program: &Path, args: &[&str], answer: &[u8]) -> GitError {
    let shown: String = String::from_utf8_lossy(answer)
        .escape_debug()
        .take(REPEATED)
        .collect();
    GitError::Failed(format!(
        "{} gave an answer to `git {}` that is not understood: \"{shown}\"; see whether it is git, of version 2.0 or \
         later",
        program.display(),
        command(args)
    ))
}

/// Whether there is a `.git` in this folder or on the way up from it.
pub(crate) fn is_marked_as_repository(folder: &Path) -> bool {
    marker_above(folder).is_some()
}

/// The nearest `.git` on the way up from a folder, whatever it is: git may have its reasons to deny a repository
/// that its user knows of.
pub(super) fn marker_above(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(".git")).find(|path| {
        match path.symlink_metadata() {
            Ok(_) => true,
            // What cannot be looked at may be there.
            Err(error) => !matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ),
        }
    })
}
