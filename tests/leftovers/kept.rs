//! What is kept of a turn.

use fusion_cursor_native::process::guard;
use fusion_cursor_native::turn::{Cause, Leftovers, Taken};
use serde_json::json;

use crate::support::{BONDS, children, grace, left, none_runs, pids, steps, turn_of};
use crate::turn::{ByHand, Ends, Stage, eventually, init, is_zombie, result, runs, within};

#[tokio::test]
async fn what_is_kept_lives_on_and_is_listed() {
    let mut stage = Stage::new(&steps(&[&[init()], &children(&BONDS, false), &[result("x")]]));
    stage.request.leftovers = Leftovers::Keep;
    let report = stage.run().await.unwrap();
    let mut expected = pids(&stage, &BONDS).await;
    let _ends = Ends(expected.clone());
    expected.sort_unstable();
    assert_eq!(left(&report), expected);
    assert!(
        report
            .leftovers
            .iter()
            .all(|one| one.command.ends_with(" worker-server")),
        "{report:?}"
    );
    assert!(expected.iter().all(|pid| runs(*pid)));
    assert!(
        guard::kept().contains(&turn_of(expected[0])),
        "whoever ends this host's processes is told"
    );
    let mut again = Stage::new(&json!([init(), result("y")]));
    again.request.cwd = stage.request.cwd.clone();
    again.run().await.unwrap();
    assert!(
        expected.iter().all(|pid| runs(*pid)),
        "a later turn does not end them"
    );
}

#[tokio::test]
async fn of_a_turn_that_is_kept_a_leader_that_lingers_is_ended_alone() {
    let mut stage = Stage::new(&steps(&[
        &[json!({ "ignore": ["SIGTERM"] }), init()],
        &children(&["member"], false),
        &[
            json!({ "touch": "leader" }),
            result("x"),
            json!({ "linger": true }),
        ],
    ]))
    .limits(grace(100.0));
    stage.request.leftovers = Leftovers::Keep;
    let report = stage.run().await.unwrap();
    let member = stage.touched("member").await;
    let _ends = Ends(vec![member]);
    assert_eq!(left(&report), [member]);
    assert!(runs(member));
    none_runs(&pids(&stage, &["leader"]).await);
}

#[tokio::test]
async fn a_callback_that_fails_on_the_last_batch_makes_a_kept_turn_a_bad_one() {
    let mut stage = Stage::new(&steps(&[
        &[init()],
        &children(&BONDS, false),
        &[
            json!({ "touch": "leader" }),
            json!({ "waitFile": "go" }),
            result("x"),
        ],
    ]));
    stage.request.leftovers = Leftovers::Keep;
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    within("the first batch", taken.recv()).await.unwrap();
    control.taken(Taken::GoOn);
    let all = pids(&stage, &BONDS).await;
    let turn = turn_of(all[0]);
    std::fs::write(stage.path("go"), "").unwrap();
    within("the last batch", taken.recv()).await.unwrap();
    let leader = stage.touched("leader").await;
    eventually("it was a good turn so far", || {
        !runs(leader) && !is_zombie(leader)
    })
    .await;
    assert!(all.iter().all(|pid| runs(*pid)));
    control.taken(Taken::Stop);
    let failure = within("the turn", task).await.unwrap().unwrap_err();
    assert_eq!(failure.cause, Cause::ConsumerStopped);
    none_runs(&all);
    assert!(!guard::kept().contains(&turn));
}
