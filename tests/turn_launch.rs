//! What the process of a turn gets: its command line, folder, environment, descriptors and prompt.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::os::unix::fs::PermissionsExt;

use fusion_cursor_native::cli::args::TurnFlags;
use fusion_cursor_native::cli::environment::compose;
use fusion_cursor_native::process::mark;
use fusion_cursor_native::turn::{Cause, Failure};
use serde_json::json;
use turn::{Stage, init, read_json, result};

fn echoing() -> Stage {
    Stage::new(&json!([{ "echo": "echo.json" }, init(), result("done")]))
}

#[tokio::test]
async fn the_command_line_and_the_folder_are_what_was_asked_for() {
    let mut stage = echoing();
    stage.request.flags = TurnFlags {
        model: Some("cursor-cli/sonnet".into()),
        coding: true,
        resume: Some("s-0".into()),
        approve_mcps: true,
        workspace_flag: true,
    };
    let report = stage.run().await.unwrap();
    assert_eq!(
        (report.text.as_str(), report.session_id.as_deref()),
        ("done", Some("s-1"))
    );
    let echo = read_json(&stage.path("echo.json"));
    let cwd = stage.request.cwd.to_str().unwrap();
    let args: Vec<_> = echo["argv"].as_array().unwrap()[1..]
        .iter()
        .map(|arg| arg.as_str().unwrap())
        .collect();
    let expected = format!(
        "--print --output-format stream-json --model sonnet --trust --force --approve-mcps --resume s-0 --workspace {cwd}"
    );
    assert_eq!(args.join(" "), expected);
    assert_eq!(echo["cwd"], *cwd);
}

#[tokio::test]
async fn it_leads_a_group_of_its_own_and_inherits_three_descriptors() {
    let pipes = || -> Vec<String> {
        let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        open.filter_map(|fd| Some(std::fs::read_link(fd.path()).ok()?.to_str()?.to_owned()))
            .collect()
    };
    // What this process was given without close-on-exec is not ours to close.
    let given = pipes();
    let stage = echoing();
    stage.run().await.unwrap();
    let echo = read_json(&stage.path("echo.json"));
    assert_eq!(echo["pgid"], echo["pid"]);
    assert_eq!(echo["ppid"], std::process::id());
    for fd in echo["fds"].as_array().into_iter().flatten() {
        let target = fd["target"].as_str().unwrap();
        let known = fd["fd"].as_u64().unwrap() <= 2 || given.iter().any(|pipe| pipe == target);
        assert!(
            known || !target.starts_with("pipe:"),
            "a pipe of another turn: {fd}"
        );
    }
}

