//! Turns that fail by what the CLI, or what launches it, says.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use fusion_cursor_native::turn::{Cause, Failure};
use serde_json::{Value, json};
use turn::{Stage, init, text};

async fn failed(steps: Value) -> Failure {
    *Stage::new(&steps).run().await.unwrap_err()
}

fn said(words: &str, to: &str) -> Value {
    json!({ "text": words, "to": to })
}

#[tokio::test]
async fn an_answer_in_plain_text_is_no_success_and_is_kept_for_those_who_look() {
    let failure = failed(json!([{ "text": "All done.\nI changed two files.\n" }])).await;
    assert_eq!(failure.cause, Cause::NoResult);
    assert_eq!(
        (failure.partial.text.as_str(), failure.partial.dropped.lines),
        ("", 2)
    );
}

#[tokio::test]
async fn what_a_launcher_says_of_a_refused_start_is_a_failed_start() {
    for to in ["stderr", "stdout"] {
        let failure = failed(json!([said("The command line is too long.\r\n", to), { "exit": 1 }])).await;
        assert!(
            matches!(failure.cause, Cause::SpawnFailed { transient: false, .. }),
            "{failure:?}"
        );
        let message = failure.to_string();
        assert!(message.starts_with("Cursor CLI spawn failed for "), "{message}");
        assert!(message.ends_with("The command line is too long."), "{message}");

        let words = "cursor-agent: fork: retry: Resource temporarily unavailable\n";
        let failure = failed(json!([said(words, to), { "exit": 254 }])).await;
        assert!(
            matches!(failure.cause, Cause::SpawnFailed { .. }) && failure.cause.retryable(),
            "{failure:?}"
        );
    }
}

#[tokio::test]
async fn but_not_what_a_running_agent_says_of_its_tools() {
    let words = said("make: Resource temporarily unavailable\n", "stderr");
    let failure = failed(json!([init(), text("half"), words, { "exit": 1 }])).await;
    assert!(
        matches!(failure.cause, Cause::Exited { class: None, .. }),
        "{failure:?}"
    );
    assert_eq!(failure.partial.text, "half");
}

#[tokio::test]
async fn a_key_is_in_no_word_of_the_command_line() {
    let key = "key_0123456789abcdef0123456789abcdef";
    let mut stage = Stage::new(&json!([
        { "echo": "echo.json" }, said(&format!("bad key {key}\n"), "stderr"), { "exit": 1 },
    ]));
    stage
        .request
        .environment
        .push(("CURSOR_API_KEY".into(), key.into()));
    let failure = stage.run().await.unwrap_err();
    let echo = turn::read_json(&stage.path("echo.json"));
    assert_eq!(echo["env"]["CURSOR_API_KEY"], key);
    assert!(!echo["argv"].to_string().contains(key));
    let shown = format!("{failure} {failure:?}");
    assert!(shown.contains("bad key ***") && !shown.contains(key), "{shown}");
}
