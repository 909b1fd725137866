//! Several sessions at once, in one worktree and in several of one repository.

use std::fs;
use std::time::{Duration, Instant};

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::lock::KernelLock;
use fusion_cursor_native::mcp::{
    Reason, StageRequest, StagingError, dispose_in_background, reconcile, release_held, stage, stage_beating,
};
use fusion_cursor_native::process::{Busy, Owner, Whose, call_off, end_owned_by};
use fusion_cursor_native::worktree::Git;
use serde_json::json;

use crate::aside::{passed, test};
use crate::support::*;

#[tokio::test]
async fn two_sessions_share_a_config_and_end_in_any_order() {
    let place = Place::new();
    for first in [0, 1] {
        let tree = place.repository(&format!("repo{first}"));
        tree.write(COMMENTED);
        let before = tree.snapshot();
        let leases = [tree.stage().await, tree.stage().await];
        let keys = leases.each_ref().map(|lease| lease.server_key().to_owned());
        let mut there = tree.keys();
        there.sort();
        assert_eq!(there, keys);
        dispose(&leases[first]).await;
        assert_eq!(tree.keys(), [keys[1 - first].clone()]);
        assert_eq!(tree.shown(), "");
        assert!(within("a beat", leases[1 - first].heartbeat()).await);
        dispose(&leases[1 - first]).await;
        assert_eq!(tree.snapshot(), before);
    }
}

