//! A host that is process 1, as Node often is in a container: it becomes the parent of every orphan, and nobody
//! else waits for those when they end.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

mod turn;

use std::process::{Command, Stdio};

use fusion_cursor_native::turn::limits::LimitOptions;
use serde_json::{Value, json};
use turn::{Eager, Stage, children, eventually, init, result, within};

const NAMESPACE: [&str; 5] = ["--user", "--map-current-user", "--pid", "--fork", "--mount-proc"];

/// Runs a test of this file as process 1, where that is permitted.
fn as_process_1(name: &str) {
    let mut try_it = Command::new("unshare");
    let permitted = try_it.args(NAMESPACE).arg("true").stderr(Stdio::null()).status();
    if !permitted.is_ok_and(|status| status.success()) {
        return;
    }
    let mut run = Command::new("unshare");
    run.args(NAMESPACE).arg(std::env::current_exe().unwrap());
    let ran = run
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

fn child(bond: &str, last: &Value) -> Value {
    json!({ "start": [{ "touch": bond }, last], "as": bond, "hold": "none" })
}

/// Orphans of every kind: some end by themselves while the turn goes on, the others have to be ended.
fn steps(end: &[Value]) -> Value {
    let bonds = ["member", "group", "session", "daemon"];
    let brief = bonds.iter().take(1).map(|bond| {
        let brief = json!({ "start": [{ "touch": "brief" }], "as": bond, "hold": "none" });
        json!({ "start": [brief, { "waitFile": "brief" }], "as": "member", "hold": "none" })
    });
    let lingering = bonds.iter().map(|bond| child(bond, &json!({ "linger": true })));
    let there = bonds
        .iter()
        .chain(&["brief"])
        .map(|name| json!({ "waitFile": name }));
    let all = std::iter::once(init()).chain(brief).chain(lingering).chain(there);
    Value::Array(all.chain(end.iter().cloned()).collect())
}

fn limits() -> LimitOptions {
    LimitOptions {
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    }
}

#[test]
fn orphans_of_a_turn_do_not_stay_as_zombies() {
    as_process_1("inside::no_zombie_is_left");
}

#[test]
fn children_that_are_not_ours_are_not_waited_for() {
    as_process_1("inside::other_children_stay_whoevers_they_are");
}

mod inside {
    use super::*;

    #[tokio::test]
    #[ignore = "it is run as process 1 by another test"]
    async fn no_zombie_is_left() {
        assert_eq!(std::process::id(), 1);
        let good = Stage::new(&steps(&[result("x")])).limits(limits());
        good.run().await.unwrap();
        eventually("no child is left after a good turn", || children().is_empty()).await;
        let aborted =
            Stage::new(&steps(&[json!({ "touch": "leader" }), json!({ "linger": true })])).limits(limits());
        let (control, task) = aborted.start(|control| Eager { control });
        aborted.touched("leader").await;
        control.abort();
        within("the turn", task).await.unwrap().unwrap_err();
        eventually("no child is left after an abort", || children().is_empty()).await;
    }

    #[tokio::test]
    #[ignore = "it is run as process 1 by another test"]
    async fn other_children_stay_whoevers_they_are() {
        let mut other = Command::new("/bin/true").spawn().unwrap();
        let zombie = other.id().to_string();
        let good = Stage::new(&steps(&[result("x")])).limits(limits());
        good.run().await.unwrap();
        assert_eq!(children(), [zombie]);
        assert!(
            other.wait().unwrap().success(),
            "its end is still there to be told"
        );
    }
}
