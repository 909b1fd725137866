//! Silence that is over a limit, and silence that is not.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::time::Duration;

use fusion_cursor_native::turn::limits::{INACTIVITY_VARIABLE, LimitOptions, OpenTool};
use fusion_cursor_native::turn::{Cause, Limits, Taken, Wants};
use serde_json::json;
use turn::{ByHand, Eager, Stage, eventually, init, result, runs, shell_started, text, within};

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

/// Two limits, each of which would be broken if it were the other's.
#[tokio::test]
async fn the_first_line_and_the_lines_after_it_have_limits_of_their_own() {
    let slow_start = json!([{ "sleep": 1500 }, init(), result("x")]);
    let stage = Stage::new(&slow_start).limits(options(1000.0));
    assert_eq!(stage.run().await.unwrap().text, "x");

    let slow_middle = json!([init(), { "touch": "begun" }, { "sleep": 2500 }, result("x")]);
    let stage = Stage::new(&slow_middle).limits(LimitOptions {
        first_line_ms: Some(2000.0),
        ..options(20_000.0)
    });
    assert_eq!(stage.run().await.unwrap().text, "x");
}

#[tokio::test]
async fn a_slow_turn_may_take_any_time_as_a_whole() {
    let line = json!({ "line": { "type": "novel" }, "repeat": 40, "delayMs": 200 });
    let stage = Stage::new(&json!([line, result("x")])).limits(options(1600.0));
    let report = stage.run().await.unwrap();
    assert!(report.duration > Duration::from_secs(8), "{:?}", report.duration);
}

#[tokio::test]
async fn six_turns_that_stall_after_a_tool_are_each_ended_once() {
    let stalled = json!([
        init(), shell_started(1000),
        { "line": { "type": "tool_call", "subtype": "completed", "call_id": "c-1",
            "tool_call": { "shellToolCall": { "result": { "success": { "exitCode": 0 } } } } } },
        { "touch": "leader" }, { "linger": true },
    ]);
    let stages: Vec<_> = (0..6)
        .map(|_| Stage::new(&stalled).limits(options(1500.0)))
        .collect();
    let turns: Vec<_> = stages
        .iter()
        .map(|stage| stage.start(|control| Eager { control }))
        .collect();
    for (stage, (_control, task)) in stages.iter().zip(turns) {
        let failure = within("the turn", task).await.unwrap().unwrap_err();
        assert_eq!(
            failure.cause,
            Cause::InactivityTimeout,
            "no tool is open any more"
        );
        let calls = failure.partial.tool_calls;
        assert_eq!((calls.started, calls.completed, calls.abandoned), (1, 1, 0));
        assert!(!runs(stage.touched("leader").await));
    }
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
    assert_eq!(failure.to_string(), "Cursor CLI tool timeout: shell did not end");
    assert_eq!(failure.partial.tool_calls.abandoned, 1);
}

#[tokio::test]
async fn an_inactivity_limit_that_was_said_governs_open_tools_too() {
    let silent_tool = json!([init(), shell_started(3_600_000), { "touch": "leader" }, { "linger": true }]);
    let said = Stage::new(&silent_tool).limits(options(300.0));
    assert_eq!(said.run().await.unwrap_err().cause, Cause::InactivityTimeout);
    let mut by_variable = Stage::new(&silent_tool);
    by_variable.request.limits = Limits::new(&LimitOptions::default(), |name| {
        (name == INACTIVITY_VARIABLE).then(|| "300".into())
    });
    let failure = by_variable.run().await.unwrap_err();
    assert_eq!(failure.cause, Cause::InactivityTimeout);
    assert!(!runs(by_variable.touched("leader").await));
}

/// With neither said, the limit is ten minutes at least: not to be waited for, but to be seen not to strike.
#[tokio::test]
async fn a_tool_is_given_more_time_than_silence_is() {
    let tool = |timeout| OpenTool {
        own_timeout: Some(Duration::from_secs(timeout)),
    };
    let limits = turn::limits(LimitOptions::default());
    assert_eq!(limits.silence(Some(tool(700))), Duration::from_secs(730));
    assert_eq!(limits.silence(Some(tool(5))), Duration::from_secs(600));
    let mcp = json!({ "line": { "type": "tool_call", "subtype": "started", "call_id": "m-1",
        "tool_call": { "mcpToolCall": { "args": { "name": "srv-wait", "timeout": 99_999_999 } } } } });
    let stage = Stage::new(&json!([init(), mcp, { "linger": true }])).limits(LimitOptions {
        tool_ms: Some(300.0),
        ..options(20_000.0)
    });
    let failure = stage.run().await.unwrap_err();
    assert_eq!(
        failure.cause,
        Cause::ToolTimeout {
            tool: "srv-wait".into()
        }
    );
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

/// As when the event loop is blocked: the process is silent, however much of what it said waits to be taken.
#[tokio::test]
async fn a_consumer_that_takes_nothing_hides_no_silence() {
    let line = json!({ "type": "thinking", "subtype": "delta", "text": "${fill:4000}" });
    for (lines, after_result) in [(30, false), (100, false), (200, false), (200, true)] {
        let mut steps = vec![
            init(),
            json!({ "touch": "leader" }),
            json!({ "line": line, "repeat": lines }),
        ];
        if after_result {
            steps.push(result("done"));
        }
        steps.push(json!({ "linger": true }));
        let stage = Stage::new(&json!(steps)).limits(LimitOptions {
            exit_grace_ms: Some(100.0),
            // Long enough for a loaded machine to write all of it in.
            ..options(1000.0)
        });
        let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
        let (control, task) = stage.start(|_| ByHand { batches });
        within("a batch", taken.recv()).await.unwrap();
        let pid = stage.touched("leader").await;
        eventually("the process is ended", || !runs(pid)).await;
        control.taken(Taken::GoOn);
        while let Some(_batch) = within("the rest", taken.recv()).await {
            control.taken(Taken::GoOn);
        }
        match within("the turn", task).await.unwrap() {
            Ok(report) => assert!(after_result, "{lines} lines: {report:?}"),
            Err(failure) => {
                assert!(!after_result, "{lines} lines: {failure:?}");
                assert_eq!(failure.cause, Cause::InactivityTimeout, "{lines} lines");
            }
        }
    }
}

#[tokio::test]
async fn a_turn_without_a_consumer_of_events_sends_none() {
    let mut stage = Stage::new(&json!([init(), text("x"), result("x")]));
    stage.request.wants = Wants::Nothing;
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
