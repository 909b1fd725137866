//! Time, memory, and what is left.

use std::fs::OpenOptions;
use std::time::{Duration, Instant};

use fusion_cursor_native::cli::probe::{COMMANDS, probe};
use fusion_cursor_native::cli::verdict::State;
use fusion_cursor_native::process::brief::{KEPT, run, run_with};
use fusion_cursor_native::process::{Exit, Launch, Owner};
use serde_json::json;

use crate::support::{AGENT, AMPLE, Machine, SCANT, TIGHT, eventually, reason, runs, within};

fn launch(machine: &Machine, program: &std::path::Path, args: &[&str]) -> Launch {
    Launch {
        program: program.to_owned(),
        args: args.iter().map(Into::into).collect(),
        cwd: "/".into(),
        env: machine.environment(),
        owner: Owner(0),
        via: None,
    }
}

#[tokio::test]
async fn each_stream_is_kept_up_to_its_limit() {
    let machine = Machine::new();
    let program = machine.script("big", "i=0; while [ $i -lt 5000 ]; do echo 'a line of sixty-four bytes, or at least of about as many bytes.'; i=$((i+1)); done; echo end >&2");
    let ran = within("the run", run(launch(&machine, &program, &[]), AMPLE))
        .await
        .unwrap();
    assert_eq!(
        (ran.exit, ran.timed_out, ran.truncated),
        (Exit::Code(0), false, true)
    );
    assert_eq!((ran.stdout.len(), ran.err().as_str()), (KEPT, "end\n"));
}

#[tokio::test]
async fn what_is_given_is_read_to_its_end_or_not_at_all() {
    let machine = Machine::new();
    // More than a pipe holds.
    let given = vec![b'x'; 200 * 1024];
    for (body, expected) in [("exec /bin/cat", given.len()), ("exec <&-", 0), (":", 0)] {
        let program = machine.script("reader", body);
        let ran = within(
            "the run",
            run_with(launch(&machine, &program, &[]), &given, AMPLE),
        )
        .await
        .unwrap();
        assert!(!ran.timed_out, "{body}");
        assert_eq!(ran.stdout.len(), expected, "{body}");
    }
    let program = machine.script("deaf", "exec /bin/sleep 600");
    let ran = within(
        "the run",
        run_with(launch(&machine, &program, &[]), &given, SCANT),
    )
    .await;
    assert!(ran.unwrap().timed_out);
}

#[tokio::test]
async fn what_hangs_is_killed_with_its_children_though_it_ignores_sigterm() {
    let mut machine = Machine::new();
    machine.limit = TIGHT;
    let child = |name: &str| json!([{ "ignore": ["SIGTERM", "SIGHUP"] }, { "touch": name, "content": "${pid}" }, { "linger": true }]);
    machine.stand_in(
        "one/cursor-agent",
        &json!({ "turn": [], "status": [
            { "ignore": ["SIGTERM"] },
            { "start": child("member.pid") },
            // Only Linux lets one be found that has cut all ties.
            { "start": child("daemon.pid"), "as": if cfg!(target_os = "linux") { "daemon" } else { "member" } },
            { "waitFile": "member.pid" },
            { "waitFile": "daemon.pid" },
            { "touch": "self.pid", "content": "${pid}" },
            { "linger": true },
        ] }),
    );
    let status = machine.probe().await;
    assert_eq!(status.state, State::AuthUnknown);
    for name in ["member.pid", "daemon.pid", "self.pid"] {
        let pid = machine.pid(name).await;
        assert!(!runs(pid), "{name} is gone when the answer is there");
    }
}

#[tokio::test]
async fn a_child_that_holds_the_pipes_open_holds_nothing_up_and_is_ended() {
    let machine = Machine::new();
    let body = format!(
        "/bin/sleep 600 & echo $! > '{}'; exec 3>&-\n{AGENT}",
        machine.text("sleeper")
    );
    machine.script("one/cursor-agent", &body);
    let began = Instant::now();
    let status = machine.probe().await;
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert!(began.elapsed() < AMPLE, "the limit was not waited for");
    let sleeper = machine.pid("sleeper").await;
    eventually("the sleeper is gone", || !runs(sleeper)).await;
}

#[tokio::test]
async fn giving_up_in_the_middle_leaves_nothing() {
    for command in ["version", "status"] {
        let mut machine = Machine::new();
        let steps = json!([
            { "ignore": ["SIGTERM"] },
            { "start": [{ "touch": "child.pid", "content": "${pid}" }, { "linger": true }] },
            { "waitFile": "child.pid" },
            { "touch": "self.pid", "content": "${pid}" },
            { "linger": true },
        ]);
        machine.stand_in("one/cursor-agent", &json!({ "turn": [], command: steps }));
        let probing = tokio::spawn(probe(machine.request(None)));
        let (own, child) = (machine.pid("self.pid").await, machine.pid("child.pid").await);
        assert!(runs(own) && runs(child));
        probing.abort();
        eventually("both are gone", || !runs(own) && !runs(child)).await;
    }
}

#[tokio::test]
async fn the_whole_call_is_bounded_however_many_programs_hang() {
    let mut machine = Machine::new();
    machine.limit = SCANT;
    let folders: Vec<String> = (0..8).map(|number| format!("folder {number}")).collect();
    for folder in &folders {
        machine.script(
            &format!("{folder}/cursor-agent"),
            "while :; do /bin/sleep 600; done",
        );
    }
    machine.path_is(&folders.iter().map(String::as_str).collect::<Vec<_>>());
    let status = machine.probe().await;
    assert_eq!(status.state, State::NotRunnable);
    // Each hang may take a moment more, for killing it.
    assert!(
        status.duration < SCANT * COMMANDS + Duration::from_secs(4),
        "{:?}",
        status.duration
    );
    let asked = status
        .diagnostics
        .iter()
        // On a loaded machine the last one may not even be started in time.
        .filter(|line| line.contains("no answer") || line.contains("did not start it in time"))
        .count();
    let not_asked = status
        .diagnostics
        .iter()
        .filter(|line| line.contains("used up"))
        .count();
    assert_eq!(asked + not_asked, 8, "{status:?}");
    assert!(asked <= 4 && not_asked >= 4, "{status:?}");
}

#[tokio::test]
async fn what_there_was_no_time_for_is_not_called_missing() {
    let mut machine = Machine::new();
    machine.limit = Duration::from_micros(100);
    machine.script("one/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(status.state, State::NotRunnable, "{status:?}");
    assert!(reason(&status).contains("used up"), "{status:?}");
}

#[tokio::test]
async fn a_program_that_is_just_being_written_is_tried_again() {
    let machine = Machine::new();
    let agent = machine.script("one/cursor-agent", AGENT);
    let writing = OpenOptions::new().append(true).open(&agent).unwrap();
    let closing = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(60)).await;
        drop(writing);
    });
    let status = machine.probe().await;
    closing.await.unwrap();
    assert_eq!(status.state, State::Ready, "{status:?}");
    let _writing = OpenOptions::new().append(true).open(&agent).unwrap();
    let status = machine.probe().await;
    assert_eq!(status.state, State::NotRunnable);
    assert!(reason(&status).contains("ETXTBSY"), "{status:?}");
}
