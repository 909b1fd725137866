//! One run: steps done for real and in the model, side by side.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use std::{fs, thread};

use fusion_cursor_native::disk::failpoint::{self, Moment, Verdict, arm};
use fusion_cursor_native::lock::World;
use fusion_cursor_native::mcp::StagingError;
use fusion_cursor_native::worktree::{Shape, names};

use super::act::act;
use super::edits::{Buffer, put};
use super::steps::{Edit, Operation, Sizes, Step};
use super::texts::{Status, TEXTS};
use super::tree::{Checked, Claim, Expected, Tree};
use super::world::{Machines, Process};

/// Of each session the process; of each process the machine, and whether it tells when it was started.
const SESSIONS: [usize; 6] = [0, 0, 1, 2, 3, 4];
const PROCESSES: [(usize, bool); 5] = [(0, true), (0, true), (0, false), (1, true), (1, true)];
const HOSTS: usize = 2;

const EIO: i32 = 5;
/// Longer than a lock directory is watched that says nothing of its owner.
const PATIENCE: Duration = Duration::from_secs(5);
const MINUTE: i64 = 60 * 1000;

/// Where the worktrees lie.
#[derive(Debug, Clone)]
pub(crate) struct Ground {
    /// All of it.
    pub(crate) folder: PathBuf,
    pub(crate) trees: Vec<(PathBuf, Shape)>,
}

pub(crate) struct Run {
    pub(super) folder: PathBuf,
    machines: Arc<Mutex<Machines>>,
    processes: Vec<&'static Process>,
    /// Which worktree and key each session has.
    sessions: Vec<Option<(usize, String)>>,
    pub(super) trees: Vec<Tree>,
    pub(super) unbroken: Vec<Option<Buffer>>,
    pub(super) buffers: Vec<Option<Buffer>>,
    excludes: Vec<(PathBuf, Option<Vec<u8>>)>,
    keys: usize,
}