#[tokio::test]
async fn a_key_that_is_staged_is_refused_and_one_of_a_dead_process_replaced() {
    let place = Place::new();
    let tree = place.repository("repo");
    let lease = tree.stage().await;
    let before = tree.snapshot();
    match tree.try_stage(lease.server_key()).await {
        Err(StagingError::Failed(problem)) => {
            assert_eq!(problem.reason, Reason::DuplicateKeys);
            assert!(
                problem.message.contains(&std::process::id().to_string()),
                "{problem:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(tree.snapshot(), before);
    let mut manifest = tree.manifest();
    let dead = plugins_lease(dead_pid(), 0);
    manifest["leases"] = json!({ lease.server_key(): dead });
    tree.write_file(MANIFEST, &manifest.to_string());
    let again = tree.try_stage(lease.server_key()).await.unwrap();
    assert_eq!(
        tree.manifest()["leases"][lease.server_key()]["pid"],
        std::process::id()
    );
    dispose(&again).await;
    dispose(&lease).await;
    assert!(!tree.file(".cursor").exists());
}

#[tokio::test]
async fn the_exclusion_outlives_every_lease_of_every_worktree() {
    let place = Place::new();
    let main = place.repository("repo");
    let trees = [
        main.linked("one"),
        main.linked("two"),
        main.below("apps/web"),
        main.clone(),
    ];
    let before: Vec<Snapshot> = trees.iter().map(Worktree::snapshot).collect();
    let mut leases = Vec::new();
    for tree in &trees {
        leases.push(tree.stage().await);
    }
    assert!(main.exclude().contains("/apps/web/.cursor/mcp.json\n"));
    while let Some(lease) = leases.pop() {
        dispose(&lease).await;
        assert_eq!(main.exclude().contains(">>>"), !leases.is_empty());
        for tree in &trees {
            assert_eq!(tree.shown(), "", "{}", tree.path.display());
        }
    }
    for (tree, before) in trees.iter().zip(before) {
        // The folder of a linked worktree has nothing but its own files.
        assert_eq!(tree.snapshot(), before);
    }
    place.run(
        &main.path,
        &["worktree", "remove", trees[0].path.to_str().unwrap()],
    );
}

#[tokio::test]
async fn outside_of_a_repository_there_is_nothing_to_exclude() {
    let place = Place::new();
    let tree = place.plain("folder");
    let lease = tree.stage().await;
    assert_eq!(tree.manifest()["exclusionOwnedByFusion"], false);
    dispose(&lease).await;
    assert_eq!(fs::read_dir(&tree.path).unwrap().count(), 0);
}

#[tokio::test]
async fn a_folder_has_one_lease_however_it_is_spelled() {
    let place = Place::new();
    let tree = place.repository("repo");
    let link = place.at("link");
    std::os::unix::fs::symlink(&tree.path, &link).unwrap();
    let spelled = Worktree {
        path: link,
        ..tree.clone()
    };
    let lease = spelled.stage().await;
    assert_eq!(lease.worktree(), tree.path);
    assert!(tree.try_stage(lease.server_key()).await.is_err());
    release_held(Whose::Everybody, Some(&spelled.path));
    assert!(!tree.file(".cursor").exists());
}

#[tokio::test]
async fn a_worktree_that_is_removed_takes_its_leases_with_it() {
    let place = Place::new();
    let main = place.repository("repo");
    let before = main.snapshot();
    for (name, by_git) in [("one", true), ("two", false)] {
        let tree = main.linked(name);
        let lease = tree.stage().await;
        if by_git {
            place.run(
                &main.path,
                &["worktree", "remove", "--force", tree.path.to_str().unwrap()],
            );
        } else {
            fs::remove_dir_all(&tree.path).unwrap();
        }
        assert!(!within("a beat", lease.heartbeat()).await);
        dispose(&lease).await;
        dispose(&lease).await;
        assert!(!tree.path.exists());
        assert_eq!(main.snapshot(), before, "{name}");
    }
    let whole = place.repository("whole");
    let lease = whole.stage().await;
    fs::remove_dir_all(&whole.path).unwrap();
    assert!(!within("a beat", lease.heartbeat()).await);
    dispose(&lease).await;
}

#[tokio::test]
async fn the_exclusion_that_a_peer_took_away_comes_back_with_a_beat() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.exclude();
    let lease = tree.stage().await;
    tree.write_file(".git/info/exclude", &before);
    assert_ne!(tree.shown(), "");
    assert!(within("a beat", lease.heartbeat()).await);
    assert_eq!(tree.shown(), "");
    dispose(&lease).await;
    assert_eq!(tree.exclude(), before);
}

#[tokio::test]
async fn a_lease_beats_by_itself_until_it_ends() {
    let place = Place::new();
    let tree = place.repository("repo");
    let (_calm, calm) = cancel();
    let request = tree.request(&key());
    let lease = within("staging", stage_beating(request, calm, Duration::from_millis(20)))
        .await
        .unwrap();
    let beat = |tree: &Worktree<'_>| {
        let manifest = fs::read_to_string(tree.file(MANIFEST)).unwrap_or_default();
        let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap_or_default();
        manifest["leases"]
            .as_object()
            .and_then(|leases| leases.values().next()?["heartbeatAt"].as_i64())
    };
    let first = beat(&tree).unwrap();
    eventually("another beat", || beat(&tree).is_some_and(|beat| beat > first)).await;
    tree.write(PLAIN);
    eventually("the entry comes back", || tree.keys().len() == 1).await;
    dispose(&lease).await;
    assert_eq!(tree.config().unwrap(), PLAIN);
    let after = tree.snapshot();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(tree.snapshot(), after, "no beat after the end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_at_once_ends_well() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(COMMENTED);
    let before = tree.snapshot();
    for round in 0..6 {
        let lease = tree.stage().await;
        let (other, _either, one, two, report, ()) = tokio::join!(
            tree.stage(),
            lease.heartbeat(),
            lease.dispose(),
            lease.dispose(),
            tree.reconcile(),
            async {
                let lease = tree.stage().await;
                dispose(&lease).await;
            }
        );
        one.unwrap();
        two.unwrap();
        assert!(report.problems.is_empty(), "{round}: {report:?}");
        assert_eq!(tree.keys(), [other.server_key()], "{round}");
        dispose(&other).await;
        assert_eq!(tree.snapshot(), before, "{round}");
    }
}

#[tokio::test]
async fn a_staging_that_is_called_off_leaves_nothing() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let (off, is_off) = cancel();
    off.cancel();
    let staged = within("staging", stage(tree.request(&key()), is_off)).await;
    assert!(matches!(staged, Err(StagingError::Cancelled)), "{staged:?}");
    assert_eq!(tree.snapshot(), before);

    // In the middle of its wait for a lock; and forgotten there.
    let folder = Folder::open(&tree.path).unwrap();
    let kernel = KernelLock::attempt(&folder).unwrap().unwrap();
    let (off, is_off) = cancel();
    let waiting = tokio::spawn(stage(tree.request(&key()), is_off));
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!waiting.is_finished());
    let began = Instant::now();
    off.cancel();
    let staged = within("the end", waiting).await.unwrap();
    assert!(matches!(staged, Err(StagingError::Cancelled)), "{staged:?}");
    assert!(began.elapsed() < Duration::from_secs(8));
    let (_calm, calm) = cancel();
    let forgotten = tokio::spawn(stage(tree.request(&key()), calm));
    tokio::time::sleep(Duration::from_millis(50)).await;
    forgotten.abort();
    drop(kernel);
    eventually("nothing is left", || tree.snapshot() == before).await;
    // Whoever comes next finds the place free.
    let lease = tree.stage().await;
    dispose(&lease).await;
    assert_eq!(tree.snapshot(), before);

    // At any moment.
    for micros in (0..40).map(|step| step * 700) {
        let (off, is_off) = cancel();
        let staging = tokio::spawn(stage(tree.request(&key()), is_off));
        tokio::time::sleep(Duration::from_micros(micros)).await;
        off.cancel();
        if let Ok(lease) = within("the end", staging).await.unwrap() {
            dispose(&lease).await;
        }
        assert_eq!(tree.snapshot(), before, "after {micros} us");
    }
}

