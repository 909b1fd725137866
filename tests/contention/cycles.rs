//! Processes in one worktree.

use std::path::Path;
use std::time::{Duration, Instant};

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::lock::KernelLock;
use fusion_cursor_native::mcp::StagingError;

use crate::support::*;
use crate::workers::{Crew, cpu, tell};

const PROCESSES: usize = 8;
const CYCLES: usize = 25;

fn trees(tree: &Path) -> Vec<&Path> {
    vec![tree; PROCESSES]
}

fn all_succeed(crew: Crew, what: &str) {
    let began = Instant::now();
    crew.begin();
    let done = crew.done();
    assert_eq!(
        done.iter().map(|(cycles, ..)| cycles).sum::<usize>(),
        PROCESSES * CYCLES
    );
    let (used, took): (Vec<_>, Vec<_>) = done.iter().map(|(_, used, took)| (*used, *took)).unzip();
    println!(
        "{what}: {} cycles of {PROCESSES} processes in {:?}; each worked for up to {:?} and used up to {:?} of CPU time",
        PROCESSES * CYCLES,
        began.elapsed(),
        took.into_iter().max().unwrap(),
        used.into_iter().max().unwrap()
    );
}

fn all_in_one_worktree_succeed(text: Option<&str>) {
    let place = Place::new();
    let tree = place.repository("r");
    if let Some(text) = text {
        tree.write(text);
        tree.chmod(CONFIG, 0o640);
    }
    let (before, status) = (tree.snapshot(), tree.shown());
    all_succeed(
        Crew::start(&place, "workers::worker", &trees(&tree.path), CYCLES),
        "one worktree",
    );
    assert_eq!(tree.snapshot(), before);
    assert_eq!(tree.shown(), status);
}

#[test]
fn all_cycles_of_eight_processes_in_one_worktree_succeed() {
    all_in_one_worktree_succeed(Some(COMMENTED));
}

#[test]
fn so_they_do_where_there_was_no_config() {
    all_in_one_worktree_succeed(None);
}

#[tokio::test]
async fn so_they_do_where_there_is_no_git() {
    let place = Place::new();
    let tree = place.plain("plain");
    tree.write(PLAIN);
    let before = tree.snapshot();
    all_succeed(
        Crew::start(&place, "workers::worker", &trees(&tree.path), CYCLES),
        "no repository",
    );
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn subfolders_of_one_repository_do_not_get_into_each_others_way() {
    let place = Place::new();
    let top = place.repository("r");
    let folders: Vec<_> = (0..PROCESSES)
        .map(|number| top.below(&format!("apps/[{number}]")).path)
        .collect();
    let before = top.snapshot();
    let folders: Vec<&Path> = folders.iter().map(std::path::PathBuf::as_path).collect();
    all_succeed(
        Crew::start(&place, "workers::worker", &folders, CYCLES),
        "subfolders",
    );
    assert_eq!(top.snapshot(), before);
}

/// How long the lock is held against those who wait for it.
const HELD: Duration = Duration::from_secs(2);

#[tokio::test]
async fn those_who_wait_do_next_to_nothing() {
    let place = Place::new();
    let tree = place.repository("r");
    let (_calm, calm) = cancel();
    let root = Folder::open(&tree.path).unwrap();
    let held = KernelLock::acquire(&root, tokio::time::Instant::now() + PATIENCE, &calm)
        .await
        .unwrap();
    let crew = Crew::start(&place, "cycles::waiter", &trees(&tree.path), 1);
    crew.begin();
    let done = tokio::task::spawn_blocking(move || crew.done()).await.unwrap();
    drop(held);
    for (_, used, took) in &done {
        assert!(*took >= HELD, "it waited: {took:?}");
        assert!(
            used.as_millis() * 10 <= took.as_millis(),
            "{used:?} of CPU time in {took:?}"
        );
    }
    let all: Duration = done.iter().map(|(_, used, _)| used).sum();
    println!("waiting: {PROCESSES} processes used {all:?} of CPU time together, in {HELD:?}");
}

/// Waits for a lock until it gives up.
#[tokio::test]
#[ignore = "a worker of the tests"]
async fn waiter() {
    let job = crate::workers::Job::told();
    let mut place = Place::with_home(&job.home);
    place.lock_timeout = HELD;
    let tree = place.existing(&job.tree);
    job.wait_for_the_gate().await;
    let (before, began) = (cpu(), Instant::now());
    match tree.try_stage(&job.name).await {
        Err(StagingError::Failed(problem)) => {
            assert_eq!(problem.reason.as_str(), "lock-timeout", "{problem:?}");
        }
        other => panic!("{other:?}"),
    }
    let took = began.elapsed();
    // What the start of the process took is no matter of the wait.
    println!("\nbefore the wait: {before:?}");
    tell(1, took);
}
