//! What git tracks is refused, in whatever way it is tracked.

use std::fs::{create_dir_all, write};
use std::path::Path;

use crate::support::*;

fn put(folder: &Path, name: &str) {
    let path = folder.join(name);
    create_dir_all(path.parent().unwrap()).unwrap();
    write(path, "{}\n").unwrap();
}

#[tokio::test]
async fn each_of_our_paths_and_whatever_lies_in_the_lock() {
    let place = Place::new();
    let top = place.repository("r");
    assert!(place.look(&top).await.unwrap().tracked.is_empty());
    for name in OURS {
        put(&top, name);
        assert!(
            place.look(&top).await.unwrap().tracked.is_empty(),
            "it is only there"
        );
        place.run(&top, &["add", "-f", name]);
        assert_eq!(place.look(&top).await.unwrap().tracked, [name]);
        place.run(&top, &["rm", "-q", "--cached", name]);
    }
    // Others in the same folder are nobody's business.
    put(&top, ".cursor/rules/a.mdc");
    put(&top, ".cursor/mcp.json.example");
    place.run(&top, &["add", "-f", ".cursor/rules", ".cursor/mcp.json.example"]);
    assert!(place.look(&top).await.unwrap().tracked.is_empty());
}

#[tokio::test]
async fn in_the_folder_that_was_asked_about() {
    let place = Place::new();
    let top = place.repository("r");
    let web = top.join("apps/[web]");
    put(&web, ".cursor/mcp.json");
    put(&top, "apps/w/.cursor/mcp.json");
    place.run(&top, &["add", "-f", "."]);
    place.run(
        &top,
        &[
            "rm",
            "-q",
            "--cached",
            "--",
            ":(literal)apps/[web]/.cursor/mcp.json",
        ],
    );
    assert!(
        place.look(&web).await.unwrap().tracked.is_empty(),
        "only the other one"
    );
    assert!(place.look(&top).await.unwrap().tracked.is_empty());
    place.run(&top, &["add", "-f", "."]);
    assert_eq!(place.look(&web).await.unwrap().tracked, [".cursor/mcp.json"]);
}

#[tokio::test]
async fn what_is_only_intended_to_be_added() {
    let place = Place::new();
    let top = place.repository("r");
    put(&top, ".cursor/mcp.json");
    place.run(&top, &["add", "-f", "-N", ".cursor/mcp.json"]);
    assert_eq!(place.look(&top).await.unwrap().tracked, [".cursor/mcp.json"]);
}

#[tokio::test]
async fn what_is_tracked_and_not_there() {
    let place = Place::new();
    let top = place.repository("r");
    put(&top, ".cursor/mcp.json");
    place.run(&top, &["add", "-f", "."]);
    place.run(&top, &["commit", "-qm", "second"]);
    place.run(&top, &["update-index", "--skip-worktree", ".cursor/mcp.json"]);
    clear(&top);
    assert_eq!(place.look(&top).await.unwrap().tracked, [".cursor/mcp.json"]);
}

#[tokio::test]
async fn what_a_sparse_index_does_not_spell_out() {
    let place = Place::new();
    let top = place.repository("r");
    put(&top, "apps/web/.cursor/mcp.json");
    put(&top, "lib/x");
    place.run(&top, &["add", "-f", "."]);
    place.run(&top, &["commit", "-qm", "second"]);
    place.run(
        &top,
        &["sparse-checkout", "set", "--cone", "--sparse-index", "lib"],
    );
    assert!(!top.join("apps").exists());
    let web = top.join("apps/web");
    create_dir_all(&web).unwrap();
    assert_eq!(place.look(&web).await.unwrap().tracked, [".cursor/mcp.json"]);
}

#[tokio::test]
async fn each_worktree_has_its_own_index() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    put(&linked, ".cursor/mcp.json");
    place.run(&linked, &["add", "-f", "."]);
    assert_eq!(place.look(&linked).await.unwrap().tracked, [".cursor/mcp.json"]);
    assert!(place.look(&top).await.unwrap().tracked.is_empty());
}

#[tokio::test]
async fn the_hosts_own_git_variables_lead_nowhere() {
    let mut place = Place::new();
    let (top, other) = (place.repository("r"), place.repository("other"));
    put(&other, ".cursor/mcp.json");
    place.run(&other, &["add", "-f", "."]);
    let git = other.join(".git");
    for (name, value) in [
        ("GIT_DIR", git.as_os_str()),
        ("GIT_COMMON_DIR", git.as_os_str()),
        ("GIT_WORK_TREE", other.as_os_str()),
        ("GIT_INDEX_FILE", git.join("index").as_os_str()),
        ("GIT_PREFIX", "x/".as_ref()),
        ("GIT_CEILING_DIRECTORIES", top.as_os_str()),
        ("GIT_LITERAL_PATHSPECS", "0".as_ref()),
        ("GIT_ICASE_PATHSPECS", "1".as_ref()),
        ("GIT_CONFIG_COUNT", "1".as_ref()),
        ("GIT_CONFIG_KEY_0", "core.worktree".as_ref()),
        ("GIT_CONFIG_VALUE_0", "/".as_ref()),
        ("GIT_CONFIG_PARAMETERS", "'core.bare'='true'".as_ref()),
        ("LC_ALL", "de_DE.UTF-8".as_ref()),
    ] {
        place.set(name, value);
    }
    let looked = place.look(&top).await.unwrap();
    assert!(looked.tracked.is_empty(), "{looked:?}");
    let shape = place.shape(&top).await;
    assert_eq!((shape.git_dir, shape.top), (top.join(".git"), top.clone()));
    ensure(&place.shape(&top).await).await.unwrap();
    place.verify(&top).await.unwrap();
}
