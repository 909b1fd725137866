//! How turns end, and that nothing of them is left.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::time::{Duration, Instant};

use fusion_cursor_native::cli::failure::FailureClass;
use fusion_cursor_native::process::{Exit, Owner, Whose, end_owned_by};
use fusion_cursor_native::turn::limits::LimitOptions;
use fusion_cursor_native::turn::{Cause, Taken};
use serde_json::{Value, json};
use turn::{ByHand, Eager, PATIENCE, Stage, eventually, init, is_zombie, result, runs, text, within};

/// A child that says where it is and then stays, whatever it is asked.
fn stubborn(as_: &str, hold: &str) -> Value {
    json!({
        "start": [{ "ignore": ["SIGTERM"] }, { "touch": "child" }, { "linger": true }],
        "as": as_, "hold": hold, "args": ["worker-server"],
    })
}

#[tokio::test]
async fn a_process_that_stays_after_its_result_is_ended_and_the_turn_is_good() {
    let stage = Stage::new(&json!([
        { "ignore": ["SIGTERM"] }, init(), stubborn("member", "both"), { "waitFile": "child" }, { "touch": "leader" },
        text("answer"), result("answer"), { "linger": true },
    ]))
    .limits(LimitOptions {
        exit_grace_ms: Some(100.0),
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    });
    let report = stage.run().await.unwrap();
    assert_eq!(report.text, "answer");
    assert_eq!(report.exit, Some(Exit::Signal(9)));
    for name in ["leader", "child"] {
        let pid = stage.touched(name).await;
        assert!(!runs(pid), "{name} is gone");
        eventually("it is reaped", || !is_zombie(pid)).await;
    }
}

/// Whoever reads what never ends must stop somewhere; a slow consumer must not put that off for ever.
#[tokio::test]
async fn a_process_that_talks_on_after_its_result_is_ended_too() {
    let chatter = json!({ "line": { "type": "thinking", "subtype": "delta", "text": "x" }, "repeat": 2000, "write": "whole" });
    let mut steps = vec![init(), result("answer")];
    steps.extend(vec![chatter; 2000]);
    let stage = Stage::new(&json!(steps)).limits(LimitOptions {
        exit_grace_ms: Some(200.0),
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    });
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    let slowly = tokio::spawn(async move {
        while taken.recv().await.is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            control.taken(Taken::GoOn);
        }
    });
    let report = within("the turn", task).await.unwrap().unwrap();
    assert_eq!(report.text, "answer");
    assert!(report.duration < Duration::from_secs(5), "{:?}", report.duration);
    slowly.await.unwrap();
}

