//! What becomes of the processes of a turn that are still there at its end, wherever they went.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fusion_cursor_native::process::{Owner, Whose, call_off, end_owned_by, mark};
use fusion_cursor_native::turn::limits::LimitOptions;
use fusion_cursor_native::turn::{Cause, Leftovers, Report, Taken};
use serde_json::{Value, json};
use turn::{
    ByHand, Eager, Outcome, PATIENCE, Stage, eventually, init, is_zombie, result, runs, text, within,
};

/// How a process can leave its parent, as the stand-in names it.
const BONDS: [&str; 4] = ["member", "group", "session", "daemon"];

fn child(bond: &str, steps: &[Value]) -> Value {
    let mut all = steps.to_vec();
    all.extend([json!({ "touch": bond }), json!({ "linger": true })]);
    json!({ "start": all, "as": bond, "hold": "none", "args": ["worker-server"] })
}

/// A process for each bond, deaf to SIGTERM or not, all of them there before what follows.
fn children(bonds: &[&str], deaf: bool) -> Vec<Value> {
    let deaf = if deaf {
        vec![json!({ "ignore": ["SIGTERM", "SIGHUP"] })]
    } else {
        vec![]
    };
    let start = bonds.iter().map(|bond| child(bond, &deaf));
    start
        .chain(bonds.iter().map(|bond| json!({ "waitFile": bond })))
        .collect()
}

fn steps(parts: &[&[Value]]) -> Value {
    Value::Array(parts.concat())
}

fn grace(ms: f64) -> LimitOptions {
    LimitOptions {
        kill_grace_ms: Some(ms),
        exit_grace_ms: Some(200.0),
        ..LimitOptions::default()
    }
}

async fn pids(stage: &Stage, names: &[&str]) -> Vec<u32> {
    let mut pids = Vec::new();
    for name in names {
        pids.push(stage.touched(name).await);
    }
    pids
}

fn none_runs(pids: &[u32]) {
    for pid in pids {
        assert!(!runs(*pid), "{pid} runs");
    }
}

fn left(report: &Report) -> Vec<u32> {
    let mut pids: Vec<u32> = report.leftovers.iter().map(|one| one.pid).collect();
    pids.sort_unstable();
    pids
}

/// Ends what a test keeps, by its number, when the test is over.
struct Ends(Vec<u32>);

impl Drop for Ends {
    fn drop(&mut self) {
        for pid in &self.0 {
            let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
            let _gone = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

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
async fn those_outside_the_group_are_asked_before_they_are_killed() {
    let trap = json!({ "trap": ["SIGTERM"], "report": "asked", "thenExit": 0 });
    let stage = Stage::new(&steps(&[&[
        init(),
        child("daemon", &[trap]),
        json!({ "waitFile": "daemon" }),
        result("x"),
    ]]));
    let began = Instant::now();
    stage.run().await.unwrap();
    assert!(
        began.elapsed() < Duration::from_millis(1500),
        "no grace is waited out"
    );
    assert_eq!(
        std::fs::read_to_string(stage.path("asked")).unwrap().trim(),
        "SIGTERM"
    );
    none_runs(&pids(&stage, &["daemon"]).await);
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
    let program = stage.path("agent");
    std::fs::write(&program, agent).unwrap();
    executable(&program);
    stage.request.binary = Some(program.to_str().unwrap().into());
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
    let program = stage.path("agent");
    std::fs::write(&program, agent).unwrap();
    executable(&program);
    stage.request.environment.push((
        "STAND_IN".into(),
        env!("CARGO_BIN_EXE_fusion-cursor-stand-in").into(),
    ));
    stage.request.binary = Some(program.to_str().unwrap().into());
    let report = stage.run().await.unwrap();
    assert_eq!(report.leftovers, []);
    none_runs(&pids(&stage, &["deaf"]).await);
}

fn executable(program: &PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

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
    assert_eq!(
        mark::kept().len(),
        1,
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
        &[json!({ "waitFile": "go" }), result("x")],
    ]));
    stage.request.leftovers = Leftovers::Keep;
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let (control, task) = stage.start(|_| ByHand { batches });
    within("the first batch", taken.recv()).await.unwrap();
    control.taken(Taken::GoOn);
    let all = pids(&stage, &BONDS).await;
    std::fs::write(stage.path("go"), "").unwrap();
    within("the last batch", taken.recv()).await.unwrap();
    control.taken(Taken::Stop);
    let failure = within("the turn", task).await.unwrap().unwrap_err();
    assert_eq!(failure.cause, Cause::ConsumerStopped);
    none_runs(&all);
    assert!(mark::kept().is_empty());
}

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
