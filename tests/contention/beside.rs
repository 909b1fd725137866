//! The plugin and we, in one worktree: neither harms the other, and each takes over from the other's crash.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use fusion_cursor_native::lock::{Machine, World};
use serde_json::Value;

use crate::aside::{passed, start};
use crate::peer::{Peer, Until};
use crate::support::*;
use crate::workers::{Crew, Job, tell};

fn peer(tree: &Worktree<'_>, key: &str) -> Peer {
    let git_dir = tree.place.run(&tree.path, &["rev-parse", "--absolute-git-dir"]);
    Peer::new(
        &tree.path,
        Path::new(git_dir.trim()),
        tree.common.as_deref().unwrap(),
        key,
    )
}

/// The main and a linked worktree of a repository, each with this config.
fn trees<'a>(place: &'a Place, config: Option<&str>) -> [Worktree<'a>; 2] {
    let main = place.repository("main");
    let linked = main.linked("linked");
    for tree in [&main, &linked] {
        if let Some(text) = config {
            tree.write(text);
            tree.chmod(CONFIG, 0o600);
        }
    }
    [main, linked]
}

#[tokio::test]
async fn their_lease_survives_ours_and_ours_survives_theirs() {
    for config in [None, Some(PLAIN)] {
        let place = Place::new();
        for tree in trees(&place, config) {
            let name = tree.path.display();
            let (before, status) = (tree.snapshot(), tree.shown());
            for (ours_first, ours_ends_first) in [(true, true), (true, false), (false, true), (false, false)]
            {
                let theirs = peer(&tree, &key());
                let ours = if ours_first {
                    let ours = tree.stage().await;
                    theirs.stage(Until::End).unwrap();
                    ours
                } else {
                    theirs.stage(Until::End).unwrap();
                    tree.stage().await
                };
                let both = |tree: &Worktree<'_>| {
                    let mut keys = tree.keys();
                    keys.sort();
                    keys
                };
                let mut expected = vec![ours.server_key().to_owned(), theirs.key.clone()];
                expected.sort();
                assert_eq!(both(&tree), expected);
                assert_eq!(tree.shown(), "", "git sees nothing");
                assert!(within("a beat", ours.heartbeat()).await);
                assert_eq!(both(&tree), expected);
                if ours_ends_first {
                    dispose(&ours).await;
                    assert_eq!(tree.keys(), [theirs.key.as_str()]);
                    assert_eq!(tree.shown(), "", "git sees nothing");
                    theirs.dispose().unwrap();
                } else {
                    theirs.dispose().unwrap();
                    assert_eq!(tree.keys(), [ours.server_key()]);
                    assert_eq!(tree.shown(), "", "git sees nothing");
                    dispose(&ours).await;
                }
                assert_eq!(
                    tree.snapshot(),
                    before,
                    "{name}, {config:?}, {ours_first}, {ours_ends_first}"
                );
                assert_eq!(tree.shown(), status);
            }
        }
    }
}

#[tokio::test]
async fn we_take_over_from_their_crash() {
    for config in [None, Some(PLAIN)] {
        let place = Place::new();
        for tree in trees(&place, config) {
            let name = tree.path.display();
            let (before, status) = (tree.snapshot(), tree.shown());
            for until in Until::CRASHES {
                let crashed = |what: &str| {
                    let word = serde_json::json!({ "tree": tree.path, "until": format!("{until:?}"), "home": place.at("home") });
                    let child = start("beside::crashing_peer", &word.to_string());
                    passed(&child.wait_with_output().unwrap());
                    format!("{what} after {until:?} in {name} with {config:?}")
                };
                let what = crashed("a session");
                let lease = tree.stage().await;
                assert_eq!(tree.keys(), [lease.server_key()], "{what}");
                assert_eq!(tree.shown(), "", "git sees nothing: {what}");
                dispose(&lease).await;
                // Nothing tells whose folder it is that the peer made before its manifest, and git sees no empty one.
                let made = config.is_none() && until == Until::Locked;
                assert_eq!(made, fs::remove_dir(tree.file(".cursor")).is_ok(), "{what}");
                assert_eq!(tree.snapshot(), before, "{what}");
                assert_eq!(tree.shown(), status, "{what}");
                let what = crashed("reconcile");
                let report = tree.reconcile().await;
                assert_eq!(report.problems, [], "{what}");
                assert_eq!(made, fs::remove_dir(tree.file(".cursor")).is_ok(), "{what}");
                assert_eq!(tree.snapshot(), before, "{what}");
            }
        }
    }
}

/// A peer that ends in the middle.
#[test]
#[ignore = "a worker of the tests"]
fn crashing_peer() {
    let word: Value = serde_json::from_str(&crate::aside::told()).unwrap();
    let place = Place::with_home(Path::new(word["home"].as_str().unwrap()));
    let tree = place.existing(Path::new(word["tree"].as_str().unwrap()));
    let common = place.run(
        &tree.path,
        &["rev-parse", "--path-format=absolute", "--git-common-dir"],
    );
    let tree = Worktree {
        common: Some(common.trim().into()),
        ..tree
    };
    let until = Until::CRASHES
        .into_iter()
        .find(|until| format!("{until:?}") == word["until"])
        .unwrap();
    peer(&tree, &format!("{}-crashed", key())).stage(until).unwrap();
}

