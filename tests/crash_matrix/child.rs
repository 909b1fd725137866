//! The process that works, and is killed.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::time::Duration;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::failpoint::{Moment, Step, Verdict, arm};
use fusion_cursor_native::lock::{Machine, World};
use fusion_cursor_native::mcp::manifest::ServerEntry;
use fusion_cursor_native::mcp::{Lease, StageRequest, StagingError, reconcile, release_held, stage};
use fusion_cursor_native::process::{Owner, Whose};
use serde_json::{Value, json};

use super::aside;
use super::place::{CONFIG, MANIFEST, Place, git};
use super::state::Operation;

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What an operator does to the config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Some words, all else as it is.
    Replace(&'static str, &'static str),
    /// All of it.
    Write(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Stage and die, whatever comes.
    Leave,
    Do(Operation),
}

/// What the child is to do.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) room: PathBuf,
    pub(crate) worktree: PathBuf,
    pub(crate) key: &'static str,
    pub(crate) work: Work,
    /// Before the work, and after it has staged where the work takes a lease.
    pub(crate) before: Option<Edit>,
    /// Let it be recorded before the work.
    pub(crate) recorded: bool,
    /// Once the journal is written.
    pub(crate) meanwhile: Option<Edit>,
    /// At which step it dies.
    pub(crate) death: Option<(u64, Moment)>,
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) killed: bool,
    pub(crate) said: String,
}

impl Ended {
    /// The steps of a child that lived to the end.
    pub(crate) fn steps(&self) -> Vec<(u64, String)> {
        let steps = self.said.lines().find_map(|line| line.split_once("@steps "));
        let (_, steps) = steps.unwrap_or_else(|| panic!("no steps: {}", self.said));
        serde_json::from_str(steps).unwrap()
    }
}

pub(crate) const KEY: &str = "fusion-custom-tools-11111111-1111-4111-8111-111111111111";
pub(crate) const LEFT: &str = "fusion-custom-tools-22222222-2222-4222-8222-222222222222";
pub(crate) const NEXT: &str = "fusion-custom-tools-44444444-4444-4444-8444-444444444444";
pub(crate) const PEER: &str = "fusion-custom-tools-33333333-3333-4333-8333-333333333333";

impl Plan {
    pub(crate) fn new(place: &Place) -> Self {
        Self {
            room: place.room(),
            worktree: place.path(),
            key: LEFT,
            work: Work::Leave,
            before: None,
            recorded: false,
            meanwhile: None,
            death: None,
        }
    }

    /// Where the child leaves word that the operator has been there.
    pub(crate) fn mark(&self) -> PathBuf {
        self.room.with_extension("edited")
    }

    fn to_json(&self) -> Value {
        json!({
            "room": self.room,
            "worktree": self.worktree,
            "key": self.key,
            "mark": self.mark(),
            "work": match self.work {
                Work::Leave => "Leave".to_owned(),
                Work::Do(operation) => format!("{operation:?}"),
            },
            "before": self.before.map(Edit::to_json),
            "recorded": self.recorded,
            "meanwhile": self.meanwhile.map(Edit::to_json),
            "death": self.death.map(|(number, moment)| json!([number, moment == Moment::After])),
        })
    }
}

impl Edit {
    fn to_json(self) -> Value {
        match self {
            Self::Replace(old, new) => json!([old, new]),
            Self::Write(text) => json!([text]),
        }
    }
}

