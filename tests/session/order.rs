//! One turn at a time, in the order of the calls.

use std::fs;

use fusion_cursor_native::process::{Whose, call_off};
use fusion_cursor_native::session::Session;
use fusion_cursor_native::turn::Cause;
use serde_json::{Value, json};

use crate::lease::{Place, eventually, runs, within};
use crate::support::{Stage, ask, dispose, stays};
use crate::turn::result;

/// Each says by a file of its prompt's name that it runs, and waits for another one.
fn gated() -> Value {
    json!({ "resumed": [
        { "touch": "${stdin}" },
        { "waitFile": "go-${stdin}" },
        result("done"),
    ] })
}

async fn session(stage: &mut Stage<'_>) -> Session {
    // Every prompt goes alone then.
    stage.flags.resume = Some("s-0".into());
    stage.create(false).await
}

async fn runs_now(stage: &Stage<'_>, name: &str) -> u32 {
    eventually(&format!("{name} runs"), || stage.path(name).exists()).await;
    fs::read_to_string(stage.path(name))
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

#[tokio::test]
async fn each_begins_when_the_one_before_is_over_however_that_ends() {
    let place = Place::new();
    let tree = place.plain("folder");
    let mut stage = Stage::new(
        &tree,
        &json!({ "resumed": [
            { "touch": "${stdin}" },
            { "waitFile": "go-${stdin}" },
            { "exit": 7 },
        ] }),
    );
    let session = session(&mut stage).await;
    let names = ["a", "b", "c", "d"];
    let asked = names.map(|name| ask(&session, name));
    let mut before = None;
    for ((name, asked), next) in names.iter().zip(asked).zip(["b", "c", "d", "e"]) {
        let pid = runs_now(&stage, name).await;
        assert!(before.is_none_or(|before| !runs(before)));
        before = Some(pid);
        stays("one at a time", || !stage.path(next).exists()).await;
        stage.open(&format!("go-{name}"));
        let failure = asked.outcome().await.unwrap_err();
        assert!(matches!(failure.cause, Cause::Exited { .. }), "{failure:?}");
    }
    dispose(&session).await;
}

#[tokio::test]
async fn one_that_waits_leaves_at_once_and_the_others_keep_their_order() {
    let place = Place::new();
    let tree = place.plain("folder");
    let mut stage = Stage::new(&tree, &gated());
    let session = session(&mut stage).await;
    let [a, b, c] = ["a", "b", "c"].map(|name| ask(&session, name));
    runs_now(&stage, "a").await;
    b.control.abort();
    let failure = b.outcome().await.unwrap_err();
    assert_eq!(failure.cause, Cause::Aborted);
    assert_eq!(failure.partial.exit, None);
    stage.open("go-a");
    a.outcome().await.unwrap();
    runs_now(&stage, "c").await;
    stage.open("go-c");
    c.outcome().await.unwrap();
    assert!(!stage.path("b").exists(), "nothing was started for it");
    dispose(&session).await;
}

/// It stays until it is killed.
fn stubborn() -> Value {
    json!({ "resumed": [
        { "ignore": ["SIGTERM"] },
        { "touch": "${stdin}" },
        { "waitFile": "go-${stdin}" },
        result("done"),
    ] })
}

#[tokio::test]
async fn one_that_was_aborted_is_waited_for() {
    let place = Place::new();
    let tree = place.plain("folder");
    let mut stage = Stage::new(&tree, &stubborn());
    stage.limits.kill_grace_ms = Some(300.0);
    let session = session(&mut stage).await;
    let [a, b] = ["a", "b"].map(|name| ask(&session, name));
    let pid = runs_now(&stage, "a").await;
    a.control.abort();
    let waited = std::time::Instant::now();
    runs_now(&stage, "b").await;
    assert!(!runs(pid) && waited.elapsed().as_millis() >= 300);
    assert_eq!(a.outcome().await.unwrap_err().cause, Cause::Aborted);
    stage.open("go-b");
    b.outcome().await.unwrap();
    dispose(&session).await;
}

#[tokio::test]
async fn one_that_is_forgotten_is_aborted_and_waited_for() {
    let place = Place::new();
    let tree = place.plain("folder");
    let mut stage = Stage::new(&tree, &stubborn());
    stage.limits.kill_grace_ms = Some(300.0);
    let session = session(&mut stage).await;
    let [a, b, c] = ["a", "b", "c"].map(|name| ask(&session, name));
    let pid = runs_now(&stage, "a").await;
    // One in line, and the one that runs.
    for forgotten in [b, a] {
        forgotten.task.abort();
        assert!(forgotten.task.await.unwrap_err().is_cancelled());
    }
    runs_now(&stage, "c").await;
    assert!(!runs(pid) && !stage.path("b").exists());
    stage.open("go-c");
    c.outcome().await.unwrap();
    dispose(&session).await;
}

#[tokio::test]
async fn the_end_of_its_owner_aborts_all_of_them() {
    let place = Place::new();
    let tree = place.plain("folder");
    let mut stage = Stage::new(&tree, &gated());
    let session = session(&mut stage).await;
    let [a, b] = ["a", "b"].map(|name| ask(&session, name));
    let pid = runs_now(&stage, "a").await;
    call_off(Whose::Of(stage.owner));
    for asked in [a, b, ask(&session, "c")] {
        assert_eq!(asked.outcome().await.unwrap_err().cause, Cause::Aborted);
    }
    assert!(!runs(pid) && !stage.path("b").exists() && !stage.path("c").exists());
    within("a disposal", session.dispose()).await.unwrap();
}