#[tokio::test]
async fn its_environment_is_the_composed_one_and_nothing_else() {
    let mut stage = echoing();
    let scenario = stage.path("scenario.json").to_str().unwrap().to_owned();
    let host = [
        ("PATH", "/bin"),
        ("NODE_OPTIONS", "--inspect"),
        ("GIT_DIR", "/x"),
        ("CURSOR_API_KEY", ""),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    stage.request.environment = compose(
        host,
        vec![
            ("FUSION_CURSOR_SCENARIO".into(), scenario.clone()),
            ("ADDED".into(), "ü".into()),
        ],
    );
    stage.run().await.unwrap();
    let mut echo = read_json(&stage.path("echo.json"));
    let mark = echo["env"]
        .as_object_mut()
        .unwrap()
        .remove(mark::VARIABLE)
        .unwrap();
    assert!(mark.as_str().unwrap().starts_with(mark::host()), "{mark}");
    assert_eq!(
        echo["env"],
        json!({ "PATH": "/bin", "FUSION_CURSOR_SCENARIO": scenario, "ADDED": "ü" })
    );
}

#[tokio::test]
async fn the_prompt_arrives_exactly() {
    for prompt in [
        "",
        "# one\n\"two\" %PATH% ^& \u{1F600}\r\n",
        "-p --help",
        "\u{FEFF}\0x",
    ] {
        let mut stage = echoing();
        stage.request.prompt = prompt.into();
        stage.run().await.unwrap();
        let stdin = &read_json(&stage.path("echo.json"))["stdin"];
        assert_eq!(stdin["length"], prompt.len());
        assert_eq!(stdin["text"], prompt);
    }
}

/// The sizes at which a command line would be refused, by Linux or by Windows.
#[tokio::test]
async fn the_prompts_length_is_no_matter() {
    for unit in ["x", "é", "模", "😀"] {
        for size in [0, 33_000, 131_071, 131_072, 200_000] {
            let mut stage = echoing();
            stage.request.prompt = unit.repeat(size / unit.len()) + &"x".repeat(size % unit.len());
            assert_eq!(stage.request.prompt.len(), size);
            stage.run().await.unwrap();
            let echo = read_json(&stage.path("echo.json"));
            assert_eq!(echo["stdin"]["length"], size);
            assert!(
                echo["stdin"]["text"] == *stage.request.prompt,
                "{size} bytes of {unit}"
            );
            let argv = echo["argv"].to_string();
            assert!(argv.len() < 1000, "nothing of it is in the command line");
        }
    }
}

#[tokio::test]
async fn a_process_may_give_back_all_of_its_prompt_on_both_streams_while_it_reads() {
    let mut stage = Stage::with(&json!({
        "stdin": "never",
        "turn": [{ "stdin": "all", "copyTo": ["stdout", "stderr"] }, init(), { "echo": "echo.json" }, result("done")],
    }));
    stage.request.prompt = "0123456789abcde\n".repeat(2 << 16);
    let report = stage.run().await.unwrap();
    assert_eq!(report.text, "done");
    assert_eq!(report.dropped.lines, 2 << 16, "what it gave back is no record");
    assert_eq!(read_json(&stage.path("echo.json"))["stdin"]["length"], 2 << 20);
}

/// Builds of March 2026 hang where it is a device, others where it stays open.
#[tokio::test]
async fn its_standard_input_is_a_pipe_that_comes_to_its_end() {
    let stage = echoing();
    stage.run().await.unwrap();
    for fd in read_json(&stage.path("echo.json"))["fds"]
        .as_array()
        .into_iter()
        .flatten()
    {
        if fd["fd"].as_u64().unwrap() <= 2 {
            assert!(fd["target"].as_str().unwrap().starts_with("pipe:"), "{fd}");
        }
    }
}

#[tokio::test]
async fn many_variables_are_no_matter_and_one_that_is_too_long_says_so() {
    let mut stage = echoing();
    let many = (0..5000).map(|n| (format!("FC_{n}").into(), "x".repeat(100).into()));
    stage.request.environment.extend(many);
    stage.run().await.unwrap();
    let echo = read_json(&stage.path("echo.json"));
    assert_eq!(echo["env"]["FC_4999"], "x".repeat(100));

    let mut stage = echoing();
    stage
        .request
        .environment
        .push(("FC_LONG".into(), "x".repeat(8 << 20).into()));
    let failure = refused(stage).await;
    assert!(
        matches!(failure.cause, Cause::SpawnFailed { transient: false, .. }),
        "{failure:?}"
    );
    assert!(
        failure.to_string().contains("Argument list too long"),
        "{failure}"
    );
}

#[tokio::test]
async fn a_long_prompt_and_a_long_answer_do_not_wait_for_each_other() {
    let mut stage = Stage::with(&json!({
        "stdin": "never",
        "turn": [
            init(),
            { "line": { "type": "thinking", "subtype": "delta", "text": "${fill:4096}" }, "repeat": 1024 },
            { "text": "${fill:4194304:e}", "to": "stderr" },
            { "stdin": "all" },
            { "echo": "echo.json" },
            result("done"),
        ],
    }));
    stage.request.prompt = "pröm".repeat(1 << 20);
    let report = stage.run().await.unwrap();
    assert_eq!(report.text, "done");
    assert_eq!(
        read_json(&stage.path("echo.json"))["stdin"]["length"],
        stage.request.prompt.len()
    );
}

async fn refused(stage: Stage) -> Failure {
    let failure = *stage.run().await.unwrap_err();
    assert_eq!(failure.partial.exit, None, "no process ran");
    failure
}

#[tokio::test]
async fn a_missing_workspace_is_told_from_a_missing_program() {
    let mut stage = echoing();
    stage.request.cwd = stage.path("nowhere");
    let failure = refused(stage).await;
    assert!(matches!(failure.cause, Cause::CwdMissing { .. }), "{failure}");
    assert!(failure.to_string().contains("nowhere"));

    let mut stage = echoing();
    stage.request.cwd = stage.path("scenario.json");
    assert!(matches!(refused(stage).await.cause, Cause::CwdMissing { .. }));

    let mut stage = echoing();
    stage.request.binary = Some(stage.path("nothing").to_str().unwrap().into());
    let failure = refused(stage).await;
    assert!(matches!(failure.cause, Cause::NotFound { .. }), "{failure}");
    assert!(
        failure.to_string().starts_with("Cursor CLI spawn failed for "),
        "{failure}"
    );
}

#[tokio::test]
async fn a_program_that_cannot_be_started_says_why() {
    let cases = [
        ("#!/no/such/interpreter\n", 0o755, "interpreter"),
        ("", 0o644, "EACCES"),
    ];
    for (content, mode, why) in cases {
        let mut stage = echoing();
        let program = stage.path("program");
        std::fs::write(&program, content).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(mode)).unwrap();
        stage.request.binary = Some(program.to_str().unwrap().into());
        let failure = refused(stage).await;
        assert!(matches!(failure.cause, Cause::NotRunnable { .. }), "{failure:?}");
        assert!(failure.to_string().contains(why), "{failure}");
    }
}

