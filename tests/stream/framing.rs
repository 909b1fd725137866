//! Bytes to lines, and lines that are no records.

use fusion_cursor_native::stream::{ParserOptions, StreamParser};

use super::support::{closing, completed, delta, events, events_with, line, result};

const HI: &str = "text hi";

fn hi() -> String {
    closing("hi")
}

#[test]
fn line_ends() {
    let lf = format!("{}\n{}\n", closing("a"), closing("b"));
    let crlf = format!("{}\r\n{}\r\n", closing("a"), closing("b"));
    let open = format!("{}\n{}", closing("a"), closing("b"));
    let open_cr = format!("{}\r\n{}\r", closing("a"), closing("b"));
    for stream in [lf, crlf, open, open_cr] {
        assert_eq!(events(stream), ["text a", "text b"]);
    }
}

#[test]
fn an_empty_stream_has_no_events() {
    let (events, parser) = events_with(ParserOptions::default(), &[]);
    assert!(events.is_empty());
    assert_eq!(parser.lines_seen(), 0);
}

#[test]
fn a_byte_order_mark_is_no_content() {
    assert_eq!(events(format!("\u{FEFF}{}\n\u{FEFF}{}\n", hi(), hi())), [HI, HI]);
}

#[test]
fn other_line_breaks_are_text() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\rg";
    let record = closing("@").replace('@', text);
    assert_eq!(events(line(&record)), [format!("text {text}")]);
}

#[test]
fn a_multi_byte_character_may_be_cut_anywhere() {
    let stream = line(&closing("한中😀é"));
    for at in 0..=stream.len() {
        let (head, tail) = stream.as_bytes().split_at(at);
        let (events, parser) = events_with(ParserOptions::default(), &[head, tail]);
        assert_eq!(events, ["text 한中😀é"]);
        assert_eq!(parser.lossy_lines(), 0);
    }
}

#[test]
fn a_chunk_edge_is_no_line_edge() {
    let stream = [delta("a"), delta("b"), closing("ab"), result("ab")]
        .map(|record| line(&record))
        .concat();
    let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
    assert_eq!(events_with(ParserOptions::default(), &bytes).0, events(&stream));
}

#[test]
fn blank_lines_count_as_lines_and_not_as_dropped() {
    let (events, parser) = events_with(ParserOptions::default(), &[b"\n  \t \n\r\n"]);
    assert_eq!(
        events,
        [
            "unknown Blank -/- ",
            "unknown Blank -/-   \t ",
            "unknown Blank -/- "
        ]
    );
    assert_eq!(parser.lines_seen(), 3);
    assert_eq!(parser.dropped().lines, 0);
}

#[test]
fn banners_and_logs_between_records() {
    let stream = format!(
        "🚀 Cursor Agent\n• one\n[DEBUG] 202\n[dotenv@17] injecting env\n│ update available │\n{}\n",
        hi()
    );
    let (events, parser) = events_with(ParserOptions::default(), &[stream.as_bytes()]);
    assert_eq!(
        events,
        [
            "unknown NotJson -/- 🚀 Cursor Agent",
            "unknown NotJson -/- • one",
            "unknown NotJson -/- [DEBUG] 202",
            "unknown NotJson -/- [dotenv@17] injecting env",
            "unknown NotJson -/- │ update available │",
            HI
        ]
    );
    assert_eq!(parser.dropped().lines, 5);
    assert_eq!(parser.dropped().bytes, (stream.len() - hi().len() - 6) as u64);
    assert_eq!(parser.lines_seen(), 6);
}

#[test]
fn json_that_is_no_object_is_no_record() {
    for text in ["[1,2]", "\"text\"", "42", "null", "[{\"type\":\"result\"}]"] {
        assert_eq!(events(text), [format!("unknown NotJson -/- {text}")]);
    }
}

#[test]
fn a_banner_glued_to_a_record() {
    let stream = format!("Loading…{}\n", hi());
    let (events, parser) = events_with(ParserOptions::default(), &[stream.as_bytes()]);
    assert_eq!(events, ["unknown NotJson -/- Loading…", HI]);
    assert_eq!(
        (parser.dropped().lines, parser.dropped().bytes),
        (1, "Loading…".len() as u64)
    );
    assert_eq!(parser.lines_seen(), 1);
}

#[test]
fn a_record_inside_other_text_is_text() {
    let record = r#"{"type":"result","subtype":"success","result":"x"}"#;
    for text in [
        format!("log: {record} and more"),
        format!("\"{record}\""),
        format!("tail of a string {record}\"}}"),
        format!("said \"{record}"),
        format!("[{record}]"),
    ] {
        assert_eq!(events(&text), [format!("unknown NotJson -/- {text}")]);
    }
}

#[test]
fn looking_for_a_glued_record_takes_linear_time() {
    let text = "x".to_owned() + &"{\"type\":[".repeat(200_000);
    assert_eq!(events(text).len(), 1);
}

#[test]
fn several_records_on_one_line() {
    let stream = format!("{}{} {}\n", closing("a"), closing("b"), result("ab"));
    let events = events(stream);
    assert_eq!(events[..2], ["text a", "text b"]);
    assert!(events[2].starts_with("result success"));
}