#[tokio::test]
async fn the_leases_of_a_scope_end_with_it() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let stage_for = async |scope| {
        let (_calm, calm) = cancel();
        let mut request = tree.request(&key());
        request.scope = Owner(scope);
        within("staging", stage(request, calm)).await
    };
    let ending = stage_for(901).await.unwrap();
    let staying = stage_for(902).await.unwrap();
    call_off(Whose::Of(Owner(901)));
    dispose_in_background(Owner(901));
    eventually("the end of one", || tree.keys() == [staying.server_key()]).await;
    assert!(matches!(stage_for(901).await, Err(StagingError::Cancelled)));
    assert!(!within("a beat", ending.heartbeat()).await);
    dispose(&staying).await;
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn an_end_waits_for_a_server_that_is_being_taken_out() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let (_calm, calm) = cancel();
    let request = StageRequest {
        scope: Owner(903),
        ..tree.request("fusion-custom-tools-903")
    };
    stage(request, calm).await.unwrap();
    dispose_in_background(Owner(903));
    end_owned_by(Whose::Of(Owner(903)), Duration::from_secs(20));
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn an_end_calls_off_a_wait_for_a_lock_to_put_a_worktree_in_order() {
    let place = Place::new();
    let tree = place.repository("repo");
    let folder = Folder::open(&tree.path).unwrap();
    let _somebody = KernelLock::attempt(&folder).unwrap().unwrap();
    let git = Git {
        owner: Owner(904),
        ..place.git()
    };
    let began = Instant::now();
    let waiting = tokio::spawn(reconcile(tree.path.clone(), git, Duration::from_secs(60)));
    // It has begun when an end would wait for it.
    tokio::task::yield_now().await;
    let ended = tokio::task::spawn_blocking(|| {
        end_owned_by(Whose::Of(Owner(904)), Duration::from_secs(50));
    });
    ended.await.unwrap();
    let report = within("reconciling", waiting).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // Git may have been ended in the middle of its answer, which is told before.
    let last = report.problems.last().map(|problem| problem.reason);
    assert_eq!(last, Some(Reason::LockTimeout), "{report:?}");
}

#[test]
fn a_host_that_waited_in_vain_waits_no_second_time() {
    passed(&test("sessions::two_ends").output().unwrap());
}

