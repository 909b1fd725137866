//! Which program is Cursor's agent, and is somebody logged in.

use std::ffi::OsString;
use std::time::Duration;

use tokio::time::Instant;

use super::ask::{AskError, Asker, is_windows_script};
use super::auth::{AuthStatus, format_was_rejected, parse_auth_status};
use super::candidates::{Attempt, Candidate, Places, Step, candidates, plan};
use super::failure::{FailureClass, classify, not_runnable, refuses_key};
use super::locate::LocateError;
use super::said::diagnostic;
use super::verdict::{self, BinaryStatus, State, short};
use super::version::{agent_version, is_editor_version};
use crate::process::brief::Ran;
use crate::process::{Exit, Owner};

/// The limit for each command where the caller says none.
pub const LIMIT: Duration = Duration::from_secs(3);
/// The whole probe takes at most this many times the limit of one command: a candidate that hangs, the one that
/// answers, its status, and the status of an old build once more.
pub const COMMANDS: u32 = 4;

/// What is to be probed.
#[derive(Debug, Clone)]
pub struct ProbeRequest {
    /// A path or name that somebody configured. Blank counts as none.
    pub configured: Option<String>,
    /// The whole environment of the programs; its `PATH` is the one that names are looked up in.
    pub environment: Vec<(OsString, OsString)>,
    /// For each command.
    pub limit: Duration,
    /// Who answers for the processes.
    pub owner: Owner,
}

/// Find the CLI and ask it for its version and its login.
///
/// Never fails for what a program prints or does: that is what the status tells.
pub async fn probe(request: ProbeRequest) -> BinaryStatus {
    let all = candidates(request.configured.as_deref());
    Probe::new(request).run(all).await
}

/// Probe the configured candidate alone. True where that one itself is Cursor's agent and answers; whether
/// somebody is logged in does not matter.
pub async fn validate(request: ProbeRequest) -> (bool, BinaryStatus) {
    let mut all = candidates(request.configured.as_deref());
    all.retain(|candidate| candidate.configured);
    let status = Probe::new(request).run(all).await;
    let ok = status.state.available() && status.state != State::IdeMissing;
    (ok, status)
}

struct Probe {
    request: ProbeRequest,
    began: Instant,
    asker: Asker,
    /// Every failed candidate's line.
    diagnostics: Vec<String>,
    /// The same for the reason, with more of each program's own words: what does not run, and what is not there.
    broken: Vec<String>,
    absent: Vec<String>,
}

/// What a program turned out to be.
enum Identity {
    Agent {
        version: String,
    },
    KeychainLocked(String),
    IdeMissing(String),
    /// Something else, or nothing that runs.
    Failed {
        state: State,
        about: String,
    },
}

impl Probe {
    fn new(request: ProbeRequest) -> Self {
        Self {
            began: Instant::now(),
            asker: Asker::new(
                request.environment.clone(),
                request.owner,
                request.limit,
                COMMANDS,
            ),
            request,
            diagnostics: Vec::new(),
            broken: Vec::new(),
            absent: Vec::new(),
        }
    }

    async fn run(mut self, candidates: Vec<Candidate>) -> BinaryStatus {
        let mut shim = None;
        for step in steps(candidates, &self.request.environment).await {
            let mut attempt = match step {
                Step::Tell { candidate, obstacle } => {
                    let state = match obstacle {
                        LocateError::NotRunnable(_) | LocateError::Unsupported(_) => State::NotRunnable,
                        LocateError::NotFound(_) => State::Missing,
                    };
                    let whole = verdict::labelled(&candidate, &obstacle.to_string());
                    self.tell(state, verdict::obstacle(&candidate, &obstacle), whole);
                    continue;
                }
                Step::Try(attempt) => attempt,
            };
            match self.identify(&mut attempt).await {
                Identity::Agent { version } => return self.authenticate(attempt, version).await,
                Identity::KeychainLocked(said) => {
                    let reason = verdict::keychain_locked(&said);
                    return self.status(State::KeychainLocked, Some(attempt), None, Some(reason));
                }
                Identity::IdeMissing(said) => {
                    self.failed(
                        State::NotRunnable,
                        &attempt,
                        &format!("says: {}", diagnostic(&said)),
                    );
                    shim.get_or_insert((attempt, said));
                }
                Identity::Failed { state, about } => self.failed(state, &attempt, &about),
            }
        }
        if let Some((attempt, said)) = shim {
            let reason = verdict::ide_missing(&said);
            return self.status(State::IdeMissing, Some(attempt), None, Some(reason));
        }
        let state = if self.broken.is_empty() {
            State::Missing
        } else {
            State::NotRunnable
        };
        let fates = [self.broken.as_slice(), &self.absent].concat();
        let reason = verdict::unavailable(state, &fates);
        self.status(state, None, None, Some(reason))
    }

