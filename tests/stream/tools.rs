//! Tool calls: names, arguments, pairing and outcomes.

use fusion_cursor_native::stream::event::OpenCall;
use fusion_cursor_native::stream::{ParserOptions, StreamParser};

use super::support::{completed, events, events_with, line, show, started};

fn all(records: &[String]) -> Vec<String> {
    events(records.iter().map(|record| line(record)).collect::<String>())
}

#[test]
fn the_tool_is_the_key_that_ends_in_tool_call_wherever_it_stands() {
    let tool = r#""shellToolCall":{"args":{"command":"ls"}}"#;
    let siblings = [
        r#""hookAdditionalContexts":[]"#,
        r#""toolCallId":"c""#,
        r#""startedAtMs":"1784""#,
    ];
    for at in 0..=siblings.len() {
        let mut members = siblings.to_vec();
        members.insert(at, tool);
        let tool_call = format!("{{{}}}", members.join(","));
        assert_eq!(
            all(&[started("c", &tool_call)]),
            [r#"start shell:shell#c {"command":"ls"}"#]
        );
    }
}

#[test]
fn tools_known_and_unknown() {
    for (tool_call, expected) in [
        (
            r#"{"readToolCall":{"args":{"path":"a"}}}"#,
            r#"start read:read#c {"path":"a"}"#,
        ),
        (
            r#"{"getMcpToolsToolCall":{"args":{}}}"#,
            "start getMcpTools:getMcpTools#c {}",
        ),
        (r#"{"fooToolCall":{}}"#, "start foo:foo#c -"),
        (r#"{"fooToolCall":{"args":null}}"#, "start foo:foo#c -"),
        (
            r#"{"fooToolCall":"x","barToolCall":{"args":1}}"#,
            "start bar:bar#c 1",
        ),
        (r#"{"toolCallId":"x"}"#, "start unknown:unknown#c -"),
        (r#"{"ToolCall":{}}"#, "start unknown:unknown#c -"),
        ("{}", "start unknown:unknown#c -"),
        ("null", "start unknown:unknown#c -"),
        ("\"x\"", "start unknown:unknown#c -"),
    ] {
        assert_eq!(all(&[started("c", tool_call)]), [expected], "{tool_call}");
    }
}

#[test]
fn a_function_has_its_own_name_and_its_arguments_are_json_in_a_string() {
    for (function, expected) in [
        (
            r#"{"name":"f","arguments":"{\"a\":\"\\ud83d\"}"}"#,
            r#"start function:f#c {"a":"\ud83d"}"#,
        ),
        (
            r#"{"name":"f","arguments":"{\"a\":\"\ud83d\"}"}"#,
            r#"start function:f#c {"a":"\ud83d"}"#,
        ),
        (
            r#"{"name":"f","arguments":"{\"a\":\"\n\"}"}"#,
            r#"start function:f#c {"a":"\u000a"}"#,
        ),
        (r#"{"arguments":"{}","name":"f"}"#, "start function:f#c {}"),
        (r#"{"name":"f","arguments":" {} "}"#, "start function:f#c {}"),
        (
            r#"{"name":"f","arguments":"{} x"}"#,
            r#"start function:f#c "{} x""#,
        ),
        (r#"{"name":"f","arguments":"[1]"}"#, r#"start function:f#c "[1]""#),
        (
            r#"{"name":"f","arguments":{"a":1}}"#,
            r#"start function:f#c {"a":1}"#,
        ),
        (r#"{"name":"","arguments":null}"#, "start function:function#c -"),
    ] {
        assert_eq!(
            all(&[started("c", &format!(r#"{{"function":{function}}}"#))]),
            [expected]
        );
    }
}

#[test]
fn an_mcp_call_is_named_by_its_server() {
    for (args, name) in [
        (
            r#"{"name":"srv-echo","providerIdentifier":"srv","toolName":"echo"}"#,
            "srv-echo",
        ),
        (
            r#"{"providerIdentifier":"srv","toolName":"echo","args":{"name":"no"}}"#,
            "srv-echo",
        ),
        (r#"{"name":"","toolName":"echo"}"#, "echo"),
        (r#"{"name":null}"#, "mcp"),
    ] {
        let call = started("c", &format!(r#"{{"mcpToolCall":{{"args":{args}}}}}"#));
        let done = completed("c", r#"{"mcpToolCall":{"result":{"success":{"isError":false}}}}"#);
        assert_eq!(
            all(&[call, done]),
            [
                format!("start mcp:{name}#c {args}"),
                format!(r#"end mcp:{name}#c {args} Success {{"success":{{"isError":false}}}}"#)
            ]
        );
    }
}

#[test]
fn tools_of_our_own_server_have_their_bare_names() {
    const KEY: &str = "fusion-custom-tools-1";
    for (args, name) in [
        // As recorded.
        (
            r#"{"name":"fusion-custom-tools-1-fn_a","providerIdentifier":"fusion-custom-tools-1","toolName":"fn_a","serverIdentifier":"fusion-custom-tools-1"}"#,
            "fn_a",
        ),
        // Each of them alone.
        (r#"{"name":"fusion-custom-tools-1-fn_a"}"#, "fn_a"),
        (
            r#"{"providerIdentifier":"fusion-custom-tools-1","toolName":"fn_a"}"#,
            "fn_a",
        ),
        (
            r#"{"serverIdentifier":"fusion-custom-tools-1","toolName":"fn_a"}"#,
            "fn_a",
        ),
        // What is not ours, by its name or by its server.
        (
            r#"{"name":"fusion-custom-tools-1-other","providerIdentifier":"fusion-custom-tools-1","toolName":"other"}"#,
            "fusion-custom-tools-1-other",
        ),
        (
            r#"{"name":"fusion-custom-tools-12-fn_a"}"#,
            "fusion-custom-tools-12-fn_a",
        ),
        (
            r#"{"name":"fusion-custom-tools-1-fn_a-b","providerIdentifier":"fusion-custom-tools-1-fn_a","toolName":"b"}"#,
            "fusion-custom-tools-1-fn_a-b",
        ),
        (
            r#"{"name":"board-fn_a","providerIdentifier":"board","toolName":"fn_a"}"#,
            "board-fn_a",
        ),
        (r#"{"name":"fn_a"}"#, "fn_a"),
        (r#"{"providerIdentifier":"fusion-custom-tools-1"}"#, "mcp"),
    ] {
        let call = started("c", &format!(r#"{{"mcpToolCall":{{"args":{args}}}}}"#));
        // Most completed records do not say again what was asked.
        let bare = completed("c", r#"{"mcpToolCall":{"result":{"rejected":{}}}}"#);
        let again = completed(
            "c",
            &format!(r#"{{"mcpToolCall":{{"args":{args},"result":{{"rejected":{{}}}}}}}}"#),
        );
        for end in [bare, again] {
            let shown = named_bare(KEY, &[&call, &end]);
            assert_eq!(shown.len(), 2, "{args}");
            assert!(
                shown[0].starts_with(&format!("start mcp:{name}#c ")),
                "{args}: {shown:?}"
            );
            assert!(
                shown[1].starts_with(&format!("end mcp:{name}#c ")),
                "{args}: {shown:?}"
            );
        }
    }
    let function = started("c", r#"{"function":{"name":"fusion-custom-tools-1-fn_a"}}"#);
    assert_eq!(
        named_bare(KEY, &[&function]),
        ["start function:fusion-custom-tools-1-fn_a#c -"]
    );
}

fn named_bare(server: &str, records: &[&str]) -> Vec<String> {
    let mut parser = StreamParser::new(ParserOptions::default()).with_bare_names_of(server);
    let mut shown = Vec::new();
    for record in records {
        parser.push(line(record).as_bytes(), &mut |event| shown.push(show(&event)));
    }
    shown
}

#[test]
fn an_inner_name_is_no_mcp_name_for_other_tools() {
    assert_eq!(
        all(&[started(
            "c",
            r#"{"createPlanToolCall":{"args":{"name":"plan"},"name":"x"}}"#
        )]),
        [r#"start createPlan:createPlan#c {"name":"plan"}"#]
    );
}

#[test]
fn parallel_calls_are_paired_by_id_and_keep_the_order_of_the_stream() {
    let read = |path: &str| format!(r#"{{"readToolCall":{{"args":{{"path":"{path}"}}}}}}"#);
    let done = r#"{"readToolCall":{"result":{"success":{}}}}"#;
    assert_eq!(
        all(&[
            started("1\nfc", &read("a")),
            started("2", &read("b")),
            completed("2", done),
            completed("1\nfc", done)
        ]),
        [
            "start read:read#1\nfc {\"path\":\"a\"}",
            r#"start read:read#2 {"path":"b"}"#,
            r#"end read:read#2 {"path":"b"} Success {"success":{}}"#,
            "end read:read#1\nfc {\"path\":\"a\"} Success {\"success\":{}}",
        ]
    );
}

#[test]
fn a_completed_record_has_its_own_arguments_first() {
    assert_eq!(
        all(&[
            started("c", r#"{"readToolCall":{"args":{"path":"a"}}}"#),
            completed(
                "c",
                r#"{"readToolCall":{"args":{"path":"b"},"result":{"success":{}}}}"#
            )
        ])[1],
        r#"end read:read#c {"path":"b"} Success {"success":{}}"#
    );
}

#[test]
fn a_completed_record_without_a_tool_is_the_call_that_started() {
    assert_eq!(
        all(&[
            started("c", r#"{"readToolCall":{"args":{"path":"a"}}}"#),
            completed("c", r#"{"toolCallId":"c"}"#)
        ])[1],
        r#"end read:read#c {"path":"a"} Unknown is_error"#
    );
}

#[test]
fn a_completed_call_that_never_started_is_delivered() {
    assert_eq!(
        all(&[completed(
            "c",
            r#"{"getMcpToolsToolCall":{"result":{"success":{"content":"{}"}}}}"#
        )]),
        [r#"end getMcpTools:getMcpTools#c - Success {"success":{"content":"{}"}}"#]
    );
}

#[test]
fn calls_without_an_id_are_paired_by_kind_oldest_first() {
    let start = |name: &str| {
        format!(
            r#"{{"type":"tool_call","subtype":"started","tool_call":{{"mcpToolCall":{{"args":{{"name":"{name}"}}}}}}}}"#
        )
    };
    let end =
        r#"{"type":"tool_call","subtype":"completed","tool_call":{"mcpToolCall":{"result":{"success":{}}}}}"#;
    assert_eq!(
        all(&[start("a"), start("b"), end.into(), end.into(), end.into()])[2..],
        [
            r#"end mcp:a#- {"name":"a"} Success {"success":{}}"#,
            r#"end mcp:b#- {"name":"b"} Success {"success":{}}"#,
            r#"end mcp:mcp#- - Success {"success":{}}"#
        ]
    );
}

#[test]
fn an_id_beside_the_tool_serves_where_the_record_has_none() {
    let record =
        r#"{"type":"tool_call","subtype":"started","tool_call":{"toolCallId":"x","readToolCall":{}}}"#;
    assert_eq!(events(record), ["start read:read#x -"]);
}

#[test]
fn outcomes() {
    for (result, expected) in [
        (r#"{"success":{}}"#, "Success"),
        (r#"{"success":{"isError":false}}"#, "Success"),
        (r#"{"success":{"content":[{"isError":true}]}}"#, "Success"),
        (r#"{"success":{},"isBackground":false}"#, "Success"),
        (r#"{"isBackground":false,"success":{}}"#, "Success"),
        (r#"{"success":{"content":[],"isError":true}}"#, "Error is_error"),
        (r#"{"failure":{"exitCode":1}}"#, "Failure is_error"),
        (r#"{"failure":{"exitCode":0}}"#, "Failure is_error"),
        (r#"{"rejected":{"reason":""}}"#, "Rejected is_error"),
        (
            r#"{"permissionDenied":{"error":"x"}}"#,
            "PermissionDenied is_error",
        ),
        (r#"{"error":{"error":"spawn nope ENOENT"}}"#, "Error is_error"),
        (r#"{"error":"x"}"#, "Error is_error"),
        (r#"{"fileNotFound":{"path":"a"}}"#, "Error is_error"),
        (r#"{"invalidFile":{}}"#, "Error is_error"),
        (r#"{"spawnError":{}}"#, "Error is_error"),
        (r#"{"timeout":{}}"#, "Error is_error"),
        (r#"{"success":null,"error":{}}"#, "Error is_error"),
        (r#"{"error":null,"success":{}}"#, "Success"),
        (r#"{"success":{},"success":{"isError":true}}"#, "Error is_error"),
        (r#"{"else":{}}"#, "Unknown is_error"),
        ("{}", "Unknown is_error"),
        ("[1]", "Unknown is_error"),
        (r#""rejected""#, "Rejected is_error"),
        (r#""success""#, "Success"),
        (r#""{\"success\":{\"agentId\":\"a\"}}""#, "Success"),
        (r#""{\"rejected\":{}}""#, "Rejected is_error"),
        (r#""some text""#, "Unknown is_error"),
    ] {
        let done = completed("c", &format!(r#"{{"taskToolCall":{{"result":{result}}}}}"#));
        assert_eq!(all(&[done]), [format!("end task:task#c - {expected} {result}")]);
    }
    assert_eq!(
        all(&[completed("c", r#"{"taskToolCall":{}}"#)]),
        ["end task:task#c - Unknown is_error"]
    );
    assert_eq!(
        all(&[completed("c", r#"{"taskToolCall":{"result":null}}"#)]),
        ["end task:task#c - Unknown is_error"]
    );
}

#[test]
fn open_calls_are_those_that_have_not_ended() {
    let shell = r#"{"shellToolCall":{"args":{"command":"make","timeout":30000,"isBackground":false}}}"#;
    let mcp = r#"{"mcpToolCall":{"args":{"name":"srv-echo","timeout":5}}}"#;
    let stream = [
        started("1", shell),
        started("2", mcp),
        started("3", r#"{"readToolCall":{}}"#),
        completed("3", r#"{"readToolCall":{"result":{"success":{}}}}"#),
    ]
    .map(|record| line(&record))
    .concat();
    let (_, parser) = events_with(ParserOptions::default(), &[stream.as_bytes()]);
    let open: Vec<OpenCall<'_>> = parser.open_calls().collect();
    assert_eq!(
        open,
        [
            OpenCall {
                call_id: Some("1"),
                name: "shell",
                kind: "shell",
                timeout_ms: Some(30_000)
            },
            OpenCall {
                call_id: Some("2"),
                name: "srv-echo",
                kind: "mcp",
                timeout_ms: Some(5)
            },
        ]
    );
}

#[test]
fn an_outcome_that_is_said_twice_counts_as_in_an_object_of_javascript() {
    for (result, outcome) in [
        (r#"{"success":{},"success":null}"#, "Unknown is_error"),
        (r#"{"success":{},"error":{},"success":null}"#, "Error is_error"),
        (r#"{"success":null,"error":{},"success":{}}"#, "Success"),
        (r#"{"success":{"isError":true},"success":1}"#, "Success"),
        (
            r#"{"rejected":{},"success":{},"rejected":""}"#,
            "Rejected is_error",
        ),
    ] {
        assert_eq!(
            all(&[completed(
                "c",
                &format!(r#"{{"xToolCall":{{"result":{result}}}}}"#)
            )]),
            [format!("end x:x#c - {outcome} {result}")]
        );
    }
}
