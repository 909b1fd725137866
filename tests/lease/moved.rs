//! A repository that is removed, made, or moved with all that is in it, while a lease lives.

use std::fs;

use fusion_cursor_native::mcp::release_held;
use fusion_cursor_native::process::Whose;

use crate::support::*;

fn is_clean(tree: &Worktree<'_>) {
    assert_eq!(tree.config().as_deref(), Some(PLAIN));
    assert!(!tree.file(MANIFEST).exists() && !tree.file(LOCK).exists());
}

#[tokio::test]
async fn a_server_goes_although_the_repository_was_removed() {
    let place = Place::new();
    for at_exit in [false, true] {
        let tree = place.repository(&format!("repo{at_exit}"));
        tree.write(PLAIN);
        let lease = tree.stage().await;
        fs::remove_dir_all(tree.file(".git")).unwrap();
        assert!(within("a beat", lease.heartbeat()).await);
        if at_exit {
            release_held(Whose::Everybody, Some(&tree.path));
        } else {
            dispose(&lease).await;
        }
        is_clean(&tree);
    }
    let tree = place.repository("repo");
    let lease = tree.stage().await;
    fs::remove_dir_all(tree.file(".git")).unwrap();
    dispose(&lease).await;
    assert!(!tree.file(".cursor").exists());
}

#[tokio::test]
async fn a_server_goes_where_the_repository_was_moved_to() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let before = tree.snapshot();
    let lease = tree.stage().await;
    let moved = place.existing(&place.at("moved"));
    fs::rename(&tree.path, &moved.path).unwrap();
    assert!(!within("a beat", lease.heartbeat()).await);
    dispose(&lease).await;
    assert!(!tree.path.exists());
    is_clean(&moved);
    // Its lines in the exclude file cannot be found from here, and harm nobody.
    assert!(moved.reconcile().await.clean);
    fs::rename(&moved.path, &tree.path).unwrap();
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_linked_worktree_may_be_moved() {
    let place = Place::new();
    let tree = place.repository("repo").linked("linked");
    let before = tree.snapshot();
    let lease = tree.stage().await;
    let moved = place.existing(&place.at("moved"));
    let paths = [&tree.path, &moved.path].map(|path| path.to_str().unwrap());
    place.run(&tree.path, &["worktree", "move", paths[0], paths[1]]);
    assert_eq!(moved.shown(), "");
    dispose(&lease).await;
    place.run(&moved.path, &["worktree", "move", paths[1], paths[0]]);
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_repository_that_is_made_around_a_lease_does_not_show_it_after_a_beat() {
    let place = Place::new();
    for (name, in_between) in [("beat", true), ("none", false)] {
        let mut tree = place.plain(name);
        tree.write(PLAIN);
        let lease = tree.stage().await;
        place.run(&tree.path, &["init", "-q"]);
        tree.common = Some(tree.file(".git"));
        let exclude = tree.exclude();
        assert_ne!(tree.shown(), "", "nobody knows of it yet");
        if in_between {
            assert!(within("a beat", lease.heartbeat()).await);
            assert_eq!(tree.shown(), "");
        }
        dispose(&lease).await;
        is_clean(&tree);
        assert_eq!(tree.exclude(), exclude);
    }
}

/// A commit with a config of its own, which is what the worktree has from now on.
fn commit_a_config(tree: &Worktree<'_>) {
    tree.place.run(&tree.path, &["checkout", "-qb", "other"]);
    tree.write(PLAIN);
    tree.place.run(&tree.path, &["add", "--force", "--all"]);
    tree.place.run(&tree.path, &["commit", "-qm", "a config"]);
    tree.place.run(&tree.path, &["checkout", "-q", "-"]);
}

#[tokio::test]
async fn a_config_that_comes_with_a_commit_gets_no_server() {
    let place = Place::new();
    let tree = place.repository("repo");
    commit_a_config(&tree);
    let exclude = tree.exclude();
    let (first, second) = (tree.stage().await, tree.stage().await);
    tree.place.run(&tree.path, &["checkout", "-q", "other"]);
    assert_eq!(tree.config().as_deref(), Some(PLAIN), "git takes it for ignored");
    assert!(!within("a beat", first.heartbeat()).await);
    assert_eq!(tree.shown(), "");
    let report = tree.reconcile().await;
    assert_eq!(report.problems[0].reason.as_str(), "tracked", "{report:?}");
    assert_eq!((report.leases_left, tree.shown()), (2, String::new()));
    let told = tree.inspect().await.problems;
    let told: Vec<&str> = told.iter().map(|problem| problem.reason.as_str()).collect();
    assert_eq!(told, ["tracked"], "once, and by its name");
    dispose(&first).await;
    assert_eq!(tree.shown(), "");
    // Back, where it is not tracked, it is put in again.
    tree.place.run(&tree.path, &["checkout", "-q", "-"]);
    assert_eq!(tree.config(), None);
    assert!(within("a beat", second.heartbeat()).await);
    assert_eq!(tree.keys(), [second.server_key()]);
    tree.place.run(&tree.path, &["checkout", "-q", "other"]);
    dispose(&second).await;
    is_clean(&tree);
    assert_eq!((tree.shown(), tree.exclude()), (String::new(), exclude));
}

#[tokio::test]
async fn a_server_that_was_committed_goes_all_the_same() {
    let place = Place::new();
    let tree = place.plain("plain");
    tree.write(PLAIN);
    let lease = tree.stage().await;
    place.run(&tree.path, &["init", "-q"]);
    place.run(&tree.path, &["add", "--all"]);
    assert!(
        !within("a beat", lease.heartbeat()).await,
        "it is said in the log"
    );
    dispose(&lease).await;
    is_clean(&tree);
}