#[test]
fn a_record_with_rubbish_behind_it() {
    assert_eq!(
        events(format!("{} Error: x\n{}\n", closing("a"), hi())),
        ["text a", "unknown NotJson -/- Error: x", HI]
    );
}

#[test]
fn a_record_that_is_cut_anywhere_is_no_record() {
    let record = result("a \\ \" } text");
    for at in 1..record.len() {
        let cut = &record[..at];
        assert_eq!(events(cut), [format!("unknown NotJson -/- {cut}")]);
        assert_eq!(
            events(format!("{cut}\n{}\n", hi())),
            [format!("unknown NotJson -/- {cut}"), HI.into()]
        );
    }
}

#[test]
fn unescaped_quotes_spoil_only_their_own_line() {
    let mut stream = br#"{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"result":{"success":{"stdout":"say "hi" "#.to_vec();
    stream.push(0x81);
    stream.extend_from_slice(b"\"}}}}}\n");
    stream.extend_from_slice(line(&hi()).as_bytes());
    let (events, parser) = events_with(ParserOptions::default(), &[&stream]);
    assert!(events[0].starts_with("unknown NotJson"));
    assert_eq!(events[1], HI);
    assert_eq!((parser.dropped().lines, parser.lossy_lines()), (1, 1));
}

#[test]
fn invalid_utf8_is_replaced_in_its_line_only() {
    let mut stream = line(&closing("a@b")).into_bytes();
    let at = stream.iter().position(|b| *b == b'@').unwrap();
    stream[at] = 0xFF;
    stream.extend_from_slice(line(&hi()).as_bytes());
    let (events, parser) = events_with(ParserOptions::default(), &[&stream]);
    assert_eq!(events, ["text a\u{FFFD}b", HI]);
    assert_eq!(parser.lossy_lines(), 1);
}

#[test]
fn a_line_over_the_limit_is_skipped_and_reported_and_the_stream_goes_on() {
    let options = ParserOptions {
        max_line_bytes: 10_000,
        ..ParserOptions::default()
    };
    let long = "x".repeat(10_001);
    let stream = format!("{}\n{long}\r\n{}\n{long}", hi(), hi());
    let expected = [
        HI.to_owned(),
        format!("unknown TooLong -/- {}", &long[..4096]),
        HI.into(),
    ]
    .to_vec();
    for size in [1, 7, 4096, 9_999, 10_000, 10_001, 10_002, 10_003, 40_000] {
        let chunks: Vec<&[u8]> = stream.as_bytes().chunks(size).collect();
        let (events, parser) = events_with(options, &chunks);
        assert_eq!(events[..3], expected);
        assert_eq!(events[3], expected[1]);
        assert_eq!((parser.dropped().lines, parser.dropped().bytes), (2, 20_002));
        assert_eq!(parser.lines_seen(), 4);
    }
}

#[test]
fn a_line_as_long_as_the_limit_is_read() {
    let record = hi();
    let options = ParserOptions {
        max_line_bytes: record.len(),
        ..ParserOptions::default()
    };
    for end in ["\n", "\r\n", ""] {
        let stream = format!("{record}{end}");
        for at in 0..=stream.len() {
            let (head, tail) = stream.as_bytes().split_at(at);
            assert_eq!(events_with(options, &[head, tail]).0, [HI]);
        }
    }
}

#[test]
fn the_start_of_a_long_unknown_line_ends_at_a_character() {
    let text = "x".to_owned() + &"é".repeat(4000);
    for options in [
        ParserOptions::default(),
        ParserOptions {
            max_line_bytes: 5000,
            ..ParserOptions::default()
        },
    ] {
        let (events, _) = events_with(options, &[text.as_bytes()]);
        let raw = events[0].rsplit(' ').next().unwrap();
        assert_eq!(raw, &text[..4095]);
    }
}

#[test]
fn many_lines_never_add_up_to_the_limit() {
    let options = ParserOptions {
        max_line_bytes: 10_000,
        ..ParserOptions::default()
    };
    let record = line(&closing(&"x".repeat(1000)));
    let mut parser = StreamParser::new(options);
    let mut count = 0;
    for _ in 0..20_000 {
        parser.push(record.as_bytes(), &mut |_| count += 1);
    }
    assert_eq!(count, 20_000);
    assert_eq!(parser.dropped().lines, 0);
}

#[test]
fn a_line_of_megabytes_is_one_event_and_the_parser_goes_on() {
    let payload = "A".repeat(3 << 20);
    let record = completed(
        "c",
        &format!(r#"{{"readToolCall":{{"result":{{"success":{{"content":"{payload}"}}}}}}}}"#),
    );
    let stream = line(&record) + &line(&result("done"));
    let chunks: Vec<&[u8]> = stream.as_bytes().chunks(65_536).collect();
    let (events, parser) = events_with(ParserOptions::default(), &chunks);
    assert_eq!(events.len(), 2);
    assert!(events[0].starts_with("end read:read#c - Success"));
    assert!(events[0].len() > payload.len());
    assert_eq!(parser.lines_seen(), 2);
}
