//! A host in which children are waited for by the system itself, so that a leader's number is soon another's. In a
//! program of its own, since that is a matter of the whole process.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use fusion_cursor_native::turn::limits::LimitOptions;
use serde_json::json;
use turn::{Stage, init, result, runs, text};

#[tokio::test]
async fn a_turn_ends_all_of_its_processes_where_nobody_can_wait_for_the_leader() {
    // SAFETY: no handler is installed that could run, and this program has no other use for the signal.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
    }
    let children = ["member", "session"].map(|kind| {
        json!({
            "start": [{ "ignore": ["SIGTERM"] }, { "touch": kind }, { "linger": true }],
            "as": kind, "hold": "none",
        })
    });
    let [member, session] = children;
    let stage = Stage::new(&json!([
        init(), member, session, { "waitFile": "member" }, { "waitFile": "session" }, text("x"), result("x"),
    ]))
    .limits(LimitOptions {
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    });
    let report = stage.run().await.unwrap();
    // SAFETY: as above.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
    assert_eq!(report.text, "x");
    assert!(report.leftovers.is_empty(), "{:?}", report.leftovers);
    for kind in ["member", "session"] {
        assert!(!runs(stage.touched(kind).await), "{kind} is gone");
    }
}