impl Run {
    pub(crate) fn new(ground: &Ground) -> Self {
        let machines = Machines::new(HOSTS);
        let trees: Vec<Tree> = ground
            .trees
            .iter()
            .map(|(path, shape)| Tree::new(path.clone(), shape.clone()))
            .collect();
        let excludes = trees.iter().filter_map(|tree| exclude_of(&tree.shape));
        Self {
            folder: ground.folder.clone(),
            processes: PROCESSES
                .iter()
                .map(|(host, tells_start)| Process::start(&machines, *host, *tells_start))
                .collect(),
            machines,
            sessions: vec![None; SESSIONS.len()],
            unbroken: vec![None; trees.len()],
            buffers: vec![None; trees.len()],
            excludes: excludes.map(|path| (path.clone(), fs::read(path).ok())).collect(),
            trees,
            keys: 0,
        }
    }

    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            trees: self.trees.len(),
            sessions: SESSIONS.len(),
            processes: PROCESSES.len(),
            hosts: HOSTS,
        }
    }

    fn machines(&self) -> MutexGuard<'_, Machines> {
        self.machines.lock().unwrap()
    }

    /// Whether the step could be done.
    pub(crate) fn step(&mut self, step: Step) -> Result<bool, String> {
        match step {
            Step::Do {
                what,
                tree,
                session,
                dies_at,
            } => self.operate(what, tree, session, dies_at),
            Step::Die { process } => {
                self.kill(process);
                Ok(true)
            }
            Step::Pass(time) => {
                self.machines().pass(time);
                Ok(true)
            }
            Step::Jump { host, by } => {
                self.machines().jump(host, by);
                Ok(true)
            }
            Step::Edit { tree, edit } => Ok(self.edit(tree, edit)),
        }
    }

    fn kill(&mut self, process: usize) {
        self.machines().kill(self.processes[process].pid);
        let (host, tells_start) = PROCESSES[process];
        self.processes[process] = Process::start(&self.machines, host, tells_start);
        for (session, of) in SESSIONS.iter().enumerate() {
            if *of == process {
                self.sessions[session] = None;
            }
        }
    }

    #[allow(clippy::disallowed_methods, reason = "nothing else is on this thread")]
    fn operate(
        &mut self,
        what: Operation,
        tree: usize,
        session: usize,
        dies_at: Option<u64>,
    ) -> Result<bool, String> {
        let process = self.processes[SESSIONS[session]];
        let (tree, key) = match (what, self.sessions[session].clone()) {
            (Operation::Stage, None) => {
                self.keys += 1;
                (tree, format!("fusion-custom-tools-{}", self.keys))
            }
            (Operation::Beat | Operation::Dispose, Some((tree, key))) => (tree, key),
            (Operation::Reconcile, _) => (tree, String::new()),
            _ => return Ok(false),
        };
        let (after, expected) = self.foretell(what, &self.trees[tree], &key, process);
        let had_folder = self.trees[tree].cursor().exists();
        let had_locks = self.trees[tree].has_lock() || self.exclude_locks();
        let armed = dies_at.map(|number| {
            let hook = move |step: &failpoint::Step<'_>| {
                let dead = step.number >= number && step.moment == Moment::Before;
                if dead { Verdict::Fail(EIO) } else { Verdict::Go }
            };
            arm(&self.folder, Box::new(hook))
        });
        let mut done = act(what, &self.trees[tree], &key, process);
        // A lock directory that says nothing of its owner is watched for a second before it is taken over.
        let deadline = Instant::now() + PATIENCE;
        while matches!(done, Ok(None)) && self.is_watched(tree, process) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(50));
            done = act(what, &self.trees[tree], &key, process);
        }
        let died = armed.is_some_and(|armed| armed.count() >= dies_at.unwrap_or(u64::MAX));
        if !had_folder && self.trees[tree].cursor().exists() {
            self.trees[tree].folder_is_ours = true;
        }
        let case = |said: String| format!("{what:?} in {}: {said}", self.trees[tree].path.display());
        if died {
            self.kill(SESSIONS[session]);
            let tree = &mut self.trees[tree];
            tree.adopt(&after, expected.writes)
                .map_err(|said| format!("{what:?} that died: {said}"))?;
            return Ok(true);
        }
        let Some(done) = done.transpose() else {
            // Only what somebody of another machine has left can be in the way.
            return if had_locks {
                Ok(true)
            } else {
                Err(case("it was busy".to_owned()))
            };
        };
        match (done, expected.in_force) {
            (Ok(true), true) | (Ok(false) | Err(StagingError::Failed(_)), false) => {}
            (done, _) => return Err(case(format!("it came to {done:?}"))),
        }
        let folder_is_ours = self.trees[tree].folder_is_ours;
        let said = {
            let now = &mut self.trees[tree];
            *now = Tree {
                folder_is_ours,
                ..after
            };
            now.check(expected)
        };
        said.map_err(|said| format!("{what:?} in {}: {said}", self.trees[tree].path.display()))?;
        match what {
            Operation::Stage if expected.in_force => self.sessions[session] = Some((tree, key)),
            Operation::Dispose => self.sessions[session] = None,
            _ => {}
        }
        self.check_exclusion()?;
        Ok(true)
    }

    /// What an operation should do.
    fn foretell(&self, what: Operation, before: &Tree, key: &str, process: &Process) -> (Tree, Expected) {
        let now = process.now_ms();
        let machines = self.machines();
        let mut tree = before.clone();
        let nothing = Expected {
            writes: false,
            settles: false,
            in_force: what != Operation::Stage,
        };
        let refused = matches!(tree.status, Status::Unparsable | Status::Refused);
        let its_key = tree
            .file
            .as_deref()
            .is_some_and(|file| String::from_utf8_lossy(file).contains(key));
        match what {
            Operation::Stage => {
                tree.drop_dead(process.host, &machines, None);
                if tree.status == Status::Refused {
                    return (before.clone(), nothing);
                }
            }
            Operation::Beat => {
                tree.drop_dead(process.host, &machines, Some(key));
                tree.beat(key, process, now);
            }
            Operation::Dispose | Operation::Reconcile => {
                let its_own = what == Operation::Dispose && its_key;
                if refused && !tree.has_manifest() && !its_own {
                    return (tree, nothing);
                }
                tree.claims.retain(|claim| claim.key != key);
                tree.drop_dead(process.host, &machines, None);
            }
        }
        let writes = tree.judge();
        if what == Operation::Stage && writes {
            tree.claims.push(Claim::new(key, process, now));
        }
        let in_force = writes || matches!(what, Operation::Dispose | Operation::Reconcile);
        (
            tree,
            Expected {
                writes,
                settles: true,
                in_force,
            },
        )
    }

    /// Whether a lock is in the way that a process of this machine will take over when it has watched it for a
    /// second: it says nothing of its owner, or somebody died while taking it over.
    fn is_watched(&self, tree: usize, process: &Process) -> bool {
        let tree = &self.trees[tree];
        let mut locks = vec![tree.cursor().join(names::LOCK)];
        if let Shape::Repository(repository) = &tree.shape {
            locks.push(repository.common_dir.join(names::EXCLUDE_LOCK));
            locks.push(repository.git_dir.join(names::EXCLUDE_LOCK));
        }
        locks.iter().any(|lock| {
            let owner = fs::read_to_string(lock.join(names::OWNER)).unwrap_or_default();
            let foreign = owner.contains("host-") && !owner.contains(process.hostname());
            let names = fs::read_dir(lock).map_or(0, Iterator::count);
            lock.exists() && (!foreign || names > 1)
        })
    }

    fn exclude_locks(&self) -> bool {
        self.trees.iter().any(|tree| match &tree.shape {
            Shape::NoGit => false,
            Shape::Repository(repository) => [&repository.common_dir, &repository.git_dir]
                .iter()
                .any(|folder| folder.join(names::EXCLUDE_LOCK).exists()),
        })
    }

    /// The exclude file has the lines of the worktrees that are in use, and no others.
    fn check_exclusion(&self) -> Checked {
        if self.exclude_locks() || self.trees.iter().any(Tree::has_lock) {
            return Ok(());
        }
        for tree in &self.trees {
            let Shape::Repository(repository) = &tree.shape else {
                continue;
            };
            let report = repository.exclusion().map_err(|error| error.to_string())?;
            let needed = tree.has_manifest();
            if needed && !report.present {
                return Err(format!("{} is not excluded", tree.path.display()));
            }
            let used = |prefix: &[u8]| {
                self.trees.iter().any(|other| match &other.shape {
                    Shape::Repository(other_one) => other_one.prefix == prefix && other.has_manifest(),
                    Shape::NoGit => false,
                })
            };
            if report.present && !used(&repository.prefix) && !self.was_interrupted() {
                return Err(format!("{} is excluded and need not be", tree.path.display()));
            }
        }
        Ok(())
    }

    /// Somebody died, and what they left in the exclude file is for the next one that ends.
    fn was_interrupted(&self) -> bool {
        self.processes
            .iter()
            .zip(0..)
            .any(|(process, number)| process.pid != 1001 + number)
    }

    /// All sessions end, the operator mends what is broken, and what the dead have left is taken away.
    pub(crate) fn end(&mut self) -> Checked {
        let trees = self.trees.len();
        self.reconcile_all()?;
        for session in 0..SESSIONS.len() {
            self.operate(Operation::Dispose, 0, session, None)?;
        }
        for index in 0..trees {
            let tree = &mut self.trees[index];
            let text = tree.text.clone().unwrap_or_default();
            let own_is_broken = TEXTS.contains(&(text.as_str(), Status::Unparsable));
            if own_is_broken || tree.text.is_none() {
                self.edit(index, Edit::Delete);
            } else if tree.status == Status::Unparsable || tree.quarantined {
                let refused = TEXTS.contains(&(text.as_str(), Status::Refused));
                let status = if refused { Status::Refused } else { Status::Good };
                put(tree, Some(text.into_bytes()), status, tree.mode, &self.folder);
            }
        }
        let mut latest = self.trees.iter().map(Tree::last_beat).max().unwrap_or_default();
        for host in 0..HOSTS {
            latest = latest.max(self.machines().now(host));
        }
        self.machines().set_all(latest + 16 * MINUTE);
        // What one machine has left in the way of the other is gone after the first round.
        self.reconcile_all()?;
        self.reconcile_all()?;
        for tree in &mut self.trees {
            tree.check_end().map_err(|said| format!("at the end: {said}"))?;
        }
        for (path, before) in &self.excludes {
            if fs::read(path).ok() != *before {
                return Err(format!("at the end: {} is not as before", path.display()));
            }
        }
        if self.exclude_locks() {
            return Err("at the end: a lock is left in the git directory".to_owned());
        }
        self.clear();
        Ok(())
    }

    /// By a session of each machine, in each worktree.
    fn reconcile_all(&mut self) -> Checked {
        for session in [0, SESSIONS.len() - 1] {
            for tree in 0..self.trees.len() {
                self.operate(Operation::Reconcile, tree, session, None)?;
            }
        }
        Ok(())
    }

    /// Take the operator's own away, for the next run.
    fn clear(&mut self) {
        for tree in &mut self.trees {
            let _gone = fs::remove_dir_all(tree.cursor());
        }
    }
}

fn exclude_of(shape: &Shape) -> Option<PathBuf> {
    match shape {
        Shape::NoGit => None,
        Shape::Repository(repository) => Some(repository.common_dir.join("info/exclude")),
    }
}
