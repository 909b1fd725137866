//! Many runs, and the shortest form of one that fails.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::process::Owner;
use fusion_cursor_native::worktree::{Git, Shape, look};
use tempfile::TempDir;

use super::run::{Ground, Run};
use super::steps::{Chance, Step};

/// In all, unless the environment says otherwise.
const STEPS: usize = 100_000;
/// In one run.
const LENGTH: usize = 120;
/// Runs at a time: now and then one waits a second for a lock.
const WORKERS: usize = 16;
/// Kinds of ground.
const GROUNDS: u64 = 3;

/// A folder in memory, where there is one: the steps wait for no disk then.
fn folder() -> TempDir {
    let shared = Path::new("/dev/shm");
    let made = tempfile::Builder::new().prefix("model-").tempdir_in(shared);
    made.or_else(|_| tempfile::tempdir()).unwrap()
}

#[allow(
    clippy::disallowed_methods,
    reason = "git is asked once for each kind of ground, by the test's own host"
)]
fn git(at: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(at)
        .args(["-c", "user.name=t", "-c", "user.email=t@t"])
        .args(args);
    let ran = git.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[allow(clippy::disallowed_methods, reason = "a test is its own host")]
fn shape(path: &Path) -> Shape {
    let git = Git {
        env: std::env::vars_os().collect(),
        owner: Owner(0),
        limit: Duration::from_secs(60),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let looked = runtime.block_on(look(&Folder::open(path).unwrap(), &git));
    looked.unwrap().shape
}

/// Folders for runs: one without git; two linked worktrees; one repository with sessions in two folders.
fn ground(folder: &TempDir, kind: u64) -> Ground {
    let top = folder.path().canonicalize().unwrap();
    let main = top.join("main");
    fs::create_dir(&main).unwrap();
    let paths = if kind == 0 {
        vec![main]
    } else {
        git(&main, &["init", "-q"]);
        git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let other = if kind == 1 {
            top.join("linked")
        } else {
            main.join("apps/w[e]b")
        };
        if kind == 1 {
            git(&main, &["worktree", "add", "-q", "--detach", "../linked"]);
        } else {
            fs::create_dir_all(&other).unwrap();
        }
        vec![main, other]
    };
    let trees = paths.into_iter().map(|path| {
        let shape = if kind == 0 { Shape::NoGit } else { shape(&path) };
        assert_eq!(matches!(shape, Shape::NoGit), kind == 0);
        (path, shape)
    });
    Ground {
        trees: trees.collect(),
        folder: top.clone(),
    }
}

/// How many steps were done, or what was wrong after which of them.
fn carry_out(ground: &Ground, steps: &[Step]) -> Result<usize, (usize, String)> {
    let mut run = Run::new(ground);
    let mut count = 0;
    for (index, step) in steps.iter().enumerate() {
        count += usize::from(run.step(*step).map_err(|said| (index, said))?);
    }
    run.end().map_err(|said| (steps.len(), said))?;
    Ok(count)
}

fn steps_of(ground: &Ground, seed: u64) -> Vec<Step> {
    let sizes = Run::new(ground).sizes();
    let mut chance = Chance::new(seed);
    let length = 1 + chance.below(2 * LENGTH);
    (0..length).map(|_| Step::any(&mut chance, sizes)).collect()
}

/// Leave out what is not needed for it to fail.
fn shrunk(kind: u64, mut steps: Vec<Step>) -> (Vec<Step>, String) {
    let fails = |steps: &[Step]| {
        let folder = folder();
        carry_out(&ground(&folder, kind), steps).err()
    };
    let mut said = String::from("it does not fail again");
    let mut size = steps.len();
    while size > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + size).min(steps.len()));
            if let Some((_, what)) = fails(&fewer) {
                (steps, said) = (fewer, what);
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    if let Some((_, what)) = fails(&steps) {
        said = what;
    }
    (steps, said)
}

fn explain(seed: u64, kind: u64, steps: Vec<Step>, at: usize, said: &str) -> String {
    println!("MODEL_SEED={seed} fails: {said}; it is made shorter now");
    let (fewer, again) = shrunk(kind, steps);
    let lines: Vec<String> = fewer.iter().map(|step| format!("    {step:?}")).collect();
    format!(
        "MODEL_SEED={seed}, after step {at}: {said}\n  in short: {again}\n{}",
        lines.join("\n")
    )
}

#[allow(clippy::disallowed_methods, reason = "whoever runs the test says it so")]
fn asked(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|value| value.parse().unwrap())
}

#[test]
fn sessions_and_operators_get_along_whatever_happens() {
    if let Some(seed) = asked("MODEL_SEED") {
        let folder = folder();
        let ground = ground(&folder, seed % GROUNDS);
        let steps = steps_of(&ground, seed);
        if let Err((at, said)) = carry_out(&ground, &steps) {
            panic!("{}", explain(seed, seed % GROUNDS, steps, at, &said));
        }
        return;
    }
    let wanted = asked("MODEL_STEPS").map_or(STEPS, |steps| usize::try_from(steps).unwrap());
    let (done, next) = (AtomicUsize::new(0), AtomicU64::new(1));
    let work = || {
        let folders: Vec<TempDir> = (0..GROUNDS).map(|_| folder()).collect();
        let grounds: Vec<Ground> = (0..GROUNDS)
            .zip(&folders)
            .map(|(kind, folder)| ground(folder, kind))
            .collect();
        while done.load(Ordering::Relaxed) < wanted {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            let kind = seed % GROUNDS;
            let ground = &grounds[usize::try_from(kind).unwrap()];
            let steps = steps_of(ground, seed);
            match carry_out(ground, &steps) {
                Ok(count) => done.fetch_add(count, Ordering::Relaxed),
                Err((at, said)) => {
                    done.fetch_add(wanted, Ordering::Relaxed);
                    return Some(explain(seed, kind, steps, at, &said));
                }
            };
        }
        None
    };
    let failed = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().find_map(|worker| worker.join().unwrap())
    });
    if let Some(said) = failed {
        panic!("{said}");
    }
    println!(
        "{} steps in {} runs",
        done.load(Ordering::Relaxed),
        next.load(Ordering::Relaxed) - 1
    );
}
