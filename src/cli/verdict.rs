//! What a probe found, and the sentences that it is told in. Pure.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use super::candidates::Candidate;
use super::environment::{KEYS, value};
use super::locate::{LocateError, Program};
use super::said::{diagnostic, plain};

/// How usable Cursor's CLI is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// It runs, and somebody is logged in.
    Ready,
    /// It runs, and says that nobody is logged in.
    Unauthenticated,
    /// It runs, and whether somebody is logged in could not be found out.
    AuthUnknown,
    /// macOS keeps the login in a keychain that is locked.
    KeychainLocked,
    /// There is only the wrapper `cursor`, with nothing behind it.
    IdeMissing,
    /// It is there, and cannot be started or ends with an error.
    NotRunnable,
    /// It is not there.
    Missing,
}

impl State {
    /// As JavaScript calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Unauthenticated => "unauthenticated",
            Self::AuthUnknown => "auth-unknown",
            Self::KeychainLocked => "keychain-locked",
            Self::IdeMissing => "ide-missing",
            Self::NotRunnable => "not-runnable",
            Self::Missing => "missing",
        }
    }

    /// Whether there is a CLI that answers, if only with what keeps it from working.
    #[must_use]
    pub fn available(self) -> bool {
        !matches!(self, Self::NotRunnable | Self::Missing)
    }
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryStatus {
    /// How usable it is.
    pub state: State,
    /// The candidate that won.
    pub winner: Option<Candidate>,
    /// Its program.
    pub program: Option<Program>,
    /// What was configured, trimmed; `None` where that was blank.
    pub configured: Option<String>,
    /// The agent's own version.
    pub version: Option<String>,
    /// What keeps it from being ready, and what to do. At most [`REASON`] characters.
    pub reason: Option<String>,
    /// One line for everything that failed, at most 180 characters each.
    pub diagnostics: Vec<String>,
    /// From the call to the answer.
    pub duration: Duration,
}

impl BinaryStatus {
    /// Whether the candidate that won is the configured one.
    #[must_use]
    pub fn uses_configured(&self) -> bool {
        self.winner.as_ref().is_some_and(|winner| winner.configured)
    }
}

/// How long a reason may be, in characters.
pub const REASON: usize = 600;
/// How much of a path is shown, in characters.
const PATH: usize = 72;
/// How long a line may be, in characters.
const LINE: usize = 180;

/// The end of a long path: its beginning says less.
pub(super) fn short(path: &Path) -> String {
    let path = path.display().to_string();
    let length = path.chars().count();
    if length <= PATH {
        return path;
    }
    let end: String = path.chars().skip(length - PATH + 1).collect();
    format!("…{end}")
}

/// One line about a candidate; one that is too long is cut at its end.
pub(super) fn line(candidate: &Candidate, about: &str) -> String {
    let whole = labelled(candidate, about);
    if whole.chars().count() <= LINE {
        return whole;
    }
    let kept: String = whole.chars().take(LINE - 1).collect();
    format!("{kept}…")
}

/// One line about what stands in the way.
pub(super) fn obstacle(candidate: &Candidate, obstacle: &LocateError) -> String {
    without_middle(&labelled(candidate, &obstacle.to_string()))
}

/// One line; of one that is too long the middle is left out. For sentences with a long path first and what is wrong
/// with it last.
pub(super) fn without_middle(text: &str) -> String {
    let whole = on_one_line(text);
    let length = whole.chars().count();
    if length <= LINE {
        return whole;
    }
    let (front, back) = (LINE / 2, LINE - LINE / 2 - 1);
    let beginning: String = whole.chars().take(front).collect();
    let end: String = whole.chars().skip(length - back).collect();
    format!("{beginning}…{end}")
}

/// What is told of a candidate, before it is cut. Keys are masked in what programs say, not in paths: the folders
/// of package managers and temporary folders look like keys.
pub(super) fn labelled(candidate: &Candidate, about: &str) -> String {
    let Candidate { name, configured } = candidate;
    on_one_line(&match configured {
        // Of a path the rest of the line tells.
        true if name.contains(std::path::is_separator) => format!("configured binary: {about}"),
        // Somebody may have put a key into the wrong field.
        true => format!("configured binary {}: {about}", diagnostic(name)),
        false => format!("{name}: {about}"),
    })
}

/// A path may hold any character.
fn on_one_line(text: &str) -> String {
    plain(text).replace(char::is_control, " ")
}

/// At most [`REASON`] characters of it.
fn bounded(reason: String) -> String {
    if reason.chars().count() <= REASON {
        return reason;
    }
    let kept: String = reason.chars().take(REASON - 1).collect();
    format!("{kept}…")
}

/// Why nothing can be used: every candidate's fate, those first that are there at all.
pub(super) fn unavailable(state: State, fates: &[String]) -> String {
    let what = match state {
        State::NotRunnable => "Cursor's CLI is there but cannot be run",
        _ => "cursor-agent/cursor not found on PATH: install Cursor's CLI, or configure its path",
    };
    bounded(format!("{what} ({})", fates.join("; ")))
}

/// The wrapper alone.
pub(super) fn ide_missing(said: &str) -> String {
    bounded(format!(
        "Cursor IDE installation not found, and no agent behind the command `cursor`: install Cursor's CLI. It said: {}",
        diagnostic(said)
    ))
}

/// The locked keychain.
pub(super) fn keychain_locked(said: &str) -> String {
    bounded(format!(
        "the macOS login keychain is locked: run `security unlock-keychain` and try again. It said: {}",
        diagnostic(said)
    ))
}

/// Nobody is logged in.
pub(super) fn logged_out(program: &Program, environment: &[(OsString, OsString)]) -> String {
    match key_in(environment) {
        Some(name) => format!(
            "nobody is logged in by account, but {name} is set: the key is not verified by `status`, and turns may \
             work with it"
        ),
        None => format!(
            "not logged in: run `{}`, or set CURSOR_API_KEY",
            command(program, "login")
        ),
    }
}

/// Nobody is logged in, and the key that was to stand in for that is wrong.
pub(super) fn key_refused(program: &Program, said: &str) -> String {
    bounded(format!(
        "the API key is not valid: correct CURSOR_API_KEY, or unset it and run `{}`. It said: {}",
        command(program, "login"),
        diagnostic(said)
    ))
}

/// Nothing is known about the login.
pub(super) fn auth_unknown(why: &str, environment: &[(OsString, OsString)]) -> String {
    let key = key_in(environment).map_or(String::new(), |name| {
        format!("; {name} is set, and turns may work with it")
    });
    bounded(format!(
        "whether somebody is logged in could not be found out: {why}{key}"
    ))
}

/// The variable that holds a key or token, if one does.
fn key_in(environment: &[(OsString, OsString)]) -> Option<&'static str> {
    KEYS.into_iter()
        .find(|name| value(environment, name).is_some_and(|value| !value.is_empty()))
}

/// A command of the CLI as a person types it.
pub(super) fn command(program: &Program, words: &str) -> String {
    let name = program.path.file_name().unwrap_or(program.path.as_os_str());
    let parts = std::iter::once(name).chain(program.leading.iter().map(AsRef::as_ref));
    let mut line: Vec<String> = parts.map(|part| part.display().to_string()).collect();
    line.push(words.to_owned());
    line.join(" ")
}
