//! Git at work in the worktrees while sessions come and go: it never takes a file of ours.

#![allow(clippy::disallowed_methods, reason = "the time of a file is of that clock")]

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::mcp::{StagingError, stage};
use fusion_cursor_native::worktree::LONGEST_READ;

use crate::support::*;
use crate::workers::Crew;

const WORKTREES: usize = 8;
const CYCLES: usize = 25;

/// What of ours git would commit.
fn taken(tree: &Worktree<'_>) -> Vec<String> {
    tree.place.run(&tree.path, &["add", "-A"]);
    let listed = tree.place.run(&tree.path, &["ls-files", "-z"]);
    let staged = tree
        .place
        .run(&tree.path, &["diff", "--cached", "--name-only", "-z"]);
    let names = listed.split('\0').chain(staged.split('\0'));
    names
        .filter(|name| name.contains(".cursor") || name.contains("fusion"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn git_add_never_takes_a_file_of_ours_in_any_of_eight_worktrees() {
    let place = Place::new();
    let main = place.repository("r");
    let trees: Vec<_> = (0..WORKTREES)
        .map(|number| main.linked(&format!("linked{number}")))
        .collect();
    let (before, snapshots) = (
        main.snapshot(),
        trees.iter().map(Worktree::snapshot).collect::<Vec<_>>(),
    );
    let paths: Vec<&Path> = trees.iter().map(|tree| &*tree.path).collect();
    let mut crew = Crew::start(&place, "workers::worker", &paths, CYCLES);
    let began = Instant::now();
    crew.begin();
    let mut rounds = 0;
    while crew.work() {
        for tree in &trees {
            let taken = taken(tree);
            assert!(taken.is_empty(), "round {rounds}: {taken:?}");
        }
        rounds += 1;
    }
    let done = crew.done();
    assert_eq!(
        done.iter().map(|(cycles, ..)| cycles).sum::<usize>(),
        WORKTREES * CYCLES
    );
    println!(
        "{} cycles in {:?}; git looked {} times in each worktree",
        WORKTREES * CYCLES,
        began.elapsed(),
        rounds
    );
    assert!(rounds > 1, "git was at work at the same time");
    assert_eq!(main.snapshot(), before);
    for (tree, before) in trees.iter().zip(&snapshots) {
        assert_eq!(&tree.snapshot(), before);
        // Without --force.
        place.run(&main.path, &["worktree", "remove", tree.path.to_str().unwrap()]);
    }
}

#[tokio::test]
async fn a_worktree_can_be_removed_after_a_session() {
    let place = Place::new();
    let main = place.repository("r");
    let tree = main.linked("linked");
    let lease = tree.stage().await;
    // An ignored file is nothing that git asks about; it goes with the worktree, so this is only for the session.
    dispose(&lease).await;
    assert_eq!(
        place.run(&tree.path, &["status", "--porcelain", "--ignored", "-uall"]),
        ""
    );
    place.run(&main.path, &["worktree", "remove", tree.path.to_str().unwrap()]);
    assert!(!tree.path.exists());
}

#[tokio::test]
async fn git_that_has_not_read_our_lines_is_waited_for() {
    let place = Place::new();
    let main = place.repository("r");
    let linked = main.linked("linked");
    let paths = [".git/index.lock", ".git/worktrees/linked/index.lock"];
    for (tree, index) in [&main, &linked].into_iter().zip(paths) {
        let index = main.file(index);
        loop {
            // As git has it when it has read the exclude file and looks through the folders.
            fs::write(&index, "").unwrap();
            let staging = tree.stage();
            tokio::pin!(staging);
            let look = async {
                eventually("our lines are there", || tree.exclude().contains("fusion")).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
                !tree.file(".cursor").exists()
            };
            let (early, nothing) = tokio::select! {
                lease = &mut staging => (Some(lease), false),
                nothing = look => (None, nothing),
            };
            let slow = was_slow(&main, &index);
            fs::remove_file(&index).unwrap();
            let lease = match early {
                Some(lease) => lease,
                None => staging.await,
            };
            dispose(&lease).await;
            if nothing {
                break;
            }
            assert!(slow, "it was not waited for: git could take something");
        }
    }
}

/// Whether the machine took so long to get to the exclude file that no command of git's could still be at work.
fn was_slow(main: &Worktree<'_>, index: &Path) -> bool {
    let modified = |path: &Path| path.metadata().and_then(|about| about.modified());
    let (Ok(lines), Ok(index)) = (modified(&main.file(".git/info")), modified(index)) else {
        return false;
    };
    lines
        .duration_since(index)
        .is_ok_and(|late| late > LONGEST_READ / 2)
}

#[tokio::test]
async fn a_lock_on_the_index_that_stays_is_not_waited_for_long() {
    let place = Place::new();
    let tree = place.repository("r");
    let before = tree.snapshot();
    let lock = tree.file(".git/index.lock");
    loop {
        fs::write(&lock, "").unwrap();
        let began = Instant::now();
        let lease = tree.stage().await;
        let (took, slow) = (began.elapsed(), was_slow(&tree, &lock));
        dispose(&lease).await;
        if took >= LONGEST_READ {
            break;
        }
        assert!(slow, "{took:?}");
    }
    // One that crashed, or waits in an editor, since long before.
    let long_ago = SystemTime::now() - Duration::from_mins(1);
    File::options()
        .write(true)
        .open(&lock)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    assert!(is_quick(&tree).await);
    assert_eq!(tree.snapshot(), before);
}

/// Whether a session does not wait for git. On a busy machine one may take as long as that; not each of them.
async fn is_quick(tree: &Worktree<'_>) -> bool {
    for _ in 0..5 {
        let began = Instant::now();
        let lease = tree.stage().await;
        let took = began.elapsed();
        dispose(&lease).await;
        if took < LONGEST_READ {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn to_give_up_meanwhile_leaves_nothing() {
    let mut place = Place::new();
    place.lock_timeout = Duration::from_millis(200);
    let tree = place.repository("r");
    let before = tree.snapshot();
    fs::write(tree.file(".git/index.lock"), "").unwrap();
    // Its own time is over first, and then git is heeded no more.
    assert!(is_quick(&tree).await);
    assert_eq!(tree.snapshot(), before);

    let mut place = Place::new();
    place.lock_timeout = PATIENCE;
    let tree = place.repository("r");
    let before = tree.snapshot();
    fs::write(tree.file(".git/index.lock"), "").unwrap();
    let (off, is_off) = cancel();
    let staging = stage(tree.request(&key()), is_off);
    let (ended, ()) = tokio::join!(staging, async {
        eventually("our lines are there", || tree.exclude().contains("fusion")).await;
        off.cancel();
    });
    assert!(matches!(ended, Err(StagingError::Cancelled)), "{ended:?}");
    assert_eq!(tree.snapshot(), before);
}