/// Have a child carry it out.
pub(crate) async fn go(plan: &Plan) -> Ended {
    let word = plan.to_json().to_string();
    let run = move || {
        let child = aside::start("child::inside::works", &word);
        child.wait_with_output().unwrap()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let killed = output.status.signal() == Some(9);
    assert!(killed || output.status.success(), "{said}");
    Ended { killed, said }
}

pub(crate) async fn try_stage(worktree: PathBuf, key: &str) -> Result<Lease, StagingError> {
    let (_calm, calm) = cancel();
    stage(request(worktree, key), calm).await
}

/// To stage a server under this key.
pub(crate) fn request(worktree: PathBuf, key: &str) -> StageRequest {
    let entry = ServerEntry::new(
        "/usr/bin/node".to_owned(),
        vec!["/opt/server.cjs".to_owned()],
        vec![("TOKEN".to_owned(), "s3cr3t-token".to_owned())],
    );
    StageRequest {
        worktree,
        server_key: key.to_owned(),
        entry,
        lock_timeout: PATIENCE,
        git: git(),
        scope: Owner(0),
    }
}

fn die() -> ! {
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    unreachable!()
}

/// Do to the config what the operator does.
fn edit(config: &std::path::Path, edit: &Value) {
    let text = match edit.as_array().unwrap().as_slice() {
        [old, new] => {
            let text = fs::read_to_string(config).unwrap();
            text.replace(old.as_str().unwrap(), new.as_str().unwrap())
        }
        all => all[0].as_str().unwrap().to_owned(),
    };
    fs::write(config, text).unwrap();
}

mod inside {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[tokio::test]
    #[ignore = "it is run by others, and killed"]
    async fn works() {
        let plan: Value = serde_json::from_str(&aside::told()).unwrap();
        let text = |name: &str| plan[name].as_str().unwrap().to_owned();
        let (worktree, work) = (PathBuf::from(text("worktree")), text("work"));
        let config = worktree.join(CONFIG);
        let manifest = worktree.join(MANIFEST);
        let takes_a_lease = ["Leave", "Heartbeat", "Dispose", "Exit"].contains(&work.as_str());
        let mut lease = None;
        if takes_a_lease {
            lease = Some(try_stage(worktree.clone(), &text("key")).await.unwrap());
        }
        if let Some(lease) = &lease {
            if !plan["before"].is_null() {
                edit(&config, &plan["before"]);
            }
            if plan["recorded"] == true {
                assert!(!lease.heartbeat().await);
            }
        }
        if work == "Leave" {
            die();
        }
        // A beat in the same millisecond as the last one changes nothing.
        let before = Machine::get().now_ms();
        while Machine::get().now_ms() == before {
            tokio::task::yield_now().await;
        }
        let steps = Arc::new(Mutex::new(Vec::new()));
        let list = Arc::clone(&steps);
        let death = plan["death"].as_array().map(|death| {
            let number = death[0].as_u64().unwrap();
            let after = death[1] == true;
            (number, if after { Moment::After } else { Moment::Before })
        });
        let (mark, mut meanwhile) = (
            text("mark"),
            Some(plan["meanwhile"].clone()).filter(|edit| !edit.is_null()),
        );
        let hook = move |step: &Step<'_>| {
            // What fails, as the making of a folder that is there, changes nothing.
            if step.moment == Moment::After {
                list.lock().unwrap().push((step.number, step.what));
            }
            let journal = step.what == "replace.rename" && step.path == manifest;
            if journal
                && step.moment == Moment::After
                && let Some(meanwhile) = meanwhile.take()
            {
                edit(&config, &meanwhile);
                fs::write(&mark, "").unwrap();
            }
            if death == Some((step.number, step.moment)) {
                die();
            }
            Verdict::Go
        };
        let armed = arm(text("room").as_ref(), Box::new(hook));
        match (work.as_str(), &lease) {
            ("Stage", _) => {
                // It may be refused, which takes steps too.
                let _staged = try_stage(worktree, &text("key")).await;
            }
            ("Heartbeat", Some(lease)) => {
                lease.heartbeat().await;
            }
            ("Dispose", Some(lease)) => lease.dispose().await.unwrap(),
            ("Exit", Some(lease)) => release_held(Whose::Of(Owner(0)), Some(lease.worktree())),
            ("Reconcile", _) => {
                reconcile(worktree, git(), PATIENCE).await;
            }
            other => panic!("{other:?}"),
        }
        drop(armed);
        let steps = serde_json::to_string(&*steps.lock().unwrap()).unwrap();
        let mut out = std::io::stdout();
        std::io::Write::write_all(&mut out, format!("\n@steps {steps}\n").as_bytes()).unwrap();
        // A lease of a process that ends without a word.
        std::mem::forget(lease);
        std::io::Write::flush(&mut out).unwrap();
    }
}
