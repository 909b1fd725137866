//! What the CLI's failure texts mean.
//!
//! The texts are those that builds of 2026 print to standard error (or, some, as stray lines on standard
//! output), as recorded by public projects that drive the CLI. The CLI has no exit code for any of them.
//!
//! What loaders and shells say in place of a CLI that does not even start is told by [`not_runnable`].

use super::said::plain;

pub use super::runnable::{NotRunnable, not_runnable};

/// The kind of a failure that the CLI told in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// Nobody is logged in, or the key is wrong.
    AuthRequired,
    /// macOS keeps the login in a keychain that is locked.
    KeychainLocked,
    /// The wrapper `cursor` has no editor to start.
    IdeMissing,
    /// The account's usage is used up.
    UsageLimit,
    /// The plan or a policy of the account forbids the request.
    PlanRestricted,
    /// Too many requests at once; not the account's limit.
    Capacity,
    /// No connection to Cursor's servers.
    Network,
    /// The model does not exist or may not be used.
    ModelUnavailable,
    /// The folder is not trusted and nobody can be asked.
    WorkspaceUntrusted,
    /// The folder is not there, or not any more.
    WorkspaceMissing,
    /// A configuration file of the CLI is wrong, or was being replaced by another run.
    ConfigInvalid {
        /// True for the lost race: another run was replacing the file.
        raced: bool,
    },
}

impl FailureClass {
    /// Whether the same call may succeed later without anybody changing anything.
    #[must_use]
    pub fn retryable(self) -> bool {
        matches!(
            self,
            Self::Capacity | Self::Network | Self::ConfigInvalid { raced: true }
        )
    }
}

/// What the CLI says of a wrong key, in small letters.
const KEY_REFUSED: &str = "provided api key is invalid";

/// Each row has texts, each of them words that stand on one line, in any case. The first row with a text that
/// was said counts, so the narrow ones come before the broad ones, and what ends a run for good before what is
/// worth a retry: the CLI may have told of lost connections before it gave up for another reason.
const TABLE: &[(Told, &[&[&str]])] = &[
    (
        is(FailureClass::KeychainLocked),
        &[
            &["keychain is locked"],
            &["security command failed (exit code 36)"],
            // Of the keychain's own interface, beside a `status` that takes the login for absent.
            &["secitemcopymatching failed"],
        ],
    ),
    (
        is(FailureClass::IdeMissing),
        &[
            &["no cursor ide installation found"],
            // An older wrapper says how to get the editor, and not that it is missing.
            &["cursor-installer --update"],
        ],
    ),
    (
        is(FailureClass::UsageLimit),
        &[
            &["hit your usage limit"],
            &["usage limits will reset"],
            &["set a spend limit"],
            &["actionrequirederror:", "usage limit"],
        ],
    ),
    (
        is(FailureClass::ModelUnavailable),
        &[&["cannot use this model"], &["ai model not found"]],
    ),
    (
        is(FailureClass::AuthRequired),
        &[
            &["authentication required"],
            &[KEY_REFUSED],
            &["connecterror:", "[unauthenticated]"],
        ],
    ),
    (
        is(FailureClass::PlanRestricted),
        &[
            &["named models unavailable"],
            // A model or a policy that is blocked, and whatever else only a person can change.
            &["actionrequirederror:"],
            &["connecterror:", "[permission_denied]"],
        ],
    ),
    (Told::Unnamed, &[&["nonretriableerror:"]]),
    (
        is(FailureClass::WorkspaceUntrusted),
        &[
            &["workspace trust required"],
            &["do you trust the contents of this directory"],
            &["working with untrusted contents"],
            &["can execute code and access files in this directory"],
            &["if you trust this directory"],
        ],
    ),
    (
        is(FailureClass::WorkspaceMissing),
        &[&["workspace directory does not exist"]],
    ),
    (
        // The temporary file of that name was another run's; on Windows, the file was another's to replace.
        is(FailureClass::ConfigInvalid { raced: true }),
        &[
            &["enoent", "rename", "cli-config.json"],
            &["eperm", "rename", "cli-config.json"],
            &["ebusy", "rename", "cli-config.json"],
        ],
    ),
    (
        is(FailureClass::ConfigInvalid { raced: false }),
        &[
            &["cli-config.json"],
            &[".cursor/cli.json"],
            &[".cursor\\cli.json"],
        ],
    ),
    (is(FailureClass::Capacity), &[&["resource_exhausted"]]),
    (
        is(FailureClass::Network),
        &[
            &["connection failed. check your internet connection"],
            &["connection lost, reconnecting"],
            &["connecterror:"],
            &["connect error "],
            &["retriableerror:"],
        ],
    ),
];

/// What a row means.
#[derive(Clone, Copy)]
enum Told {
    Class(FailureClass),
    /// The end of the run, of a kind that has no name here; nothing later in the table may call it one that
    /// passes.
    Unnamed,
}

const fn is(class: FailureClass) -> Told {
    Told::Class(class)
}

/// The class of a failure from what the CLI said, or `None` where it said nothing known.
///
/// Records of the stream, which a build of January 2026 repeats on standard error, are not read: they quote the
/// model and its tools.
#[must_use]
pub fn classify(said: &str) -> Option<FailureClass> {
    // Colours may begin and end in the middle of the words.
    let said = plain(said).to_lowercase();
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| !line.trim_start().starts_with("{\"type\""))
        .collect();
    let on_one_line = |words: &&[&str]| lines.iter().any(|line| words.iter().all(|word| says(line, word)));
    match TABLE.iter().find(|(_, texts)| texts.iter().any(on_one_line)) {
        Some((Told::Class(class), _)) => Some(*class),
        Some((Told::Unnamed, _)) | None => None,
    }
}

/// Whether these words are in the line, and not only the end of a longer one: a `NonRetriableError:` is no
/// `RetriableError:`.
fn says(line: &str, words: &str) -> bool {
    let a_word_begins = words.starts_with(char::is_alphanumeric);
    line.match_indices(words)
        .any(|(at, _)| !(a_word_begins && line[..at].ends_with(char::is_alphanumeric)))
}

/// Whether it is the key that keeps the CLI from working.
#[must_use]
pub(super) fn refuses_key(said: &str) -> bool {
    plain(said).to_lowercase().contains(KEY_REFUSED)
}

#[cfg(test)]
#[path = "failure_tests.rs"]
mod tests;
