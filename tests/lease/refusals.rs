//! What is refused, with its reason, and nothing changed on the disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use fusion_cursor_native::mcp::Reason;
use serde_json::json;

use crate::support::*;

/// Refused for this reason without a wait, with nothing changed.
async fn refuses(tree: &Worktree<'_>, reason: Reason, words: &[&str]) {
    let before = tree.snapshot();
    let began = Instant::now();
    let problem = tree.refused().await;
    let took = began.elapsed();
    assert_eq!(problem.reason, reason, "{problem:?}");
    for word in words {
        assert!(
            problem.message.contains(word),
            "{word:?} in {:?}",
            problem.message
        );
    }
    assert_eq!(tree.snapshot(), before, "{reason:?}");
    // A wait for a lock or for a writer would be longer; git may take its time on a busy machine.
    assert!(took < Duration::from_secs(8), "{reason:?}: {took:?}");
}

#[tokio::test]
async fn a_config_that_leaves_a_doubt() {
    let place = Place::new();
    let utf16: Vec<u8> = "{\"a\":1}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(8 * 1024 * 1024));
    let cases: [(&str, &[u8], Reason); 12] = [
        ("array", b"[]", Reason::UnexpectedShape),
        ("null", b"null", Reason::UnexpectedShape),
        ("string", b"\"x\"", Reason::UnexpectedShape),
        ("array-within", b"{\"mcpServers\":[]}", Reason::UnexpectedShape),
        ("null-within", b"{\"mcpServers\":null}", Reason::UnexpectedShape),
        ("text-within", b"{\"mcpServers\":\"x\"}", Reason::UnexpectedShape),
        (
            "twice",
            b"{\"mcpServers\":{},\"mcpServers\":{}}",
            Reason::DuplicateKeys,
        ),
        (
            "ours-twice",
            b"{\"mcpServers\":{\"fusion-custom-tools-1\":{},\"fusion-custom-tools-1\":{}}}",
            Reason::DuplicateKeys,
        ),
        ("utf-16", &utf16, Reason::NotUtf8),
        (
            "utf-16-marked",
            &[&[0xff, 0xfe], &utf16[..]].concat(),
            Reason::NotUtf8,
        ),
        ("no-utf-8", b"{\"a\":\"\xff\"}", Reason::NotUtf8),
        ("large", large.as_bytes(), Reason::TooLarge),
    ];
    for (name, bytes, reason) in cases {
        let tree = place.repository(name);
        fs::create_dir(tree.file(".cursor")).unwrap();
        fs::write(tree.file(CONFIG), bytes).unwrap();
        refuses(&tree, reason, &[tree.file(CONFIG).to_str().unwrap()]).await;
    }
}

#[tokio::test]
async fn anything_but_a_file_or_folder_in_our_places() {
    let place = Place::new();
    let elsewhere = place.at("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("mcp.json"), PLAIN).unwrap();
    for name in [
        ".cursor",
        CONFIG,
        MANIFEST,
        LOCK,
        ".git/info/exclude",
        ".git/info",
    ] {
        for (kind, reason) in [
            ("link", Reason::Symlink),
            ("dangling", Reason::Symlink),
            ("fifo", Reason::NotAFile),
            ("socket", Reason::NotAFile),
            ("other", Reason::NotAFile),
        ] {
            let tree = place.repository(&format!("{}-{kind}", name.replace('/', "-")));
            let path = tree.file(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let is_folder = matches!(name, ".cursor" | LOCK | ".git/info");
            let _gone = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            match kind {
                "link" if is_folder => symlink(&elsewhere, &path).unwrap(),
                "link" => symlink(elsewhere.join("mcp.json"), &path).unwrap(),
                "dangling" => symlink(elsewhere.join("none"), &path).unwrap(),
                "fifo" => rustix::fs::mknodat(
                    rustix::fs::CWD,
                    &path,
                    rustix::fs::FileType::Fifo,
                    rustix::fs::Mode::RUSR,
                    0,
                )
                .unwrap(),
                "socket" => drop(std::os::unix::net::UnixListener::bind(&path).unwrap()),
                _ if is_folder => fs::write(&path, "x").unwrap(),
                _ => fs::create_dir(&path).unwrap(),
            }
            refuses(&tree, reason, &[path.to_str().unwrap()]).await;
            assert_eq!(fs::read_to_string(elsewhere.join("mcp.json")).unwrap(), PLAIN);
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1);
        }
    }
}

#[tokio::test]
async fn a_tracked_config() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    place.run(&tree.path, &["add", CONFIG]);
    refuses(&tree, Reason::Tracked, &[CONFIG, "git rm --cached"]).await;
}

