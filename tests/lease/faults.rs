//! A disk that fails at any step, and programs that know no lock.

use std::fs;
use std::sync::Arc;

use fusion_cursor_native::disk::failpoint::{Armed, Moment, Step, Verdict, arm};
use fusion_cursor_native::mcp::StagingError;
use parking_lot::Mutex;

use crate::support::*;

/// Fail from this step on, or at this step alone. Removing takes no room, so it goes on where the disk is full.
fn failing(tree: &Worktree<'_>, at: u64, errno: i32, stays: bool) -> Armed {
    let hook = move |step: &Step<'_>| {
        let hit = step.number == at || (stays && step.number > at);
        let takes_room = !step.what.starts_with("remove");
        if step.moment == Moment::Before && hit && (!stays || takes_room) {
            return Verdict::Fail(errno);
        }
        Verdict::Go
    };
    arm(&tree.path, Box::new(hook))
}

const FAULTS: [(i32, bool, Option<&str>); 4] = [
    (libc_errno::EIO, false, None),
    (libc_errno::EIO, false, Some(COMMENTED)),
    (libc_errno::ENOSPC, true, None),
    (libc_errno::ENOSPC, true, Some(COMMENTED)),
];

mod libc_errno {
    pub(super) const EIO: i32 = rustix::io::Errno::IO.raw_os_error();
    pub(super) const ENOSPC: i32 = rustix::io::Errno::NOSPC.raw_os_error();
}

/// Whether a lock on the exclude file could not be removed: the next one takes it over.
fn has_left_a_lock(tree: &Worktree<'_>) -> bool {
    tree.file(".git/fusion-cursor-exclude.lock").exists()
}

#[tokio::test]
async fn a_staging_that_fails_at_any_step_leaves_all_as_it_was() {
    let place = Place::new();
    for (errno, stays, text) in FAULTS {
        let tree = place.repository(&format!("repo{errno}{stays}{}", text.is_some()));
        if let Some(text) = text {
            tree.write(text);
            tree.chmod(CONFIG, 0o640);
        }
        let before = tree.snapshot();
        let (mut failed, mut steps) = (0, 1);
        loop {
            let hooked = failing(&tree, steps, errno, stays);
            let staged = tree.try_stage(&key()).await;
            let done = hooked.count() < steps;
            drop(hooked);
            match staged {
                // What fails may be of no account.
                Ok(lease) => {
                    assert_eq!(tree.keys(), [lease.server_key()]);
                    assert_eq!(tree.shown(), "");
                    dispose(&lease).await;
                }
                Err(StagingError::Failed(_)) => failed += 1,
                Err(error) => panic!("{error}"),
            }
            // A full disk has no room for what would take lines out of a file.
            if !stays && !has_left_a_lock(&tree) {
                assert_eq!(tree.snapshot(), before, "step {steps}, errno {errno}");
            }
            let report = tree.reconcile().await;
            assert!(report.clean, "step {steps}: {report:?}");
            assert_eq!(tree.snapshot(), before, "step {steps}, errno {errno}, {stays}");
            if done {
                break;
            }
            steps += 1;
        }
        assert!(failed > 8 && steps > 20, "{failed} of {steps}");
    }
}

