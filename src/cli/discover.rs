//! Which models the CLI offers.

use std::ffi::OsString;
use std::time::Duration;

use super::ask::{AskError, Asker};
use super::candidates::Places;
use super::failure::{FailureClass, classify};
use super::locate::{LocateError, Program, locate};
use super::models::{ModelList, parse_models};
use super::probe::{ProbeRequest, probe};
use super::said::diagnostic;
use super::verdict::{BinaryStatus, State, without_middle};
use crate::process::{Exit, Owner};

/// The limit where the caller says none.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Whom to ask for models.
#[derive(Debug, Clone)]
pub struct ModelsRequest {
    /// A path, or a name that is looked up; trimmed. The wrapper `cursor` is asked as `cursor agent`.
    pub binary: String,
    /// The whole environment of the program.
    pub environment: Vec<(OsString, OsString)>,
    /// For the command.
    pub limit: Duration,
    /// Who answers for the process.
    pub owner: Owner,
}

/// Why the models are not known: which is not the same as an account that has none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoverError {
    /// There is no program to ask.
    #[error("{0}")]
    NotLocated(#[from] LocateError),
    /// It could not be asked.
    #[error("the program {0}")]
    NotAsked(#[from] AskError),
    /// No answer in time.
    #[error("`models` gave no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The CLI refused: its own sentence, at most 180 characters.
    #[error("{said}")]
    Refused {
        /// What the refusal means, where that is known.
        class: Option<FailureClass>,
        /// The CLI's own sentence, or how it ended where it said nothing.
        said: String,
    },
    /// It answered with something that is no list.
    #[error("{0}")]
    Unreadable(String),
}

impl DiscoverError {
    /// The reason in one line of at most 180 characters.
    #[must_use]
    pub fn reason(&self) -> String {
        without_middle(&self.to_string())
    }
}

/// Ask the CLI for its models.
///
/// An account without models is a list without entries.
///
/// # Errors
/// [`DiscoverError`], where the CLI could not be asked or did not answer with a list.
pub async fn discover(request: ModelsRequest) -> Result<ModelList, DiscoverError> {
    let program = find(&request).await?;
    let asker = Asker::new(request.environment.clone(), request.owner, request.limit, 1);
    let ran = match asker.ask(&program, &["models"]).await {
        // The CLI replaces its files when it updates itself.
        Err(AskError::Vanished) => asker.ask(&find(&request).await?, &["models"]).await?,
        answer => answer?,
    };
    if ran.timed_out {
        return Err(DiscoverError::TimedOut(request.limit));
    }
    let (out, err) = (ran.out(), ran.err());
    if !ran.succeeded() {
        let words = if err.trim().is_empty() { &out } else { &err };
        let said = match (diagnostic(words), ran.exit) {
            (said, _) if !said.is_empty() => said,
            (_, Exit::Code(code)) => format!("`models` exited with {code} and said nothing"),
            (_, Exit::Signal(_)) => format!(
                "`models` was ended by {}",
                ran.exit.signal_name().unwrap_or_default()
            ),
        };
        return Err(DiscoverError::Refused {
            class: classify(&format!("{err}\n{out}")),
            said,
        });
    }
    let list = parse_models(&out);
    if !list.entries.is_empty() || list.empty_account {
        return Ok(list);
    }
    // Some builds print the table to standard error.
    let list = parse_models(&err);
    if !list.entries.is_empty() || list.empty_account {
        return Ok(list);
    }
    Err(DiscoverError::Unreadable(
        if out.trim().is_empty() && err.trim().is_empty() {
            "`models` printed nothing".into()
        } else {
            let words = if out.trim().is_empty() { &err } else { &out };
            diagnostic(&format!("`models` printed no list: {}", diagnostic(words)))
        },
    ))
}

async fn find(request: &ModelsRequest) -> Result<Program, LocateError> {
    let binary = request.binary.trim().to_owned();
    let places = Places::of(&request.environment);
    let found = crate::runtime::spawn_blocking(move || locate(Some(&binary), &places)).await;
    found.unwrap_or_else(|_| Err(LocateError::NotFound("the look-up was ended".into())))
}

/// The models of whatever program a probe finds.
#[derive(Debug)]
pub struct ProviderModels {
    /// What the probe found.
    pub status: BinaryStatus,
    /// `None` where the probe found nothing to ask: its reason says why.
    pub models: Option<Result<ModelList, DiscoverError>>,
}

/// Probe, and ask the winner for its models. Who is logged in by a key alone is asked too.
pub async fn discover_provider(request: ProbeRequest, models_limit: Duration) -> ProviderModels {
    let (environment, owner) = (request.environment.clone(), request.owner);
    let status = probe(request).await;
    let answers = matches!(
        status.state,
        State::Ready | State::Unauthenticated | State::AuthUnknown
    );
    let models = match &status.program {
        Some(program) if answers => {
            let mut request = ModelsRequest {
                binary: program.path.to_string_lossy().into_owned(),
                environment,
                limit: models_limit,
                owner,
            };
            let mut answer = discover(request.clone()).await;
            // Gone since the probe, as in the middle of an update: its name may lead to another one.
            if let Some(winner) = &status.winner
                && winner.name != request.binary
                && matches!(
                    answer,
                    Err(DiscoverError::NotLocated(LocateError::NotFound(_))
                        | DiscoverError::NotAsked(AskError::Vanished))
                )
            {
                request.binary.clone_from(&winner.name);
                answer = discover(request).await;
            }
            Some(answer)
        }
        _ => None,
    };
    ProviderModels { status, models }
}
