//! Trees of processes, and many of them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::time::Duration;

use fusion_cursor_native::turn::limits::LimitOptions;
use fusion_cursor_native::turn::{Cause, Taken};
use serde_json::json;
use turn::{ByHand, Eager, Stage, eventually, init, is_zombie, result, runs, text, within};

/// A shell that waits for the agent, which has a child that spins.
fn wrapped() -> Stage {
    let mut stage = Stage::new(&json!([
        init(),
        { "start": [{ "touch": "spinner" }, { "text": "", "repeat": 1_000_000_000_000_u64 }],
          "hold": "none" },
        { "waitFile": "spinner" }, { "touch": "agent" }, { "linger": true },
    ]));
    let agent = stage.request.binary.take().unwrap();
    let script = format!(
        "#!/bin/sh\necho $$ > '{}.new' && mv '{0}.new' '{0}'\n'{agent}' \"$@\"\nexit $?\n",
        stage.path("shell").display()
    );
    stage.agent_is(&script);
    stage.limits(LimitOptions {
        first_line_ms: Some(20_000.0),
        inactivity_ms: Some(20_000.0),
        kill_grace_ms: Some(500.0),
        ..LimitOptions::default()
    })
}

async fn whole_tree(stage: &Stage) -> [u32; 3] {
    [
        stage.touched("shell").await,
        stage.touched("agent").await,
        stage.touched("spinner").await,
    ]
}

async fn all_gone(pids: [u32; 3]) {
    for pid in pids {
        eventually("all of the tree is gone", || !runs(pid)).await;
    }
    eventually("its leader is reaped", || !is_zombie(pids[0])).await;
}

#[tokio::test]
async fn a_wrapper_its_agent_and_a_spinning_grandchild_go_with_an_abort() {
    let stage = wrapped();
    let (control, task) = stage.start(|control| Eager { control });
    let pids = whole_tree(&stage).await;
    control.abort();
    within("the turn", task).await.unwrap().unwrap_err();
    all_gone(pids).await;
}

#[tokio::test]
async fn and_with_a_limit() {
    let mut stage = wrapped();
    stage.request.limits = turn::limits(LimitOptions {
        inactivity_ms: Some(1500.0),
        kill_grace_ms: Some(500.0),
        ..LimitOptions::default()
    });
    let (_control, task) = stage.start(|control| Eager { control });
    let pids = whole_tree(&stage).await;
    let failure = within("the turn", task).await.unwrap().unwrap_err();
    assert_eq!(failure.cause, Cause::InactivityTimeout);
    all_gone(pids).await;
}

#[tokio::test]
async fn and_with_a_turn_that_is_dropped() {
    let stage = wrapped();
    let (_control, task) = stage.start(|control| Eager { control });
    let pids = whole_tree(&stage).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    all_gone(pids).await;
}

/// All that a pipe can hold is in it when the agent exits; a child of it keeps the pipe open, and the consumer
/// is slower than both.
#[tokio::test]
async fn what_was_written_before_the_end_is_read_though_a_child_holds_the_pipe() {
    let piece = text(&"x".repeat(2000));
    let stage = Stage::new(&json!([
        { "start": [{ "touch": "child" }, { "linger": true }] }, { "waitFile": "child" }, init(),
        { "line": piece["line"], "repeat": 400, "write": "whole" }, result("x"),
    ]));
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    let mut events = 0;
    while let Some(batch) = within("a batch", taken.recv()).await {
        events += batch.len();
        tokio::time::sleep(Duration::from_millis(20)).await;
        control.taken(Taken::GoOn);
    }
    let report = within("the turn", task).await.unwrap().unwrap();
    assert_eq!((report.text.len(), events), (800_000, 402));
    assert!(report.duration < Duration::from_secs(8), "the drain is bounded");
    assert!(!runs(stage.touched("child").await));
}
