//! Processes of a turn that are hard to tell for its own: older than the turn that ends them, without a first
//! thread, out of the group that they lead.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::os::unix::fs::PermissionsExt as _;

use fusion_cursor_native::turn::Cause;
use fusion_cursor_native::turn::limits::LimitOptions;
use serde_json::json;
use turn::{Eager, Stage, children, eventually, init, result, runs, within};

fn grace() -> LimitOptions {
    LimitOptions {
        kill_grace_ms: Some(100.0),
        exit_grace_ms: Some(100.0),
        ..LimitOptions::default()
    }
}

/// A stage whose agent is this Python program, or none where there is no Python. It finds `init()` and `touch(name)`.
fn in_python(agent: &str) -> Option<Stage> {
    let mut stage = Stage::new(&json!([])).limits(grace());
    let program = stage.path("agent");
    let python = which("python3")?;
    let prelude = "import ctypes, os, sys, threading, time\n\
        def init():\n    print('{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s-1\"}', flush=True)\n\
        def touch(name):\n    open(name + '.new', 'w').write(str(os.getpid()))\n    os.rename(name + '.new', name)\n";
    std::fs::write(&program, format!("#!{python}\n{prelude}{agent}")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage.request.binary = Some(program.to_str().unwrap().into());
    Some(stage)
}

fn which(program: &str) -> Option<String> {
    let folders = ["/usr/bin", "/usr/local/bin", "/bin"].map(std::path::PathBuf::from);
    let found = folders
        .iter()
        .map(|folder| folder.join(program))
        .find(|file| file.exists());
    found?.to_str().map(String::from)
}

/// Whether any thread of this process runs.
fn any_thread_runs(pid: u32) -> bool {
    std::fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|threads| threads.count() > 1) || runs(pid)
}

/// When a process of this number started, in ticks of the system's clock.
fn started(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_whitespace().nth(19).unwrap().parse().unwrap()
}

#[tokio::test]
async fn what_a_good_turn_left_is_ended_by_a_turn_that_began_after_it_too() {
    for last in [result("y"), json!({ "exit": 3 })] {
        let good = Stage::new(&json!([
            init(),
            { "start": [{ "touch": "daemon" }, { "linger": true }], "as": "daemon", "hold": "none" },
            { "waitFile": "daemon" },
            { "waitFile": "go" },
            result("x"),
        ]))
        .limits(grace());
        let (_control, first) = good.start(|control| Eager { control });
        let daemon = good.touched("daemon").await;
        // The clock of processes goes by hundredths of a second: the next turn has to be younger by that one too.
        let next = loop {
            let mut other = Stage::new(&json!([
                init(), { "touch": "there" }, { "waitFile": "go" }, last,
            ]))
            .limits(grace());
            other.request.cwd.clone_from(&good.request.cwd);
            let (control, task) = other.start(|control| Eager { control });
            if started(other.touched("there").await) > started(daemon) {
                break (other, control, task);
            }
            control.abort();
            within("another try", task).await.unwrap().unwrap_err();
        };
        let (other, _control, second) = next;
        std::fs::write(good.path("go"), "").unwrap();
        within("the first turn", first).await.unwrap().unwrap();
        assert!(runs(daemon), "another turn runs there");
        std::fs::write(other.path("go"), "").unwrap();
        let ended = within("the last turn", second).await.unwrap();
        assert!(!runs(daemon), "after {ended:?}");
    }
}

#[tokio::test]
async fn one_that_runs_on_without_its_first_thread_is_ended() {
    // SYS_exit of the architectures that this is built for: it ends a thread, and no more.
    let exit = if cfg!(target_arch = "x86_64") { 60 } else { 93 };
    let Some(stage) = in_python(&format!(
        "init()\n\
         if os.fork() == 0:\n    \
             os.setsid()\n    \
             if os.fork(): os._exit(0)\n    \
             null = os.open('/dev/null', os.O_RDWR)\n    \
             for number in range(3): os.dup2(null, number)\n    \
             threading.Thread(target=lambda: time.sleep(600)).start()\n    \
             touch('headless')\n    \
             ctypes.CDLL(None).syscall({exit}, 0)\n\
         os.wait()\n\
         while True: time.sleep(0.1)\n"
    )) else {
        return;
    };
    let (control, task) = stage.start(|control| Eager { control });
    let headless = stage.touched("headless").await;
    eventually("its first thread has ended", || {
        !runs(headless) && any_thread_runs(headless)
    })
    .await;
    control.abort();
    let failure = within("the turn", task).await.unwrap().unwrap_err();
    assert!(!any_thread_runs(headless), "{failure:?}");
}

#[tokio::test]
async fn a_leader_that_left_its_group_and_cleared_its_environment_is_ended() {
    let Some(stage) = in_python(
        "init()\n\
         sys.stdin.read()\n\
         os.setpgid(0, os.getpgid(os.getppid()))\n\
         touch('leader')\n\
         os.execve('/bin/sleep', ['sleep', '600'], {})\n",
    ) else {
        return;
    };
    let (control, task) = stage.start(|control| Eager { control });
    let leader = stage.touched("leader").await;
    eventually("it is another program", || {
        std::fs::read(format!("/proc/{leader}/environ")).is_ok_and(|environment| environment.is_empty())
    })
    .await;
    control.abort();
    let failure = within("the turn", task).await.unwrap().unwrap_err();
    assert!(!runs(leader), "{failure:?}");
    assert_eq!(failure.partial.exit.unwrap().signal_name().unwrap(), "SIGTERM");
}

#[tokio::test]
async fn of_a_turn_that_is_over_before_its_process_was_there_nothing_is_there() {
    for tenths in 1..60 {
        let stage = Stage::new(&json!([{ "linger": true }])).limits(LimitOptions {
            first_line_ms: Some(f64::from(tenths) / 10.0),
            ..grace()
        });
        let failure = stage.run().await.unwrap_err();
        assert_eq!(failure.cause, Cause::FirstLineTimeout);
        assert!(children().is_empty(), "after {tenths}: {failure:?}");
    }
}
