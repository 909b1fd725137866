//! Turns on the stand-in agent, for the tests of turns.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

#[path = "../processes/mod.rs"]
mod processes;

use std::fs::{Permissions, read_to_string, set_permissions, write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use fusion_cursor_native::cli::args::TurnFlags;
use fusion_cursor_native::cli::environment::compose;
use fusion_cursor_native::process::Owner;
use fusion_cursor_native::stream::ParserOptions;
use fusion_cursor_native::stream::batch::Batch;
use fusion_cursor_native::turn::limits::LimitOptions;
use fusion_cursor_native::turn::{
    self, Consumer, ConsumerGone, Control, Failure, Leftovers, Limits, Report, Taken, TurnRequest, Wants,
};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use processes::*;

/// A folder with a scenario in it, and a turn that plays it.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) request: TurnRequest,
}

pub(crate) type Outcome = Result<Report, Box<Failure>>;

impl Stage {
    /// A stage for these steps. Their relative paths start from its folder.
    pub(crate) fn new(steps: &Value) -> Self {
        Self::with(&json!({ "turn": steps }))
    }

    pub(crate) fn with(scenario: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path().join("scenario.json"), scenario.to_string()).unwrap();
        let scenario = folder.path().join("scenario.json").to_str().unwrap().to_owned();
        let host = std::env::vars().collect();
        let request = TurnRequest {
            cwd: folder.path().canonicalize().unwrap(),
            prompt: "hi".into(),
            binary: Some(env!("CARGO_BIN_EXE_fusion-cursor-stand-in").into()),
            flags: TurnFlags::default(),
            environment: compose(host, vec![("FUSION_CURSOR_SCENARIO".into(), scenario)]),
            limits: limits(LimitOptions::default()),
            own_server: None,
            stream: ParserOptions::default(),
            owner: Owner(0),
            wants: Wants::Events,
            leftovers: Leftovers::Kill,
        };
        Self { folder, request }
    }

    pub(crate) fn limits(mut self, options: LimitOptions) -> Self {
        self.request.limits = limits(options);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// In place of the stand-in, this script is the agent.
    pub(crate) fn agent_is(&mut self, script: &str) {
        let program = self.path("agent-script");
        write(&program, script).unwrap();
        set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        self.request.binary = Some(program.to_str().unwrap().into());
    }

    /// Run it with a consumer that takes everything at once.
    pub(crate) async fn run(&self) -> Outcome {
        let (control, controlled) = turn::control();
        let consumer = Eager {
            control: control.clone(),
        };
        tokio::time::timeout(PATIENCE, turn::run(self.request.clone(), controlled, consumer))
            .await
            .expect("the turn ends")
    }

    /// Start it with a consumer of the test's own, and go on.
    pub(crate) fn start<C: Consumer>(
        &self,
        consumer: impl FnOnce(Control) -> C,
    ) -> (Control, tokio::task::JoinHandle<Outcome>) {
        let (control, controlled) = turn::control();
        let task = tokio::spawn(turn::run(
            self.request.clone(),
            controlled,
            consumer(control.clone()),
        ));
        (control, task)
    }

    /// Wait until a step has touched this file, and read the number in it.
    pub(crate) async fn touched(&self, name: &str) -> u32 {
        let path = self.path(name);
        eventually(&format!("{name} is touched"), || path.exists()).await;
        read_to_string(path).unwrap().trim().parse().unwrap()
    }
}

pub(crate) fn limits(options: LimitOptions) -> Limits {
    Limits::new(&options, |_| None)
}

/// Takes every batch at once.
pub(crate) struct Eager {
    pub(crate) control: Control,
}

impl Consumer for Eager {
    fn send(&mut self, _batch: Batch) -> Result<(), ConsumerGone> {
        self.control.taken(Taken::GoOn);
        Ok(())
    }
}

/// Hands every batch to the test, which says itself when it was taken.
pub(crate) struct ByHand {
    pub(crate) batches: tokio::sync::mpsc::UnboundedSender<Batch>,
}

impl Consumer for ByHand {
    fn send(&mut self, batch: Batch) -> Result<(), ConsumerGone> {
        self.batches.send(batch).map_err(|_| ConsumerGone)
    }
}

pub(crate) fn read_json(path: &Path) -> Value {
    serde_json::from_str(&read_to_string(path).unwrap()).unwrap()
}

pub(crate) fn init() -> Value {
    json!({ "line": { "type": "system", "subtype": "init", "session_id": "s-1", "model": "Auto", "cwd": "${cwd}" } })
}

pub(crate) fn text(text: &str) -> Value {
    let content = json!([{ "type": "text", "text": text }]);
    json!({ "line": { "type": "assistant", "message": { "role": "assistant", "content": content } } })
}

pub(crate) fn result(text: &str) -> Value {
    json!({ "line": {
        "type": "result", "subtype": "success", "is_error": false, "result": text, "session_id": "s-1",
    } })
}

pub(crate) fn shell_started(timeout: u64) -> Value {
    json!({ "line": {
        "type": "tool_call", "subtype": "started", "call_id": "c-1",
        "tool_call": { "shellToolCall": { "args": { "command": "make", "timeout": timeout } } },
    } })
}