    /// Ask for the version. An attempt whose file has vanished is looked up again.
    async fn identify(&self, attempt: &mut Attempt) -> Identity {
        let ran = match self.ask(attempt, &["--version"]).await {
            Ok(ran) => ran,
            Err(error) => {
                let state = match error {
                    // Not asked is not absent: to install it again would help nobody.
                    AskError::NotRunnable(_) | AskError::NotStarted(_) | AskError::OutOfTime => {
                        State::NotRunnable
                    }
                    AskError::Vanished => State::Missing,
                };
                return Identity::Failed {
                    state,
                    about: error.to_string(),
                };
            }
        };
        let (out, err) = (ran.out(), ran.err());
        // A version is the answer also where the program does not end then. An error's text holds none.
        if (ran.timed_out || ran.succeeded())
            && let Some(version) = agent_version(&out, &err)
        {
            return Identity::Agent { version };
        }
        match classify(&both(&out, &err)) {
            Some(FailureClass::KeychainLocked) => return Identity::KeychainLocked(both(&out, &err)),
            Some(FailureClass::IdeMissing) => return Identity::IdeMissing(both(&out, &err)),
            _ => {}
        }
        if ran.succeeded() {
            let about = if is_editor_version(&out) {
                "is Cursor's editor, and has no agent".to_owned()
            } else {
                format!("is not Cursor's agent, its version is: {}", said(&out, &err))
            };
            return Identity::Failed {
                state: State::Missing,
                about,
            };
        }
        let about = if is_windows_script(&attempt.program.path) {
            "is no program for this system (ENOEXEC)".to_owned()
        } else {
            failed("--version", &ran, self.asker.limit)
        };
        Identity::Failed {
            state: State::NotRunnable,
            about,
        }
    }

    /// Ask who is logged in.
    async fn authenticate(self, mut attempt: Attempt, version: String) -> BinaryStatus {
        let (state, reason) = self.login(&mut attempt).await;
        tracing::debug!(state = state.name(), version, "the CLI was found");
        self.status(state, Some(attempt), Some(version), reason)
    }

    async fn login(&self, attempt: &mut Attempt) -> (State, Option<String>) {
        let environment = &self.request.environment;
        let unknown = |why: &str| (State::AuthUnknown, Some(verdict::auth_unknown(why, environment)));
        let mut ran = match self.ask(attempt, &["status", "--format", "json"]).await {
            Ok(ran) => ran,
            Err(error) => return unknown(&format!("`status` {error}")),
        };
        let mut auth = read_status(&ran);
        if auth.is_authenticated.is_none() && format_was_rejected(&both(&ran.out(), &ran.err())) {
            ran = match self.ask(attempt, &["status"]).await {
                Ok(ran) => ran,
                Err(error) => return unknown(&format!("`status` {error}")),
            };
            auth = read_status(&ran);
        }
        if auth.is_authenticated == Some(true) {
            return (State::Ready, None);
        }
        let words = both(&ran.out(), &ran.err());
        match classify(&words) {
            Some(FailureClass::KeychainLocked) => {
                return (State::KeychainLocked, Some(verdict::keychain_locked(&words)));
            }
            Some(FailureClass::IdeMissing) => return (State::IdeMissing, Some(verdict::ide_missing(&words))),
            Some(FailureClass::AuthRequired) => auth.is_authenticated = Some(false),
            _ => {}
        }
        if auth.is_authenticated == Some(false) {
            let reason = if refuses_key(&words) {
                verdict::key_refused(&attempt.program, &words)
            } else {
                verdict::logged_out(&attempt.program, environment)
            };
            return (State::Unauthenticated, Some(reason));
        }
        if ran.succeeded() {
            return unknown(&format!(
                "the answer to `status` could not be read: {}",
                said(&ran.out(), &ran.err())
            ));
        }
        unknown(&format!("`status` {}", failed("", &ran, self.asker.limit)))
    }

