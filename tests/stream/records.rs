//! Every type of record.

use super::support::{events, line};

fn shows(record: &str, expected: &str) {
    assert_eq!(events(line(record)), [expected], "{record}");
}

#[test]
fn system_init() {
    shows(
        r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"C:\\work","session_id":"s-1","model":"Auto","permissionMode":"default"}"#,
        "init session=s-1 cwd=C:\\work model=Auto key=login mode=default",
    );
    shows(
        r#"{"type":"system","subtype":"init"}"#,
        "init session=- cwd=- model=- key=- mode=-",
    );
}

#[test]
fn user() {
    shows(
        r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Do\nit"}]},"session_id":"s"}"#,
        "user Do\nit",
    );
    shows(r#"{"type":"user","message":{"content":"plain"}}"#, "user plain");
}

#[test]
fn thinking() {
    shows(
        r#"{"type":"thinking","subtype":"delta","text":"**Plan","session_id":"s"}"#,
        "thinking **Plan",
    );
    shows(
        r#"{"type":"thinking","subtype":"completed","session_id":"s"}"#,
        "thinking completed",
    );
    assert!(events(r#"{"type":"thinking","subtype":"delta","text":""}"#).is_empty());
}

#[test]
fn assistant() {
    shows(
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}"#,
        "text a",
    );
    shows(r#"{"type":"assistant","message":{"content":"a"}}"#, "text a");
    shows(
        r#"{"message":{"content":[{"text":"a\n","type":"text"},{"type":"image","text":"no"},{"text":"b","type":"text"}]},"type":"assistant"}"#,
        "text a\nb",
    );
    shows(
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"\ud83d"},{"type":"text","text":"\ude00"}]}}"#,
        "text 😀",
    );
    assert!(events(r#"{"type":"assistant","message":{"content":[{"type":"text","text":""}]}}"#).is_empty());
}

#[test]
fn an_assistant_record_without_any_text_is_told() {
    for record in [
        r#"{"type":"assistant"}"#,
        r#"{"type":"assistant","message":null}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"image"}]}}"#,
    ] {
        shows(record, &format!("unknown NewType assistant/- {record}"));
    }
}

#[test]
fn interaction_query() {
    shows(
        r#"{"type":"interaction_query","subtype":"request","query_type":"webSearchRequestQuery","query":{"id":8,"webSearchRequestQuery":{}}}"#,
        r#"query request webSearchRequestQuery {"id":8,"webSearchRequestQuery":{}}"#,
    );
    shows(
        r#"{"type":"interaction_query","subtype":"response","query_type":"webSearchRequestQuery","response":{"id":8}}"#,
        r#"query response webSearchRequestQuery {"id":8}"#,
    );
    shows(
        r#"{"type":"interaction_query","subtype":"request"}"#,
        "query request - -",
    );
}

#[test]
fn connection_and_retry() {
    shows(
        r#"{"type":"connection","subtype":"reconnecting","attempt":2}"#,
        "connection reconnecting Some(2)",
    );
    shows(
        r#"{"type":"connection","subtype":"reconnected"}"#,
        "connection reconnected None",
    );
    shows(
        r#"{"type":"retry","subtype":"starting","attempt":1,"is_resume":true}"#,
        "retry starting Some(1)",
    );
    shows(
        r#"{"type":"retry","subtype":"resuming","attempt":-1}"#,
        "retry resuming None",
    );
}

#[test]
fn result() {
    shows(
        r#"{"type":"result","subtype":"success","duration_ms":12,"is_error":false,"result":"done","session_id":"s","request_id":"r","usage":{"inputTokens":1}}"#,
        r#"result success error=false session=s text=done usage={"inputTokens":1} request=r ms=Some(12.0)"#,
    );
    shows(
        r#"{"type":"result","duration_ms":"12","usage":null,"result":null}"#,
        "result - error=false session=- text=- usage=- request=- ms=None",
    );
}

#[test]
fn a_result_is_an_error_where_anything_says_so() {
    for (members, is_error) in [
        (r#""subtype":"success","is_error":true"#, true),
        (r#""subtype":"success","is_error":false"#, false),
        (r#""subtype":"error_max_turns""#, true),
        (r#""subtype":"""#, true),
        (r#""status":"CANCELED""#, true),
        (r#""subtype":"success","status":"SUCCESS""#, false),
        (r#""subtype":"success","status":"finished""#, false),
        (r#""subtype":"success","status":7"#, false),
        (r#""is_error":false,"is_error":true"#, true),
    ] {
        let event = &events(format!(
            r#"{{"type":"result",{members},"result":"Request timed out"}}"#
        ))[0];
        assert!(event.contains(&format!("error={is_error}")), "{members}: {event}");
        assert!(event.contains("text=Request timed out"));
    }
}

#[test]
fn types_that_are_new() {
    shows(
        r#"{"type":"weather","subtype":"rain"}"#,
        r#"unknown NewType weather/rain {"type":"weather","subtype":"rain"}"#,
    );
    shows(
        r#"{"type":"system","subtype":"task_notification"}"#,
        r#"unknown NewType system/task_notification {"type":"system","subtype":"task_notification"}"#,
    );
    shows(
        r#"{"type":"thinking","subtype":"x"}"#,
        r#"unknown NewType thinking/x {"type":"thinking","subtype":"x"}"#,
    );
    shows(
        r#"{"type":"tool_call","subtype":"x"}"#,
        r#"unknown NewType tool_call/x {"type":"tool_call","subtype":"x"}"#,
    );
    shows(r#"{"type":1}"#, r#"unknown NewType -/- {"type":1}"#);
    shows("{}", "unknown NewType -/- {}");
}

#[test]
fn keys_may_be_escaped_or_doubled_and_stand_in_any_order() {
    shows(
        r#"{"subtype":"x","\u0074ype":"x","type":"thinking","s\u0075btype":"completed"}"#,
        "thinking completed",
    );
    shows(
        "  { \"type\" :\t\"thinking\" , \"subtype\" : \"completed\" } ",
        "thinking completed",
    );
}

#[test]
fn a_record_in_a_string_is_text() {
    shows(
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"{\"type\":\"result\",\"status\":\"x\"}"}]}}"#,
        r#"text {"type":"result","status":"x"}"#,
    );
    shows(
        r#"{"other":{"type":"result"}}"#,
        r#"unknown NewType -/- {"other":{"type":"result"}}"#,
    );
}
