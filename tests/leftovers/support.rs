//! Processes that leave their parent, and what became of them.

use fusion_cursor_native::process::mark;
use fusion_cursor_native::turn::Report;
use fusion_cursor_native::turn::limits::LimitOptions;
use serde_json::{Value, json};

use crate::turn::{Stage, runs};

/// How a process can leave its parent, as the stand-in names it.
pub(crate) const BONDS: [&str; 4] = ["member", "group", "session", "daemon"];

pub(crate) fn child(bond: &str, steps: &[Value]) -> Value {
    let mut all = steps.to_vec();
    all.extend([json!({ "touch": bond }), json!({ "linger": true })]);
    json!({ "start": all, "as": bond, "hold": "none", "args": ["worker-server"] })
}

/// A process for each bond, deaf to SIGTERM or not, all of them there before what follows.
pub(crate) fn children(bonds: &[&str], deaf: bool) -> Vec<Value> {
    let deaf = if deaf {
        vec![json!({ "ignore": ["SIGTERM", "SIGHUP"] })]
    } else {
        vec![]
    };
    let start = bonds.iter().map(|bond| child(bond, &deaf));
    start
        .chain(bonds.iter().map(|bond| json!({ "waitFile": bond })))
        .collect()
}

pub(crate) fn steps(parts: &[&[Value]]) -> Value {
    Value::Array(parts.concat())
}

pub(crate) fn grace(ms: f64) -> LimitOptions {
    LimitOptions {
        kill_grace_ms: Some(ms),
        exit_grace_ms: Some(200.0),
        ..LimitOptions::default()
    }
}

pub(crate) async fn pids(stage: &Stage, names: &[&str]) -> Vec<u32> {
    let mut pids = Vec::new();
    for name in names {
        pids.push(stage.touched(name).await);
    }
    pids
}

pub(crate) fn none_runs(pids: &[u32]) {
    for pid in pids {
        assert!(!runs(*pid), "{pid} runs");
    }
}

pub(crate) fn left(report: &Report) -> Vec<u32> {
    let mut pids: Vec<u32> = report.leftovers.iter().map(|one| one.pid).collect();
    pids.sort_unstable();
    pids
}

/// The number of the turn that a process carries the mark of.
pub(crate) fn turn_of(pid: u32) -> u64 {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8(environment).unwrap();
    let own = environment
        .split('\0')
        .find_map(|one| one.strip_prefix(mark::VARIABLE)?.strip_prefix('='))
        .unwrap();
    own.rsplit('.').next().unwrap().parse().unwrap()
}
