//! The command line of the stand-in, its ready scenarios, and what it refuses.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on fails here"
)]

mod stand_in;

use serde_json::Value;
use stand_in::{Stage, finish, stand_in, stderr, stdout};

fn ready(name: &str) -> String {
    format!("{}/testing/scenarios/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

fn records(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn commands_answer_without_a_scenario() {
    for (args, start, end) in [
        (&["--version"][..], "2026.08.11-e8db854\n", "e8db854\n"),
        (&["agent", "-v"], "2026.08.11-e8db854\n", "e8db854\n"),
        (&["status"], " ✓ Logged in as stand-in@example.com\n", ".com\n"),
        (
            &["whoami", "--format", "json"],
            "{\"status\":\"authenticated\",\"isAuthenticated\":true",
            "}}\n",
        ),
        (
            &["models"],
            "Available models\n\nauto - Auto (default)\n",
            "to switch.\n",
        ),
        (&["agent", "--list-models"], "Available models\n", "to switch.\n"),
        (&["about"], "About Cursor CLI\n", "example.com\n"),
        (
            &["about", "--format", "json"],
            "{\"cliVersion\":\"2026.08.11-e8db854\"",
            "}\n",
        ),
        (&["mcp", "list"], "No MCP servers configured", "\n"),
        (&["--help"], "fusion-cursor-stand-in takes the place", "\n"),
    ] {
        let output = finish(stand_in(args), b"");
        let text = stdout(&output);
        assert!(text.starts_with(start) && text.ends_with(end), "{args:?}: {text}");
        assert!(output.status.success() && output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_scenario_may_answer_otherwise() {
    let stage = Stage::new(
        r#"{"version":[{"text":"banner\n"},{"exit":3}],"status":[{"text":"Not logged in\n","to":"stderr"},{"exit":1}],
            "models":[{"line":["${echo}"]}],"about":[],"mcp":[{"text":"x: ready\n"}]}"#,
    );
    let version = finish(stage.command(&["--version"]), b"");
    assert_eq!(
        (stdout(&version).as_str(), version.status.code()),
        ("banner\n", Some(3))
    );
    let status = finish(stage.command(&["status", "--format", "json"]), b"");
    assert_eq!(
        (stderr(&status).as_str(), status.status.code()),
        ("Not logged in\n", Some(1))
    );
    let models = finish(stage.command(&["models"]), b"");
    assert_eq!(records(&stdout(&models))[0][0]["argv"][1], "models");
    assert_eq!(stdout(&finish(stage.command(&["about"]), b"")), "");
    assert_eq!(
        stdout(&finish(stage.command(&["mcp", "list"]), b"")),
        "x: ready\n"
    );
    let turn = stage.play();
    assert_eq!(turn.status.code(), Some(64));
    assert!(stderr(&turn).contains("the scenario has no 'turn'"));
}

#[test]
fn a_command_does_not_wait_for_stdin() {
    let mut command = stand_in(&["--version"]);
    command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let held = child.stdin.take();
    assert_eq!(stdout(&stand_in::output(child)), "2026.08.11-e8db854\n");
    drop(held);
}

#[test]
fn what_the_cli_refuses_is_refused() {
    for (args, text) in [
        (&["-p", "--x"][..], "error: unknown option '--x'\n"),
        (&["models", "--json"], "error: unknown option '--json'\n"),
        (
            &["agent", "--model"],
            "error: option '-m, --model <model>' argument missing\n",
        ),
    ] {
        let output = finish(stand_in(args), b"");
        assert_eq!(stderr(&output), text);
        assert_eq!(output.status.code(), Some(1));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_resumed_turn_has_its_own_steps() {
    let stage = Stage::new(r#"{"turn":[{"text":"new"}],"resumed":[{"text":"again ${session}"}]}"#);
    assert_eq!(stdout(&stage.play()), "new");
    assert_eq!(
        stdout(&finish(stage.command(&["-p", "--resume", "id-7"]), b"")),
        "again id-7"
    );
    let stage = Stage::turn(r#"{"text":"${session}"}"#);
    assert_eq!(stdout(&finish(stage.command(&["--resume=id-8"]), b"")), "id-8");
}

#[test]
fn a_mistake_fails_before_the_first_step() {
    let stage = Stage::turn(r#"{"touch":"made"},{"start":[{"lnie":1}]}"#);
    for args in [&["-p"][..], &["--version"]] {
        let output = finish(stage.command(args), b"");
        assert_eq!(output.status.code(), Some(64));
        let text = stderr(&output);
        assert!(
            text.contains("scenario.json: turn[1].start[0]: unknown verb 'lnie'. Allowed verbs: line,"),
            "{text}"
        );
    }
    assert!(!stage.path("made").exists());
    std::fs::remove_file(stage.path("scenario.json")).unwrap();
    let output = stage.play();
    assert_eq!(output.status.code(), Some(64));
    assert!(stderr(&output).contains("cannot read"));
}

#[test]
fn a_step_that_cannot_be_done_says_which() {
    let stage = Stage::turn(r#"{"sleep":0},{"waitFile":"never","limitMs":20}"#);
    let output = stage.play();
    assert_eq!(output.status.code(), Some(70));
    assert!(stderr(&output).contains("turn[1]: "), "{}", stderr(&output));
    assert!(stderr(&output).contains("not there after 20 ms"));
}

#[test]
fn the_demo_is_a_whole_turn_and_the_default() {
    let output = finish(
        stand_in(&["-p", "--output-format", "stream-json", "--model", "auto"]),
        b"Fix it",
    );
    assert!(output.status.success());
    let records = records(&stdout(&output));
    let has = |path: &str| {
        records
            .iter()
            .filter(|record| record.pointer(path).is_some())
            .count()
    };
    assert_eq!(records[0]["subtype"], "init");
    assert_eq!(records[0]["model"], "Auto");
    assert_eq!(records[1]["message"]["content"][0]["text"], "Fix it");
    assert_eq!(records.last().unwrap()["type"], "result");
    assert_eq!(has("/tool_call/shellToolCall/result/failure"), 1);
    assert_eq!(has("/tool_call/shellToolCall/result/rejected"), 1);
    assert_eq!(has("/tool_call/mcpToolCall/result/success"), 1);
    assert_eq!(has("/tool_call/editToolCall/result/success/diffString"), 1);
    let session = &records[0]["session_id"];
    assert!(records.iter().all(|record| &record["session_id"] == session));

    let said: String = records
        .iter()
        .filter(|record| record["type"] == "assistant")
        .map(|record| record["message"]["content"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(records.last().unwrap()["result"], said);

    let calls = |subtype: &str| -> Vec<&Value> {
        records
            .iter()
            .filter(|r| r["type"] == "tool_call" && r["subtype"] == subtype)
            .collect()
    };
    let (started, completed) = (calls("started"), calls("completed"));
    assert_eq!(started[0]["model_call_id"], started[1]["model_call_id"]);
    assert_eq!(
        completed[0]["call_id"], started[1]["call_id"],
        "the second to start is the first to end"
    );
    assert_eq!(started.len(), completed.len());
}

#[test]
fn the_other_ready_scenarios_end_as_they_say() {
    let mut answer = stand_in(&["-p"]);
    answer.env("FUSION_CURSOR_SCENARIO", ready("answer"));
    let output = finish(answer, b"Light it");
    assert!(output.status.success());
    assert_eq!(records(&stdout(&output)).last().unwrap()["subtype"], "success");

    let mut limit = stand_in(&["-p"]);
    limit.env("FUSION_CURSOR_SCENARIO", ready("usage-limit"));
    let output = finish(limit, b"Light it");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(records(&stdout(&output)).len(), 2);
    assert!(stderr(&output).starts_with("ActionRequiredError: You've hit your usage limit"));
}
