//! Servers staged in folders that are in no repository: what lies on the disk before, while and after.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::lock::{Machine, World};
use fusion_cursor_native::mcp::manifest::ServerEntry;
use fusion_cursor_native::mcp::{Lease, StageRequest, inspect, reconcile, stage};
use fusion_cursor_native::process::Owner;
use fusion_cursor_native::worktree::{Git, LIMIT};
use tempfile::TempDir;

use super::aside;

pub(crate) const CONFIG: &str = ".cursor/mcp.json";
const MANIFEST: &str = ".cursor/.fusion-mcp-state.json";
const TOKEN: &str = "s3cr3t-token";
/// As people write it.
const COMMENTED: &str = "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"files\": { \"command\": \"npx\", \
    \"args\": [\"-y\"], /* why */ \"n\": 1.0e+2 },\r\n\t},\r\n\t\"other\": [ 1,2 ,3 ]\r\n}";
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const PATIENCE: Duration = Duration::from_secs(30);

/// Git is looked for here, and is not there.
fn no_git() -> Git {
    Git {
        env: vec![(OsString::from("Path"), OsString::new())],
        owner: Owner(0),
        limit: LIMIT,
    }
}

fn entry() -> ServerEntry {
    let args = vec![r"C:\opt\server.cjs".to_owned()];
    ServerEntry::new(
        r"C:\node.exe".to_owned(),
        args,
        vec![("TOKEN".to_owned(), TOKEN.to_owned())],
    )
}

pub(crate) fn request(worktree: &Path, key: &str, git: Git) -> StageRequest {
    StageRequest {
        worktree: worktree.to_owned(),
        server_key: format!("fusion-custom-tools-{key}"),
        entry: entry(),
        lock_timeout: LOCK_TIMEOUT,
        git,
        scope: Owner(0),
    }
}

async fn staged(worktree: &Path, key: &str) -> Lease {
    staged_with(worktree, key, no_git()).await
}

pub(crate) async fn staged_with(worktree: &Path, key: &str, git: Git) -> Lease {
    let (_calm, calm) = cancel();
    let staging = tokio::time::timeout(PATIENCE, stage(request(worktree, key, git), calm));
    staging.await.unwrap().unwrap()
}

pub(crate) async fn disposed(lease: &Lease) {
    tokio::time::timeout(PATIENCE, lease.dispose())
        .await
        .unwrap()
        .unwrap();
}

/// All that lies in a folder, but for what `.cursor` itself is like: by path, the bytes of files.
fn all(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all(&path));
            found.push((path, None));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, Some(bytes)));
        }
    }
    found.sort();
    found
}

fn write(worktree: &Path, text: &str) {
    fs::create_dir_all(worktree.join(".cursor")).unwrap();
    fs::write(worktree.join(CONFIG), text).unwrap();
}

fn config(worktree: &Path) -> String {
    fs::read_to_string(worktree.join(CONFIG)).unwrap()
}

fn folder(name: &str) -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join(name);
    fs::create_dir(&path).unwrap();
    (temp, path)
}

#[tokio::test]
async fn a_config_is_as_before_once_its_lease_has_ended() {
    for text in [
        None,
        Some(COMMENTED),
        Some(""),
        Some("{}"),
        Some("{\"mcpServers\":{}}\n"),
    ] {
        let (_temp, tree) = folder("J\u{f6}rg's tree");
        if let Some(text) = text {
            write(&tree, text);
        }
        let before = all(&tree);
        let lease = staged(&tree, "a").await;
        assert!(config(&tree).contains(TOKEN), "{text:?}");
        assert!(tree.join(MANIFEST).exists());
        assert!(lease.heartbeat().await);
        disposed(&lease).await;
        assert_eq!(all(&tree), before, "{text:?}");
    }
}

#[tokio::test]
async fn a_read_only_config_stays_read_only() {
    let (_temp, tree) = folder("tree");
    write(&tree, COMMENTED);
    let set = |read_only| {
        let mut permissions = fs::metadata(tree.join(CONFIG)).unwrap().permissions();
        permissions.set_readonly(read_only);
        fs::set_permissions(tree.join(CONFIG), permissions).unwrap();
    };
    set(true);
    let lease = staged(&tree, "a").await;
    assert!(config(&tree).contains(TOKEN));
    disposed(&lease).await;
    assert_eq!(config(&tree), COMMENTED);
    assert!(fs::metadata(tree.join(CONFIG)).unwrap().permissions().readonly());
    set(false);
}

#[tokio::test]
async fn a_worktree_is_one_however_it_is_spelled() {
    let (_temp, tree) = folder("Tree");
    write(&tree, COMMENTED);
    let shouted = PathBuf::from(tree.to_str().unwrap().to_uppercase());
    let (one, two) = tokio::join!(staged(&tree, "a"), staged(&shouted, "b"));
    assert_eq!(one.worktree(), two.worktree());
    assert!(one.worktree().ends_with("Tree"), "{}", one.worktree().display());
    for key in ["fusion-custom-tools-a", "fusion-custom-tools-b"] {
        assert!(config(&tree).contains(key));
    }
    disposed(&one).await;
    assert!(!config(&tree).contains("fusion-custom-tools-a"));
    assert!(config(&tree).contains("fusion-custom-tools-b"));
    disposed(&two).await;
    assert_eq!(config(&tree), COMMENTED);
    assert!(!tree.join(MANIFEST).exists());
}

