//! Whose lines stay, whose go, and the lock on the file.

use std::fs::{create_dir_all, remove_dir, remove_dir_all, remove_file, write};
use std::path::Path;
use std::time::Duration;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::lock::{LockError, Machine, World};
use fusion_cursor_native::worktree::{GitError, Repository};
use tokio::time::Instant;

use crate::support::*;

fn put(folder: &Path, name: &str) {
    let path = folder.join(name);
    create_dir_all(path.parent().unwrap()).unwrap();
    write(path, "{}").unwrap();
}

#[tokio::test]
async fn the_last_of_several_worktrees_takes_the_block_away() {
    let place = Place::new();
    let top = place.repository("r");
    let before = Snapshot::of(&place.shape(&top).await);
    let mut folders = vec![top.clone()];
    folders.extend(["one", "two"].map(|name| place.worktree(&top, name)));
    let mut shapes = Vec::new();
    for folder in &folders {
        let shape = place.shape(folder).await;
        ensure(&shape).await.unwrap();
        fill(folder);
        shapes.push(shape);
    }
    while let (Some(folder), Some(shape)) = (folders.pop(), shapes.pop()) {
        clear(&folder);
        assert_eq!(withdraw(&shape).await.unwrap(), folders.is_empty());
        for other in &folders {
            assert_eq!(place.shown(other), [""; 0]);
        }
    }
    assert_eq!(Snapshot::of(&place.shape(&top).await), before);
}

#[tokio::test]
async fn a_manifest_or_a_lock_that_holds_anything_is_use() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let (main, shape) = (place.shape(&top).await, place.shape(&linked).await);
    for (name, used) in [
        (".cursor/.fusion-mcp-state.json", true),
        (".cursor/.fusion-mcp.lock/owner.json", true),
        (".cursor/.fusion-mcp.lock/.fusion-tmp-1-0123456789abcdef", true),
        (".cursor/mcp.json", false),
        (".cursor/.fusion-mcp.lock", false),
    ] {
        ensure(&shape).await.unwrap();
        put(&linked, name);
        assert_eq!(withdraw(&main).await.unwrap(), !used, "{name}");
        clear(&linked);
        ensure(&shape).await.unwrap();
        assert!(withdraw(&main).await.unwrap(), "{name} is gone");
    }
    ensure(&shape).await.unwrap();
    create_dir_all(linked.join(".cursor/.fusion-mcp.lock")).unwrap();
    assert!(withdraw(&main).await.unwrap(), "an empty lock is vacated");
}

#[tokio::test]
async fn a_config_with_a_key_of_ours_that_nothing_tells_of_is_use() {
    let place = Place::new();
    let top = place.repository("r");
    let shape = place.shape(&top).await;
    ensure(&shape).await.unwrap();
    put(&top, ".cursor/mcp.json");
    let config = top.join(".cursor/mcp.json");
    std::fs::write(&config, "{\"mcpServers\": {\"fusion-custom-tools-1\": {}}}").unwrap();
    assert!(!withdraw(&shape).await.unwrap());
    assert_eq!(place.shown(&top), [] as [&str; 0]);
    remove_file(&config).unwrap();
    create_dir_all(&config).unwrap();
    assert!(withdraw(&shape).await.unwrap(), "what is no file is not ours");
}

#[tokio::test]
async fn git_does_not_look_behind_a_link_and_so_it_is_no_use() {
    let place = Place::new();
    let top = place.repository("r");
    let (linked, elsewhere) = (place.worktree(&top, "linked"), place.at("elsewhere"));
    put(&elsewhere, ".fusion-mcp-state.json");
    std::os::unix::fs::symlink(&elsewhere, linked.join(".cursor")).unwrap();
    let main = place.shape(&top).await;
    ensure(&main).await.unwrap();
    assert!(withdraw(&main).await.unwrap());
}

#[tokio::test]
async fn what_crashed_sessions_left_goes_with_their_worktrees() {
    let place = Place::new();
    let top = place.repository("r");
    let main = place.shape(&top).await;
    let before = Snapshot::of(&main);
    let (one, two) = (place.worktree(&top, "one"), place.worktree(&top, "two"));
    create_dir_all(one.join("sub")).unwrap();
    create_dir_all(two.join("sub")).unwrap();
    for folder in [&one, &one.join("sub"), &two, &two.join("sub")] {
        ensure(&place.shape(folder).await).await.unwrap();
        fill(folder);
    }
    remove_dir_all(&one).unwrap();
    assert!(!withdraw(&main).await.unwrap(), "the other uses both");
    place.run(&top, &["worktree", "remove", "--force", two.to_str().unwrap()]);
    ensure(&main).await.unwrap();
    fill(&top);
    assert!(withdraw(&main).await.unwrap(), "the subfolder's lines");
    assert_eq!(main.exclusion().unwrap().prefixes, [b""]);
    clear(&top);
    assert!(withdraw(&main).await.unwrap());
    assert_eq!(Snapshot::of(&main), before);
}

