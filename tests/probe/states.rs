//! What a probe makes of the answers to `--version` and `status`.

use std::time::Duration;

use fusion_cursor_native::cli::probe::probe;
use fusion_cursor_native::cli::verdict::{BinaryStatus, REASON, State};
use serde_json::{Value, json};

use crate::support::{AGENT, Machine, SCANT, TIGHT, VERSION, reason, within};

const KEYCHAIN: &str =
    "Error: Your macOS login keychain is locked.\nRun security unlock-keychain and try again.\n";

fn out(text: &str) -> Value {
    json!({ "text": text })
}

fn err(text: &str) -> Value {
    json!({ "text": text, "to": "stderr" })
}

/// The agent, with these steps for its `status`.
async fn with_status(steps: Value) -> BinaryStatus {
    let mut machine = Machine::new();
    machine.stand_in("one/cursor-agent", &json!({ "turn": [], "status": steps }));
    machine.probe().await
}

/// The agent, with these steps for its `--version`.
async fn with_version(steps: Value) -> BinaryStatus {
    let mut machine = Machine::new();
    machine.stand_in("one/cursor-agent", &json!({ "turn": [], "version": steps }));
    machine.probe().await
}

#[tokio::test]
async fn the_login_is_what_the_json_says_behind_any_noise() {
    let login = r#"{"status":"authenticated","isAuthenticated":true,"userInfo":{"email":"a@b.co"}}"#;
    let pretty = "{\n  \"status\": \"authenticated\",\n  \"isAuthenticated\": true\n}\n";
    for text in [
        login.to_owned(),
        pretty.replace('\n', "\r\n"),
        format!("\u{FEFF}A new version is available [2026.09.01]\r\n{login}\r\n"),
        format!("[dotenv@17] injecting env (0) from .env {{tip: x}}\n{login}\nDone in 1 s.\n"),
        format!("\u{1b}[2K\u{1b}[GChecking authentication status...\n\u{1b}[32m{login}\u{1b}[0m\n"),
    ] {
        let status = with_status(json!([out(&text)])).await;
        assert_eq!(status.state, State::Ready, "for {text:?}: {status:?}");
        assert_eq!(status.reason, None);
    }
}

#[tokio::test]
async fn logged_out_is_told_with_what_to_do() {
    let status = with_status(json!([out(
        r#"{"status":"unauthenticated","isAuthenticated":false,"message":"Not logged in"}"#
    )]))
    .await;
    assert_eq!(status.state, State::Unauthenticated);
    assert_eq!(status.version.as_deref(), Some(VERSION));
    assert!(reason(&status).contains("`cursor-agent login`"), "{status:?}");
}

#[tokio::test]
async fn an_old_build_that_rejects_the_format_is_read_from_its_text() {
    for (said, state) in [
        ("Not logged in", State::Unauthenticated),
        (" ✓ Logged in as you@example.com", State::Ready),
        ("You are not authenticated", State::Unauthenticated),
    ] {
        let machine = Machine::new();
        let body = format!(
            "case \"$*\" in --version) echo {VERSION};; status) echo '{said}';; *) echo \"error: unknown option '--format'\" >&2; exit 1;; esac"
        );
        machine.script("one/cursor-agent", &body);
        let status = machine.probe().await;
        assert_eq!(status.state, state, "for {said:?}: {status:?}");
    }
}

#[tokio::test]
async fn a_key_beside_a_logged_out_account_is_no_hard_no() {
    let mut machine = Machine::new();
    machine.script("one/cursor-agent", &AGENT.replace("true", "false"));
    machine.set("CURSOR_API_KEY", "key_0123456789abcdef0123456789abcdef");
    let status = machine.probe().await;
    assert_eq!(status.state, State::Unauthenticated);
    assert!(reason(&status).contains("CURSOR_API_KEY is set"), "{status:?}");
    assert!(reason(&status).contains("not verified"), "{status:?}");
    assert!(!reason(&status).contains("0123456789"), "{status:?}");
}

