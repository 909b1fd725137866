//! Every text of a failure that is known, and texts that are none.

use proptest::prelude::*;

use super::super::decorated::decorated;
use super::*;

/// As recorded or reported by those who drive the CLI.
const TEXTS: [(FailureClass, &[&str]); 12] = [
    (
        FailureClass::AuthRequired,
        &[
            "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.",
            "Error: Authentication required. Please run 'cursor-agent login' first, or set CURSOR_API_KEY.",
            "Error: Authentication required. Run 'agent login', pass --api-key/--auth-token, or set CURSOR_API_KEY/CURSOR_AUTH_TOKEN.",
            "⚠ Warning: The provided API key is invalid.\nThe API key was loaded from the CURSOR_API_KEY environment variable.",
            "ConnectError: [unauthenticated] Error",
        ],
    ),
    (
        FailureClass::KeychainLocked,
        &[
            "Error: Your macOS login keychain is locked.\nRun security unlock-keychain and try again.",
            "Security command failed (exit code 36)",
            "SecItemCopyMatching failed -50",
        ],
    ),
    (
        FailureClass::IdeMissing,
        &[
            "Error: No Cursor IDE installation found. Use 'cursor agent' or 'agent' to run the agent.",
            "Cursor is not installed. Run `cursor-installer --update`.",
        ],
    ),
    (
        FailureClass::UsageLimit,
        &[
            "ActionRequiredError: You've hit your usage limit Get Cursor Pro for more Agent usage, unlimited Tab, and more.",
            "Your usage limits will reset when your monthly cycle ends on 1/2/2027",
            "switch to a different model or set a Spend Limit",
            "Error: You've hit your usage limit\n  fallbackModel: x\n  spendLimitHit: false\n  chatMessage: y",
            "Connection lost, reconnecting to https://x (attempt 1)...\nActionRequiredError: Usage limit reached",
        ],
    ),
    (
        FailureClass::PlanRestricted,
        &[
            "ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade plans to continue.",
            "ActionRequiredError: Model Blocked",
            "ActionRequiredError: Review Data Policy",
            "ActionRequiredError: Something else",
            "ConnectError: [resource_exhausted] Error\nActionRequiredError: Something else",
            "ConnectError: [permission_denied] Error",
        ],
    ),
    (
        FailureClass::ModelUnavailable,
        &[
            "Cannot use this model: x. Available models: auto, gpt-5.3-codex-low",
            "AI Model Not Found",
        ],
    ),
    (
        FailureClass::WorkspaceUntrusted,
        &[
            "⚠ Workspace Trust Required\n\n  Cursor Agent can execute code",
            "  Cursor Agent can execute code and access files in this directory.",
            "  • Pass --trust, --yolo, or -f if you trust this directory",
            "Do you trust the contents of this directory?",
            "Working with untrusted contents",
        ],
    ),
    (
        FailureClass::WorkspaceMissing,
        &["Error: Workspace directory does not exist: C:\\definitely\\not\\here"],
    ),
    (
        FailureClass::Capacity,
        &[
            "ConnectError: [resource_exhausted] Error",
            "RetriableError: [resource_exhausted] Error",
            "T: [resource_exhausted] Error",
            "Connect error resource_exhausted: Error",
        ],
    ),
    (
        FailureClass::Network,
        &[
            "Connection failed. Check your internet connection.",
            "Connection lost, reconnecting to https://agentn.global.api5.cursor.sh (attempt 1)...\nRetry attempt 1...",
            "RetriableError: [invalid_argument] Error",
            "ConnectError: [unavailable] read ECONNRESET",
            "Connect error unavailable: Error",
        ],
    ),
    (
        FailureClass::ConfigInvalid { raced: false },
        &[
            "Invalid .cursor/cli.json: permissions.deny is required",
            "Invalid C:\\w\\.cursor\\cli.json: permissions.deny is required",
            "Error: /h/.cursor/cli-config.json: permissions.allow is required",
            "EACCES: permission denied, rename '/h/.cursor/cli-config.json.tmp' -> '/h/.cursor/cli-config.json'",
            "cannot rename a rule in cli-config.json\nENOENT: no such file or directory, open 'x'",
        ],
    ),
    (
        FailureClass::ConfigInvalid { raced: true },
        &[
            "ENOENT: no such file or directory, rename '/h/.cursor/cli-config.json.tmp' -> '/h/.cursor/cli-config.json'",
            "EPERM: operation not permitted, rename 'C:\\u\\.cursor\\cli-config.json.tmp' -> 'C:\\u\\.cursor\\cli-config.json'",
            "EBUSY: resource busy or locked, rename 'C:\\u\\.cursor\\cli-config.json.tmp' -> 'C:\\u\\.cursor\\cli-config.json'",
        ],
    ),
];

#[test]
fn every_known_text_has_its_class() {
    for (class, texts) in TEXTS {
        for said in texts {
            assert_eq!(classify(said), Some(class), "for {said:?}");
            let upper = said.to_uppercase();
            assert_eq!(classify(&upper), Some(class), "for {upper:?}");
        }
    }
}

#[test]
fn what_is_final_is_not_taken_for_what_passes() {
    for said in [
        "NonRetriableError: [internal] Error",
        "NonRetriableError: [resource_exhausted] Error",
        "RetriableError: [unavailable] Error\nNonRetriableError: [internal] Error",
    ] {
        assert_eq!(classify(said), None, "for {said:?}");
    }
}

#[test]
fn what_the_model_wrote_is_no_word_of_the_cli() {
    let record = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Authentication required. You've hit your usage limit."}]}}"#;
    assert_eq!(classify(record), None);
    assert_eq!(
        classify(&format!("{record}\nT: [resource_exhausted] Error\n")),
        Some(FailureClass::Capacity)
    );
}

#[test]
fn other_words_have_none() {
    for said in [
        "",
        "Segmentation fault",
        "TypeError: x is not a function",
        "Aborting operation...",
        "error: unknown option '--x'",
        "Retry attempt 1...",
        "No models available for this account.",
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
        C::WorkspaceMissing,
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