    /// Put a question. Where the file is gone, as in the middle of an update, it is looked up once more.
    async fn ask(&self, attempt: &mut Attempt, args: &[&str]) -> Result<Ran, AskError> {
        match self.asker.ask(&attempt.program, args).await {
            Err(AskError::Vanished) => {}
            answer => return answer,
        }
        let again = steps(vec![attempt.candidate.clone()], &self.request.environment).await;
        let found = again.into_iter().find_map(|step| match step {
            Step::Try(attempt) => Some(attempt),
            Step::Tell { .. } => None,
        });
        match found {
            Some(found) => {
                *attempt = found;
                self.asker.ask(&attempt.program, args).await
            }
            None => Err(AskError::Vanished),
        }
    }

    fn failed(&mut self, state: State, attempt: &Attempt, about: &str) {
        let about = format!("{} {about}", short(&attempt.program.path));
        let line = verdict::line(&attempt.candidate, &about);
        self.tell(state, line, verdict::labelled(&attempt.candidate, &about));
    }

    fn tell(&mut self, state: State, line: String, whole: String) {
        tracing::debug!(line, "a candidate failed");
        self.diagnostics.push(line);
        if state == State::NotRunnable {
            self.broken.push(whole);
        } else {
            self.absent.push(whole);
        }
    }

    fn status(
        self,
        state: State,
        winner: Option<Attempt>,
        version: Option<String>,
        reason: Option<String>,
    ) -> BinaryStatus {
        let (winner, program) = winner.map_or((None, None), |attempt| {
            (Some(attempt.candidate), Some(attempt.program))
        });
        let configured = self
            .request
            .configured
            .as_deref()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        BinaryStatus {
            state,
            winner,
            program,
            configured: configured.map(str::to_owned),
            version,
            reason,
            diagnostics: self.diagnostics,
            duration: self.began.elapsed(),
        }
    }
}

/// The steps for these candidates, looked up off the runtime: a folder of `PATH` may be on a slow disk.
async fn steps(candidates: Vec<Candidate>, environment: &[(OsString, OsString)]) -> Vec<Step> {
    let places = Places::of(environment);
    // A panic or a runtime that ends: nothing was found.
    crate::runtime::spawn_blocking(move || plan(candidates, &places))
        .await
        .unwrap_or_default()
}

/// The status on standard output; or on standard error where the other one holds none.
fn read_status(ran: &Ran) -> AuthStatus {
    let (out, err) = (ran.out(), ran.err());
    let status = parse_auth_status(&out);
    if status.is_authenticated.is_some() || err.trim().is_empty() {
        return status;
    }
    // Both together, so that two answers of standard output that contradict each other stay none.
    parse_auth_status(&both(&out, &err))
}

fn both(out: &str, err: &str) -> String {
    format!("{err}\n{out}")
}

/// What was said, the error first, in one line.
fn said(out: &str, err: &str) -> String {
    let words = diagnostic(if err.trim().is_empty() { out } else { err });
    if words.is_empty() { "nothing".into() } else { words }
}

/// How a command failed, in words that follow its name.
fn failed(command: &str, ran: &Ran, limit: Duration) -> String {
    let to = if command.is_empty() {
        String::new()
    } else {
        format!(" to {command}")
    };
    let how = match ran.exit {
        _ if ran.timed_out => format!("gave no answer{to} within {} ms", limit.as_millis()),
        Exit::Code(code) => format!("exited with {code}{}", to.replace(" to ", " on ")),
        Exit::Signal(_) => format!("was ended by {}", ran.exit.signal_name().unwrap_or_default()),
    };
    let (out, err) = (ran.out(), ran.err());
    let why = match not_runnable(&err, ran.exit.code()) {
        Some(why) if !ran.timed_out => format!(", {why}"),
        _ => String::new(),
    };
    if out.trim().is_empty() && err.trim().is_empty() {
        return format!("{how}{why}");
    }
    format!("{how}{why}: {}", said(&out, &err))
}
