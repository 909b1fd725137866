//! Servers staged in repositories, with a real git where one is in the PATH.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fusion_cursor_native::process::Owner;
use fusion_cursor_native::worktree::{Git, LIMIT};
use tempfile::TempDir;

use super::git;
use super::leases::{CONFIG, disposed, staged_with};

/// A folder for repositories, and the git that works in them.
struct Place {
    folder: TempDir,
    program: PathBuf,
    env: Vec<(OsString, OsString)>,
}

impl Place {
    /// `None` where there is no git.
    fn new() -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap();
        let program = std::env::split_paths(&path).map(|folder| folder.join("git.exe"));
        let Some(program) = program.into_iter().find(|program| program.exists()) else {
            eprintln!("skipped: there is no git.exe in the PATH");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let home: OsString = folder.path().into();
        let mut env = vec![
            ("Path".into(), path),
            ("HOME".into(), home.clone()),
            ("USERPROFILE".into(), home),
        ];
        for name in ["SystemRoot", "TEMP", "TMP"] {
            env.extend(std::env::var_os(name).map(|value| (name.into(), value)));
        }
        Some(Self { folder, program, env })
    }

    fn git(&self) -> Git {
        Git {
            env: self.env.clone(),
            owner: Owner(0),
            limit: LIMIT,
        }
    }

    /// What git prints; it has to succeed.
    fn run(&self, folder: &Path, args: &[&str]) -> String {
        git::run(&self.program, &self.env, &["core.excludesFile="], folder, args)
    }

    fn repository(&self, name: &str) -> PathBuf {
        let top = self.folder.path().join(name);
        fs::create_dir(&top).unwrap();
        self.run(&top, &["init", "-q"]);
        fs::write(top.join("README"), "hello\n").unwrap();
        self.run(&top, &["add", "README"]);
        self.run(&top, &["commit", "-qm", "first"]);
        top
    }

    fn shown(&self, folder: &Path) -> String {
        self.run(folder, &["status", "--porcelain", "-uall"])
    }
}

fn exclude(top: &Path) -> String {
    fs::read_to_string(top.join(".git/info/exclude")).unwrap_or_default()
}

#[tokio::test]
async fn git_sees_nothing_of_what_is_staged_and_all_is_as_before_afterwards() {
    let Some(place) = Place::new() else { return };
    let top = place.repository("J\u{f6}rg's repo");
    let before = exclude(&top);
    let below = top.join("apps").join("Web [1]");
    fs::create_dir_all(&below).unwrap();
    let linked = place.folder.path().join("linked");
    place.run(
        &top,
        &["worktree", "add", "-q", "--detach", linked.to_str().unwrap()],
    );
    let trees = [&top, &below, &linked];
    let mut leases = Vec::new();
    for (number, tree) in trees.iter().enumerate() {
        let lease = staged_with(tree, &number.to_string(), place.git()).await;
        assert!(
            fs::read_to_string(tree.join(CONFIG))
                .unwrap()
                .contains(lease.server_key())
        );
        leases.push(lease);
    }
    for tree in trees {
        assert_eq!(place.shown(tree), "", "{}", tree.display());
    }
    let lines = exclude(&top);
    assert!(lines.contains("\n/.cursor/mcp.json\n"), "{lines}");
    assert!(lines.contains("\n/apps/Web \\[1]/.cursor/mcp.json\n"), "{lines}");
    for lease in &leases {
        for tree in trees {
            assert_eq!(place.shown(tree), "", "{}", tree.display());
        }
        disposed(lease).await;
    }
    assert_eq!(exclude(&top), before);
    for tree in trees {
        assert!(!tree.join(".cursor").exists(), "{}", tree.display());
    }
}

#[tokio::test]
async fn a_config_that_git_tracks_under_any_case_of_its_name_is_refused() {
    use fusion_cursor_native::cancel::cancel;
    use fusion_cursor_native::mcp::stage;

    let Some(place) = Place::new() else { return };
    let top = place.repository("repo");
    fs::create_dir(top.join(".Cursor")).unwrap();
    fs::write(top.join(".Cursor/MCP.json"), "{}").unwrap();
    place.run(&top, &["add", ".Cursor/MCP.json"]);
    let (_calm, calm) = cancel();
    let refused = stage(super::leases::request(&top, "a", place.git()), calm)
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("git tracks"), "{refused}");
    assert_eq!(fs::read_to_string(top.join(CONFIG)).unwrap(), "{}");
}
