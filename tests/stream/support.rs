//! Short spellings: records in, one line of text per event out.

use std::fmt::Write;

use fusion_cursor_native::stream::event::{Event, Raw, Text, ToolCall};
use fusion_cursor_native::stream::{ParserOptions, StreamParser};
use serde_json::json;

/// An event, short enough to compare at a glance.
pub(crate) fn show(event: &Event<'_>) -> String {
    match event {
        Event::SystemInit(init) => format!(
            "init session={} cwd={} model={} key={} mode={}",
            or_dash(init.session_id.as_ref()),
            or_dash(init.cwd.as_ref()),
            or_dash(init.model.as_ref()),
            or_dash(init.api_key_source.as_ref()),
            or_dash(init.permission_mode.as_ref())
        ),
        Event::User { text } => format!("user {text}"),
        Event::ThinkingDelta { text } => format!("thinking {text}"),
        Event::ThinkingCompleted => "thinking completed".into(),
        Event::AssistantText { text } => format!("text {text}"),
        Event::ToolCallStarted(call) => format!("start {}", show_call(call)),
        Event::ToolCallCompleted(call, end) => {
            let mut out = format!("end {} {:?}", show_call(call), end.outcome);
            if end.is_error {
                out.push_str(" is_error");
            }
            if let Some(Raw(result)) = &end.result {
                write!(out, " {result}").unwrap();
            }
            out
        }
        Event::InteractionQuery {
            phase,
            query_type,
            payload,
        } => format!(
            "query {phase} {} {}",
            or_dash(query_type.as_ref()),
            payload.as_ref().map_or("-", |payload| &payload.0)
        ),
        Event::Connection { state, attempt } => format!("connection {state} {attempt:?}"),
        Event::Retry { state, attempt } => format!("retry {state} {attempt:?}"),
        Event::Result(result) => format!(
            "result {} error={} session={} text={} usage={} request={} ms={:?}",
            or_dash(result.subtype.as_ref()),
            result.is_error,
            or_dash(result.session_id.as_ref()),
            or_dash(result.text.as_ref()),
            result.usage.as_ref().map_or("-", |usage| &usage.0),
            or_dash(result.request_id.as_ref()),
            result.duration_ms
        ),
        Event::Unknown {
            reason,
            record_type,
            record_subtype,
            raw,
        } => format!(
            "unknown {reason:?} {}/{} {raw}",
            or_dash(record_type.as_ref()),
            or_dash(record_subtype.as_ref())
        ),
        other => format!("{other:?}"),
    }
}

fn show_call(call: &ToolCall<'_>) -> String {
    format!(
        "{}:{}#{} {}",
        call.kind,
        call.name,
        or_dash(call.call_id.as_ref()),
        call.args.as_ref().map_or("-", |args| &args.0)
    )
}

fn or_dash<'a>(text: Option<&'a Text<'_>>) -> &'a str {
    text.map_or("-", |text| text)
}

/// The events of one chunk and the end.
pub(crate) fn events(bytes: impl AsRef<[u8]>) -> Vec<String> {
    events_with(ParserOptions::default(), &[bytes.as_ref()]).0
}

/// The events of a stream cut into chunks, and the parser after it.
pub(crate) fn events_with(options: ParserOptions, chunks: &[&[u8]]) -> (Vec<String>, StreamParser) {
    let mut parser = StreamParser::new(options);
    let mut out = Vec::new();
    for chunk in chunks {
        parser.push(chunk, &mut |event| out.push(show(&event)));
    }
    parser.finish(&mut |event| out.push(show(&event)));
    (out, parser)
}

/// The answer's text, joined.
pub(crate) fn answer(records: &[String]) -> String {
    joined(ParserOptions::default(), records)
}

/// The answer's text, joined, of a CLI that was asked for partial output.
pub(crate) fn partial_answer(records: &[String]) -> String {
    joined(
        ParserOptions {
            partial_output: true,
            ..ParserOptions::default()
        },
        records,
    )
}

fn joined(options: ParserOptions, records: &[String]) -> String {
    let mut parser = StreamParser::new(options);
    let mut out = String::new();
    let mut sink = |event: Event<'_>| {
        if let Event::AssistantText { text } = event {
            assert!(!text.is_empty());
            out.push_str(&text);
        }
    };
    for record in records {
        parser.push(record.as_bytes(), &mut sink);
        parser.push(b"\n", &mut sink);
    }
    parser.finish(&mut sink);
    out
}

pub(crate) fn user(text: &str) -> String {
    json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
        .to_string()
}

/// An assistant record with `timestamp_ms` alone.
pub(crate) fn delta(text: &str) -> String {
    assistant(
        &json!(text).to_string(),
        ",\"session_id\":\"s\",\"timestamp_ms\":1790000000001",
    )
}

/// An assistant record with `timestamp_ms` and `model_call_id`.
pub(crate) fn before_call(text: &str) -> String {
    assistant(
        &json!(text).to_string(),
        ",\"model_call_id\":\"m-0\",\"timestamp_ms\":1790000000001",
    )
}

/// An assistant record with neither.
pub(crate) fn closing(text: &str) -> String {
    assistant(&json!(text).to_string(), ",\"session_id\":\"s\"")
}

/// An assistant record around a JSON string and more members.
pub(crate) fn assistant(string: &str, more: &str) -> String {
    format!(
        r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":{string}}}]}}{more}}}"#
    )
}

/// A thinking delta around a JSON string.
pub(crate) fn thinking(string: &str) -> String {
    format!(r#"{{"type":"thinking","subtype":"delta","text":{string},"session_id":"s","timestamp_ms":1}}"#)
}

pub(crate) fn started(id: &str, tool_call: &str) -> String {
    let id = json!(id);
    format!(r#"{{"type":"tool_call","subtype":"started","call_id":{id},"tool_call":{tool_call}}}"#)
}

pub(crate) fn completed(id: &str, tool_call: &str) -> String {
    let id = json!(id);
    format!(r#"{{"type":"tool_call","subtype":"completed","call_id":{id},"tool_call":{tool_call}}}"#)
}

/// A read that starts and ends.
pub(crate) fn tool() -> [String; 2] {
    [
        started("c", r#"{"readToolCall":{"args":{"path":"a"}}}"#),
        completed("c", r#"{"readToolCall":{"result":{"success":{"content":""}}}}"#),
    ]
}

pub(crate) fn result(text: &str) -> String {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": text}).to_string()
}

/// A line with its end.
pub(crate) fn line(record: &str) -> String {
    format!("{record}\n")
}
