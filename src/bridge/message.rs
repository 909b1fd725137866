//! What is asked and what is answered, as JSON. Pure.

use std::collections::HashMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What the body of a request asks for.
#[cfg_attr(test, derive(Debug, PartialEq, Eq))]
pub(super) struct Asked {
    pub(super) name: String,
    /// The text of a JSON object.
    pub(super) arguments: String,
    /// What the caller calls this call.
    pub(super) call_id: Option<String>,
}

/// No caller needs longer ones, and they are carried along.
const CALL_ID_LIMIT: usize = 256;

/// What is asked for; or what is wrong with the body.
pub(super) fn read(body: &[u8]) -> Result<Asked, &'static str> {
    let members: HashMap<String, Box<RawValue>> =
        serde_json::from_slice(body).map_err(|_| "The body must be a JSON object.")?;
    let text = |name: &str| -> Option<String> { serde_json::from_str(members.get(name)?.get()).ok() };
    let name = text("name").ok_or("The body must have a name, which is a string.")?;
    let arguments = members.get("arguments").map_or("{}", |raw| raw.get());
    let arguments = if arguments == "null" { "{}" } else { arguments };
    if !arguments.starts_with('{') {
        return Err("The arguments must be a JSON object.");
    }
    Ok(Asked {
        name,
        arguments: arguments.to_owned(),
        call_id: text("callId").filter(|id| !id.is_empty() && id.len() <= CALL_ID_LIMIT),
    })
}

/// The body of an answer that is an error of the tool.
pub(super) fn failed(text: &str) -> String {
    error(text).to_string()
}

/// The body of the answer where there is no such tool.
pub(super) fn unknown_tool(name: &str) -> String {
    // The start of it, as the caller knows the rest.
    let shown: String = name.chars().take(100).collect();
    let mut answer = error(&format!("Unknown tool: {}", shown.escape_debug()));
    answer["unknownTool"] = Value::Bool(true);
    answer.to_string()
}

fn error(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// The body of a refusal.
pub(super) fn refused(sentence: &str) -> String {
    json!({ "error": sentence }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(body: &str) -> Result<Asked, &'static str> {
        read(body.as_bytes())
    }

    #[test]
    fn a_call_is_read_and_its_arguments_stay_as_they_came() {
        let call = asked(
            r#" {"callId":"c-1","arguments":{ "n": 1e400, "n": "\ud800" },"name":"fn_\u0078","x":[]} "#,
        );
        assert_eq!(
            call,
            Ok(Asked {
                name: "fn_x".into(),
                arguments: r#"{ "n": 1e400, "n": "\ud800" }"#.into(),
                call_id: Some("c-1".into()),
            })
        );
        for without in [r#"{"name":"a"}"#, r#"{"name":"a","arguments":null,"callId":7}"#] {
            let call = asked(without).unwrap();
            assert_eq!((call.arguments.as_str(), call.call_id), ("{}", None));
        }
        let long = format!(r#"{{"name":"a","callId":"{}"}}"#, "x".repeat(CALL_ID_LIMIT + 1));
        assert_eq!(asked(&long).unwrap().call_id, None);
    }

    #[test]
    fn any_depth_is_as_good() {
        let deep = format!(
            r#"{{"name":"a","arguments":{{"x":{}{}}}}}"#,
            "[".repeat(100_000),
            "]".repeat(100_000)
        );
        assert!(asked(&deep).is_ok());
    }

    #[test]
    fn what_is_no_call_is_refused() {
        for body in [
            "",
            "null",
            "[]",
            "{",
            "{}",
            "\0",
            r#"{"name":7}"#,
            r#"{"name":"\ud800"}"#,
            r#"{"name":"a"} x"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","arguments":"{}"}"#,
            r#"{"name":"a","arguments":{"x":}}"#,
            "\u{feff}{\"name\":\"a\"}",
        ] {
            assert!(asked(body).is_err(), "{body:?}");
        }
        assert!(read(b"{\"name\":\"a\",\"arguments\":{\"x\":\"\xff\"}}").is_err());
    }

    #[test]
    fn an_unknown_tool_is_named_in_short() {
        let answer: Value = serde_json::from_str(&unknown_tool(&"\u{1b}x".repeat(1000))).unwrap();
        assert_eq!(answer["unknownTool"], true);
        assert!(answer["content"][0]["text"].as_str().unwrap().len() < 500);
    }
}