#[tokio::test]
async fn they_take_over_from_our_crash() {
    for config in [None, Some(PLAIN)] {
        let place = Place::new();
        for tree in trees(&place, config) {
            let name = tree.path.display();
            let before = tree.snapshot();
            let crew = Crew::start(&place, "beside::killed", &[&tree.path], 1);
            crew.begin();
            // It tells that it has staged, and waits to be killed.
            eventually("our server is staged", || {
                !tree.keys().is_empty() && place.at("staged").exists()
            })
            .await;
            crew.kill();
            fs::remove_file(place.at("staged")).unwrap();
            let theirs = peer(&tree, &key());
            theirs.stage(Until::End).unwrap();
            assert_eq!(tree.keys(), [theirs.key.as_str()], "{name}, {config:?}");
            assert_eq!(tree.shown(), "", "git sees nothing");
            theirs.dispose().unwrap();
            assert_eq!(tree.snapshot(), before, "{name}, {config:?}");
        }
    }
}

/// A session that stays until it is killed.
#[tokio::test]
#[ignore = "a worker of the tests"]
async fn killed() {
    let job = Job::told();
    let place = Place::with_home(&job.home);
    let _lease = place.existing(&job.tree).try_stage(&job.name).await.unwrap();
    fs::write(job.home.parent().unwrap().join("staged"), "").unwrap();
    tokio::time::sleep(PATIENCE).await;
}

#[tokio::test]
async fn their_lock_is_taken_over_when_they_died_and_ours_by_them() {
    let place = Place::new();
    let tree = place.repository("r");
    tree.write(PLAIN);
    let lock = tree.file(LOCK);
    fs::create_dir(&lock).unwrap();
    let owner = |pid: u32| serde_json::json!({ "pid": pid, "hostname": hostname(), "acquiredAt": Machine::get().now_ms() });
    fs::write(lock.join("owner.json"), owner(dead_pid()).to_string()).unwrap();
    let began = Instant::now();
    let lease = tree.stage().await;
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "it was not waited for: {:?}",
        began.elapsed()
    );
    dispose(&lease).await;
    // As our own leaves it: with fields that the peer does not know, and files beside.
    fs::create_dir(&lock).unwrap();
    let mut ours = owner(dead_pid());
    ours["processStart"] = "linux:x:1:2".into();
    ours["kernelLock"] = true.into();
    ours["token"] = "0123456789abcdef".into();
    fs::write(lock.join("owner.json"), ours.to_string()).unwrap();
    fs::write(lock.join(".fusion-tmp-1-0123456789abcdef"), "half").unwrap();
    let theirs = peer(&tree, &key());
    theirs.stage(Until::End).unwrap();
    theirs.dispose().unwrap();
    assert_eq!(tree.config().as_deref(), Some(PLAIN));
    assert!(!lock.exists());
}

/// The peer takes the block away with its main lock in hand, and without the exclude file's.
#[cfg(feature = "failpoints")]
#[tokio::test]
async fn a_block_that_they_take_away_at_the_last_moment_comes_back() {
    use fusion_cursor_native::disk::failpoint::{Moment, Verdict, arm};
    let place = Place::new();
    let tree = place.repository("r");
    let before = tree.snapshot();
    let exclude = tree.file(".git/info/exclude");
    let text = fs::read_to_string(&exclude).unwrap();
    let mut once = Some(());
    let armed = arm(
        &tree.file(LOCK),
        Box::new(move |step| {
            if step.what == "make" && step.moment == Moment::Before && once.take().is_some() {
                fs::write(&exclude, &text).unwrap();
            }
            Verdict::Go
        }),
    );
    let lease = tree.stage().await;
    assert!(armed.count() > 0);
    assert_eq!(tree.shown(), "", "git sees nothing");
    dispose(&lease).await;
    assert_eq!(tree.snapshot(), before);
}

const EACH: usize = 4;
const CYCLES: usize = 10;

#[tokio::test]
async fn four_of_each_at_once_leave_all_as_it_was() {
    let place = Place::new();
    let tree = place.repository("r");
    tree.write(PLAIN);
    let (before, status) = (tree.snapshot(), tree.shown());
    let folders = vec![&*tree.path; EACH];
    let theirs = Crew::start(&place, "beside::peer_at_work", &folders, CYCLES);
    let ours = Crew::start(&place, "workers::worker", &folders, CYCLES);
    theirs.begin();
    ours.begin();
    let all = ours.done().into_iter().chain(theirs.done());
    assert_eq!(all.map(|(cycles, ..)| cycles).sum::<usize>(), 2 * EACH * CYCLES);
    assert_eq!(tree.snapshot(), before);
    assert_eq!(tree.shown(), status);
}

/// A peer that stages and disposes, and tries again where it gave up.
#[tokio::test]
#[ignore = "a worker of the tests"]
async fn peer_at_work() {
    let job = Job::told();
    job.wait_for_the_gate().await;
    let began = Instant::now();
    let common = job.tree.join(".git");
    for cycle in 0..job.cycles {
        let peer = Peer::new(&job.tree, &common, &common, &format!("{}-{cycle}", job.name));
        eventually("the peer gets its lock", || peer.stage(Until::End).is_ok()).await;
        eventually("the peer gets its lock", || peer.dispose().is_ok()).await;
    }
    tell(job.cycles, began.elapsed());
}
