//! What holds for any input.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use fusion_cursor_native::stream::event::{Event, Raw};
use fusion_cursor_native::stream::{ParserOptions, StreamParser};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::Value;
use serde_json::value::RawValue;

use super::support::{assistant, closing, events_with, line, started, thinking};

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/streams");
    std::fs::read(folder.join(name)).unwrap()
}

/// Events and counters.
fn outcome(options: ParserOptions, chunks: &[&[u8]]) -> (Vec<String>, String) {
    let (events, parser) = events_with(options, chunks);
    let open: Vec<_> = parser.open_calls().collect();
    let counters = format!("{parser:?} {open:?}");
    (events, counters)
}

#[test]
fn every_split_of_a_transcript_gives_the_same_events() {
    for name in ["session.jsonl", "partial.jsonl", "hostile.jsonl"] {
        let stream = fixture(name);
        for options in [
            ParserOptions::default(),
            ParserOptions {
                max_line_bytes: 300,
                partial_output: true,
            },
        ] {
            let whole = outcome(options, &[&stream]);
            assert!(whole.0.len() > 10, "{name}");
            for at in 0..=stream.len() {
                let (head, tail) = stream.split_at(at);
                assert_eq!(outcome(options, &[head, tail]), whole, "{name} at {at}");
            }
            for size in 1..100 {
                let chunks: Vec<&[u8]> = stream.chunks(size).collect();
                assert_eq!(outcome(options, &chunks), whole, "{name} by {size}");
            }
        }
    }
}

#[test]
fn the_transcripts_say_their_result() {
    for name in ["session.jsonl", "partial.jsonl"] {
        let (mut text, mut result) = (String::new(), None);
        let mut parser = StreamParser::new(ParserOptions::default());
        parser.push(&fixture(name), &mut |event| match event {
            Event::AssistantText { text: new } => text.push_str(&new),
            Event::Result(end) => result = end.text.map(Cow::into_owned),
            _ => {}
        });
        assert_eq!(Some(text), result, "{name}");
    }
}

/// `JSON.stringify` of a string of UTF-16 units: lone surrogates are escaped, pairs are not.
fn stringify(units: &[u16]) -> String {
    let mut out = String::from("\"");
    for unit in char::decode_utf16(units.iter().copied()) {
        match unit {
            Ok(c) => {
                let quoted = serde_json::to_string(&c).unwrap();
                out.push_str(&quoted[1..quoted.len() - 1]);
            }
            Err(half) => write!(out, "\\u{:04x}", half.unpaired_surrogate()).unwrap(),
        }
    }
    out + "\""
}

/// A text, and its UTF-16 units cut into deltas.
fn cut_text() -> impl Strategy<Value = (String, Vec<Vec<u16>>)> {
    let texts = prop_oneof![any::<String>(), "[a😀🚀é\n\"\\\\]{0,20}"];
    (texts, vec(any::<Index>(), 0..8)).prop_map(|(text, cuts)| {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
        at.extend([0, units.len()]);
        at.sort_unstable();
        let pieces = at
            .windows(2)
            .map(|pair| units[pair[0]..pair[1]].to_vec())
            .collect();
        (text, pieces)
    })
}

