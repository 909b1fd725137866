//! Git that is missing, slow, old, not git at all, or that refuses.

use std::fs::{create_dir_all, read_to_string, write};
use std::path::Path;
use std::time::{Duration, Instant};

use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::worktree::{GitError, Shape};

use crate::support::*;

/// A place whose git is this script.
fn fake(place: &mut Place, script: &str) {
    let bin = place.at("bin");
    create_dir_all(&bin).unwrap();
    let git = bin.join("git");
    // A file that is being run cannot be written to.
    let _none = std::fs::remove_file(&git);
    write(&git, format!("#!/bin/sh\n{script}\n")).unwrap();
    assert!(tool("chmod", &["755".as_ref(), git.as_os_str()]));
    place.set("PATH", bin);
}

#[tokio::test]
async fn git_that_is_not_installed() {
    let mut place = Place::new();
    let top = place.repository("r");
    let plain = place.at("plain");
    create_dir_all(top.join("sub")).unwrap();
    create_dir_all(&plain).unwrap();
    let (repository, root) = (place.shape(&top).await, Folder::open(&top).unwrap());
    for path in ["", "bin:.", "/nonexistent"] {
        place.set("PATH", path);
        assert!(matches!(place.look(&plain).await.unwrap().shape, Shape::NoGit));
        let said = failed(place.look(&top.join("sub")).await);
        assert!(
            said.contains("not in PATH") && said.contains(top.join(".git").to_str().unwrap()),
            "{said}"
        );
        let said = failed(repository.verify_ignored(&root, &place.git()).await);
        assert!(
            said.contains("not in PATH") && said.contains(top.to_str().unwrap()),
            "{said}"
        );
    }
    place.env.retain(|(name, _)| name != "PATH");
    failed(place.look(&top).await);
}

#[tokio::test]
async fn a_git_in_the_worktree_is_not_run() {
    let mut place = Place::new();
    let top = place.repository("r");
    let ran = place.at("ran");
    for name in ["git", "bin/git"] {
        append(&top.join(name), &format!("#!/bin/sh\n: > {}\n", ran.display()));
        assert!(tool("chmod", &["755".as_ref(), top.join(name).as_os_str()]));
    }
    place.set("PATH", ".:bin::");
    failed(place.look(&top).await);
    assert!(!ran.exists());
}

#[tokio::test]
async fn git_that_hangs_is_given_up_and_ended() {
    let mut place = Place::new();
    let top = place.repository("r");
    let root = Folder::open(&top).unwrap();
    let repository = place.shape(&top).await;
    let pids = place.at("pids");
    fake(
        &mut place,
        &format!("echo $$ >> {}\nexec /bin/sleep 600", pids.display()),
    );
    place.limit = Duration::from_millis(1500);
    let began = Instant::now();
    let said = failed(place.look(&top).await);
    assert!(
        said.contains("1.5 s") && said.contains(top.to_str().unwrap()),
        "{said}"
    );
    let said = failed(repository.verify_ignored(&root, &place.git()).await);
    assert!(said.contains("check-ignore"), "{said}");
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    // Where the machine is busy, one may have ended before it said anything.
    let pids = read_to_string(pids).unwrap_or_default();
    let pids: Vec<u32> = pids.lines().map(|pid| pid.parse().unwrap()).collect();
    eventually("none of them is left", || !pids.iter().any(|pid| runs(*pid))).await;
}

#[tokio::test]
async fn what_does_not_answer_as_git_does_is_not_believed() {
    let mut place = Place::new();
    let top = place.repository("r");
    let trap = top.join("--git-dir");
    create_dir_all(&trap).unwrap();
    let (repository, root) = (place.shape(&top).await, Folder::open(&top).unwrap());
    // Of old gits: a flag that is not known is echoed.
    let echo = r#"shift 3; for word; do echo "$word"; done"#;
    let git_dir = top.join(".git");
    for script in [
        echo.to_owned(),
        ":".into(),
        "echo".into(),
        "echo one; echo two".into(),
        "echo true".into(),
        "echo true; echo false".into(),
        "echo true; echo false; echo; echo".into(),
        "echo true; echo false; echo; echo; echo".into(),
        "echo true; echo false; echo; echo; echo --git-dir".into(),
        "echo true; echo false; echo; echo; echo .".into(),
        format!(
            "echo true; echo false; echo ../; echo r/; echo {}/nowhere",
            git_dir.display()
        ),
        format!(
            "echo true; echo false; echo ../../; echo r/; echo {}",
            git_dir.display()
        ),
        format!(
            "echo true; echo false; echo ../; echo other/; echo {}",
            git_dir.display()
        ),
        format!(
            "echo true; echo false; echo ../; echo r; echo {}",
            git_dir.display()
        ),
        format!(
            "echo true; echo false; echo /; echo r/; echo {}",
            git_dir.display()
        ),
        format!(
            "echo true; echo false; echo {0}; echo; echo {0}",
            git_dir.display()
        ),
        "exit 128".into(),
        "echo fatal: broken >&2; exit 128".into(),
        "kill -9 $$".into(),
        "yes | head -c 1000000".into(),
        r"printf '\377\376\000'".into(),
    ] {
        fake(&mut place, &script);
        for answer in [
            place.look(&top).await.map(|looked| format!("{looked:?}")),
            repository
                .verify_ignored(&root, &place.git())
                .await
                .map(|()| "ignored".into()),
        ] {
            match answer {
                Err(GitError::Failed(said)) => assert!(
                    said.contains(top.to_str().unwrap())
                        || said.contains(place.at("bin/git").to_str().unwrap()),
                    "{script}: {said}"
                ),
                other => panic!("{script}: {other:?}"),
            }
        }
    }
}