#[tokio::test]
async fn without_a_binary_the_agent_is_looked_up_and_then_the_wrapper() {
    for (name, leading) in [("cursor-agent", None), ("cursor", Some("agent"))] {
        let mut stage = echoing();
        let folder = stage.path("a folder");
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fusion-cursor-stand-in"), folder.join(name)).unwrap();
        stage.request.binary = None;
        for (variable, value) in &mut stage.request.environment {
            if variable == "PATH" {
                *value = folder.clone().into();
            }
        }
        stage.run().await.unwrap();
        let argv = &read_json(&stage.path("echo.json"))["argv"];
        let expected = leading.unwrap_or("--print");
        assert_eq!(argv[1], expected, "for {name}");
    }
}

/// A stage whose `PATH` is one folder, with the wrapper in it and this as the agent.
fn with_wrapper(agent: &[u8], mode: u32) -> Stage {
    let mut stage = echoing();
    let folder = stage.path("bin");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("cursor-agent"), agent).unwrap();
    std::fs::set_permissions(folder.join("cursor-agent"), PermissionsExt::from_mode(mode)).unwrap();
    std::os::unix::fs::symlink(
        env!("CARGO_BIN_EXE_fusion-cursor-stand-in"),
        folder.join("cursor"),
    )
    .unwrap();
    stage.request.binary = None;
    // Without a home, so that nothing but this folder is looked at.
    stage
        .request
        .environment
        .retain(|(name, _)| name != "HOME" && name != "PATH");
    stage.request.environment.push(("PATH".into(), folder.into()));
    stage
}

#[tokio::test]
async fn the_wrapper_does_not_stand_in_for_an_agent_that_is_there() {
    let foreign = [b"\x7fELF\x02\x01\x01\0(garbage) (".as_slice(), &[0xB7; 64]].concat();
    for (agent, mode) in [
        (b"#!/bin/sh\n".as_slice(), 0o644),
        (b"#!/no/such/interpreter\n", 0o755),
        (&foreign, 0o755),
        (b"#!/bin/sh\nexit 7\n", 0o755),
    ] {
        let stage = with_wrapper(agent, mode);
        let failure = stage.run().await.unwrap_err();
        assert!(
            matches!(failure.cause, Cause::NotRunnable { .. } | Cause::Exited { .. }),
            "{failure:?}"
        );
        assert!(!stage.path("echo.json").exists(), "the wrapper ran for {agent:?}");
    }
    // The same stage without the agent: it would have run.
    let stage = with_wrapper(b"", 0o755);
    std::fs::remove_file(stage.path("bin/cursor-agent")).unwrap();
    stage.run().await.unwrap();
    assert_eq!(read_json(&stage.path("echo.json"))["argv"][1], "agent");
}