fn joined(options: ParserOptions, stream: &str) -> (String, String) {
    let (mut answer, mut thoughts) = (String::new(), String::new());
    let mut parser = StreamParser::new(options);
    let mut sink = |event: Event<'_>| match event {
        Event::AssistantText { text } => answer.push_str(&text),
        Event::ThinkingDelta { text } => thoughts.push_str(&text),
        _ => {}
    };
    parser.push(stream.as_bytes(), &mut sink);
    parser.finish(&mut sink);
    (answer, thoughts)
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((any::<String>(), inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Bytes that are sometimes almost records.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let tokens = select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\n",
        "\r\n",
        "\u{FEFF}",
        " ",
        "null",
        "1e9",
        "\\ud83d",
        "\\ude00",
        "\"type\":",
        "\"assistant\"",
        "{\"type\":\"result\"",
        "\"subtype\":\"started\"",
        "\"tool_call\":{\"mcpToolCall\":{\"args\":{\"name\":\"a\"}}}",
        "\"timestamp_ms\":1",
        "{\"type\":\"assistant\",\"message\":{\"content\":\"ab\"}}",
        "{\"type\":\"assistant\",\"timestamp_ms\":1,\"message\":{\"content\":\"a\"}}",
        "{\"type\":\"assistant\",\"timestamp_ms\":1,\"message\":{\"content\":\"\\ud83d\"}}",
        "{\"type\":\"thinking\",\"subtype\":\"delta\",\"text\":\"\\ude00\"}",
        "{\"type\":\"tool_call\",\"subtype\":\"completed\",\"tool_call\":{\"mcpToolCall\":{\"result\":\"x\"}}}",
    ]);
    let part = prop_oneof![
        4 => tokens.prop_map(|token| token.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(part, 0..40).prop_map(|parts| parts.concat())
}

fn cut(bytes: &[u8], cuts: &[Index]) -> Vec<Vec<u8>> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    at.windows(2)
        .map(|pair| bytes[pair[0]..pair[1]].to_vec())
        .collect()
}

/// What may stand behind the text of a piece of thinking, also what is no end of a record.
fn any_tail() -> impl Strategy<Value = String> {
    let member = select(vec![
        r#","session_id":"s""#,
        r#","session_id":"t\n""#,
        r#","timestamp_ms":12"#,
        r#","timestamp_ms":1.5e3"#,
        r#","timestamp_ms":"12""#,
        r#","timestamp_ms":012"#,
        r#","text":"other""#,
        r#","subtype":"completed""#,
        r#","t\u0065xt":null"#,
        r#","message":{"content":[{"text":"x"}]}"#,
        ", \"a\" : [1, {}]",
        ",",
        "\"",
        "\r",
    ]);
    let end = select(vec![
        "}",
        "}",
        "}",
        "}",
        "} ",
        "}}",
        "",
        "}{\"type\":\"retry\",\"subtype\":\"starting\"}",
    ]);
    (vec(member, 0..4), end).prop_map(|(members, end)| members.concat() + end)
}

