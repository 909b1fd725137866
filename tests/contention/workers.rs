//! Processes that stage and dispose again and again.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::time::Duration;

use serde_json::{Value, json};

use crate::aside::{passed, start, told};
use crate::support::*;

/// What a worker works on. The word that it is started with.
pub(crate) struct Job {
    pub(crate) tree: PathBuf,
    pub(crate) home: PathBuf,
    /// All begin when this file appears.
    pub(crate) gate: PathBuf,
    pub(crate) cycles: usize,
    pub(crate) name: String,
}

impl Job {
    fn word(&self) -> String {
        let (tree, home, gate) = (self.tree.to_str(), self.home.to_str(), self.gate.to_str());
        json!({ "tree": tree, "home": home, "gate": gate, "cycles": self.cycles, "name": self.name })
            .to_string()
    }

    pub(crate) fn told() -> Self {
        let word: Value = serde_json::from_str(&told()).unwrap();
        let path = |name: &str| PathBuf::from(word[name].as_str().unwrap());
        Self {
            tree: path("tree"),
            home: path("home"),
            gate: path("gate"),
            cycles: usize::try_from(word["cycles"].as_u64().unwrap()).unwrap(),
            name: word["name"].as_str().unwrap().to_owned(),
        }
    }

    pub(crate) async fn wait_for_the_gate(&self) {
        eventually("the gate opens", || self.gate.exists()).await;
    }
}

/// Workers of one kind, one in each of these folders, not yet begun.
pub(crate) struct Crew {
    gate: PathBuf,
    children: Vec<Child>,
}

impl Crew {
    /// `test` is the ignored test that a worker is.
    pub(crate) fn start(place: &Place, test: &str, trees: &[&Path], cycles: usize) -> Self {
        let gate = place.at(&format!("gate-{}", key()));
        let children = trees.iter().enumerate().map(|(number, tree)| {
            let job = Job {
                tree: tree.to_path_buf(),
                home: place.at("home"),
                gate: gate.clone(),
                cycles,
                name: format!("fusion-custom-tools-{test}-{number}").replace("::", "-"),
            };
            start(test, &job.word())
        });
        Self {
            children: children.collect(),
            gate,
        }
    }

    pub(crate) fn begin(&self) {
        fs::write(&self.gate, "").unwrap();
    }

    pub(crate) fn kill(self) {
        // Being dropped, they are killed.
        drop(self);
    }

    pub(crate) fn work(&mut self) -> bool {
        self.children
            .iter_mut()
            .any(|child| child.try_wait().unwrap().is_none())
    }

    /// How often they did it, and what CPU time and time that took each of them.
    pub(crate) fn done(mut self) -> Vec<(usize, Duration, Duration)> {
        let children = std::mem::take(&mut self.children).into_iter();
        let outputs: Vec<Output> = children.map(|child| child.wait_with_output().unwrap()).collect();
        outputs.iter().map(counted).collect()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        // Those that a failed test leaves.
        for child in &mut self.children {
            let _gone = child.kill();
            let _reaped = child.wait();
        }
    }
}

fn counted(output: &Output) -> (usize, Duration, Duration) {
    passed(output);
    let said = String::from_utf8_lossy(&output.stdout);
    let line = said
        .lines()
        .find_map(|line| line.split_once("cycles: "))
        .unwrap_or_else(|| panic!("{said}"));
    let numbers: Vec<u64> = line.1.split(' ').map(|number| number.parse().unwrap()).collect();
    let ms = Duration::from_millis;
    (
        usize::try_from(numbers[0]).unwrap(),
        ms(numbers[1]),
        ms(numbers[2]),
    )
}

/// Print what [`Crew::done`] reads.
pub(crate) fn tell(cycles: usize, took: Duration) {
    println!("\ncycles: {cycles} {} {}", cpu().as_millis(), took.as_millis());
}

/// The CPU time that this process has used; nothing where the system does not tell.
pub(crate) fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields
        .skip(11)
        .take(2)
        .filter_map(|ticks| ticks.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

/// Stage and dispose, as often as the job says.
#[tokio::test]
#[ignore = "a worker of the tests"]
async fn worker() {
    let job = Job::told();
    let mut place = Place::with_home(&job.home);
    // Between processes chance decides who is next. On a busy machine all of them are slow, and it is not time that is
    // to be short.
    place.lock_timeout = Duration::from_secs(120);
    let tree = place.existing(&job.tree);
    job.wait_for_the_gate().await;
    let began = std::time::Instant::now();
    for cycle in 0..job.cycles {
        let lease = tree
            .try_stage(&job.name)
            .await
            .unwrap_or_else(|error| panic!("cycle {cycle}: {error:?}"));
        let keys = tree.keys();
        assert!(keys.contains(&job.name), "cycle {cycle}: {keys:?}");
        dispose(&lease).await;
        let keys = tree.keys();
        assert!(!keys.contains(&job.name), "cycle {cycle}: {keys:?}");
    }
    tell(job.cycles, began.elapsed());
}