#[tokio::test]
async fn a_disposal_that_fails_at_any_step_is_made_good_by_the_next() {
    let place = Place::new();
    for (errno, stays, text) in FAULTS {
        let tree = place.repository(&format!("repo{errno}{stays}{}", text.is_some()));
        if let Some(text) = text {
            tree.write(text);
            tree.chmod(CONFIG, 0o640);
        }
        let before = tree.snapshot();
        for steps in 1.. {
            let lease = tree.stage().await;
            let hooked = failing(&tree, steps, errno, stays);
            let disposed = within("disposing", lease.dispose()).await;
            let done = hooked.count() < steps;
            drop(hooked);
            if disposed.is_err() {
                dispose(&lease).await;
            }
            let report = tree.reconcile().await;
            assert!(report.clean, "step {steps}: {report:?}");
            assert_eq!(tree.snapshot(), before, "step {steps}, errno {errno}, {stays}");
            if done {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_config_that_cannot_be_written_is_noted_until_it_can() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let lease = tree.stage().await;
    tree.write(PLAIN);
    let hook = |step: &Step<'_>| match (step.what, step.path.ends_with(CONFIG), step.moment) {
        ("replace.rename", true, Moment::Before) => Verdict::Fail(rustix::io::Errno::ROFS.raw_os_error()),
        _ => Verdict::Go,
    };
    let hooked = arm(&tree.path, Box::new(hook));
    assert!(!within("a beat", lease.heartbeat()).await);
    assert_eq!(tree.manifest()["configUnwritable"], true);
    drop(hooked);
    assert!(within("a beat", lease.heartbeat()).await);
    assert_eq!(tree.manifest()["configUnwritable"], false);
    let hooked = arm(&tree.path, Box::new(hook));
    let failed = lease.dispose().await.unwrap_err();
    assert_eq!(failed.problem().unwrap().reason.as_str(), "read-only", "{failed}");
    drop(hooked);
    assert_eq!(tree.shown(), "", "the token stays hidden");
    dispose(&lease).await;
    assert_eq!(tree.config().as_deref(), Some(PLAIN));
    assert!(!tree.file(MANIFEST).exists());
}

#[tokio::test]
async fn a_full_disk_keeps_no_token_in_a_config_of_ours() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let lease = tree.stage().await;
    // From when the lock is had, no bytes can be written.
    let mut locked = false;
    let hook = move |step: &Step<'_>| {
        locked |= step.moment == Moment::After && step.path.ends_with(format!("{LOCK}/owner.json"));
        if locked && step.moment == Moment::Before && matches!(step.what, "replace.write" | "create.write") {
            return Verdict::Short(3, libc_errno::ENOSPC);
        }
        Verdict::Go
    };
    let hooked = arm(&tree.path, Box::new(hook));
    let disposed = within("disposing", lease.dispose()).await;
    drop(hooked);
    assert!(disposed.is_ok(), "{disposed:?}");
    assert!(!tree.file(CONFIG).exists() && !tree.file(MANIFEST).exists());
    assert!(tree.reconcile().await.clean, "the lines of the exclude file");
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_writer_that_knows_no_lock_loses_nothing() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let config = tree.file(CONFIG);
    let left = Arc::new(Mutex::new(0));
    // Right before the rename, when all else is done.
    let hooked = |times: u32| {
        *left.lock() = times;
        let (left, config) = (Arc::clone(&left), config.clone());
        let mut number = 0;
        let hook = move |step: &Step<'_>| {
            let config_is_next = step.what == "replace.sync" && step.moment == Moment::After;
            let mut left = left.lock();
            if config_is_next && *left > 0 && fs::read_to_string(&config).is_ok() {
                *left -= 1;
                number += 1;
                let text = fs::read_to_string(&config).unwrap();
                let edited = text.replacen('{', &format!("{{ \"edit{number}\": 1,"), 1);
                fs::write(&config, edited).unwrap();
            }
            Verdict::Go
        };
        arm(&tree.path, Box::new(hook))
    };
    let hook = hooked(4);
    let lease = tree.stage().await;
    drop(hook);
    let text = tree.config().unwrap();
    for number in 1..=4 {
        assert!(text.contains(&format!("\"edit{number}\"")), "{text}");
    }
    let hook = hooked(3);
    dispose(&lease).await;
    drop(hook);
    let text = tree.config().unwrap();
    assert_eq!(text.matches("edit").count(), 7, "{text}");
    assert!(tree.keys().is_empty() && text.contains("npx"), "{text}");
    assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));

    // One that never stops is a failure, and loses nothing either.
    let hook = hooked(1000);
    let failed = tree.try_stage(&key()).await.unwrap_err();
    drop(hook);
    assert!(failed.to_string().contains("changes it all the time"), "{failed}");
    assert!(tree.keys().is_empty());
    assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));
}

#[tokio::test]
async fn a_line_that_is_put_into_the_exclude_file_in_between_is_not_lost() {
    let place = Place::new();
    let tree = place.repository("repo");
    let file = tree.file(".git/info/exclude");
    let before = tree.exclude();
    // When the new text is written, all but the rename is done.
    let hooked = |name: &'static str, times: u32| {
        let (file, mut number) = (file.clone(), 0);
        let hook = move |step: &Step<'_>| {
            let beside = step
                .path
                .to_string_lossy()
                .contains("fusion-cursor-exclude.lock/.fusion-tmp");
            let text = fs::read_to_string(&file).unwrap();
            let is_next = step.what == "replace.write" && step.moment == Moment::After;
            if beside && is_next && number < times && text.contains(">>>") == (name == "b") {
                number += 1;
                fs::write(&file, format!("{text}{name}{number}\n")).unwrap();
            }
            Verdict::Go
        };
        arm(&tree.path, Box::new(hook))
    };
    let hook = hooked("a", 3);
    let lease = tree.stage().await;
    drop(hook);
    assert!(tree.exclude().contains(">>>"));
    let hook = hooked("b", 3);
    dispose(&lease).await;
    drop(hook);
    assert_eq!(tree.exclude(), format!("{before}a1\na2\na3\nb1\nb2\nb3\n"));

    // One that never stops is a failure, and loses nothing either.
    let hook = hooked("a", 1000);
    let failed = tree.try_stage(&key()).await.unwrap_err();
    drop(hook);
    assert!(failed.to_string().contains("changes it all the time"), "{failed}");
    assert!(tree.exclude().contains("a5\n") && !tree.exclude().contains(">>>"));
}