#[test]
#[ignore = "it ends the whole process"]
fn two_ends() {
    let _never_done = Busy::with(Owner(905));
    let began = Instant::now();
    end_owned_by(Whose::Everybody, Duration::from_millis(100));
    assert!(began.elapsed() >= Duration::from_millis(100));
    let began = Instant::now();
    end_owned_by(Whose::Everybody, Duration::from_secs(20));
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn behind_the_end_of_the_host_no_work_on_files_begins() {
    passed(&test("sessions::behind_the_end").output().unwrap());
}

/// As other threads ask for it that run until the process is gone.
#[tokio::test]
#[ignore = "it ends the whole process"]
async fn behind_the_end() {
    let place = Place::new();
    let (tree, gone, crashed) = (
        place.repository("repo"),
        place.repository("gone"),
        place.repository("crashed"),
    );
    let (before, staying) = (tree.snapshot(), tree.stage().await);
    let forgotten = gone.stage().await;
    let owner = json!({ "pid": dead_pid(), "hostname": hostname(), "acquiredAt": 0 });
    crashed.write_file(&format!("{LOCK}/owner.json"), &owner.to_string());
    let at_end = (tree.snapshot(), gone.snapshot(), crashed.snapshot());
    tokio::task::spawn_blocking(|| end_owned_by(Whose::Everybody, Duration::from_secs(20)))
        .await
        .unwrap();

    let (_calm, calm) = cancel();
    let late = within("a staging", stage(tree.request("fusion-custom-tools-late"), calm)).await;
    assert!(matches!(late, Err(StagingError::Cancelled)), "{late:?}");
    let beat = within("a beat", staying.beat()).await;
    assert_eq!(beat, Err(StagingError::Cancelled));
    let disposed = within("a disposal", staying.dispose()).await.unwrap_err();
    let Some(problem) = disposed.problem() else {
        panic!("{disposed:?}");
    };
    assert_eq!(problem.reason, Reason::Io);
    let ordering = reconcile(crashed.path.clone(), place.git(), Duration::from_secs(20));
    let report = within("reconciling", ordering).await;
    let reasons: Vec<Reason> = report.problems.iter().map(|problem| problem.reason).collect();
    // Not even a lock is tried, which the end would find taken.
    assert_eq!(reasons, [Reason::Io], "{report:?}");
    assert!(!report.clean && report.actions.is_empty(), "{report:?}");
    dispose_in_background(Owner(0));
    release_held(Whose::Of(Owner(0)), None);
    assert!(!within("a beat", forgotten.heartbeat()).await);
    assert_eq!((tree.snapshot(), gone.snapshot(), crashed.snapshot()), at_end);

    // The end itself still takes them out.
    release_held(Whose::Everybody, None);
    assert_eq!(tree.snapshot(), before);
    assert_eq!(gone.keys(), Vec::<String>::new());
}

#[test]
fn at_exit_all_is_taken_out_that_can_be_without_a_wait() {
    passed(&test("sessions::all_is_taken_out").output().unwrap());
}

#[tokio::test]
#[ignore = "it takes out the servers of the whole process"]
async fn all_is_taken_out() {
    let place = Place::new();
    let (one, two) = (place.repository("one"), place.repository("two"));
    one.write(COMMENTED);
    let before = (one.snapshot(), two.snapshot());
    let leases = [one.stage().await, one.stage().await, two.stage().await];
    let staged = two.snapshot();

    release_held(Whose::Of(Owner(77)), None);
    release_held(Whose::Everybody, Some(&place.at("nowhere")));
    assert_eq!(one.keys().len(), 2);
    // Whatever somebody holds is left, and nobody waits.
    let folder = Folder::open(&two.path).unwrap();
    let kernel = KernelLock::attempt(&folder).unwrap().unwrap();
    let began = Instant::now();
    release_held(Whose::Everybody, None);
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert_eq!(one.snapshot(), before.0);
    assert_eq!(two.snapshot(), staged);
    drop(kernel);
    // No takeover either, be it of a dead one.
    let owner = json!({ "pid": dead_pid(), "hostname": hostname(), "acquiredAt": 0 });
    two.write_file(&format!("{LOCK}/owner.json"), &owner.to_string());
    release_held(Whose::Everybody, Some(&two.path));
    assert_eq!(two.keys().len(), 1);
    fs::remove_dir_all(two.file(LOCK)).unwrap();
    release_held(Whose::Everybody, Some(&two.path));
    assert_eq!(two.snapshot(), before.1);
    for lease in &leases {
        dispose(lease).await;
        assert!(!within("a beat", lease.heartbeat()).await);
    }
    assert_eq!((one.snapshot(), two.snapshot()), before);
}

#[tokio::test]
async fn a_disposal_that_fails_can_be_tried_again() {
    let mut place = Place::new();
    place.lock_timeout = Duration::from_millis(100);
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let lease = tree.stage().await;
    let folder = Folder::open(&tree.path).unwrap();
    let kernel = KernelLock::attempt(&folder).unwrap().unwrap();
    let (one, two) = tokio::join!(lease.dispose(), lease.dispose());
    for failed in [one, two] {
        let problem = failed.unwrap_err().problem().cloned().unwrap();
        assert_eq!(problem.reason, Reason::LockTimeout, "{problem:?}");
        assert!(
            problem
                .message
                .contains(&format!("process {}", std::process::id())),
            "{problem:?}"
        );
    }
    drop(kernel);
    assert!(
        !within("a beat", lease.heartbeat()).await,
        "it is not wanted any more"
    );
    assert_eq!(tree.keys().len(), 1);
    dispose(&lease).await;
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn eight_sessions_of_one_process_wait_for_each_other() {
    let mut place = Place::new();
    place.lock_timeout = PATIENCE;
    let tree = place.repository("repo");
    tree.write(COMMENTED);
    let before = tree.snapshot();
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let requests: Vec<_> = (0..5).map(|_| tree.request(&key())).collect();
        all.spawn(async move {
            for request in requests {
                let (_calm, calm) = cancel();
                let lease = stage(request, calm).await.unwrap();
                lease.dispose().await.unwrap();
            }
        });
    }
    while let Some(done) = within("all cycles", all.join_next()).await {
        done.unwrap();
    }
    assert_eq!(tree.snapshot(), before);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_lease_that_has_ended_keeps_nothing_open() {
    let place = Place::new();
    let tree = place.repository("repo");
    let open = || {
        let all = std::fs::read_dir("/proc/self/fd").unwrap();
        all.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
            .filter(|path| path.starts_with(&tree.path))
            .count()
    };
    let lease = tree.stage().await;
    assert!(open() > 0);
    dispose(&lease).await;
    assert_eq!(open(), 0);
    let lease = tree.stage().await;
    release_held(Whose::Everybody, Some(&tree.path));
    assert_eq!((open(), lease.worktree()), (0, tree.path.as_path()));
}
