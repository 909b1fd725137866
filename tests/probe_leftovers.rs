//! What probes cost this process and leave in it: a test program of its own, since all of it is counted.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "all of this is a test")]

#[path = "probe/support.rs"]
mod support;

use fusion_cursor_native::cli::probe::probe;
use fusion_cursor_native::cli::verdict::State;
use serde_json::json;
use support::{AGENT, Machine, VERSION, children, eventually, within};

/// One test at a time, also where they share the process.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// The most memory that this process ever had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn a_hundred_megabytes_of_output_cost_no_memory() {
    let _alone = ALONE.lock().await;
    let mut machine = Machine::new();
    let megabyte = json!({ "text": "${fill:1048576}", "repeat": 100, "write": "lines" });
    let noise = json!({ "text": "${fill:1048576}", "repeat": 100, "write": "lines", "to": "stderr" });
    machine.stand_in(
        "one/cursor-agent",
        &json!({ "turn": [], "version": [{ "text": format!("{VERSION}\n") }, megabyte], "status": [noise, { "text": "{\"isAuthenticated\":true}" }] }),
    );
    let before = peak();
    let status = machine.probe().await;
    assert_eq!(
        status.state,
        State::Ready,
        "what came first counts, and nothing blocked: {status:?}"
    );
    assert!(peak() - before < 32 << 20, "{} bytes more", peak() - before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_probes_at_once_leave_no_zombie_descriptor_or_file() {
    let _alone = ALONE.lock().await;
    let mut machine = Machine::new();
    let temporary = machine.at("temporary");
    std::fs::create_dir(&temporary).unwrap();
    machine.set("TMPDIR", temporary.to_str().unwrap());
    machine.script("one/cursor-agent", &format!("/bin/sleep 600 &\n{AGENT}"));
    // The thread that starts programs and the like come with the first one.
    assert_eq!(machine.probe().await.state, State::Ready);
    let settled = |open: usize| move || open_descriptors() <= open && children().is_empty();
    eventually("the first is over", || children().is_empty()).await;
    let open = open_descriptors();
    let probes: Vec<_> = (0..40)
        .map(|_| tokio::spawn(probe(machine.request(None))))
        .collect();
    for probing in probes {
        let status = within("a probe", probing).await.unwrap();
        assert_eq!(status.state, State::Ready, "{status:?}");
    }
    eventually("no child and no descriptor is left", settled(open)).await;
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

fn open_descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
