//! Reconciling and inspecting: what is found, what is done about it, and that nothing is written where there is
//! nothing to do.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use fusion_cursor_native::mcp::{ActionKind, GitKind, Reason};
use serde_json::json;

use crate::support::*;

/// Times of all that lies there, which any write would change.
fn times(tree: &Worktree<'_>) -> Vec<(String, SystemTime)> {
    fn walk(path: &Path, all: &mut Vec<(String, SystemTime)>) {
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return;
        };
        all.push((path.display().to_string(), metadata.modified().unwrap()));
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), all);
        }
    }
    let mut all = Vec::new();
    walk(&tree.path, &mut all);
    // Git's own commands refresh that.
    all.retain(|(path, _)| !path.contains("/.git/index"));
    all.sort();
    all
}

#[tokio::test]
async fn where_there_is_nothing_to_do_nothing_is_written() {
    let place = Place::new();
    let clean = place.repository("clean");
    clean.write(COMMENTED);
    let live = place.repository("live");
    live.write(PLAIN);
    let _lease = live.stage().await;
    let broken = place.repository("broken");
    broken.write("{ broken");
    let tracked = place.repository("tracked");
    tracked.write(PLAIN);
    place.run(&tracked.path, &["add", CONFIG]);
    let empty = place.repository("empty");
    fs::create_dir(empty.file(".cursor")).unwrap();
    let plain = place.plain("plain");
    // What would keep a server from being staged is told, and is nothing to put in order.
    let trees = [
        (&clean, None),
        (&live, None),
        (&broken, Some(Reason::Unparsable)),
        (&tracked, Some(Reason::Tracked)),
        (&empty, None),
        (&plain, None),
    ];
    for (tree, in_the_way) in trees {
        let before = times(tree);
        let report = tree.reconcile().await;
        assert!(report.clean && report.actions.is_empty(), "{report:?}");
        let report = tree.inspect().await;
        let reasons: Vec<_> = report.problems.iter().map(|problem| problem.reason).collect();
        assert_eq!(reasons, Vec::from_iter(in_the_way), "{report:?}");
        assert!(report.residue.is_empty(), "{report:?}");
        assert_eq!(times(tree), before, "{}", tree.path.display());
    }
    let everybody = fusion_cursor_native::process::Whose::Everybody;
    fusion_cursor_native::mcp::release_held(everybody, Some(&live.path));
}

#[tokio::test]
async fn keys_that_no_manifest_tells_of_are_taken_out_unless_git_tracks_them() {
    let place = Place::new();
    let residue = "{\"mcpServers\":{\"fusion-custom-tools-old\":{\"command\":\"x\"},\"mine\":{}}}\n";
    let tree = place.repository("repo");
    tree.write(residue);
    tree.chmod(CONFIG, 0o640);
    let report = tree.inspect().await;
    assert_eq!(report.config.fusion_keys, ["fusion-custom-tools-old"]);
    assert_eq!(report.residue.len(), 1, "{report:?}");
    let report = tree.reconcile().await;
    assert!(report.clean, "{report:?}");
    assert!(
        report
            .actions
            .iter()
            .any(|action| action.kind == ActionKind::KeysRemoved)
    );
    assert_eq!(tree.config().unwrap(), "{\"mcpServers\":{\"mine\":{}}}\n");
    assert_eq!(tree.mode(CONFIG), 0o640);
    assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));

    tree.write(residue);
    place.run(&tree.path, &["add", CONFIG]);
    let before = tree.snapshot();
    let report = tree.reconcile().await;
    assert_eq!(report.problems[0].reason, Reason::Tracked, "{report:?}");
    assert!(!report.clean);
    assert_eq!(tree.snapshot(), before);
    assert_eq!(tree.inspect().await.tracked, [CONFIG]);
}

