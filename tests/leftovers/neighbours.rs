//! Turns that end while others run in the same workspace.

use fusion_cursor_native::turn::Leftovers;
use serde_json::{Value, json};

use crate::support::{children, grace, left, none_runs, pids, steps};
use crate::turn::{Eager, Outcome, Stage, eventually, init, result, runs, within};

/// A turn in the workspace of another stage that ends as it is told to.
fn neighbour(of: &Stage, last: Value) -> Stage {
    let mut stage = Stage::new(&steps(&[&[
        init(),
        json!({ "touch": "there" }),
        json!({ "waitFile": "go" }),
        last,
    ]]));
    stage.request.cwd.clone_from(&of.request.cwd);
    stage
}

fn good_daemon() -> Stage {
    Stage::new(&steps(&[
        &[init()],
        &children(&["member", "daemon"], true),
        &[result("x")],
    ]))
    .limits(grace(100.0))
}

#[tokio::test]
async fn while_another_turn_runs_in_the_workspace_those_who_left_the_group_stay() {
    for last in [result("y"), json!({ "exit": 3 })] {
        let good = good_daemon();
        let other = neighbour(&good, last.clone()).limits(grace(100.0));
        let (_control, task) = other.start(|control| Eager { control });
        other.touched("there").await;
        let report = good.run().await.unwrap();
        let (member, daemon) = (good.touched("member").await, good.touched("daemon").await);
        assert!(!runs(member) && runs(daemon));
        assert_eq!(left(&report), [daemon], "and it says so");
        std::fs::write(other.path("go"), "").unwrap();
        let ended: Outcome = within("the last turn", task).await.unwrap();
        assert_eq!(ended.is_ok(), last != json!({ "exit": 3 }));
        none_runs(&[daemon]);
    }
}

#[tokio::test]
async fn the_last_turn_sees_to_it_also_where_it_is_kept_or_dropped() {
    for dropped in [false, true] {
        let good = good_daemon();
        let mut other = neighbour(&good, result("y")).limits(grace(100.0));
        other.request.leftovers = Leftovers::Keep;
        let (_control, task) = other.start(|control| Eager { control });
        other.touched("there").await;
        good.run().await.unwrap();
        let daemon = good.touched("daemon").await;
        assert!(runs(daemon));
        if dropped {
            task.abort();
            task.await.unwrap_err();
            eventually("it is gone", || !runs(daemon)).await;
        } else {
            std::fs::write(other.path("go"), "").unwrap();
            within("the last turn", task).await.unwrap().unwrap();
            none_runs(&[daemon]);
        }
    }
}

#[tokio::test]
async fn a_turn_in_another_workspace_holds_nothing_up() {
    let good = good_daemon();
    let other = Stage::new(&json!([init(), { "touch": "there" }, { "linger": true }]));
    let (control, task) = other.start(|control| Eager { control });
    other.touched("there").await;
    let report = good.run().await.unwrap();
    assert_eq!(report.leftovers, []);
    none_runs(&pids(&good, &["daemon"]).await);
    control.abort();
    within("the other turn", task).await.unwrap().unwrap_err();
}
