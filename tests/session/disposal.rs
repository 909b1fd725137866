//! The end of a session, at any moment.

use std::time::Duration;

use fusion_cursor_native::bridge::Why;
use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::lock::KernelLock;
use fusion_cursor_native::mcp::Reason;
use fusion_cursor_native::turn::Cause;
use serde_json::{Value, json};

use crate::lease::{Place, eventually, runs, within};
use crate::support::{Stage, ask, ask_with, call_tool, dispose, stays};
use crate::turn::{ByHand, init, result};

fn staying() -> Value {
    json!({ "turn": [init(), { "touch": "runs" }, { "linger": true }] })
}

#[tokio::test]
async fn it_aborts_the_one_that_runs_and_rejects_all_others() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let stage = Stage::new(&tree, &staying());
    let session = stage.create(true).await;
    let running = ask(&session, "one");
    let waiting = [ask(&session, "two"), ask(&session, "three")];
    eventually("it runs", || stage.path("runs").exists()).await;
    let pid = std::fs::read_to_string(stage.path("runs")).unwrap();
    let entry: Value = serde_json::from_str(&tree.config().unwrap()).unwrap();
    let entry = entry["mcpServers"][&stage.key].clone();
    let twice = (session.dispose(), session.clone().dispose());
    let late = ask(&session, "four");
    for asked in waiting.into_iter().chain([late]) {
        let failure = asked.outcome().await.unwrap_err();
        assert_eq!(failure.cause, Cause::Disposed);
        assert_eq!(failure.to_string(), "Cursor session is disposed.");
        assert!(!failure.cause.retryable());
        assert_eq!(failure.partial.exit, None);
    }
    let (one, two) = within("both", async { tokio::join!(twice.0, twice.1) }).await;
    assert_eq!((one, two), (Ok(()), Ok(())));
    assert!(!runs(pid.trim().parse().unwrap()), "it is gone before all else");
    assert_eq!(running.outcome().await.unwrap_err().cause, Cause::Aborted);
    assert_eq!(tree.snapshot(), before);
    assert_eq!((stage.bridge_folders(), call_tool(&entry)), (0, None));
    assert_eq!(session.id(), None);
    dispose(&session).await;
    let failure = ask(&session, "five").outcome().await.unwrap_err();
    assert_eq!(failure.cause, Cause::Disposed);
}

#[tokio::test]
async fn the_server_stays_until_the_agent_is_gone() {
    let place = Place::new();
    let tree = place.repository("repo");
    let scenario = json!({ "turn": [
        { "ignore": ["SIGTERM"] }, init(), { "touch": "runs" }, { "linger": true },
    ] });
    let mut stage = Stage::new(&tree, &scenario);
    stage.limits.kill_grace_ms = Some(400.0);
    let session = stage.create(true).await;
    let running = ask(&session, "one");
    eventually("it runs", || stage.path("runs").exists()).await;
    let down = session.dispose();
    stays("its server is there", || tree.keys() == [stage.key.as_str()]).await;
    within("a disposal", down).await.unwrap();
    assert!(tree.keys().is_empty());
    assert_eq!(running.outcome().await.unwrap_err().cause, Cause::Aborted);
}

#[tokio::test]
async fn it_waits_for_no_consumer() {
    let place = Place::new();
    let tree = place.plain("folder");
    let stage = Stage::new(&tree, &json!({ "turn": [init(), result("done")] }));
    let session = stage.create(false).await;
    let (batches, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    let asked = ask_with(&session, "one", |_| ByHand { batches });
    let _never_taken = within("a batch", inbox.recv()).await.unwrap();
    dispose(&session).await;
    assert_eq!(asked.outcome().await.unwrap_err().cause, Cause::Aborted);
}

#[tokio::test]
async fn a_tool_may_do_it() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let stage = Stage::new(&tree, &staying());
    let session = stage.create(true).await;
    let entry: Value = serde_json::from_str(&tree.config().unwrap()).unwrap();
    let entry = entry["mcpServers"][&stage.key].clone();
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let disposed = session.clone();
    let instead = move || {
        let down = disposed.dispose();
        let _heard = tell.send(down);
    };
    assert!(stage.host.instead.set(Box::new(instead)).is_ok());
    let running = ask(&session, "one");
    eventually("it runs", || stage.path("runs").exists()).await;
    let caller = tokio::task::spawn_blocking(move || call_tool(&entry));
    let down = within("the call", told.recv()).await.unwrap();
    within("a disposal", down).await.unwrap();
    assert_eq!(running.outcome().await.unwrap_err().cause, Cause::Aborted);
    let _error = within("the caller", caller).await.unwrap();
    assert_eq!(*stage.host.cancelled.lock(), [Why::Disposed]);
    assert_eq!((tree.snapshot(), stage.bridge_folders()), (before, 0));
}

#[tokio::test]
async fn what_could_not_be_taken_out_is_told_and_tried_again() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let mut stage = Stage::new(&tree, &staying());
    stage.lock_timeout = Duration::from_millis(200);
    let session = stage.create(true).await;
    let folder = Folder::open(&tree.path).unwrap();
    let kernel = KernelLock::attempt(&folder).unwrap().unwrap();
    for _ in 0..2 {
        let error = within("a disposal", session.dispose()).await.unwrap_err();
        let problem = error.problem().cloned().unwrap();
        assert_eq!(problem.reason, Reason::LockTimeout, "{problem:?}");
        assert_eq!(stage.bridge_folders(), 0, "all else is gone");
    }
    assert_eq!(tree.keys(), [stage.key.as_str()]);
    drop(kernel);
    dispose(&session).await;
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_lock_that_somebody_holds_keeps_no_turn_from_its_end() {
    let place = Place::new();
    let tree = place.repository("repo");
    let stage = Stage::new(&tree, &staying());
    let session = stage.create(true).await;
    let folder = Folder::open(&tree.path).unwrap();
    let kernel = KernelLock::attempt(&folder).unwrap().unwrap();
    // It asks for its lease, and waits for the lock.
    let aborted = ask(&session, "one");
    stays("nothing is started", || !stage.path("runs").exists()).await;
    aborted.control.abort();
    let failure = aborted.outcome().await.unwrap_err();
    assert_eq!((&failure.cause, failure.partial.exit), (&Cause::Aborted, None));
    let asked = ask(&session, "two");
    let down = session.dispose();
    assert_eq!(asked.outcome().await.unwrap_err().cause, Cause::Aborted);
    drop(kernel);
    within("a disposal", down).await.unwrap();
    assert!(tree.keys().is_empty());
    assert!(!stage.path("runs").exists());
}

#[tokio::test]
async fn at_any_moment_nothing_is_left() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let plain = json!({ "turn": [init(), { "sleep": 5 }, result("done")] });
    for step in 0..24 {
        let stage = Stage::new(&tree, &plain);
        let session = stage.create(true).await;
        let asked = [ask(&session, "one"), ask(&session, "two")];
        tokio::time::sleep(Duration::from_millis(step * 2)).await;
        // Whether or not somebody waits for it.
        if step % 2 == 0 {
            dispose(&session).await;
        } else {
            drop(session.dispose());
        }
        for asked in asked {
            let outcome = asked.outcome().await;
            let is_fair = match &outcome {
                Ok(_) => true,
                Err(failure) => matches!(failure.cause, Cause::Aborted | Cause::Disposed),
            };
            assert!(is_fair, "{step}: {outcome:?}");
        }
        eventually("all of it is gone", || stage.bridge_folders() == 0).await;
        assert_eq!(tree.snapshot(), before, "step {step}");
    }
}
