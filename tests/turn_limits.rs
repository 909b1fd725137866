//! Silence that is over a limit, and silence that is not.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use fusion_cursor_native::turn::limits::LimitOptions;
use fusion_cursor_native::turn::{Cause, Taken};
use serde_json::json;
use turn::{ByHand, Eager, Stage, init, result, runs, shell_started, text, within};

fn options(inactivity_ms: f64) -> LimitOptions {
    LimitOptions {
        first_line_ms: Some(20_000.0),
        inactivity_ms: Some(inactivity_ms),
        kill_grace_ms: Some(500.0),
        ..LimitOptions::default()
    }
}

#[tokio::test]
async fn no_first_line_is_told_from_later_silence() {
    let stage = Stage::new(&json!([{ "touch": "leader" }, { "linger": true }])).limits(LimitOptions {
        first_line_ms: Some(300.0),
        ..options(20_000.0)
    });
    let failure = stage.run().await.unwrap_err();
    assert_eq!(failure.cause, Cause::FirstLineTimeout);
    assert_eq!(failure.to_string(), "Cursor CLI first-line timeout");
    assert!(!runs(stage.touched("leader").await));

    let stage = Stage::new(&json!([init(), text("half"), { "linger": true }])).limits(options(300.0));
    let failure = stage.run().await.unwrap_err();
    assert_eq!(failure.cause, Cause::InactivityTimeout);
    assert_eq!(failure.to_string(), "Cursor CLI inactivity timeout");
    assert_eq!(failure.partial.text, "half", "what came before is kept");
}

#[tokio::test]
async fn the_first_line_limit_covers_a_prompt_that_is_never_read() {
    let mut stage =
        Stage::with(&json!({ "stdin": "never", "turn": [{ "linger": true }] })).limits(LimitOptions {
            first_line_ms: Some(300.0),
            ..options(20_000.0)
        });
    stage.request.prompt = "x".repeat(1 << 20);
    assert_eq!(stage.run().await.unwrap_err().cause, Cause::FirstLineTimeout);
}

#[tokio::test]
async fn lines_of_every_kind_are_life_and_standard_error_is_not() {
    // Each pause is under the limit, all together are far over it.
    let pause = json!({ "sleep": 350 });
    let stage = Stage::new(&json!([
        init(), pause, { "text": "no json\n" }, pause, { "text": "\n" }, pause, { "line": { "type": "new" } }, pause,
        text("x"), pause, result("x"),
    ]))
    .limits(options(1500.0));
    assert_eq!(stage.run().await.unwrap().text, "x");

    let stage = Stage::new(
        &json!([init(), { "text": "still here\n", "to": "stderr", "repeat": 100, "delayMs": 50 }]),
    )
    .limits(options(500.0));
    assert_eq!(stage.run().await.unwrap_err().cause, Cause::InactivityTimeout);
}

#[tokio::test]
async fn bytes_that_never_become_a_line_are_no_life_however_many() {
    let endless = json!({ "text": "${fill:65536}", "repeat": 60_000, "write": "lines" });
    let stage = Stage::new(&json!([init(), endless])).limits(options(500.0));
    assert_eq!(stage.run().await.unwrap_err().cause, Cause::InactivityTimeout);
}

#[tokio::test]
async fn an_open_tool_call_has_its_own_limit_which_names_it() {
    let stage = Stage::new(&json!([init(), shell_started(1000), { "sleep": 900 }, result("x")])).limits(
        LimitOptions {
            tool_ms: Some(15_000.0),
            ..options(300.0)
        },
    );
    let report = stage.run().await.unwrap();
    assert_eq!((report.tool_calls.started, report.tool_calls.abandoned), (1, 1));

    let stage = Stage::new(&json!([init(), shell_started(1000), { "linger": true }])).limits(LimitOptions {
        tool_ms: Some(300.0),
        ..options(20_000.0)
    });
    let failure = stage.run().await.unwrap_err();
    assert_eq!(failure.cause, Cause::ToolTimeout { tool: "shell".into() });
}

#[tokio::test]
async fn the_time_that_a_consumer_takes_is_its_own() {
    let line = json!({ "type": "thinking", "subtype": "delta", "text": "${fill:4000}" });
    let stage =
        Stage::new(&json!([init(), { "line": line, "repeat": 400 }, result("done")])).limits(options(700.0));
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    // The first batch is held for longer than the limit, while the process waits for a free pipe.
    within("a batch", taken.recv()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
    control.taken(Taken::GoOn);
    while let Some(_batch) = within("the rest", taken.recv()).await {
        control.taken(Taken::GoOn);
    }
    assert_eq!(within("the turn", task).await.unwrap().unwrap().text, "done");
}

#[tokio::test]
async fn a_turn_without_a_consumer_of_events_sends_none() {
    let mut stage = Stage::new(&json!([init(), text("x"), result("x")]));
    stage.request.wants_events = false;
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (_control, task) = stage.start(|_| ByHand { batches });
    assert!(within("the end of batches", taken.recv()).await.is_none());
    assert_eq!(within("the turn", task).await.unwrap().unwrap().text, "x");
    let (control, task) = stage.start(|control| Eager { control });
    drop(control);
    within("the turn", task).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_slow_consumer_stops_the_reading_and_loses_nothing() {
    let line = json!({ "type": "thinking", "subtype": "delta", "text": "${n} ${fill:4000}" });
    let stage = Stage::new(
        &json!([init(), { "line": line, "repeat": 2000, "write": "lines" }, { "touch": "written" }, result("done")]),
    );
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    let first = within("a batch", taken.recv()).await.unwrap();
    let mut events = first.len();
    // 8 MB are written; while the first batch is held they cannot all get through the pipe.
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(!stage.path("written").exists(), "the process waits");
    assert!(taken.try_recv().is_err(), "one batch at a time");
    control.taken(Taken::GoOn);
    while let Some(batch) = within("the rest", taken.recv()).await {
        assert!(batch.weight() < 2 << 20, "what waits for the consumer is bounded");
        events += batch.len();
        control.taken(Taken::GoOn);
    }
    within("the turn", task).await.unwrap().unwrap();
    // init, 2000 pieces, the answer that only the result had, the result.
    assert_eq!(events, 2003);
}
