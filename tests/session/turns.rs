//! What a turn says and resumes, and what stays of it.

use std::fs;
use std::time::Duration;

use fusion_cursor_native::turn::{Cause, Taken};
use serde_json::{Value, json};

use crate::lease::{Place, eventually, within};
use crate::support::{SYSTEM, Stage, ask, dispose};
use crate::turn::{init, result};

const READ_ONLY: &str = "Tool mode: read-only. Read and plan; do not change files.";

fn named(id: &str) -> Value {
    let mut init = init();
    init["line"]["session_id"] = id.into();
    init
}

fn done(id: Option<&str>) -> Value {
    let mut result = result("done");
    result["line"]["session_id"] = id.into();
    result
}

/// A first turn and a later one, which tell how they were started.
fn telling(first: &[Value], later: &[Value]) -> Value {
    let with_echo = |name: &str, steps: &[Value]| {
        let mut all = vec![json!({ "echo": name })];
        all.extend(steps.iter().cloned());
        all
    };
    json!({ "turn": with_echo("first.json", first), "resumed": with_echo("later.json", later) })
}

#[tokio::test]
async fn the_first_one_carries_the_context_and_a_later_one_resumes() {
    let place = Place::new();
    let tree = place.repository("repo");
    let first = [named("s-1"), done(Some("s-1"))];
    let stage = Stage::new(&tree, &telling(&first, &[named("s-2"), done(Some("s-2"))]));
    let before = tree.snapshot();
    let session = stage.create(false).await;
    assert_eq!((session.id(), session.problem()), (None, None));
    assert!(session.tool_names().is_empty());
    let report = ask(&session, "one").outcome().await.unwrap();
    assert_eq!(report.text, "done");
    let plain = "--print --output-format stream-json --model auto --trust --mode plan";
    let prompt = format!("{SYSTEM}\n\n{READ_ONLY}\n\nUser request:\none");
    assert_eq!(stage.echo("first.json"), (plain.to_owned(), prompt));
    assert_eq!(session.id().as_deref(), Some("s-1"));
    for (said, resumed, then) in [("two", "s-1", "s-2"), ("three", "s-2", "s-2")] {
        ask(&session, said).outcome().await.unwrap();
        let line = format!("{plain} --resume {resumed}");
        assert_eq!(stage.echo("later.json"), (line, said.to_owned()));
        assert_eq!(session.id().as_deref(), Some(then));
    }
    assert_eq!(tree.snapshot(), before, "without tools nothing is put there");
    dispose(&session).await;
}

#[tokio::test]
async fn one_that_goes_on_with_another_sends_no_context() {
    let place = Place::new();
    let tree = place.plain("folder");
    let mut stage = Stage::new(&tree, &telling(&[], &[done(None)]));
    stage.flags.resume = Some("earlier".into());
    let session = stage.create(false).await;
    assert_eq!(session.id().as_deref(), Some("earlier"));
    ask(&session, "go on").outcome().await.unwrap();
    let (line, prompt) = stage.echo("later.json");
    assert!(line.ends_with(" --resume earlier"), "{line}");
    assert_eq!(prompt, "go on");
    assert_eq!(session.id().as_deref(), Some("earlier"), "a turn that names none");
    dispose(&session).await;
}

#[tokio::test]
async fn the_id_is_seen_while_a_turn_runs_and_put_back_when_that_fails() {
    let place = Place::new();
    let tree = place.plain("folder");
    let wait = json!({ "waitFile": "go" });
    let stage = Stage::new(
        &tree,
        &telling(&[named("s-1"), wait.clone(), json!({ "exit": 3 })], &[]),
    );
    let session = stage.create(false).await;
    for _ in 0..2 {
        let asked = ask(&session, "one");
        eventually("the id is seen", || session.id().as_deref() == Some("s-1")).await;
        stage.open("go");
        let failure = asked.outcome().await.unwrap_err();
        assert!(matches!(failure.cause, Cause::Exited { .. }), "{failure:?}");
        assert_eq!(session.id(), None);
        assert!(stage.echo("first.json").1.starts_with(SYSTEM), "said again");
        fs::remove_file(stage.path("go")).unwrap();
    }
    stage.play(&telling(&[done(Some("s-1"))], &[named("s-2"), wait, done(None)]));
    ask(&session, "good").outcome().await.unwrap();
    assert_eq!(session.id().as_deref(), Some("s-1"), "from the result");
    let asked = ask(&session, "to be aborted");
    eventually("the id is seen", || session.id().as_deref() == Some("s-2")).await;
    asked.control.abort();
    assert_eq!(session.id().as_deref(), Some("s-1"), "at once");
    let failure = asked.outcome().await.unwrap_err();
    assert_eq!(failure.cause, Cause::Aborted);
    assert_eq!(failure.partial.session_id.as_deref(), Some("s-2"));
    assert_eq!(session.id().as_deref(), Some("s-1"));
    dispose(&session).await;
}