#[tokio::test]
async fn an_edit_of_the_operator_stays() {
    let (_temp, tree) = folder("tree");
    write(&tree, "{\r\n  \"mcpServers\": {}\r\n}\r\n");
    let lease = staged(&tree, "a").await;
    let edited = config(&tree).replacen('{', "{\r\n  \"mine\": 1,", 1);
    write(&tree, &edited);
    disposed(&lease).await;
    let after = config(&tree);
    assert!(
        after.contains("\"mine\": 1") && !after.contains("fusion-custom-tools-"),
        "{after}"
    );
}

#[tokio::test]
async fn what_somebody_has_open_for_a_moment_is_staged_in_all_the_same() {
    use std::os::windows::fs::OpenOptionsExt;

    let (_temp, tree) = folder("tree");
    write(&tree, COMMENTED);
    let path = tree.join(CONFIG);
    let held = fs::OpenOptions::new()
        .read(true)
        .share_mode(1)
        .open(&path)
        .unwrap();
    let (lease, ()) = tokio::join!(staged(&tree, "a"), async {
        tokio::time::sleep(Duration::from_millis(400)).await;
        drop(held);
    });
    assert!(config(&tree).contains(TOKEN));
    disposed(&lease).await;
    assert_eq!(config(&tree), COMMENTED);
}

#[tokio::test]
async fn what_a_dead_process_left_is_put_in_order() {
    for text in [None, Some(COMMENTED)] {
        let (_temp, tree) = folder("tree");
        if let Some(text) = text {
            write(&tree, text);
        }
        let before = all(&tree);
        let mut other = aside::start("leases::inside::stages_and_dies", tree.to_str().unwrap());
        other.wait().unwrap();
        assert!(config(&tree).contains(TOKEN), "{text:?}");
        let seen = inspect(tree.clone(), no_git()).await;
        assert!(
            seen.leases.len() == 1 && seen.leases[0].owner == "dead",
            "{seen:?}"
        );
        let report = reconcile(tree.clone(), no_git(), LOCK_TIMEOUT).await;
        assert_eq!(all(&tree), before, "{text:?}: {report:?}");
    }
}

/// A process that ends before this step, and the next one that finds what it left. Whether there was such a step.
#[cfg(feature = "failpoints")]
async fn dies_at(number: u64, text: Option<&str>) -> bool {
    let (_temp, tree) = folder("tree");
    if let Some(text) = text {
        write(&tree, text);
    }
    let before = all(&tree);
    let mut other = aside::start("leases::inside::dies_at_a_step", tree.to_str().unwrap());
    let told = format!("{number}\n");
    std::io::Write::write_all(other.stdin.as_mut().unwrap(), told.as_bytes()).unwrap();
    let ended = tokio::task::spawn_blocking(move || other.wait().unwrap());
    let whole = ended.await.unwrap().success();
    let report = reconcile(tree.clone(), no_git(), LOCK_TIMEOUT).await;
    assert_eq!(all(&tree), before, "step {number} of {text:?}: {report:?}");
    !whole
}

#[cfg(feature = "failpoints")]
#[tokio::test]
async fn whoever_dies_at_any_step_of_a_lease_is_put_in_order() {
    const AT_ONCE: u64 = 6;
    for text in [None, Some(COMMENTED)] {
        let mut first = 1;
        loop {
            let mut dying = tokio::task::JoinSet::new();
            for number in first..first + AT_ONCE {
                dying.spawn(dies_at(number, text));
            }
            let died = dying.join_all().await;
            if died.contains(&false) {
                break;
            }
            first += AT_ONCE;
        }
        assert!(first > 15, "{first}");
    }
}

#[test]
fn this_machine_is_named_as_its_other_programs_name_it() {
    let name = std::process::Command::new("hostname").output().unwrap();
    let name = String::from_utf8_lossy(&name.stdout).trim().to_owned();
    assert!(Machine::get().hostname().eq_ignore_ascii_case(&name), "{name}");
}

mod inside {
    use super::*;

    /// End at once: nothing is dropped, and nothing is given up.
    #[allow(
        clippy::exit,
        reason = "an abort would have the system report a crash, which takes its time"
    )]
    fn gone() -> ! {
        std::process::exit(9);
    }

    #[tokio::test]
    #[ignore = "it is run by another test, and ends itself"]
    async fn stages_and_dies() {
        let _lease = staged(aside::told().as_ref(), "a").await;
        gone();
    }

    #[cfg(feature = "failpoints")]
    #[tokio::test]
    #[ignore = "it is run by another test, and ends itself"]
    async fn dies_at_a_step() {
        use fusion_cursor_native::disk::Folder;
        use fusion_cursor_native::disk::failpoint::{Moment, Verdict, arm};

        let tree = PathBuf::from(aside::told());
        let number: u64 = aside::told().parse().unwrap();
        let root = Folder::open(&tree).unwrap();
        let _armed = arm(
            root.path(),
            Box::new(move |step| {
                if step.number == number && step.moment == Moment::Before {
                    gone();
                }
                Verdict::Go
            }),
        );
        let lease = staged(&tree, "a").await;
        disposed(&lease).await;
    }
}