#[tokio::test]
async fn a_worktree_that_was_removed_meanwhile_takes_its_lines_along() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let (main, shape) = (place.shape(&top).await, place.shape(&linked).await);
    let before = Snapshot::of(&main);
    ensure(&shape).await.unwrap();
    fill(&linked);
    place.run(&top, &["worktree", "remove", "--force", linked.to_str().unwrap()]);
    assert!(!shape.git_dir.exists());
    assert!(withdraw(&shape).await.unwrap());
    assert_eq!(Snapshot::of(&main), before);
}

#[tokio::test]
async fn a_subfolder_in_use_in_another_worktree_keeps_its_lines_only() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    for folder in [&top, &linked] {
        create_dir_all(folder.join("apps/web")).unwrap();
    }
    let (main, web) = (
        place.shape(&top).await,
        place.shape(&linked.join("apps/web")).await,
    );
    ensure(&main).await.unwrap();
    ensure(&web).await.unwrap();
    fill(&linked.join("apps/web"));
    assert!(withdraw(&main).await.unwrap());
    assert_eq!(main.exclusion().unwrap().prefixes, [b"apps/web/"]);
}

/// A session's end: what lies in its worktree goes, and then it looks whether the block may go.
fn finish(folder: &Path) {
    remove_file(folder.join(".cursor/mcp.json")).unwrap();
    remove_file(folder.join(".cursor/.fusion-mcp-state.json")).unwrap();
    remove_dir_all(folder.join(".cursor/.fusion-mcp.lock")).unwrap();
    remove_dir(folder.join(".cursor")).unwrap();
}

#[tokio::test]
async fn two_that_end_at_the_same_moment_leave_no_block() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let shapes = [place.shape(&top).await, place.shape(&linked).await];
    let folders = [&top, &linked];
    let before = Snapshot::of(&shapes[0]);
    // In each order of: the first removes and withdraws (0), the second does (1).
    for order in [
        [0, 0, 1, 1],
        [0, 1, 0, 1],
        [0, 1, 1, 0],
        [1, 0, 0, 1],
        [1, 0, 1, 0],
        [1, 1, 0, 0],
    ] {
        for (shape, folder) in shapes.iter().zip(folders) {
            ensure(shape).await.unwrap();
            fill(folder);
        }
        let mut finished = [false; 2];
        for who in order {
            if finished[who] {
                withdraw(&shapes[who]).await.unwrap();
            } else {
                finish(folders[who]);
                finished[who] = true;
            }
        }
        assert_eq!(Snapshot::of(&shapes[0]), before, "{order:?}");
    }
}

#[tokio::test]
async fn one_that_begins_while_another_ends_is_seen_or_comes_after() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let (main, other) = (place.shape(&top).await, place.shape(&linked).await);
    ensure(&main).await.unwrap();
    fill(&top);
    clear(&top);
    let ending = lock(&main).await.unwrap();
    let beginning = tokio::spawn({
        let other = other.clone();
        async move { lock(&other).await.unwrap().ensure().unwrap() }
    });
    assert!(ending.withdraw().unwrap());
    assert!(!beginning.is_finished(), "it waits for the lock");
    ending.release().unwrap();
    assert!(
        within("the beginning", beginning).await.unwrap(),
        "it adds its lines anew"
    );
    assert!(other.exclusion().unwrap().present);
}

async fn lock_for(repository: &Repository, patience: Duration) -> Result<(), GitError> {
    let (_calm, calm) = cancel();
    let locked = repository.lock_exclusion(Instant::now() + patience, &calm, Machine::get());
    locked.await.map(drop)
}

