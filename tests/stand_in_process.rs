//! What the stand-in does as a process: stdin, gates, signals, children, and the echo of its launch.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on fails here"
)]

mod stand_in;

use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use rustix::process::{Signal, kill_process};
use stand_in::{Stage, alive, exit, finish, output, pid_of, stderr, stdout, until, within_deadline};

fn piped(stage: &Stage) -> Command {
    let mut command = stage.command(&["-p"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn stdin_is_read_to_its_end_first() {
    let stage = Stage::turn(r#"{"text":"${stdin}"}"#);
    let mut child = piped(&stage).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdin.write_all(b"one").unwrap();
    let text = within_deadline(move || {
        std::thread::spawn(move || stdin.write_all(b" two").unwrap());
        let mut text = String::new();
        stdout.read_to_string(&mut text).unwrap();
        text
    });
    assert_eq!(text, "one two");
    assert!(exit(child).success());
}

#[test]
fn stdin_may_be_read_in_part() {
    let stage = Stage::new(r#"{"stdin":3,"turn":[{"text":"${stdin}|"},{"stdin":2},{"text":"${stdin}"}]}"#);
    let mut child = piped(&stage).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"abcdefgh").unwrap();
    assert_eq!(stdout(&output(child)), "abc|abcde");
    drop(stdin);
}

#[test]
fn stdin_may_be_left_alone_or_closed() {
    let stage = Stage::new(
        r#"{"stdin":"never","turn":[{"text":"x${stdin}"},{"close":"stdin"},{"touch":"closed"},{"waitFile":"go"}]}"#,
    );
    let mut child = piped(&stage).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stage.wait_for("closed");
    assert_eq!(
        stdin.write_all(b"late").unwrap_err().kind(),
        std::io::ErrorKind::BrokenPipe
    );
    std::fs::write(stage.path("go"), "").unwrap();
    assert_eq!(stdout(&output(child)), "x");
}

#[test]
fn stdin_may_be_copied_as_it_comes() {
    let stage = Stage::new(r#"{"stdin":"never","turn":[{"stdin":"all","copyTo":["stdout","stderr"]}]}"#);
    let input = vec![b'a'; 2_000_000];
    let output = finish(piped(&stage), &input);
    assert!(output.stdout == input && output.stderr == input);
}

#[test]
fn gates_hold_a_turn() {
    let stage = Stage::turn(
        r#"{"touch":"${env:GATES}/in"},{"waitFile":"go"},{"text":"through"},{"touch":"note","content":"pid ${pid}"}"#,
    );
    let mut command = piped(&stage);
    command.stdin(Stdio::null()).env("GATES", stage.dir.path());
    let child = command.spawn().unwrap();
    let pid = child.id();
    assert_eq!(stage.wait_for("in"), format!("{pid}\n"));
    assert!(alive(pid));
    std::fs::write(stage.path("go"), "").unwrap();
    assert_eq!(stdout(&output(child)), "through");
    assert_eq!(stage.text("note"), format!("pid {pid}"));
}

#[test]
fn ignored_signals_do_nothing_and_kill_still_kills() {
    let stage = Stage::turn(
        r#"{"ignore":["SIGTERM","SIGINT"]},{"touch":"deaf"},{"waitFile":"go"},{"text":"still here"},{"touch":"said"},{"linger":true}"#,
    );
    let child = stage.start();
    stage.wait_for("deaf");
    for signal in [Signal::TERM, Signal::INT] {
        kill_process(pid_of(child.id()), signal).unwrap();
    }
    std::fs::write(stage.path("go"), "").unwrap();
    stage.wait_for("said");
    kill_process(pid_of(child.id()), Signal::KILL).unwrap();
    let output = output(child);
    assert_eq!(output.status.signal(), Some(9));
    assert_eq!(stdout(&output), "still here");
}

#[test]
fn signals_that_are_not_ignored_end_it() {
    let stage = Stage::turn(r#"{"touch":"up"},{"linger":true}"#);
    let child = stage.start();
    stage.wait_for("up");
    kill_process(pid_of(child.id()), Signal::TERM).unwrap();
    assert_eq!(output(child).status.signal(), Some(15));
}

#[test]
fn trapped_signals_are_reported() {
    let stage = Stage::turn(
        r#"{"trap":["SIGTERM"],"report":"signals"},
           {"trap":["SIGINT"],"report":"signals","say":"Aborting operation...\n","thenExit":130},
           {"touch":"ready"},{"linger":true}"#,
    );
    let child = stage.start();
    stage.wait_for("ready");
    kill_process(pid_of(child.id()), Signal::TERM).unwrap();
    until("the report", || {
        stage.path("signals").exists() && stage.text("signals") == "SIGTERM\n"
    });
    kill_process(pid_of(child.id()), Signal::INT).unwrap();
    let output = output(child);
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(stderr(&output), "Aborting operation...\n");
    assert_eq!(stage.text("signals"), "SIGTERM\nSIGINT\n");
}

#[test]
fn it_ends_as_told() {
    for (steps, code, signal) in [
        (r#"{"exit":7},{"text":"unreached"}"#, Some(7), None),
        (r#"{"raise":"SIGKILL"}"#, None, Some(9)),
        (r#"{"raise":"SIGTERM"}"#, None, Some(15)),
        (r#"{"ignore":["SIGTERM"]},{"raise":"SIGTERM"}"#, None, Some(15)),
        (r#"{"raise":"SIGABRT"}"#, None, Some(6)),
    ] {
        let output = Stage::turn(steps).play();
        assert_eq!(
            (output.status.code(), output.status.signal()),
            (code, signal),
            "{steps}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn streams_may_be_closed_while_it_lingers() {
    let stage = Stage::turn(r#"{"text":"last"},{"close":["stdout","stderr"]},{"linger":true}"#);
    let mut child = stage.start();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let text = within_deadline(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        err.read_to_string(&mut text).unwrap();
        text
    });
    assert_eq!(text, "last");
    assert!(alive(child.id()));
    child.kill().unwrap();
    exit(child);
}

/// Starts a child in the given way and returns its echo and that of its parent.
fn family(bond: &str, hold: &str) -> (Stage, serde_json::Value, serde_json::Value) {
    let stage = Stage::turn(format!(
        r#"{{"echo":"parent.json"}},
           {{"start":[{{"waitFile":"look"}},{{"echo":"child.json"}},{{"touch":"child.pid"}},{{"linger":true}}],"as":"{bond}","hold":"{hold}","args":["worker-server","--of=${{session}}"]}},
           {{"touch":"started"}}"#
    ));
    let child = stage.start();
    stage.wait_for("started");
    // The parent is gone before the child looks around.
    assert!(exit(child).success());
    std::fs::write(stage.path("look"), "").unwrap();
    stage.wait_for_pid("child.pid");
    let (parent, child) = (stage.json("parent.json"), stage.json("child.json"));
    (stage, parent, child)
}

#[test]
fn children_are_tied_as_told() {
    for bond in ["member", "group", "session", "daemon"] {
        let (_stage, parent, child) = family(bond, "none");
        let pid = &child["pid"];
        let same_group = child["pgid"] == parent["pgid"];
        let same_session = child["sid"] == parent["sid"];
        assert_eq!(same_group, bond == "member", "{bond}");
        assert_eq!(same_session, matches!(bond, "member" | "group"), "{bond}");
        assert_eq!(
            &child["pgid"] == pid,
            matches!(bond, "group" | "session"),
            "{bond}"
        );
        assert_eq!(&child["sid"] == pid, bond == "session", "{bond}");
        assert_ne!(child["ppid"], parent["pid"], "{bond}");
        assert_eq!(child["argv"][1], "worker-server", "{bond}");
        assert_eq!(
            child["argv"][2].as_str().unwrap().len(),
            "--of=".len() + 36,
            "{bond}"
        );
    }
}

#[test]
fn a_daemon_has_no_parent_from_the_start() {
    let stage = Stage::turn(
        r#"{"start":[{"echo":"child.json"},{"touch":"child.pid"},{"linger":true}],"as":"daemon"},{"waitFile":"child.pid"},{"echo":"parent.json"},{"linger":true}"#,
    );
    let mut child = stage.start();
    stage.wait_for_pid("child.pid");
    stage.wait_for("parent.json");
    assert_ne!(stage.json("child.json")["ppid"], stage.json("parent.json")["pid"]);
    child.kill().unwrap();
    exit(child);
}

#[test]
fn children_hold_the_streams_they_are_told_to() {
    for (hold, holds_out, holds_err) in [
        ("both", true, true),
        ("stdout", true, false),
        ("stderr", false, true),
        ("none", false, false),
    ] {
        let stage = Stage::turn(format!(
            r#"{{"start":[{{"touch":"child.pid"}},{{"waitFile":"go"}},{{"text":"out"}},{{"text":"err","to":"stderr"}}],"hold":"{hold}"}},{{"waitFile":"child.pid"}}"#
        ));
        let child = stage.start();
        stage.wait_for_pid("child.pid");
        std::fs::write(stage.path("go"), "").unwrap();
        // The output ends when the last holder of a stream is gone.
        let output = output(child);
        assert_eq!(stdout(&output) == "out", holds_out, "{hold}");
        assert_eq!(stderr(&output) == "err", holds_err, "{hold}");
    }
}

#[test]
fn a_child_may_be_deaf_and_have_children_of_its_own() {
    let stage = Stage::turn(
        r#"{"start":[{"ignore":["SIGTERM"]},{"start":[{"touch":"inner.pid"},{"linger":true}],"hold":"none"},
            {"waitFile":"inner.pid"},{"touch":"outer.pid"},{"waitFile":"go"},{"touch":"went"},{"linger":true}],"hold":"none"}"#,
    );
    assert!(exit(stage.start()).success());
    let outer = stage.wait_for_pid("outer.pid");
    let inner = stage.wait_for_pid("inner.pid");
    kill_process(pid_of(outer), Signal::TERM).unwrap();
    std::fs::write(stage.path("go"), "").unwrap();
    stage.wait_for("went");
    assert!(alive(inner));
    kill_process(pid_of(inner), Signal::TERM).unwrap();
    until("the inner child to end", || !alive(inner));
}

#[test]
fn a_child_that_ends_is_no_zombie() {
    let stage =
        Stage::turn(r#"{"start":[{"touch":"child.pid"}],"hold":"none"},{"touch":"up"},{"linger":true}"#);
    let mut child = stage.start();
    let pid = stage.wait_for_pid("child.pid");
    stage.wait_for("up");
    until("the child to be waited for", || {
        rustix::process::test_kill_process(pid_of(pid)) == Err(rustix::io::Errno::SRCH)
    });
    child.kill().unwrap();
    exit(child);
}

#[test]
fn a_large_prompt_reaches_a_child() {
    let stage = Stage::turn(r#"{"start":[{"text":"${prompt}"}]}"#);
    let prompt = "한".repeat(300_000);
    assert_eq!(stdout(&finish(piped(&stage), prompt.as_bytes())), prompt);
}

#[test]
fn the_echo_tells_how_it_was_launched() {
    let stage = Stage::turn(r#"{"echo":true},{"echo":"by-step.json"}"#);
    let mut command = stage.command(&["agent", "-p", "--model", "auto", "say it"]);
    command
        .env("FUSION_CURSOR_ECHO", stage.path("by-variable.json"))
        .env("MARK", "ü");
    command.current_dir(stage.dir.path());
    let output = finish(command, b"hi\xff");
    let line: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    for echo in [
        &line,
        &stage.json("by-step.json"),
        &stage.json("by-variable.json"),
    ] {
        assert_eq!(echo["type"], "echo");
        assert_eq!(
            echo["argv"].as_array().unwrap()[1..],
            ["agent", "-p", "--model", "auto", "say it"]
        );
        assert_eq!(
            echo["cwd"],
            stage.dir.path().canonicalize().unwrap().to_str().unwrap()
        );
        assert_eq!(echo["env"]["MARK"], "ü");
        assert_eq!(echo["stdin"]["length"], 3);
        assert_eq!(echo["stdin"]["base64"], "aGn/");
        assert!(echo["stdin"]["text"].is_null());
        assert_eq!(echo["ppid"], std::process::id());
        assert!(echo["pgid"].is_number() && echo["sid"].is_number());
    }
}

/// As in a container: the leader of the session has no number in there.
#[cfg(target_os = "linux")]
#[allow(clippy::disallowed_methods, reason = "a test is its own host")]
#[test]
fn a_session_from_outside_the_pid_namespace_is_told_as_0() {
    let namespace = ["--user", "--map-current-user", "--pid", "--fork"];
    let mut allowed = std::process::Command::new("unshare");
    if !allowed
        .args(namespace)
        .arg("true")
        .status()
        .is_ok_and(|status| status.success())
    {
        return;
    }
    let stage = Stage::turn(r#"{"text":"alive"},{"echo":"echo.json"}"#);
    let mut command = std::process::Command::new("unshare");
    command
        .args(namespace)
        .arg("--mount-proc")
        .arg(stage.command(&[]).get_program())
        .arg("-p");
    command.env("FUSION_CURSOR_SCENARIO", stage.path("scenario.json"));
    assert_eq!(stdout(&finish(command, b"")), "alive");
    assert_eq!(stage.json("echo.json")["sid"], 0);
}

#[cfg(target_os = "linux")]
#[test]
fn the_echo_lists_open_files() {
    let stage = Stage::turn(r#"{"echo":true}"#);
    let leaked = std::fs::File::create(stage.path("leaked")).unwrap();
    rustix::io::fcntl_setfd(&leaked, rustix::io::FdFlags::empty()).unwrap();
    let output = finish(piped(&stage), b"");
    let line: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let files: Vec<_> = line["fds"].as_array().unwrap().iter().collect();
    assert!(files[1]["target"].as_str().unwrap().starts_with("pipe:"));
    let in_stage: Vec<_> = files
        .iter()
        .filter_map(|file| file["target"].as_str()?.strip_prefix(stage.dir.path().to_str()?))
        .collect();
    assert_eq!(in_stage, ["/leaked"], "what was leaked, and not the scenario");
}