#[tokio::test]
async fn a_rule_that_beats_the_exclusion() {
    let place = Place::new();
    for (name, rules) in [("top", ".gitignore"), ("deep", ".cursor/.gitignore")] {
        let tree = place.repository(name);
        tree.write(PLAIN);
        tree.write_file(rules, "!*.json\n");
        refuses(&tree, Reason::NotIgnored, &["!*.json"]).await;
        assert!(!tree.exclude().contains(">>>"));
        // As at the first time, where there was no folder yet.
        fs::remove_file(tree.file(CONFIG)).unwrap();
        if name == "top" {
            fs::remove_dir(tree.file(".cursor")).unwrap();
        }
        refuses(&tree, Reason::NotIgnored, &["!*.json"]).await;
    }
}

#[tokio::test]
async fn a_manifest_of_another_kind() {
    let place = Place::new();
    for (name, manifest) in [
        ("later", json!({ "version": 2, "leases": {} })),
        ("list", json!([])),
        ("shapeless", json!({ "version": 1, "baseline": 5 })),
    ] {
        let tree = place.repository(name);
        tree.write(PLAIN);
        tree.write_file(MANIFEST, &manifest.to_string());
        refuses(&tree, Reason::UnexpectedShape, &[".fusion-mcp-state.json"]).await;
    }
}

#[tokio::test]
async fn a_lock_that_somebody_holds() {
    let mut place = Place::new();
    place.lock_timeout = Duration::from_millis(150);
    let tree = place.repository("repo");
    tree.write(PLAIN);
    // Of the plugin, in a process that lives.
    let owner = json!({ "pid": std::process::id(), "hostname": hostname(), "acquiredAt": now_ms() });
    tree.write_file(&format!("{LOCK}/owner.json"), &owner.to_string());
    let pid = std::process::id().to_string();
    refuses(&tree, Reason::LockTimeout, &[LOCK, &pid, &hostname(), "since 20"]).await;
    let problem = tree.refused().await;
    assert!(problem.reason.is_retryable());
    fs::remove_dir_all(tree.file(LOCK)).unwrap();
    fs::create_dir_all(tree.file(".git/fusion-cursor-exclude.lock")).unwrap();
    tree.write_file(".git/fusion-cursor-exclude.lock/owner.json", &owner.to_string());
    refuses(&tree, Reason::LockTimeout, &["fusion-cursor-exclude.lock", &pid]).await;
}

#[tokio::test]
async fn a_folder_that_is_not_there_and_a_key_that_is_not_ours() {
    let place = Place::new();
    let tree = place.plain("gone");
    fs::remove_dir(&tree.path).unwrap();
    let problem = tree.refused().await;
    assert_eq!(problem.reason, Reason::Io);
    assert!(
        problem.message.contains(tree.path.to_str().unwrap()),
        "{problem:?}"
    );
    fs::write(&tree.path, "x").unwrap();
    assert_eq!(tree.refused().await.reason, Reason::NotAFile);
    let tree = place.plain("folder");
    for key in ["mine", "fusion-custom-tools-", ""] {
        assert!(tree.try_stage(key).await.is_err(), "{key:?}");
    }
    assert_eq!(fs::read_dir(&tree.path).unwrap().count(), 0);
}

#[tokio::test]
async fn git_that_cannot_say() {
    let mut place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let path = place.env.iter().position(|(name, _)| name == "PATH").unwrap();
    place.env[path].1 = "/nowhere".into();
    let tree = Worktree {
        place: &place,
        path: place.at("repo"),
        common: Some(place.at("repo/.git")),
    };
    refuses(&tree, Reason::GitFailed, &["git"]).await;
}

#[tokio::test]
async fn what_may_not_be_read_or_written() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: nothing is read-only to root");
        return;
    }
    let place = Place::new();
    let tree = place.repository("unreadable");
    tree.write(PLAIN);
    tree.chmod(CONFIG, 0);
    refuses(&tree, Reason::ReadOnly, &[CONFIG]).await;
    let tree = place.repository("folder");
    tree.write(PLAIN);
    tree.chmod(".cursor", 0o555);
    refuses(&tree, Reason::ReadOnly, &[".cursor"]).await;
    tree.chmod(".cursor", 0o755);
    let tree = place.repository("top");
    fs::set_permissions(&tree.path, std::os::unix::fs::PermissionsExt::from_mode(0o555)).unwrap();
    refuses(&tree, Reason::ReadOnly, &[".cursor"]).await;
    fs::set_permissions(&tree.path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn an_exclude_file_that_is_read_only() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    tree.chmod(".git/info/exclude", 0o444);
    refuses(&tree, Reason::ReadOnly, &["info/exclude"]).await;
}