#[tokio::test]
async fn what_the_dead_left_is_taken_away() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let lease = tree.stage().await;
    // As if this process had died with a temporary file in hand.
    let mut manifest = tree.manifest();
    manifest["leases"][lease.server_key()] = plugins_lease(dead_pid(), 0);
    tree.write_file(MANIFEST, &manifest.to_string());
    let owner = json!({ "pid": dead_pid(), "hostname": hostname(), "acquiredAt": now_ms() });
    for lock in [LOCK, ".git/fusion-cursor-exclude.lock"] {
        tree.write_file(&format!("{lock}/owner.json"), &owner.to_string());
        tree.write_file(&format!("{lock}/.fusion-tmp-1-0123456789abcdef"), TOKEN);
    }
    let report = tree.inspect().await;
    assert_eq!(report.locks.len(), 2);
    assert!(report.locks.iter().all(|lock| lock.stale), "{report:?}");
    assert_eq!(report.residue.len(), 3, "{report:?}");
    let report = tree.reconcile().await;
    assert!(report.clean, "{report:?}");
    assert_eq!(report.leases_left, 0);
    let kinds: Vec<ActionKind> = report.actions.iter().map(|action| action.kind).collect();
    for kind in [
        ActionKind::LockRemoved,
        ActionKind::LeaseDropped,
        ActionKind::ConfigRemoved,
        ActionKind::ManifestRemoved,
        ActionKind::ExclusionRemoved,
        ActionKind::FolderRemoved,
    ] {
        assert!(kinds.contains(&kind), "{kind:?} in {kinds:?}");
    }
    assert_eq!(tree.snapshot(), before);
    dispose(&lease).await;
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_lock_on_the_exclude_file_that_the_dead_left_goes_too() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let owner = json!({ "pid": dead_pid(), "hostname": hostname(), "acquiredAt": now_ms() });
    tree.write_file(".git/fusion-cursor-exclude.lock/owner.json", &owner.to_string());
    assert_eq!(tree.inspect().await.residue.len(), 1);
    let report = tree.reconcile().await;
    assert!(report.clean, "{report:?}");
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn lines_that_nobody_needs_go() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.exclude();
    let block = BLOCK.replace(
        "/.cursor/mcp.json\n",
        "/.cursor/mcp.json\n/gone/.cursor/mcp.json\n",
    );
    tree.write_file(".git/info/exclude", &(before.clone() + &block));
    let report = tree.inspect().await;
    assert!(report.exclusion.unwrap().present);
    assert_eq!(report.residue.len(), 1);
    let report = tree.reconcile().await;
    assert!(report.clean && report.actions.len() == 1, "{report:?}");
    assert_eq!(tree.exclude(), before);
}

#[tokio::test]
async fn lines_that_nobody_needs_go_beside_those_that_somebody_does() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let before = tree.snapshot();
    let lease = tree.stage().await;
    let lines = tree.exclude();
    let more = lines.replace(
        "/.cursor/mcp.json\n",
        "/.cursor/mcp.json\n/gone/.cursor/mcp.json\n",
    );
    tree.write_file(".git/info/exclude", &more);
    // And something to do in the worktree itself.
    tree.write(PLAIN);
    let report = tree.reconcile().await;
    assert!(report.clean && report.leases_left == 1, "{report:?}");
    assert_eq!((tree.exclude(), tree.keys().len()), (lines, 1));
    dispose(&lease).await;
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_folder_that_was_made_for_a_session_that_died_at_once_goes() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    fs::create_dir(tree.file(".cursor")).unwrap();
    tree.chmod(".cursor", 0o1700);
    let exclude = tree.exclude();
    tree.write_file(".git/info/exclude", &(exclude + BLOCK));
    let report = tree.reconcile().await;
    assert!(report.clean, "{report:?}");
    assert_eq!(tree.snapshot(), before);
    // What the operator has put into it meanwhile stays, in a folder like others.
    tree.write(PLAIN);
    tree.chmod(".cursor", 0o1700);
    assert!(tree.reconcile().await.clean);
    assert_eq!(
        (tree.config().as_deref(), tree.mode(".cursor")),
        (Some(PLAIN), 0o755)
    );
}

