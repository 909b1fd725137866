//! A host that ends in the middle of turns.

use std::time::{Duration, Instant};

use fusion_cursor_native::process::{Owner, Whose, call_off, end_owned_by};
use fusion_cursor_native::turn::Cause;
use serde_json::json;

use crate::support::{BONDS, children, grace, none_runs, pids, steps};
use crate::turn::{ByHand, Eager, PATIENCE, Stage, init, text, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_ends_waits_for_all_that_is_its_own() {
    let mut stage = Stage::new(&steps(&[
        &[json!({ "ignore": ["SIGTERM"] }), init()],
        &children(&BONDS, true),
        &[json!({ "touch": "leader" }), json!({ "linger": true })],
    ]))
    .limits(grace(300.0));
    stage.request.owner = Owner(81);
    let (_control, task) = stage.start(|control| Eager { control });
    let mut all = pids(&stage, &BONDS).await;
    all.push(stage.touched("leader").await);
    let began = Instant::now();
    end_owned_by(Whose::Of(Owner(81)), PATIENCE);
    assert!(
        began.elapsed() >= Duration::from_millis(300),
        "the turn's own grace counts"
    );
    none_runs(&all);
    within("the turn", task).await.unwrap().unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn but_not_longer_than_it_can() {
    let mut stage = Stage::new(&steps(&[
        &[json!({ "ignore": ["SIGTERM"] }), init()],
        &children(&BONDS, true),
        &[json!({ "touch": "leader" }), json!({ "linger": true })],
    ]))
    .limits(grace(60_000.0));
    stage.request.owner = Owner(82);
    // Nobody takes a batch: as where the thread that would do it is the one that waits.
    let (batches, _taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    let mut all = pids(&stage, &BONDS).await;
    all.push(stage.touched("leader").await);
    // What an earlier abort has left to do is waited for too.
    control.abort();
    let began = Instant::now();
    end_owned_by(Whose::Of(Owner(82)), Duration::from_millis(300));
    let took = began.elapsed();
    assert!(
        took >= Duration::from_millis(300) && took < Duration::from_secs(5),
        "{took:?}"
    );
    none_runs(&all);
    within("the turn", task).await.unwrap().unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calling_off_waits_for_nothing_and_the_teardown_goes_on() {
    let mut stage = Stage::new(&steps(&[
        &[init(), text("x")],
        &children(&BONDS, true),
        &[json!({ "touch": "leader" }), json!({ "linger": true })],
    ]))
    .limits(grace(300.0));
    stage.request.owner = Owner(83);
    let (batches, _taken) = tokio::sync::mpsc::unbounded_channel();
    let (_control, task) = stage.start(|_| ByHand { batches });
    let mut all = pids(&stage, &BONDS).await;
    all.push(stage.touched("leader").await);
    let began = Instant::now();
    assert_eq!(call_off(Whose::Of(Owner(83))), 1);
    assert!(began.elapsed() < Duration::from_millis(200));
    assert_eq!(
        within("the turn", task).await.unwrap().unwrap_err().cause,
        Cause::Aborted
    );
    none_runs(&all);
    assert_eq!(end_owned_by(Whose::Of(Owner(83)), PATIENCE), 0);
}