#[tokio::test]
async fn a_member_that_outlives_its_leader_is_ended_too() {
    let stage = Stage::new(&json!([
        init(), stubborn("member", "none"), { "waitFile": "child" }, result("done"),
    ]))
    .limits(LimitOptions {
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    });
    let report = stage.run().await.unwrap();
    assert_eq!(report.exit, Some(Exit::Code(0)));
    assert!(!runs(stage.touched("child").await));
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_open_does_not_hold_the_turn() {
    let stage = Stage::new(&json!([
        init(), stubborn("session", "both"), { "waitFile": "child" }, text("last words"), result("last words"),
    ]))
    .limits(LimitOptions {
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    });
    let before = Instant::now();
    let report = stage.run().await.unwrap();
    assert_eq!(
        (report.text.as_str(), report.exit),
        ("last words", Some(Exit::Code(0)))
    );
    assert!(
        before.elapsed() < Duration::from_millis(1500),
        "nobody waits for more than the result"
    );
    assert!(!runs(stage.touched("child").await));
}

#[tokio::test]
async fn what_is_in_the_pipe_when_the_process_ends_is_read() {
    let stage = Stage::new(&json!([
        init(), { "line": text("x")["line"].clone(), "repeat": 400, "write": "whole" }, result("x"),
    ]));
    let (control, task) = stage.start(|control| Eager { control });
    let report = within("the turn", task).await.unwrap().unwrap();
    drop(control);
    assert_eq!(report.text.len(), 400);
}

#[tokio::test]
async fn one_cut_off_in_its_result_is_no_success() {
    let stage = Stage::new(&json!([
        init(), text("partial"), { "text": "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"${fill:65536}" },
    ]));
    let failure = stage.run().await.unwrap_err();
    assert_eq!(failure.cause, Cause::NoResult);
    assert_eq!(failure.partial.text, "partial");
    assert_eq!(failure.partial.dropped.lines, 1);
}

#[tokio::test]
async fn an_exit_code_comes_with_the_end_of_what_was_said() {
    let stage = Stage::new(&json!([
        init(), { "text": "${fill:40000}", "to": "stderr" }, { "text": "\nbröken\n", "to": "stderr" }, { "exit": 7 },
    ]));
    let failure = stage.run().await.unwrap_err();
    assert!(
        failure.to_string().starts_with("Cursor CLI exited 7: "),
        "{failure}"
    );
    assert!(failure.to_string().ends_with("bröken"));
    let tail = failure.stderr_tail.as_deref().unwrap();
    assert!(tail.len() <= 16 * 1024 && tail.ends_with("bröken\n"));
    assert_eq!(failure.partial.exit, Some(Exit::Code(7)));
    assert_eq!(failure.partial.session_id.as_deref(), Some("s-1"));
}

#[tokio::test]
async fn a_process_that_dies_before_it_read_the_prompt_says_why() {
    let mut stage = Stage::with(
        &json!({ "stdin": "never", "turn": [{ "text": "boom", "to": "stderr" }, { "exit": 7 }] }),
    );
    stage.request.prompt = "x".repeat(4 << 20);
    let failure = stage.run().await.unwrap_err();
    assert_eq!(failure.to_string(), "Cursor CLI exited 7: boom");
}

#[tokio::test]
async fn a_file_that_is_no_program_for_this_system_is_told_from_a_failed_one() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut stage = Stage::new(&json!([]));
    let program = stage.path("cursor-agent");
    let foreign = [b"\x7fELF\x02\x01\x01\0(garbage) (".as_slice(), &[0xB7; 64]].concat();
    std::fs::write(&program, foreign).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.request.binary = Some(program.to_str().unwrap().into());
    let failure = stage.run().await.unwrap_err();
    assert!(matches!(failure.cause, Cause::NotRunnable { .. }), "{failure:?}");
    assert!(failure.to_string().contains("ENOEXEC"), "{failure}");
    assert!(failure.partial.exit.is_none(), "no shell has stumbled over it");
}

#[tokio::test]
async fn a_signal_is_named() {
    let stage = Stage::new(&json!([init(), { "raise": "SIGKILL" }]));
    let failure = stage.run().await.unwrap_err();
    assert_eq!(failure.to_string(), "Cursor CLI exited SIGKILL: ");
}

#[tokio::test]
async fn a_reported_error_is_one_whatever_the_exit_code() {
    let line = json!({
        "type": "result", "subtype": "success", "is_error": true, "result": "Request timed out", "session_id": "s-1",
    });
    let stage = Stage::new(&json!([init(), { "line": line }]));
    let failure = stage.run().await.unwrap_err();
    assert_eq!(
        failure.to_string(),
        "Cursor CLI reported an error: Request timed out"
    );
    assert_eq!(failure.partial.text, "", "an error's text is no answer");
}

#[tokio::test]
async fn a_refusal_is_known_on_either_channel_and_with_either_exit_code() {
    for (to, code) in [("stderr", 0), ("stdout", 0), ("stderr", 1), ("stdout", 1)] {
        let stage =
            Stage::new(&json!([{ "text": "⚠ Workspace Trust Required\n", "to": to }, { "exit": code }]));
        let failure = stage.run().await.unwrap_err();
        let class = match &failure.cause {
            Cause::Exited { class, .. } => *class,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            class,
            Some(FailureClass::WorkspaceUntrusted),
            "on {to} with {code}"
        );
    }
}

#[tokio::test]
async fn an_abort_ends_the_turn_and_its_processes() {
    let stage = Stage::new(&json!([
        { "ignore": ["SIGTERM"] }, init(), text("so far"), stubborn("member", "both"), { "waitFile": "child" },
        { "touch": "leader" }, { "linger": true },
    ]))
    .limits(LimitOptions { kill_grace_ms: Some(100.0), ..LimitOptions::default() });
    let (control, task) = stage.start(|control| Eager { control });
    let leader = stage.touched("leader").await;
    eventually("the text is there", || control.so_far().text == "so far").await;
    control.abort();
    let failure = within("the turn", task).await.unwrap().unwrap_err();
    assert_eq!(failure.cause, Cause::Aborted);
    assert_eq!(failure.partial.text, "so far");
    assert!(!runs(leader) && !runs(stage.touched("child").await));
}

#[tokio::test]
async fn an_abort_before_the_start_starts_nothing() {
    let stage = Stage::new(&json!([{ "touch": "started" }, init(), result("x")]));
    let (control, controlled) = fusion_cursor_native::turn::control();
    control.abort();
    let consumer = Eager { control };
    let failure = fusion_cursor_native::turn::run(stage.request.clone(), controlled, consumer)
        .await
        .unwrap_err();
    assert_eq!((failure.cause, failure.partial.exit), (Cause::Aborted, None));
    assert!(!stage.path("started").exists());
}

#[tokio::test]
async fn a_dropped_turn_leaves_no_process() {
    let stage = Stage::new(
        &json!([init(), stubborn("member", "both"), { "waitFile": "child" }, { "touch": "leader" }, { "linger": true }]),
    );
    let (control, task) = stage.start(|control| Eager { control });
    let (leader, child) = (stage.touched("leader").await, stage.touched("child").await);
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    drop(control);
    eventually("both are gone", || {
        !runs(leader) && !runs(child) && !is_zombie(leader)
    })
    .await;
}

#[tokio::test]
async fn the_owner_can_end_what_is_its_own_and_nothing_else() {
    let steps = json!([init(), { "touch": "leader" }, { "linger": true }]);
    let (mut mine, mut other) = (Stage::new(&steps), Stage::new(&steps));
    (mine.request.owner, other.request.owner) = (Owner(71), Owner(72));
    let (_control, task) = mine.start(|control| Eager { control });
    let (other_control, other_task) = other.start(|control| Eager { control });
    let (leader, other_leader) = (mine.touched("leader").await, other.touched("leader").await);
    let end = || tokio::task::spawn_blocking(|| end_owned_by(Whose::Of(Owner(71)), PATIENCE));
    assert_eq!(end().await.unwrap(), 1);
    assert!(!runs(leader) && !is_zombie(leader), "it was waited for");
    let failure = within("the ended turn", task).await.unwrap().unwrap_err();
    assert_eq!(failure.cause, Cause::Aborted);
    assert_eq!(
        failure.partial.exit,
        Some(Exit::Signal(15)),
        "asked, and not killed"
    );
    assert!(runs(other_leader));
    assert_eq!(end().await.unwrap(), 0, "a turn that is over is forgotten");
    assert_eq!(
        mine.run().await.unwrap_err().cause,
        Cause::Aborted,
        "nothing is started for it any more"
    );
    other_control.abort();
    within("the other turn", other_task).await.unwrap().unwrap_err();
}

#[tokio::test]
async fn a_consumer_that_stops_ends_the_turn() {
    let stage = Stage::new(&json!([init(), { "touch": "leader" }, { "linger": true }]));
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    within("a batch", taken.recv()).await.unwrap();
    let leader = stage.touched("leader").await;
    control.taken(Taken::Stop);
    assert_eq!(
        within("the turn", task).await.unwrap().unwrap_err().cause,
        Cause::ConsumerStopped
    );
    assert!(!runs(leader));
}

#[tokio::test]
async fn a_consumer_that_is_gone_ends_the_turn() {
    let stage = Stage::new(&json!([{ "waitFile": "go" }, init(), { "linger": true }]));
    let (batches, taken) = tokio::sync::mpsc::unbounded_channel();
    drop(taken);
    let (_control, task) = stage.start(|_| ByHand { batches });
    std::fs::write(stage.path("go"), "").unwrap();
    assert_eq!(
        within("the turn", task).await.unwrap().unwrap_err().cause,
        Cause::Aborted
    );
}
