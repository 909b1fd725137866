//! What the stand-in writes, and in which writes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on fails here"
)]

mod stand_in;

use std::time::{Duration, Instant};

use stand_in::{Stage, finish, stderr, stdout};

#[test]
fn a_line_is_the_json_of_the_scenario_made_compact() {
    let stage = Stage::turn(r#"{"line": { "z": 1e400, "a": "x  \ud83d", "z": [ 9007199254740993 ] }}"#);
    let output = stage.play();
    assert_eq!(
        stdout(&output),
        "{\"z\":1e400,\"a\":\"x  \\ud83d\",\"z\":[9007199254740993]}\n"
    );
    assert!(output.status.success());
}

#[test]
fn text_and_bytes_come_as_they_are() {
    let stage = Stage::turn(
        r#"{"text":"no line end"},{"bytes":{"hex":"ff 00 0a"}},{"bytes":{"base64":"/4A="}},
           {"text":"aside","to":"stderr"},{"bytes":{"hex":"80"},"to":"stderr"}"#,
    );
    let output = stage.play();
    assert_eq!(output.stdout, b"no line end\xff\x00\x0a\xff\x80");
    assert_eq!(output.stderr, b"aside\x80");
}

#[test]
fn a_file_is_found_beside_the_scenario() {
    let stage = Stage::turn(r#"{"file":"recorded.jsonl"}"#);
    std::fs::write(stage.path("recorded.jsonl"), b"{\"a\":\"${cwd}\"}\n\xff\nlast").unwrap();
    assert_eq!(stage.play().stdout, b"{\"a\":\"${cwd}\"}\n\xff\nlast");
}

#[test]
fn blocks_are_repeated_and_numbered() {
    let stage = Stage::turn(r#"{"line":{"n":"${n}"},"repeat":3},{"text":"${fill:2000000:ab}","repeat":2}"#);
    let output = stage.play();
    let (lines, block) = output.stdout.split_at(24);
    assert_eq!(lines, b"{\"n\":0}\n{\"n\":1}\n{\"n\":2}\n");
    assert_eq!(block.len(), 8_000_000);
}

#[test]
fn placeholders_are_filled_in() {
    let stage = Stage::turn(
        r#"{"line":{"prompt":"${prompt}","stdin":"${stdin}","cwd":"${cwd}","session":"${session}",
            "resume":"${resume}","model":"${model}","now":"${now}","pid":"${pid}","env":"${env:GREETING}",
            "request":"${request}","deep":"${nested:3}","at":"at ${pid}","echo":"${echo}"}}"#,
    );
    let mut command = stage.command(&["-p", "--model", "composer-2.5", "--resume", "s-1", "say"]);
    command.current_dir(stage.dir.path()).env("GREETING", "\"hé\"");
    let child = finish(command, b"hi\n\xff");
    let line: serde_json::Value = serde_json::from_str(&stdout(&child)).unwrap();
    assert_eq!(line["prompt"], "say\nhi\n\u{fffd}");
    assert_eq!(line["stdin"], "hi\n\u{fffd}");
    let folder = stage.dir.path().canonicalize().unwrap();
    // Windows resolves a path to a spelling that it does not tell as a folder of a process.
    assert_eq!(line["cwd"], folder.to_str().unwrap().trim_start_matches(r"\\?\"));
    assert_eq!(line["session"], "s-1");
    assert_eq!(line["resume"], "s-1");
    assert_eq!(line["model"], "composer-2.5");
    assert!(line["now"].as_u64().unwrap() > 1_700_000_000_000);
    assert_eq!(line["at"], format!("at {}", line["pid"].as_u64().unwrap()));
    assert_eq!(line["env"], "\"hé\"");
    assert_eq!(line["request"].as_str().unwrap().len(), 36);
    assert_eq!(line["deep"].to_string(), "[[[]]]");
    assert_eq!(line["echo"]["type"], "echo");
}

#[test]
fn a_fresh_session_is_the_same_in_every_line_and_another_in_every_run() {
    let stage = Stage::turn(r#"{"line":"${session}"},{"line":"${session}"}"#);
    let first = stdout(&stage.play());
    let (one, two) = first.trim().split_once('\n').unwrap();
    assert_eq!(one, two);
    assert_ne!(first, stdout(&stage.play()));
}

#[test]
fn delays_come_before_each_write() {
    let stage = Stage::new(
        r#"{"lineDelayMs":40,"turn":[{"line":1},{"line":2,"repeat":2},{"line":3,"delayMs":0},{"text":"abc","write":1,"delayMs":20},{"sleep":40}]}"#,
    );
    let start = Instant::now();
    assert_eq!(stdout(&stage.play()), "1\n2\n2\n3\nabc");
    assert!(start.elapsed() >= Duration::from_millis(220));
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let stage = Stage::turn(r#"{"touch":"ready"},{"waitFile":"go"},{"line":1,"repeat":100000}"#);
    let mut child = stage.start();
    stage.wait_for("ready");
    drop(child.stdout.take());
    std::fs::write(stage.path("go"), "").unwrap();
    let output = stand_in::output(child);
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(stderr(&output), "");
}

/// A datagram socket keeps writes apart, so that each can be counted.
#[cfg(unix)]
#[test]
fn each_part_is_one_write() {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixDatagram;

    for (step, expected) in [
        (r#"{"line":{"a":1}}"#, &["{\"a\":1}\n"][..]),
        (r#"{"line":1,"repeat":3}"#, &["1\n1\n1\n"]),
        (r#"{"line":1,"repeat":3,"write":"lines"}"#, &["1\n", "1\n", "1\n"]),
        (r#"{"text":"a\nb","write":"lines"}"#, &["a\n", "b"]),
        (r#"{"text":"a\nb"}"#, &["a\nb"]),
        (r#"{"text":"abcde","write":2}"#, &["ab", "cd", "e"]),
        (r#"{"text":"abc","write":1}"#, &["a", "b", "c"]),
        (r#"{"text":"a\nb","to":"stderr"}"#, &["a\nb"]),
    ] {
        let (ours, theirs) = UnixDatagram::pair().unwrap();
        ours.set_read_timeout(Some(stand_in::DEADLINE)).unwrap();
        let stage = Stage::turn(format!("{step},{{\"text\":\"END\"}}"));
        let mut command = stage.command(&["-p"]);
        command.stdin(std::process::Stdio::null());
        command
            .stderr(OwnedFd::from(theirs.try_clone().unwrap()))
            .stdout(OwnedFd::from(theirs));
        let child = command.spawn().unwrap();
        let mut writes = Vec::new();
        loop {
            let mut buffer = [0; 256];
            let count = ours.recv(&mut buffer).unwrap();
            match &buffer[..count] {
                b"END" => break,
                part => writes.push(String::from_utf8(part.to_vec()).unwrap()),
            }
        }
        assert_eq!(writes, expected, "{step}");
        assert!(stand_in::exit(child).success());
    }
}

#[cfg(unix)]
#[test]
fn sockets_that_do_not_block_lose_nothing() {
    use std::io::{Read as _, Write as _};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    let (mut ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let stage = Stage::new(
        r#"{"stdin":"never","turn":[{"touch":"up"},{"stdin":5},{"text":"${stdin}${fill:3000000}"}]}"#,
    );
    let mut command = stage.command(&["-p"]);
    command
        .stdin(OwnedFd::from(theirs.try_clone().unwrap()))
        .stdout(OwnedFd::from(theirs));
    let child = command.spawn().unwrap();
    // The command holds its own copies of the socket, which would keep it open.
    drop(command);
    stage.wait_for("up");
    ours.write_all(b"hello").unwrap();
    let text = stand_in::within_deadline(move || {
        let mut text = String::new();
        ours.read_to_string(&mut text).unwrap();
        text
    });
    assert!(text.starts_with("hellox") && text.len() == 3_000_005);
    assert!(stand_in::exit(child).success());
}
