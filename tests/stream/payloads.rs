//! Payloads mean what `JSON.parse` of the line would have made of them.

use serde_json::Value;

use super::support::{closing, completed, delta, events, line, result, started};

/// The arguments of a started call, as they come out.
fn args_of(payload: &str) -> String {
    let events = events(line(&started(
        "c",
        &format!(r#"{{"fooToolCall":{{"args":{payload}}}}}"#),
    )));
    events[0].strip_prefix("start foo:foo#c ").unwrap().to_owned()
}

#[test]
fn extreme_values_are_kept_as_written() {
    for payload in [
        "1e400",
        "[NaN,Infinity,-Infinity]",
        "9007199254740993",
        "18446744073709551616",
        "-0.0e-5",
        r#"{"a":1,"a":2}"#,
        r#"{"\ud83d":"\ude00","path":"a\ud83d"}"#,
        r#"{ "a" : [ 1 , 2 ] , "b" : { } }"#,
        "[]",
        "true",
        r#""\u2028""#,
    ] {
        assert_eq!(args_of(payload), payload);
    }
}

#[test]
fn nesting_of_any_depth() {
    for depth in [1, 63, 64, 65, 127, 128, 129, 200, 5000, 1_000_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = if open == "[" { "" } else { "1" };
            let payload = open.repeat(depth) + inner + &close.repeat(depth);
            assert_eq!(args_of(&payload), payload);
            let done = completed(
                "c",
                &format!(r#"{{"fooToolCall":{{"result":{{"success":{payload}}}}}}}"#),
            );
            let events = events(line(&done) + &line(&result("x")));
            assert!(events[0].starts_with("end foo:foo#c - Success"));
            assert!(events[1].starts_with("result success"));
        }
    }
}

#[test]
fn brackets_that_do_not_match_are_no_record() {
    for payload in [
        "[1}",
        "{\"a\":1]",
        "[[1]",
        "{\"a\":[}",
        "[1]]",
        "[1,]",
        "{\"a\"}",
        "{\"a\":1,}",
        "[\"a\":1]",
        "{1:2}",
        "[1 2]",
        "[undefined]",
        "[,]",
        "[1-2]",
        "[1null]",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "[1e]",
        "[nul]",
        "[truefalse]",
        "{\"a\":,}",
    ] {
        let open = "[".repeat(100);
        let close = "]".repeat(100);
        for payload in [payload.to_owned(), format!("{open}{payload}{close}")] {
            let record = started("c", &format!(r#"{{"fooToolCall":{{"args":{payload}}}}}"#));
            assert_eq!(events(&record), [format!("unknown NotJson -/- {record}")]);
        }
    }
}

#[test]
fn control_characters_in_strings_are_kept_as_escapes() {
    let payload = "{\"a\0b\":\"\u{1b}[2K\t\\\" \u{1}\", \"c\":\t1}";
    let out = args_of(payload);
    assert_eq!(
        out,
        "{\"a\\u0000b\":\"\\u001b[2K\\u0009\\\" \\u0001\", \"c\":\t1}"
    );
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["a\0b"], "\u{1b}[2K\t\" \u{1}");
    assert_eq!(args_of("\"a\\\tb\""), "\"a\\u0009b\"");
}

#[test]
fn control_characters_in_text_are_kept() {
    let record = delta("a@b").replace('@', "\0\u{1b}");
    assert_eq!(events(line(&record)), ["text a\0\u{1b}b"]);
}

#[test]
fn lone_surrogates_never_cost_an_event() {
    let half = r"\ud83d";
    let text = closing("a@").replace('@', half);
    assert_eq!(events(line(&text)), ["text a", "text \u{FFFD}"]);
    let end = result("a@b").replace('@', half);
    assert!(events(line(&end))[0].contains("text=a\u{FFFD}b"));
    let user = r#"{"type":"user","\ud83d":1,"message":{"content":"\ude00"}}"#;
    assert_eq!(events(user), ["user \u{FFFD}"]);
    let init = r#"{"type":"system","subtype":"init","cwd":"/a\ud83d"}"#;
    assert!(events(init)[0].contains("cwd=/a\u{FFFD} "));
    let tool = r#"{"\ud83dToolCall":{"args":{"path":"\ud83d"}}}"#;
    assert_eq!(events(started("c", tool)), [r#"start �:�#c {"path":"\ud83d"}"#]);
}

#[test]
fn every_escape() {
    let record = closing("@").replace('@', r#"\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000\q\u12"#);
    assert_eq!(events(line(&record)), ["text \"\\/\u{8}\u{c}\n\r\té😀\0qu12"]);
}
