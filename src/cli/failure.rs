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

/// Each row: all of these words, in any case, make this class. The first row that fits counts, so the
/// narrow ones come first.
const TABLE: &[(&[&str], FailureClass)] = &[
    (&["keychain is locked"], FailureClass::KeychainLocked),
    (
        &["security command failed (exit code 36)"],
        FailureClass::KeychainLocked,
    ),
    // Of the keychain's own interface, beside a `status` that takes the login for absent.
    (&["secitemcopymatching failed"], FailureClass::KeychainLocked),
    (&["no cursor ide installation found"], FailureClass::IdeMissing),
    (&["hit your usage limit"], FailureClass::UsageLimit),
    (&["named models unavailable"], FailureClass::PlanRestricted),
    (
        &["actionrequirederror:", "model blocked"],
        FailureClass::PlanRestricted,
    ),
    (
        &["actionrequirederror:", "review data policy"],
        FailureClass::PlanRestricted,
    ),
    (&["cannot use this model"], FailureClass::ModelUnavailable),
    (&["authentication required"], FailureClass::AuthRequired),
    (&[KEY_REFUSED], FailureClass::AuthRequired),
    (&["workspace trust required"], FailureClass::WorkspaceUntrusted),
    (
        &["do you trust the contents of this directory"],
        FailureClass::WorkspaceUntrusted,
    ),
    (
        &["working with untrusted contents"],
        FailureClass::WorkspaceUntrusted,
    ),
    (&["resource_exhausted"], FailureClass::Capacity),
    (
        &["cli-config.json", "rename"],
        FailureClass::ConfigInvalid { raced: true },
    ),
    (&["cli-config.json"], FailureClass::ConfigInvalid { raced: false }),
    (
        &[".cursor/cli.json"],
        FailureClass::ConfigInvalid { raced: false },
    ),
    (
        &[".cursor\\cli.json"],
        FailureClass::ConfigInvalid { raced: false },
    ),
    (
        &["connection failed. check your internet connection"],
        FailureClass::Network,
    ),
    (&["connection lost, reconnecting"], FailureClass::Network),
    (&["connecterror:"], FailureClass::Network),
    (&["retriableerror:"], FailureClass::Network),
    (&["actionrequirederror:"], FailureClass::PlanRestricted),
];

/// The class of a failure from what the CLI said, or `None` where it said nothing known.
#[must_use]
pub fn classify(said: &str) -> Option<FailureClass> {
    // Colours may begin and end in the middle of the words.
    let said = plain(said).to_lowercase();
    TABLE
        .iter()
        .find(|(words, _)| words.iter().all(|word| said.contains(word)))
        .map(|(_, class)| *class)
}

/// Whether it is the key that keeps the CLI from working.
#[must_use]
pub(super) fn refuses_key(said: &str) -> bool {
    plain(said).to_lowercase().contains(KEY_REFUSED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decorated::decorated;
    use super::*;

    #[test]
    fn every_known_text_has_its_class() {
        use FailureClass as C;
        let table = [
            (
                "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY.",
                C::AuthRequired,
            ),
            (
                "⚠ Warning: The provided API key is invalid.\nThe API key was loaded from the …",
                C::AuthRequired,
            ),
            (
                "Error: Your macOS login keychain is locked.\nRun security unlock-keychain",
                C::KeychainLocked,
            ),
            ("Security command failed (exit code 36)", C::KeychainLocked),
            ("SecItemCopyMatching failed -50", C::KeychainLocked),
            (
                "Error: No Cursor IDE installation found. Use 'cursor agent' or 'agent'.",
                C::IdeMissing,
            ),
            (
                "ActionRequiredError: You've hit your usage limit Get Cursor Pro",
                C::UsageLimit,
            ),
            (
                "ActionRequiredError: Named models unavailable Free plans can only use Auto.",
                C::PlanRestricted,
            ),
            ("ActionRequiredError: Model Blocked", C::PlanRestricted),
            ("ActionRequiredError: Something else", C::PlanRestricted),
            (
                "Cannot use this model: x. Available models: auto, y",
                C::ModelUnavailable,
            ),
            (
                "⚠ Workspace Trust Required\n\n  Cursor Agent can execute code",
                C::WorkspaceUntrusted,
            ),
            (
                "Do you trust the contents of this directory?",
                C::WorkspaceUntrusted,
            ),
            ("ConnectError: [resource_exhausted] Error", C::Capacity),
            ("T: [resource_exhausted] Error", C::Capacity),
            ("Connect error resource_exhausted: Error", C::Capacity),
            ("Connection failed. Check your internet connection.", C::Network),
            ("RetriableError: [invalid_argument] Error", C::Network),
            (
                "Invalid .cursor/cli.json: permissions.deny is required",
                C::ConfigInvalid { raced: false },
            ),
            (
                "ENOENT: no such file or directory, rename '/h/.cursor/cli-config.json.tmp' -> …",
                C::ConfigInvalid { raced: true },
            ),
        ];
        for (said, class) in table {
            assert_eq!(classify(said), Some(class), "for {said:?}");
        }
    }

    #[test]
    fn other_words_have_none() {
        for said in [
            "",
            "Segmentation fault",
            "TypeError: x is not a function",
            "Aborting operation...",
        ] {
            assert_eq!(classify(said), None, "for {said:?}");
        }
    }

    #[test]
    fn only_what_passes_by_itself_is_retryable() {
        use FailureClass as C;
        for class in [C::Capacity, C::Network, C::ConfigInvalid { raced: true }] {
            assert!(class.retryable(), "{class:?}");
        }
        for class in [
            C::AuthRequired,
            C::KeychainLocked,
            C::IdeMissing,
            C::UsageLimit,
            C::PlanRestricted,
            C::ModelUnavailable,
            C::WorkspaceUntrusted,
            C::ConfigInvalid { raced: false },
        ] {
            assert!(!class.retryable(), "{class:?}");
        }
    }

    proptest! {
        #[test]
        fn decoration_changes_nothing(
            keychain in decorated("Error: Your macOS login keychain is locked.\nRun security unlock-keychain\n"),
            login in decorated("Error: Authentication required. Please run 'agent login' first.\n"),
            key in decorated("Warning: The provided API key is invalid.\n"),
        ) {
            prop_assert_eq!(classify(&keychain), Some(FailureClass::KeychainLocked));
            prop_assert_eq!(classify(&login), Some(FailureClass::AuthRequired));
            prop_assert_eq!(classify(&key), Some(FailureClass::AuthRequired));
            prop_assert!(refuses_key(&key) && !refuses_key(&login));
        }
    }
}