#[tokio::test]
async fn an_abort_while_its_processes_end_counts_and_a_later_one_does_not() {
    let place = Place::new();
    let tree = place.plain("folder");
    let slow = [
        json!({ "trap": ["SIGTERM"], "report": "asked" }),
        done(Some("s-1")),
        json!({ "linger": true }),
    ];
    let mut stage = Stage::new(&tree, &telling(&slow, &[]));
    stage.limits.exit_grace_ms = Some(20.0);
    stage.limits.kill_grace_ms = Some(500.0);
    let session = stage.create(false).await;
    let asked = ask(&session, "one");
    eventually("it is asked to leave", || stage.path("asked").exists()).await;
    assert!(asked.control.abort());
    assert_eq!(asked.outcome().await.unwrap_err().cause, Cause::Aborted);
    assert_eq!(session.id(), None);
    let asked = ask(&session, "two");
    let control = asked.control.clone();
    asked.outcome().await.unwrap();
    assert!(!control.abort(), "it has ended well");
    assert_eq!(session.id().as_deref(), Some("s-1"));
    dispose(&session).await;
}

#[tokio::test]
async fn a_turn_whose_consumer_fails_is_no_good_one() {
    let place = Place::new();
    let tree = place.plain("folder");
    let stage = Stage::new(&tree, &telling(&[named("s-1"), done(Some("s-1"))], &[]));
    let session = stage.create(false).await;
    let (batches, mut taken) = tokio::sync::mpsc::unbounded_channel();
    let asked = crate::support::ask_with(&session, "one", |_| crate::turn::ByHand { batches });
    within("a batch", taken.recv()).await.unwrap();
    asked.control.taken(Taken::Stop);
    let failure = asked.outcome().await.unwrap_err();
    assert_eq!(failure.cause, Cause::ConsumerStopped);
    assert_eq!(session.id(), None);
    dispose(&session).await;
}

#[tokio::test]
async fn an_id_that_would_be_an_option_is_not_kept() {
    let place = Place::new();
    let tree = place.plain("folder");
    for bad in ["--force", "-f", "a\nb", " "] {
        let stage = Stage::new(&tree, &telling(&[named(bad), done(Some(bad))], &[]));
        let session = stage.create(false).await;
        for _ in 0..2 {
            let report = ask(&session, "one").outcome().await.unwrap();
            assert_eq!(report.session_id.as_deref(), Some(bad));
            assert_eq!(session.id(), None);
            assert!(!stage.echo("first.json").0.contains("--resume"));
        }
        dispose(&session).await;
    }
}

#[tokio::test]
async fn a_folder_that_is_not_there_is_told_by_the_turn() {
    let place = Place::new();
    let mut tree = place.plain("folder");
    tree.path = place.at("none");
    let stage = Stage::new(&tree, &telling(&[], &[]));
    let session = stage.create(true).await;
    let problem = session.problem().unwrap();
    assert!(problem.message.contains("none"), "{problem:?}");
    assert_eq!(stage.bridge_folders(), 0);
    let failure = ask(&session, "one").outcome().await.unwrap_err();
    assert!(matches!(failure.cause, Cause::CwdMissing { .. }), "{failure:?}");
    // It may be made later.
    fs::create_dir(&tree.path).unwrap();
    stage.play(&telling(&[done(None)], &[]));
    ask(&session, "one").outcome().await.unwrap();
    dispose(&session).await;
}

#[tokio::test]
async fn the_time_in_line_is_not_the_turns() {
    let place = Place::new();
    let tree = place.plain("folder");
    let steps = [
        json!({ "touch": "${stdin}" }),
        json!({ "waitFile": "go" }),
        done(None),
    ];
    let mut stage = Stage::new(&tree, &telling(&[], &steps));
    stage.flags.resume = Some("s-0".into());
    stage.limits.first_line_ms = Some(5000.0);
    let session = stage.create(false).await;
    let first = ask(&session, "first");
    let asked = std::time::Instant::now();
    let second = ask(&session, "second");
    eventually("the first runs", || stage.path("first").exists()).await;
    let wait = Duration::from_millis(400);
    tokio::time::sleep(wait).await;
    stage.open("go");
    first.outcome().await.unwrap();
    let report = second.outcome().await.unwrap();
    assert!(report.duration + wait <= asked.elapsed(), "{:?}", report.duration);
    dispose(&session).await;
}