#[tokio::test]
async fn a_status_that_tells_nothing_is_unknown_and_not_logged_out() {
    let cases = [
        (
            json!([err("TypeError: x is not a function\n"), { "exit": 1 }]),
            "x is not a function",
        ),
        (json!([{ "raise": "SIGABRT" }]), "SIGABRT"),
        (json!([]), "could not be read"),
        (json!([out("┌──┐\n│ hello │\n└──┘\n")]), "hello"),
        (json!([out(r#"{"loggedOn":true}"#)]), "could not be read"),
        (json!([out("no subscription\n")]), "no subscription"),
    ];
    for (steps, why) in cases {
        let status = with_status(steps).await;
        assert_eq!(status.state, State::AuthUnknown, "for {why}: {status:?}");
        assert!(status.state.available());
        assert!(reason(&status).contains(why), "for {why}: {status:?}");
    }
}

#[tokio::test]
async fn a_status_that_hangs_is_unknown_in_bounded_time() {
    let mut machine = Machine::new();
    machine.limit = TIGHT;
    machine.stand_in(
        "one/cursor-agent",
        &json!({ "turn": [], "status": [{ "ignore": ["SIGTERM"] }, { "linger": true }] }),
    );
    let status = machine.probe().await;
    assert_eq!(status.state, State::AuthUnknown, "{status:?}");
    assert!(reason(&status).contains("no answer within 2000 ms"), "{status:?}");
    // Killed at once: no time of grace comes on top.
    assert!(
        status.duration < TIGHT + Duration::from_millis(2500),
        "{:?}",
        status.duration
    );
}

#[tokio::test]
async fn a_locked_keychain_is_its_own_state_whoever_says_it_and_however() {
    let said = [
        with_version(json!([err(KEYCHAIN), { "exit": 1 }])).await,
        with_version(json!([out(KEYCHAIN), { "exit": 1 }])).await,
        with_status(json!([err(KEYCHAIN), { "exit": 1 }])).await,
        with_status(json!([
            err("Security command failed (exit code 36)\n"),
            out(r#"{"isAuthenticated":false}"#),
        ]))
        .await,
    ];
    for status in said {
        assert_eq!(status.state, State::KeychainLocked, "{status:?}");
        assert!(status.state.available() && status.program.is_some());
        assert!(reason(&status).contains("security unlock-keychain"), "{status:?}");
    }
}

#[tokio::test]
async fn colours_inside_the_words_hide_no_state() {
    let said = "\u{1b}[31mError: Your macOS login \u{1b}[1mkeychain\u{1b}[22m is locked.\u{1b}[0m\n";
    let status = with_version(json!([err(said), { "exit": 1 }])).await;
    assert_eq!(status.state, State::KeychainLocked, "{status:?}");
    let denied = json!([
        err("SecItemCopyMatching failed -50\n"),
        out(r#"{"isAuthenticated":false}"#)
    ]);
    assert_eq!(with_status(denied).await.state, State::KeychainLocked);
}

#[tokio::test]
async fn a_login_on_standard_error_is_read_whatever_is_on_the_other_one() {
    let login = err(r#"{"isAuthenticated":true}"#);
    for (said, state) in [
        ("", State::Ready),
        ("Checking authentication status...\n", State::Ready),
        (r#"{"isAuthenticated":false}"#, State::Unauthenticated),
        (
            r#"{"isAuthenticated":false}{"isAuthenticated":true}"#,
            State::AuthUnknown,
        ),
    ] {
        let status = with_status(json!([login, out(said)])).await;
        assert_eq!(status.state, state, "for {said:?}: {status:?}");
    }
}

#[tokio::test]
async fn a_key_that_the_cli_refuses_is_not_called_a_key_that_may_work() {
    let mut machine = Machine::new();
    let said = "⚠ Warning: The provided API key is invalid.\nThe API key was loaded from the CURSOR_API_KEY environment variable.\n";
    machine.stand_in(
        "one/cursor-agent",
        &json!({ "turn": [], "status": [err(said), { "exit": 1 }] }),
    );
    machine.set("CURSOR_API_KEY", "k");
    let status = machine.probe().await;
    assert_eq!(status.state, State::Unauthenticated, "{status:?}");
    assert!(reason(&status).contains("key is not valid"), "{status:?}");
    assert!(!reason(&status).contains("may work"), "{status:?}");
}

#[tokio::test]
async fn the_very_key_that_was_given_is_told_nowhere_whatever_it_looks_like() {
    let key = "correct horse battery";
    for command in ["version", "status", "models"] {
        let mut machine = Machine::new();
        let said = format!("Error: no account for {key} at /x/{key}/y\n");
        let scenario = json!({ "turn": [], command: [err(&said), { "exit": 1 }] });
        let agent = machine.stand_in("one/cursor-agent", &scenario);
        machine.set("CURSOR_AUTH_TOKEN", key);
        let told = format!(
            "{:?} {:?}",
            machine.probe().await,
            machine.models(agent.to_str().unwrap()).await
        );
        assert!(told.contains("no account for ***"), "for {command}: {told}");
        assert!(!told.contains("horse"), "for {command}: {told}");
    }
}

#[tokio::test]
async fn a_version_before_a_hang_counts() {
    let mut machine = Machine::new();
    machine.limit = TIGHT;
    let scenario = json!({ "turn": [], "version": [out("2026.07.08-0c04a8a\n"), { "linger": true }] });
    machine.stand_in("one/cursor-agent", &scenario);
    assert_eq!(machine.probe().await.state, State::Ready);
}

#[tokio::test]
async fn a_keychain_error_before_a_hang_is_not_lost() {
    for command in ["version", "status"] {
        let mut machine = Machine::new();
        machine.limit = TIGHT;
        let scenario = json!({ "turn": [], command: [err(KEYCHAIN), { "linger": true }] });
        machine.stand_in("one/cursor-agent", &scenario);
        let status = machine.probe().await;
        assert_eq!(status.state, State::KeychainLocked, "for {command}: {status:?}");
    }
}

#[tokio::test]
async fn a_missing_editor_that_status_tells_of_is_its_own_state() {
    let status = with_status(json!([err("Error: No Cursor IDE installation found.\n"), { "exit": 1 }])).await;
    assert_eq!(status.state, State::IdeMissing);
}

#[tokio::test]
async fn the_version_is_the_agents_own_line_and_no_other() {
    for (steps, version) in [
        (json!([out("\n2026.07.08-0c04a8a\n")]), "2026.07.08-0c04a8a"),
        (json!([err("2026.07.08-0c04a8a\n")]), "2026.07.08-0c04a8a"),
        (
            json!([
                err("Warning: 2026.01.01-aaaaaaa is out of date, 2026.09.09-bbbbbbb is available\n"),
                out("2026.07.08-0c04a8a\n"),
            ]),
            "2026.07.08-0c04a8a",
        ),
    ] {
        let status = with_version(steps).await;
        assert_eq!(status.version.as_deref(), Some(version), "{status:?}");
    }
}

#[tokio::test]
async fn an_errors_text_is_never_a_version() {
    for steps in [
        json!([err("error: unknown option '--version'\n"), { "exit": 2 }]),
        json!([out("2026.07.08-0c04a8a\n"), { "exit": 2 }]),
        json!([out("  ____\n / ___|   _ _ __ ___  ___  _ __\n")]),
        json!([out("Update available: 2026.07.08-0c04a8a\n")]),
    ] {
        let status = with_version(steps.clone()).await;
        assert!(!status.state.available(), "for {steps}: {status:?}");
        assert_eq!(status.version, None, "for {steps}");
    }
}

#[tokio::test]
async fn a_version_that_dies_in_its_loader_is_there_but_not_runnable_and_says_why() {
    let said = "dlopen(/opt/x/file_service.node, 0x0001): code signature not valid: library load denied by system policy";
    let status = with_version(json!([err(said), { "exit": 1 }])).await;
    assert_eq!(status.state, State::NotRunnable);
    assert!(
        reason(&status).contains("library load denied by system policy"),
        "{status:?}"
    );
    assert!(!status.state.available());
}

#[tokio::test]
async fn what_cannot_be_started_is_not_runnable_and_says_why() {
    for (content, mode, why) in [
        (
            &b"#!/no/such/interpreter\n"[..],
            0o755,
            "interpreter or loader does not exist (ENOENT)",
        ),
        (b"#!/usr/bin/env no-such-node\n", 0o755, "no-such-node"),
        (b"#!/bin/sh\n", 0o644, "EACCES"),
        (b"\x7fELF\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0o755, "ENOEXEC"),
    ] {
        let machine = Machine::new();
        let program = machine.file("program", content, mode);
        let status = machine.probe_configured(program.to_str().unwrap()).await;
        assert_eq!(status.state, State::NotRunnable, "for {why}: {status:?}");
        assert!(reason(&status).contains(why), "for {why}: {status:?}");
    }
    let machine = Machine::new();
    let script = machine.file("cursor-agent.CMD", "@echo off\r\nnode index.js %*\r\n", 0o755);
    let (_, status) = machine.validate(script.to_str().unwrap()).await;
    assert!(
        status.diagnostics[0].ends_with("is no program for this system (ENOEXEC)"),
        "{status:?}"
    );
    let status = machine.probe_configured(&machine.text("one")).await;
    assert_eq!(status.state, State::NotRunnable);
    assert!(reason(&status).contains("is a folder"), "{status:?}");
}

#[tokio::test]
async fn a_hang_of_version_is_not_runnable() {
    let mut machine = Machine::new();
    machine.limit = SCANT;
    machine.stand_in(
        "one/cursor-agent",
        &json!({ "turn": [], "version": [{ "linger": true }] }),
    );
    let status = machine.probe().await;
    assert_eq!(status.state, State::NotRunnable);
    assert!(
        reason(&status).contains("no answer to --version within 300 ms"),
        "{status:?}"
    );
}

#[tokio::test]
async fn diagnostics_are_single_short_lines_without_control_characters_or_keys() {
    let digits = "0123456789ABCDEF";
    let said = format!(
        "\u{1b}[31mfatal\u{7}\u{1b}[0m: key_{digits} sk-{digits} --api-key {digits} Bearer {digits}\r\n{}",
        "more ".repeat(500)
    );
    let mut machine = Machine::new();
    let scenario = json!({ "turn": [], "version": [err(&said), { "exit": 1 }] });
    let deep = format!("{}/cursor-agent", "a long folder name/".repeat(20));
    let program = machine.stand_in(&deep, &scenario);
    let status = machine.probe_configured(program.to_str().unwrap()).await;
    for line in &status.diagnostics {
        assert!(line.chars().count() <= 180, "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(!line.contains(digits), "{line}");
    }
    assert!(reason(&status).contains("***"), "it was told: {status:?}");
    assert!(!reason(&status).contains(digits), "{status:?}");
    assert!(status.diagnostics[0].contains("exited with 1"), "{status:?}");
    assert!(reason(&status).chars().count() <= REASON);
    let missing = machine.probe_configured(&machine.text(&"x/".repeat(300))).await;
    assert!(
        missing.diagnostics[0].contains("ENOENT") || missing.diagnostics[0].contains("cannot be"),
        "{missing:?}"
    );
}

#[tokio::test]
async fn files_of_a_login_say_nothing() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", &AGENT.replace("true", "false"));
    machine.file(
        "home/.config/cursor/auth.json",
        r#"{"accessToken":"x","refreshToken":"y"}"#,
        0o600,
    );
    machine.file(
        "home/.cursor/cli-config.json",
        r#"{"authInfo":{"email":"a@b.co"}}"#,
        0o600,
    );
    assert_eq!(machine.probe().await.state, State::Unauthenticated);
}

#[tokio::test]
async fn home_xdg_and_locale_change_nothing() {
    let mut machine = Machine::new();
    machine.script("one/cursor-agent", AGENT);
    let plain = machine.probe().await;
    machine.set("XDG_CONFIG_HOME", &machine.text("home/.config"));
    for name in ["LANG", "LC_ALL", "LANGUAGE"] {
        machine.set(name, "de_DE.UTF-8");
    }
    let german = machine.probe().await;
    let mut request = machine.request(None);
    request.environment = machine.without(&["HOME", "XDG_CONFIG_HOME"]);
    let homeless = within("the probe", probe(request)).await;
    for other in [german, homeless] {
        assert_eq!(
            (other.state, other.version, other.diagnostics),
            (plain.state, plain.version.clone(), plain.diagnostics.clone())
        );
    }
}

#[tokio::test]
async fn programs_run_without_colours_in_a_neutral_folder_with_an_empty_stdin() {
    let mut machine = Machine::new();
    let seen = format!(
        "read -r line && exit 8\necho \"$NO_COLOR,$FORCE_COLOR,$CLICOLOR_FORCE,$TERM,$PWD\" >> '{}'\n{AGENT}",
        machine.text("seen")
    );
    machine.script("one/cursor-agent", &seen);
    machine.set("FORCE_COLOR", "3");
    machine.set("CLICOLOR_FORCE", "1");
    assert_eq!(machine.probe().await.state, State::Ready);
    assert_eq!(machine.lines("seen"), ["1,,,dumb,/", "1,,,dumb,/"]);
}