#[tokio::test]
async fn all_worktrees_share_one_lock_which_leaves_nothing() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let (main, other) = (place.shape(&top).await, place.shape(&linked).await);
    let before = Snapshot::of(&other);
    let held = lock(&main).await.unwrap();
    assert!(other.try_lock_exclusion(Machine::get()).unwrap().is_none());
    let late = lock_for(&other, Duration::from_millis(50)).await.unwrap_err();
    let said = late.to_string();
    assert!(
        matches!(late, GitError::Lock(LockError::TimedOut { .. })),
        "{said}"
    );
    assert!(said.contains(&std::process::id().to_string()), "{said}");
    held.release().unwrap();
    let held = other.try_lock_exclusion(Machine::get()).unwrap().unwrap();
    assert!(main.try_lock_exclusion(Machine::get()).unwrap().is_none());
    drop(held);
    assert_eq!(Snapshot::of(&other), before);
}

#[tokio::test]
async fn a_peers_lock_is_waited_for_in_both_places() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let other = place.shape(&linked).await;
    let hostname = rustix::system::uname().nodename().to_string_lossy().into_owned();
    for folder in [&other.git_dir, &other.common_dir] {
        let theirs = folder.join("fusion-cursor-exclude.lock");
        std::fs::create_dir(&theirs).unwrap();
        let owner = serde_json::json!({ "pid": std::process::id(), "hostname": hostname, "acquiredAt": Machine::get().now_ms() });
        write(theirs.join("owner.json"), owner.to_string()).unwrap();
        assert!(other.try_lock_exclusion(Machine::get()).unwrap().is_none());
        let late = lock_for(&other, Duration::from_millis(50))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            late.contains(theirs.to_str().unwrap()) && late.contains(&hostname),
            "{late}"
        );
        // The one before it is not kept.
        assert_eq!(Snapshot::of(&other).locks(), [&*theirs]);
        let (_calm, calm) = cancel();
        let waiting = other.lock_exclusion(deadline(), &calm, Machine::get());
        let (freed, got) = tokio::join!(
            async {
                tokio::time::sleep(Duration::from_millis(20)).await;
                remove_dir_all(&theirs)
            },
            waiting
        );
        freed.unwrap();
        got.unwrap().release().unwrap();
    }
}

#[tokio::test]
async fn a_wait_can_be_called_off() {
    let place = Place::new();
    let shape = place.shape(&place.repository("r")).await;
    let theirs = shape.common_dir.join("fusion-cursor-exclude.lock");
    std::fs::create_dir(&theirs).unwrap();
    let hostname = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let owner = serde_json::json!({ "pid": std::process::id(), "hostname": hostname, "acquiredAt": Machine::get().now_ms() });
    write(theirs.join("owner.json"), owner.to_string()).unwrap();
    let (off, is_off) = cancel();
    let waiting = shape.lock_exclusion(deadline(), &is_off, Machine::get());
    let (ended, ()) = tokio::join!(waiting, async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        off.cancel();
    });
    assert!(
        matches!(ended, Err(GitError::Lock(LockError::Cancelled))),
        "{ended:?}"
    );
    // It was the kernel's for that long only.
    remove_dir_all(&theirs).unwrap();
    assert!(shape.try_lock_exclusion(Machine::get()).unwrap().is_some());
}

#[tokio::test]
async fn a_lock_that_was_taken_over_is_noticed_before_the_write() {
    let place = Place::new();
    let shape = place.shape(&place.repository("r")).await;
    let before = exclude_text(&shape);
    let held = lock(&shape).await.unwrap();
    // As the plugin takes over: it removes the folder and makes another.
    let theirs = shape.common_dir.join("fusion-cursor-exclude.lock");
    remove_dir_all(&theirs).unwrap();
    std::fs::create_dir(&theirs).unwrap();
    assert!(matches!(
        held.ensure(),
        Err(GitError::Lock(LockError::Lost { .. }))
    ));
    assert_eq!(exclude_text(&shape), before);
    assert!(matches!(
        held.release(),
        Err(GitError::Lock(LockError::Lost { .. }))
    ));
    assert!(theirs.exists(), "it is theirs to remove");
}

#[tokio::test]
async fn something_else_in_the_place_of_the_lock_is_an_error_at_once() {
    let place = Place::new();
    let shape = place.shape(&place.repository("r")).await;
    let lock = shape.common_dir.join("fusion-cursor-exclude.lock");
    write(&lock, "").unwrap();
    let refused = lock_for(&shape, PATIENCE).await.unwrap_err();
    assert!(refused.to_string().contains(lock.to_str().unwrap()), "{refused}");
    assert!(
        matches!(refused, GitError::Lock(LockError::Disk(_))),
        "{refused:?}"
    );
}
