//! What turns leave in this process: a test program of its own, since all of it is counted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::time::Duration;

use fusion_cursor_native::turn::Cause;
use fusion_cursor_native::turn::limits::LimitOptions;
use serde_json::json;
use turn::{Eager, Ends, Stage, children, eventually, init, result, runs, within};

/// One test at a time, also where they share the process.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn many_turns_leave_neither_zombies_nor_descriptors() {
    let _alone = ALONE.lock().await;
    let stage = Stage::new(&json!([init(), result("x")]));
    stage.run().await.unwrap();
    let before = descriptors();
    let mut turns = Vec::new();
    for _ in 0..40 {
        turns.push(stage.start(|control| Eager { control }));
    }
    for (number, (control, task)) in turns.into_iter().enumerate() {
        if number % 2 == 1 {
            control.abort();
        }
        let outcome = within("a turn", task).await.unwrap();
        assert!(number % 2 == 1 || outcome.is_ok(), "{outcome:?}");
    }
    eventually("all descriptors are closed", || descriptors() <= before).await;
    eventually("no child is left", || children().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_turns_half_of_them_aborted_leave_no_zombie() {
    let _alone = ALONE.lock().await;
    let stage = Stage::new(&json!([init(), result("x")]));
    for _ in 0..20 {
        let turns: Vec<_> = (0..10)
            .map(|_| stage.start(|control| Eager { control }))
            .collect();
        for (number, (control, task)) in turns.into_iter().enumerate() {
            if number % 2 == 0 {
                control.abort();
            }
            let outcome = within("a turn", task).await.unwrap();
            assert!(number % 2 == 0 || outcome.is_ok(), "{outcome:?}");
        }
    }
    let after_one_second = tokio::time::Instant::now() + Duration::from_secs(1);
    eventually("no child is left", || children().is_empty()).await;
    assert!(tokio::time::Instant::now() <= after_one_second, "and that soon");
}

/// Somebody whom nobody finds may hold the other ends of its pipes for as long as they like.
#[tokio::test]
async fn a_turn_that_is_dropped_lets_go_of_its_pipes() {
    let _alone = ALONE.lock().await;
    let mut warm_up = Stage::new(&json!([init(), result("x")]));
    warm_up.request.prompt = "x".repeat(1 << 20);
    warm_up.run().await.unwrap();
    let before = descriptors();
    let mut stage = Stage::new(&json!([]));
    // Its environment is cleared, its session its own, and its parent gone before anybody looks.
    stage.agent_is(
        "#!/bin/sh\n\
        (setsid env -i /bin/sh -c 'echo $$ > hidden.new; mv hidden.new hidden; exec sleep 600' &)\n\
        while [ ! -e hidden ]; do sleep 0.01; done\n\
        echo $$ > leader.new; mv leader.new leader\n\
        exec sleep 600\n",
    );
    let (control, task) = stage.start(|control| Eager { control });
    let hidden = stage.touched("hidden").await;
    let _ends = Ends(vec![hidden]);
    stage.touched("leader").await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    drop(control);
    eventually("its descriptors are closed", || descriptors() <= before).await;
    assert!(runs(hidden), "it holds the other ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_in_the_moment_of_the_start_leaves_no_child() {
    let _alone = ALONE.lock().await;
    let stage = Stage::new(&json!([init(), { "linger": true }])).limits(LimitOptions {
        kill_grace_ms: Some(50.0),
        ..LimitOptions::default()
    });
    for round in 0..300_u64 {
        let (control, task) = stage.start(|control| Eager { control });
        tokio::time::sleep(Duration::from_micros(round * 10)).await;
        control.abort();
        within("the turn", task).await.unwrap().unwrap_err();
    }
    eventually("no child is left", || children().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_line_limit_covers_the_start_and_leaves_no_child() {
    let _alone = ALONE.lock().await;
    let slow = json!([{ "linger": true }]);
    for round in 1..=100_u32 {
        let stage = Stage::new(&slow).limits(LimitOptions {
            first_line_ms: Some(f64::from(round) * 0.05),
            kill_grace_ms: Some(50.0),
            ..LimitOptions::default()
        });
        assert_eq!(stage.run().await.unwrap_err().cause, Cause::FirstLineTimeout);
    }
    eventually("no child is left", || children().is_empty()).await;
}