/// Events, and what was said of a line that is none without white space around it.
fn events_of(stream: &str) -> Vec<String> {
    let mut events = Vec::new();
    let mut parser = StreamParser::new(ParserOptions::default());
    let mut sink = |event: Event<'_>| {
        events.push(match event {
            Event::Unknown { raw, reason, .. } => format!("{reason:?} {}", raw.trim()),
            event => format!("{event:?}"),
        });
    };
    parser.push(stream.as_bytes(), &mut sink);
    parser.finish(&mut sink);
    events
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_cut_anywhere_give_the_events_of_the_whole(
        bytes in hostile(),
        cuts in vec(any::<Index>(), 0..6),
        limit in 0_usize..200,
        partial_output in any::<bool>(),
    ) {
        let chunks = cut(&bytes, &cuts);
        let chunks: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        for max_line_bytes in [limit, 1 << 20] {
            let options = ParserOptions { max_line_bytes, partial_output };
            prop_assert_eq!(outcome(options, &chunks), outcome(options, &[&bytes]));
        }
    }

    #[test]
    fn text_cut_between_any_two_units_arrives_whole((text, pieces) in cut_text(), partial_output in any::<bool>()) {
        let options = ParserOptions { partial_output, ..ParserOptions::default() };
        let deltas: String =
            pieces.iter().map(|piece| line(&assistant(&stringify(piece), ",\"timestamp_ms\":1"))).collect();
        prop_assert_eq!(&joined(options, &deltas).0, &text);
        let repeated = deltas.clone() + &line(&closing(&text));
        prop_assert_eq!(&joined(options, &repeated).0, &text);
        let thoughts: String = pieces.iter().map(|piece| line(&thinking(&stringify(piece)))).collect();
        prop_assert_eq!(&joined(options, &thoughts).1, &text);
    }

    #[test]
    fn the_text_that_was_said_is_the_text_that_arrives(segments in vec(vec("[ab ]{1,3}", 0..4), 1..5)) {
        let tool = super::support::tool().map(|record| line(&record)).concat();
        let mut stream = String::new();
        let mut expected = String::new();
        for deltas in &segments {
            let said = deltas.concat();
            for delta in deltas {
                stream += &line(&super::support::delta(delta));
            }
            if !said.is_empty() {
                stream += &line(&super::support::before_call(&said));
            }
            stream += &tool;
            expected += &said;
        }
        for partial_output in [false, true] {
            let options = ParserOptions { partial_output, ..ParserOptions::default() };
            prop_assert_eq!(&joined(options, &stream).0, &expected);
        }
    }

    #[test]
    fn payloads_and_texts_are_those_of_a_full_parse(value in any_value(), text in any::<String>()) {
        let pretty = serde_json::to_string_pretty(&value).unwrap().replace('\n', " ");
        for json in [value.to_string(), pretty] {
            let record = line(&started("c", &format!(r#"{{"x":{json},"fooToolCall":{{"args":{json}}}}}"#)));
            let mut seen = None;
            StreamParser::new(ParserOptions::default()).push(record.as_bytes(), &mut |event| {
                if let Event::ToolCallStarted(call) = event {
                    seen = call.args.map(|Raw(args)| args.into_owned());
                }
            });
            let expected = (!value.is_null()).then_some(json);
            prop_assert_eq!(seen, expected);
        }
        let stream = line(&closing(&text));
        prop_assert_eq!(joined(ParserOptions::default(), &stream).0, text);
    }

    #[test]
    fn what_a_full_parse_takes_is_a_record(bytes in hostile()) {
        // A raw value checks the whole line and, unlike a value, takes any escape.
        for text in String::from_utf8_lossy(&bytes).lines().map(|line| line.trim_start_matches('\u{FEFF}')) {
            let is_object = serde_json::from_str::<&RawValue>(text).is_ok_and(|raw| raw.get().starts_with('{'));
            if is_object {
                let mut parser = StreamParser::new(ParserOptions::default());
                parser.push(line(text).as_bytes(), &mut |_| {});
                prop_assert_eq!(parser.dropped().lines, 0, "{}", text);
            }
        }
    }

    #[test]
    fn a_record_with_one_byte_less_is_taken_only_if_a_full_parse_takes_it(at in any::<Index>(), value in any_value()) {
        let whole = started("c", &format!(r#"{{"fooToolCall":{{"args":{value}}}}}"#));
        let mut bytes = whole.into_bytes();
        bytes.remove(at.index(bytes.len()));
        let Ok(text) = String::from_utf8(bytes) else { return Ok(()) };
        let mut parser = StreamParser::new(ParserOptions::default());
        parser.push(line(&text).as_bytes(), &mut |_| {});
        let taken = parser.dropped().lines == 0;
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(_) => prop_assert!(taken, "{}", text),
            // Lenient on purpose.
            Err(error) => {
                prop_assert!(!taken || error.to_string().contains("escape"), "{}: {}", error, text);
            }
        }
    }

    /// The decoder has a shorter way for pieces of thinking that are spelt as the CLI spells them. A space before
    /// the record leads past it.
    #[test]
    fn the_shorter_way_leads_to_the_same_events(
        lines in vec((select(vec!["", "a", "\\n", "\\ud83d", "\\ude00", "中", "\\"]), any_tail()), 1..6),
    ) {
        let line = |(text, tail): &(&str, String)| {
            format!("{{\"type\":\"thinking\",\"subtype\":\"delta\",\"text\":\"{text}\"{tail}")
        };
        let stream: Vec<String> = lines.iter().map(line).collect();
        let spaced = String::from(" ") + &stream.join("\n ");
        prop_assert_eq!(events_of(&stream.join("\n")), events_of(&spaced));
    }
}
