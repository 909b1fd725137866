//! What each fuzz target does with its bytes. `tests/fuzz_corpus.rs` does the same with the committed corpus.
#![allow(dead_code, reason = "each target uses one of them")]

use fusion_cursor_native::cli::auth::{format_was_rejected, parse_auth_status};
use fusion_cursor_native::cli::failure::{classify, not_runnable};
use fusion_cursor_native::cli::models::{Source, parse_models};
use fusion_cursor_native::cli::said::{DIAGNOSTIC_CHARS, diagnostic, plain};
use fusion_cursor_native::cli::unstarted::unstarted;
use fusion_cursor_native::cli::version::{agent_version, is_editor_version};

#[path = "config.rs"]
mod config;
#[path = "stream.rs"]
mod stream;

pub(crate) use config::config;
pub(crate) use stream::{events, lines};

/// One of the targets.
pub(crate) type Body = fn(&[u8]);

/// All of them, by their names.
pub(crate) const BODIES: [(&str, Body); 8] = [
    ("said", said),
    ("version", version),
    ("auth", auth),
    ("models", models),
    ("failure", failure),
    ("lines", lines),
    ("events", events),
    ("config", config),
];

/// Bytes as they come from a pipe.
fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(data).into_owned()
}

pub(crate) fn said(data: &[u8]) {
    let text = text(data);
    let once = plain(&text);
    assert_eq!(plain(&once), once, "plain twice is plain");
    assert!(!once.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
    let line = diagnostic(&text);
    assert!(line.chars().count() <= DIAGNOSTIC_CHARS);
    assert!(!line.contains(char::is_control));
    assert_eq!(line.trim(), line);
    if !line.ends_with('…') {
        assert_eq!(diagnostic(&line), line, "a diagnostic is its own diagnostic");
    }
}

/// Standard output, and behind the first NUL standard error.
pub(crate) fn version(data: &[u8]) {
    let text = text(data);
    let (stdout, stderr) = text.split_once('\0').unwrap_or((&text, ""));
    let version = agent_version(stdout, stderr);
    if let Some(version) = &version {
        assert_eq!(agent_version(version, "").as_ref(), Some(version));
        assert!(version.len() >= "2026.01.01-abcdef".len() && version.is_ascii());
    }
    assert_eq!(agent_version(&plain(stdout), &plain(stderr)), version);
    let _ = is_editor_version(stdout);
}

pub(crate) fn auth(data: &[u8]) {
    let text = text(data);
    let status = parse_auth_status(&text);
    assert_eq!(parse_auth_status(&plain(&text)), status);
    if let Some(email) = &status.email {
        assert!(email.contains('@') && !email.contains(char::is_whitespace));
    }
    if status.is_authenticated == Some(true) {
        assert!(text.len() >= "Logged in".len(), "a yes has its words");
    }
    let _ = format_was_rejected(&text);
}

pub(crate) fn models(data: &[u8]) {
    let text = text(data);
    let list = parse_models(&text);
    assert_eq!(parse_models(&plain(&text)), list);
    assert!(!list.empty_account || list.entries.is_empty());
    assert_eq!(
        list.source == Source::None,
        list.entries.is_empty() && !list.empty_account
    );
    let mut ids: Vec<&str> = list.entries.iter().map(|model| model.id.as_str()).collect();
    for model in &list.entries {
        assert!(!model.id.is_empty() && !model.id.starts_with('-') && !model.label.is_empty());
        assert!(!model.id.contains(|c: char| c.is_whitespace() || c.is_control()));
        assert!(!model.label.contains('\n'));
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), list.entries.len(), "each id once");
}

/// The exit code in the first byte, and what was said behind it.
pub(crate) fn failure(data: &[u8]) {
    let Some((code, said)) = data.split_first() else {
        return;
    };
    let said = text(said);
    assert_eq!(classify(&plain(&said)), classify(&said));
    assert_eq!(not_runnable(&said, Some(0)), None, "what ended with 0 did run");
    assert_eq!(unstarted(&said, Some(0)), None, "what ended with 0 was started");
    for code in [None, Some(i32::from(*code)), Some(-i32::from(*code))] {
        assert_eq!(not_runnable(&plain(&said), code), not_runnable(&said, code));
        assert_eq!(unstarted(&plain(&said), code), unstarted(&said, code));
    }
}