/// Do this once, right after the first step of this kind on the manifest.
fn after_the_manifest(tree: &Worktree<'_>, what: &'static str, act: impl Fn() + Send + 'static) -> Armed {
    let mut done = false;
    let hook = move |step: &Step<'_>| {
        let now = step.what == what && step.moment == Moment::After;
        if now && !done && step.path.ends_with(MANIFEST) {
            done = true;
            act();
        }
        Verdict::Go
    };
    arm(&tree.path, Box::new(hook))
}

#[tokio::test]
async fn a_folder_that_is_removed_in_between_leaves_no_lines_behind() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let cursor = tree.file(".cursor");
    let remove = move || fs::remove_dir_all(&cursor).unwrap();
    let hook = after_the_manifest(&tree, "replace.rename", remove.clone());
    let failed = tree.try_stage(&key()).await.unwrap_err();
    drop(hook);
    assert_eq!(tree.snapshot(), before, "{failed}");
    let lease = tree.stage().await;
    let hook = after_the_manifest(&tree, "replace.rename", remove);
    let disposed = within("disposing", lease.dispose()).await;
    drop(hook);
    assert_eq!(tree.snapshot(), before, "{disposed:?}");
    dispose(&lease).await;
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_removal_that_overtakes_a_staging_half_way_shows_git_no_token() {
    let place = Place::new();
    let tree = place.repository("repo");
    let exclude = tree.exclude();
    let (manifest, lock) = (tree.file(MANIFEST), tree.file(LOCK));
    // What removes the folder has been here, and finds it not empty in the end.
    let hook = move |step: &Step<'_>| {
        let placed = step.what == "replace.rename" && step.moment == Moment::After;
        if placed && step.path.ends_with(CONFIG) {
            fs::remove_file(&manifest).unwrap();
            fs::remove_dir_all(&lock).unwrap();
            return Verdict::Fail(libc_errno::EIO);
        }
        Verdict::Go
    };
    let hook = arm(&tree.path, Box::new(hook));
    let staged = tree.try_stage(&key()).await;
    drop(hook);
    assert!(tree.config().is_some(), "{staged:?}");
    assert_eq!(tree.shown(), "");
    if let Ok(lease) = staged {
        dispose(&lease).await;
    }
    assert!(tree.reconcile().await.clean);
    // Nobody knows any more whether there was a config before.
    assert_eq!((tree.keys(), tree.exclude()), (Vec::<String>::new(), exclude));
}

#[tokio::test]
async fn a_staging_that_loses_its_lock_half_way_leaves_no_lease() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let before = tree.snapshot();
    let lock = tree.file(LOCK);
    let hook = after_the_manifest(&tree, "replace.rename", move || {
        fs::remove_dir_all(&lock).unwrap();
    });
    let failed = tree.try_stage(&key()).await.unwrap_err();
    drop(hook);
    assert!(
        failed.to_string().contains("removed by another program"),
        "{failed}"
    );
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn nothing_is_written_into_a_folder_that_was_put_elsewhere_in_between() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let (cursor, aside) = (tree.file(".cursor"), place.at("aside"));
    let hook = after_the_manifest(&tree, "replace.rename", {
        let aside = aside.clone();
        move || {
            fs::rename(&cursor, &aside).unwrap();
            std::os::unix::fs::symlink(&aside, &cursor).unwrap();
        }
    });
    let failed = tree.try_stage(&key()).await.unwrap_err();
    drop(hook);
    assert!(
        failed.to_string().contains("removed by another program"),
        "{failed}"
    );
    let text = fs::read_to_string(aside.join("mcp.json")).unwrap();
    assert_eq!(text, PLAIN, "{failed}");
}

/// In place, as sessions of this package take over: the folder is the same one.
#[tokio::test]
async fn a_lock_that_is_taken_over_between_the_journal_and_the_config_is_noticed() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let lock = tree.file(LOCK);
    let mut once = Some(());
    let hooked = arm(
        &tree.file(MANIFEST),
        Box::new(move |step| {
            if step.what == "replace.rename" && step.moment == Moment::After && once.take().is_some() {
                let owner = serde_json::json!({
                    "pid": 1, "hostname": "elsewhere", "acquiredAt": now_ms(), "token": "0123456789abcdef", "claim": 1,
                });
                fs::write(lock.join("takeover.1"), owner.to_string()).unwrap();
                fs::write(lock.join("owner.json"), owner.to_string()).unwrap();
            }
            Verdict::Go
        }),
    );
    let staged = tree.try_stage(&key()).await;
    assert!(hooked.count() > 0);
    drop(hooked);
    assert!(matches!(staged, Err(StagingError::Failed(_))), "{staged:?}");
    assert_eq!(
        tree.config().as_deref(),
        Some(PLAIN),
        "nothing was written without the lock"
    );
    let owner = fs::read_to_string(tree.file(&format!("{LOCK}/owner.json"))).unwrap();
    assert!(owner.contains("elsewhere"), "{owner}");
}
