//! What is ended with a turn.

use std::time::{Duration, Instant};

use fusion_cursor_native::process::mark;
use fusion_cursor_native::turn::{Cause, Leftovers};
use serde_json::json;

use crate::support::{BONDS, child, children, grace, none_runs, pids, steps};
use crate::turn::{Eager, Stage, eventually, init, is_zombie, result, runs, within};

#[tokio::test]
async fn after_a_good_turn_nothing_of_it_is_there() {
    for deaf in [false, true] {
        let stage =
            Stage::new(&steps(&[&[init()], &children(&BONDS, deaf), &[result("x")]])).limits(grace(200.0));
        let report = stage.run().await.unwrap();
        none_runs(&pids(&stage, &BONDS).await);
        assert_eq!(report.leftovers, [], "deaf: {deaf}");
    }
}

#[tokio::test]
async fn all_of_it_is_asked_before_it_is_killed() {
    let asked = |bond: &str| format!("asked-{bond}");
    let children = BONDS.map(|bond| {
        let trap = json!({ "trap": ["SIGTERM"], "report": asked(bond), "thenExit": 0 });
        child(bond, &[trap])
    });
    let there = BONDS.map(|bond| json!({ "waitFile": bond }));
    let stage = Stage::new(&steps(&[&[init()], &children, &there, &[result("x")]]));
    let began = Instant::now();
    stage.run().await.unwrap();
    assert!(
        began.elapsed() < Duration::from_millis(1500),
        "no grace is waited out"
    );
    for bond in BONDS {
        let signals = std::fs::read_to_string(stage.path(&asked(bond))).unwrap();
        assert_eq!(signals.trim(), "SIGTERM", "{bond}, and once");
    }
    none_runs(&pids(&stage, &BONDS).await);
}

#[tokio::test]
async fn a_leader_that_lingers_over_a_busy_worker_is_ended_with_it() {
    // As the CLI is known to do: the result, and then neither of them leaves.
    let busy = json!({
        "start": [{ "ignore": ["SIGTERM"] }, { "touch": "busy" }, { "line": "${fill:1000}", "to": "stderr", "repeat": 1_000_000, "write": "lines" }, { "linger": true }],
        "as": "session", "hold": "none", "args": ["worker-server"],
    });
    let stage = Stage::new(&steps(&[&[
        json!({ "ignore": ["SIGTERM"] }),
        init(),
        busy,
        json!({ "waitFile": "busy" }),
        json!({ "touch": "leader" }),
        result("kept"),
        json!({ "linger": true }),
    ]]))
    .limits(grace(100.0));
    let report = stage.run().await.unwrap();
    assert_eq!((report.text.as_str(), report.leftovers.len()), ("kept", 0));
    none_runs(&pids(&stage, &["leader", "busy"]).await);
}

#[tokio::test]
async fn a_bad_turn_ends_all_of_it_whatever_is_to_be_kept() {
    for leftovers in [Leftovers::Kill, Leftovers::Keep] {
        let mut stage = Stage::new(&steps(&[
            &[init()],
            &children(&BONDS, true),
            &[json!({ "exit": 3 })],
        ]))
        .limits(grace(100.0));
        stage.request.leftovers = leftovers;
        let failure = stage.run().await.unwrap_err();
        assert!(matches!(failure.cause, Cause::Exited { .. }), "{failure:?}");
        none_runs(&pids(&stage, &BONDS).await);
        assert_eq!(failure.partial.leftovers, [], "{leftovers:?}");
    }
}

#[tokio::test]
async fn an_abort_ends_all_of_it() {
    let stage = Stage::new(&steps(&[
        &[json!({ "ignore": ["SIGTERM"] }), init()],
        &children(&BONDS, true),
        &[json!({ "touch": "leader" }), json!({ "linger": true })],
    ]))
    .limits(grace(100.0));
    let (control, task) = stage.start(|control| Eager { control });
    let leader = stage.touched("leader").await;
    control.abort();
    within("the turn", task).await.unwrap().unwrap_err();
    assert!(!runs(leader) && !is_zombie(leader));
    none_runs(&pids(&stage, &BONDS).await);
}

#[tokio::test]
async fn a_dropped_turn_leaves_nothing_of_it() {
    let stage = Stage::new(&steps(&[
        &[init()],
        &children(&BONDS, true),
        &[json!({ "touch": "leader" }), json!({ "linger": true })],
    ]));
    let (control, task) = stage.start(|control| Eager { control });
    let mut all = pids(&stage, &BONDS).await;
    all.push(stage.touched("leader").await);
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    drop(control);
    eventually("all are gone", || all.iter().all(|pid| !runs(*pid))).await;
}

#[tokio::test]
async fn one_that_cleared_its_environment_is_found_by_its_parent() {
    let agent = "#!/bin/sh\n\
        echo '{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}'\n\
        setsid env -i /bin/sh -c 'trap \"\" TERM HUP; echo $$ > cleared.new; mv cleared.new cleared; exec sleep 600' >&2 &\n\
        wait\n";
    let mut stage = Stage::new(&json!([])).limits(grace(100.0));
    stage.agent_is(agent);
    let (control, task) = stage.start(|control| Eager { control });
    let cleared = stage.touched("cleared").await;
    eventually("it has another environment", || {
        std::fs::read(format!("/proc/{cleared}/environ")).is_ok_and(|environment| environment.is_empty())
            || std::fs::read(format!("/proc/{cleared}/environ"))
                .is_ok_and(|environment| !String::from_utf8_lossy(&environment).contains(mark::VARIABLE))
    })
    .await;
    control.abort();
    within("the turn", task).await.unwrap().unwrap_err();
    none_runs(&[cleared]);
}

#[tokio::test]
async fn a_wrapper_and_what_it_started_in_the_background_are_ended() {
    let agent = "#!/bin/sh\n\
        nohup sh -c 'trap \"\" TERM; echo $$ > deaf.new; mv deaf.new deaf; while :; do :; done' >/dev/null 2>&1 &\n\
        \"$STAND_IN\" \"$@\"\n";
    let mut stage =
        Stage::new(&steps(&[&[init(), json!({ "waitFile": "deaf" }), result("x")]])).limits(grace(100.0));
    stage.agent_is(agent);
    stage.request.environment.push((
        "STAND_IN".into(),
        env!("CARGO_BIN_EXE_fusion-cursor-stand-in").into(),
    ));
    let report = stage.run().await.unwrap();
    assert_eq!(report.leftovers, []);
    none_runs(&pids(&stage, &["deaf"]).await);
}