#[tokio::test]
async fn a_report_tells_of_leases_and_of_the_places_of_git() {
    let place = Place::new();
    let main = place.repository("repo");
    let tree = main.linked("linked").below("apps/web");
    let lease = tree.stage().await;
    let report = tree.inspect().await;
    assert!(report.exists);
    assert_eq!(report.git.kind, GitKind::Repository);
    assert_eq!(report.git.prefix.as_deref(), Some("apps/web/"));
    assert_eq!(report.git.common_dir, main.common);
    let exclusion = report.exclusion.unwrap();
    assert_eq!((exclusion.present, exclusion.ignored), (true, Some(true)));
    assert_eq!(exclusion.prefixes, ["apps/web/"]);
    assert_eq!(report.config.state, "ok");
    assert_eq!(report.config.mode, Some(0o600));
    assert_eq!(report.manifest.state, "ok");
    let told = &report.leases[0];
    assert_eq!(told.server_key, lease.server_key());
    assert_eq!(told.pid, i64::from(std::process::id()));
    assert!(told.held_here && told.live && told.owner == "alive", "{told:?}");
    assert!((0..20_000).contains(&told.age_ms));
    assert!(report.problems.is_empty() && report.residue.is_empty() && report.locks.is_empty());
    dispose(&lease).await;
}

#[tokio::test]
async fn nothing_that_lies_there_is_an_error() {
    let place = Place::new();
    let gone = place.plain("gone");
    fs::remove_dir(&gone.path).unwrap();
    let report = gone.reconcile().await;
    assert_eq!(report.problems[0].reason, Reason::Io, "{report:?}");
    let report = gone.inspect().await;
    assert!(!report.exists && report.problems.len() == 1, "{report:?}");

    let tree = place.repository("repo");
    for name in [".cursor", CONFIG, MANIFEST, LOCK, ".git/info/exclude"] {
        let path = tree.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let _gone = fs::remove_file(&path);
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        let before = tree.snapshot();
        let (done, seen) = (tree.reconcile().await, tree.inspect().await);
        if name == CONFIG {
            assert_eq!(seen.config.state, "symlink");
        } else {
            assert_eq!(done.problems[0].reason, Reason::Symlink, "{name}: {done:?}");
            assert!(!seen.problems.is_empty(), "{name}: {seen:?}");
        }
        assert_eq!(tree.snapshot(), before);
        fs::remove_file(&path).unwrap();
        let _made = fs::remove_dir(tree.file(".cursor"));
    }
    let tree = place.repository("later");
    tree.write_file(MANIFEST, "{\"version\":2}");
    let before = tree.snapshot();
    assert_eq!(tree.reconcile().await.problems[0].reason, Reason::UnexpectedShape);
    assert_eq!(tree.inspect().await.manifest.state, "unknown-version");
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn without_git_the_config_is_put_in_order_all_the_same() {
    let mut place = Place::new();
    let path = {
        let tree = place.repository("repo");
        tree.write(PLAIN);
        let lease = tree.stage().await;
        let mut manifest = tree.manifest();
        manifest["leases"][lease.server_key()] = plugins_lease(dead_pid(), 0);
        tree.write_file(MANIFEST, &manifest.to_string());
        tree.path
    };
    let at = place.env.iter().position(|(name, _)| name == "PATH").unwrap();
    let usual = std::mem::replace(&mut place.env[at].1, "/nowhere".into());
    let tree = Worktree {
        place: &place,
        common: Some(path.join(".git")),
        path: path.clone(),
    };
    let report = tree.reconcile().await;
    assert_eq!(report.problems.len(), 1, "{report:?}");
    assert_eq!(report.problems[0].reason, Reason::GitFailed);
    assert_eq!(tree.config().unwrap(), PLAIN);
    assert!(!tree.file(MANIFEST).exists() && tree.exclude().contains(">>>"));
    place.env[at].1 = usual;
    let tree = Worktree {
        place: &place,
        common: Some(path.join(".git")),
        path,
    };
    assert!(tree.reconcile().await.clean);
    assert!(!tree.exclude().contains(">>>"));
}
