//! Finding and ending all processes of a host, with neither the host's help nor a runtime: as the guard does.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::time::Duration;

use fusion_cursor_native::process::mark;
use fusion_cursor_native::process::survey::Lineage;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use turn::{Eager, Stage, eventually, runs};

/// Each test ends all that this host has started.
static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());

fn child(bond: &str, name: &str) -> Value {
    json!({ "start": [{ "ignore": ["SIGTERM"] }, { "touch": name }, { "linger": true }], "as": bond })
}

/// A turn with a process in every place that one can go to.
fn spread() -> Stage {
    Stage::new(&json!([
        { "ignore": ["SIGTERM"] },
        child("member", "member"), child("group", "group"), child("session", "session"), child("daemon", "daemon"),
        { "waitFile": "member" }, { "waitFile": "group" }, { "waitFile": "session" }, { "waitFile": "daemon" },
        { "touch": "leader" }, { "linger": true },
    ]))
}

#[tokio::test]
async fn all_of_a_host_is_found_and_ended_wherever_it_went() {
    let _one = ONE_AT_A_TIME.lock().await;
    let stage = spread();
    let (_control, task) = stage.start(|control| Eager { control });
    let mut pids = vec![stage.touched("leader").await];
    for name in ["member", "group", "session", "daemon"] {
        pids.push(stage.touched(name).await);
    }
    let mut lineage = Lineage::of_host(mark::host(), Vec::new());
    let mut found: Vec<u32> = lineage
        .look()
        .iter()
        .map(|one| one.id.pid.cast_unsigned())
        .collect();
    found.sort_unstable();
    let mut expected = pids.clone();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let ended =
        tokio::task::spawn_blocking(move || lineage.end(Duration::from_millis(100), Duration::from_secs(5)));
    assert_eq!(ended.await.unwrap(), []);
    eventually("all are gone", || pids.iter().all(|pid| !runs(*pid))).await;
    task.await.unwrap().unwrap_err();
}

#[tokio::test]
async fn turns_that_are_kept_and_other_hosts_are_left_alone() {
    let _one = ONE_AT_A_TIME.lock().await;
    let stage = Stage::new(
        &json!([child("session", "session"), { "waitFile": "session" }, { "touch": "leader" }, { "linger": true }]),
    );
    let (control, task) = stage.start(|control| Eager { control });
    let leader = stage.touched("leader").await;
    let session = stage.touched("session").await;
    let environment = std::fs::read(format!("/proc/{leader}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let own = environment
        .split('\0')
        .find_map(|one| one.strip_prefix("FUSION_CURSOR_TURN="));
    let number = own.unwrap().rsplit('.').next().unwrap().parse().unwrap();
    let none = Duration::ZERO;
    assert_eq!(Lineage::of_host(mark::host(), vec![number]).end(none, none), []);
    let almost = &mark::host()[..mark::host().len() - 1];
    assert_eq!(Lineage::of_host(almost, Vec::new()).end(none, none), []);
    assert!(runs(leader) && runs(session));
    control.abort();
    task.await.unwrap().unwrap_err();
    assert_eq!(
        Lineage::of_host(mark::host(), Vec::new()).end(none, Duration::from_secs(5)),
        []
    );
}
