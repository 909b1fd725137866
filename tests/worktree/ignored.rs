//! Rules that overrule ours, and a user's own that must not stand in for ours.

use std::fs::{create_dir_all, write};

use fusion_cursor_native::worktree::GitError;

use crate::support::*;

fn not_ignored(result: Result<(), GitError>) -> (String, Option<String>) {
    match result {
        Err(GitError::NotIgnored { path, rule }) => (path, rule),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_rule_that_takes_it_back_is_named() {
    let place = Place::new();
    let top = place.repository("r");
    let web = top.join("apps/web");
    create_dir_all(web.join(".cursor/.fusion-mcp.lock")).unwrap();
    ensure(&place.shape(&web).await).await.unwrap();
    place.verify(&web).await.unwrap();
    for (file, rule, path, named) in [
        (
            ".gitignore",
            "!mcp.json",
            ".cursor/mcp.json",
            ".gitignore:2:!mcp.json",
        ),
        (
            "apps/.gitignore",
            "!*.json",
            ".cursor/mcp.json",
            "apps/.gitignore:2:!*.json",
        ),
        (
            "apps/web/.cursor/.gitignore",
            "!.fusion-mcp-state.json",
            ".cursor/.fusion-mcp-state.json",
            "apps/web/.cursor/.gitignore:2:!.fusion-mcp-state.json",
        ),
        (
            ".gitignore",
            "!.fusion-mcp.lock/",
            ".cursor/.fusion-mcp.lock/owner.json",
            ".gitignore:2:!.fusion-mcp.lock/",
        ),
        (".git/info/exclude", "!mcp.json", ".cursor/mcp.json", "exclude:"),
    ] {
        let at = top.join(file);
        let before = std::fs::read(&at).ok();
        append(&at, &format!("# a comment\n{rule}\n"));
        let refused = place.verify(&web).await;
        let said = refused.as_ref().unwrap_err().to_string();
        let (shown, by) = not_ignored(refused);
        assert_eq!(shown, path);
        assert!(by.as_ref().is_some_and(|by| by.contains(named)), "{by:?}");
        assert!(
            said.contains(rule) && said.contains("take that rule away"),
            "{said}"
        );
        match before {
            Some(bytes) => write(at, bytes).unwrap(),
            None => std::fs::remove_file(at).unwrap(),
        }
    }
    place.verify(&web).await.unwrap();
}

#[tokio::test]
async fn without_the_block_nothing_is_ignored() {
    let place = Place::new();
    let top = place.repository("r");
    assert_eq!(
        not_ignored(place.verify(&top).await),
        (".cursor/mcp.json".into(), None)
    );
}

#[tokio::test]
async fn the_users_own_list_vouches_for_nothing() {
    let mut place = Place::new();
    let top = place.repository("r");
    let list = place.at("list");
    write(&list, ".cursor/\n").unwrap();
    place.run(
        &top,
        &["config", "--global", "core.excludesFile", list.to_str().unwrap()],
    );
    place.run(&top, &["config", "core.excludesFile", list.to_str().unwrap()]);
    assert_eq!(not_ignored(place.verify(&top).await).1, None);
    place.run(&top, &["config", "--unset", "core.excludesFile"]);
    place.run(&top, &["config", "--global", "--unset", "core.excludesFile"]);
    let config = place.at("xdg");
    append(&config.join("git/ignore"), ".cursor/\n");
    place.set("XDG_CONFIG_HOME", config);
    assert_eq!(not_ignored(place.verify(&top).await).1, None);
    ensure(&place.shape(&top).await).await.unwrap();
    place.verify(&top).await.unwrap();
}

#[tokio::test]
async fn rules_of_the_repository_do() {
    let place = Place::new();
    let top = place.repository("r");
    write(top.join(".gitignore"), ".cursor/\n").unwrap();
    place.verify(&top).await.unwrap();
}

#[tokio::test]
async fn the_users_settings_change_nothing_and_start_nothing() {
    let place = Place::new();
    let top = place.repository("r");
    let (ran, hook) = (place.at("ran"), place.at("hook"));
    write(&hook, format!("#!/bin/sh\n: > '{}'\n", ran.display())).unwrap();
    assert!(tool("chmod", &["755".as_ref(), hook.as_os_str()]));
    for (name, value) in [
        ("status.showUntrackedFiles", "no"),
        ("core.fsmonitor", hook.to_str().unwrap()),
        ("core.quotePath", "true"),
        ("core.ignoreCase", "true"),
        ("color.ui", "always"),
        ("core.untrackedCache", "true"),
        ("core.pager", hook.to_str().unwrap()),
    ] {
        place.run(&top, &["config", "--global", name, value]);
    }
    let _ran_by_git_itself = std::fs::remove_file(&ran);
    let web = top.join("größe/[w]");
    create_dir_all(&web).unwrap();
    let shape = place.shape(&web).await;
    assert_eq!(shape.prefix, "größe/[w]/".as_bytes());
    ensure(&shape).await.unwrap();
    place.verify(&web).await.unwrap();
    assert!(!ran.exists(), "a program of the user's choice was run");
}

#[tokio::test]
async fn what_became_tracked_since_is_told_so() {
    let place = Place::new();
    let top = place.repository("r");
    ensure(&place.shape(&top).await).await.unwrap();
    fill(&top);
    place.run(&top, &["add", "-f", ".cursor/mcp.json"]);
    // Git says of it only that it is not ignored, and there is no rule to be found.
    match place.verify(&top).await {
        Err(GitError::Tracked { paths }) => assert_eq!(paths, [".cursor/mcp.json"]),
        other => panic!("{other:?}"),
    }
    place.run(&top, &["rm", "-q", "--cached", ".cursor/mcp.json"]);
    place.verify(&top).await.unwrap();
}