#[tokio::test]
async fn a_relative_git_directory_is_git_as_it_was() {
    let mut place = Place::new();
    let top = place.repository("r");
    let sub = top.join("a/b");
    create_dir_all(&sub).unwrap();
    fake(
        &mut place,
        r#"case "$*" in *rev-parse*) echo true; echo false; echo ../../; echo a/b/; echo ../../.git;; esac"#,
    );
    let shape = place.shape(&sub).await;
    assert_eq!(
        (shape.git_dir, shape.top, shape.prefix),
        (top.join(".git"), top, b"a/b/".to_vec())
    );
}

#[tokio::test]
async fn no_repository_is_not_believed_where_one_is_seen() {
    let mut place = Place::new();
    let top = place.repository("r");
    let plain = place.at("plain");
    create_dir_all(&plain).unwrap();
    fake(
        &mut place,
        "echo 'fatal: not a git repository (or any of the parent directories): .git' >&2; exit 128",
    );
    assert!(matches!(place.look(&plain).await.unwrap().shape, Shape::NoGit));
    let said = failed(place.look(&top).await);
    assert!(said.contains(top.join(".git").to_str().unwrap()), "{said}");
    fake(&mut place, "echo true; echo false; echo; echo; echo .git; echo x");
    failed(place.look(&plain).await);
}

#[tokio::test]
async fn an_answer_to_one_of_two_questions_is_none() {
    let mut place = Place::new();
    let top = place.repository("r");
    let answer = "echo true; echo false; echo; echo; echo .git";
    for other in [
        "echo .cursor/mcp.json; exit 1",
        "printf 'README\\0'",
        "exit 128",
        "kill -9 $$",
    ] {
        fake(
            &mut place,
            &format!(r#"case "$*" in *rev-parse*) {answer};; *ls-files*) {other};; esac"#),
        );
        let said = failed(place.look(&top).await);
        assert!(said.contains("ls-files"), "{said}");
    }
}

#[tokio::test]
async fn another_users_repository_is_refused_with_the_cure() {
    let place = Place::new();
    let top = place.repository("r");
    if !is_root() {
        eprintln!("skipped: only root can give a folder away");
        return;
    }
    give_away(&top);
    give_away(&top.join(".git"));
    let said = failed(place.look(&top).await);
    let cure = format!("git config --global --add safe.directory {}", top.display());
    assert!(
        said.contains("dubious ownership") && said.contains(&cure),
        "{said}"
    );
    place.run(
        &place.at("home"),
        &[
            "config",
            "--global",
            "--add",
            "safe.directory",
            top.to_str().unwrap(),
        ],
    );
    place.shape(&top).await;
}

fn give_away(path: &Path) {
    assert!(tool("chown", &["65534:65534".as_ref(), path.as_os_str()]));
}

#[tokio::test]
async fn what_was_tracked_for_a_moment_is_asked_of_again() {
    let mut place = Place::new();
    let top = place.repository("r");
    ensure(&place.shape(&top).await).await.unwrap();
    fill(&top);
    place.run(&top, &["add", "-f", ".cursor/mcp.json"]);
    let real = which::which("git").unwrap();
    let reset = place.at("reset");
    fake(
        &mut place,
        &format!(
            r#"case "$*" in *check-ignore*) if [ ! -e '{reset}' ]; then
                '{real}' "$@"; said=$?
                '{real}' rm -q --cached .cursor/mcp.json && : > '{reset}'
                exit $said
            fi;; esac
            exec '{real}' "$@""#,
            reset = reset.display(),
            real = real.display(),
        ),
    );
    place.verify(&top).await.unwrap();
    assert!(reset.exists(), "git was not asked, or did not take it out");
}
