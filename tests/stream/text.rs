//! Text that is new, once; and the two halves of a character.

use fusion_cursor_native::stream::ParserOptions;

use super::support::{
    answer, assistant, before_call, closing, delta, events, events_with, line, partial_answer, result,
    started, thinking, tool, user,
};

fn records(parts: &[&[String]]) -> Vec<String> {
    parts.concat()
}

/// The same with and without the flag.
fn both(records: &[String], expected: &str) {
    assert_eq!(answer(records), expected, "without the flag");
    assert_eq!(partial_answer(records), expected, "with the flag");
}

#[test]
fn deltas_and_the_records_that_repeat_them() {
    let start = records(&[&[delta("He"), delta("llo "), before_call("Hello ")], &tool()]);
    let end = [delta("do"), delta("ne")];
    both(
        &records(&[&start, &end, &[closing("done"), result("Hello done")]]),
        "Hello done",
    );
    both(
        &records(&[&start, &end, &[closing("Hello done"), result("Hello done")]]),
        "Hello done",
    );
    both(
        &records(&[&start, &end, &[closing("done"), closing("Hello done")]]),
        "Hello done",
    );
    both(&records(&[&start, &end]), "Hello done");
}

#[test]
fn without_deltas_every_record_is_new() {
    let turn = records(&[
        &[before_call("Hello ")],
        &tool(),
        &[closing("done"), result("Hello done")],
    ]);
    both(&turn, "Hello done");
}

#[test]
fn a_closing_record_repeats_deltas_or_is_the_only_copy() {
    both(&[delta("a"), delta("b"), closing("ab")], "ab");
    both(&[closing("ab")], "ab");
    both(&[before_call("ab")], "ab");
}

#[test]
fn equal_deltas_are_no_repeats() {
    both(&[delta("**"), delta("x"), delta("**"), closing("**x**")], "**x**");
    both(&[delta("ha"), delta("ha"), closing("haha")], "haha");
}

#[test]
fn a_sentence_said_twice_stays_twice() {
    both(&[closing("Same."), closing("Same.")], "Same.Same.");
    both(&[before_call("Same."), before_call("Same.")], "Same.Same.");
    both(
        &records(&[&[before_call("Same.")], &tool(), &[closing("Same.")]]),
        "Same.Same.",
    );
    both(
        &[
            user("1"),
            closing("Same."),
            result("Same."),
            user("2"),
            closing("Same."),
        ],
        "Same.Same.",
    );
    both(
        &[user("1"), delta("Hi"), closing("Hi"), user("2"), closing("Hi")],
        "HiHi",
    );
    let say = [delta("Sa"), delta("me."), before_call("Same.")];
    both(
        &records(&[&say, &tool(), &say, &tool(), &[delta("Same."), closing("Same.")]]),
        "Same.Same.Same.",
    );
}

#[test]
fn the_same_record_with_and_without_its_call_id_is_one() {
    both(&[before_call("Same."), closing("Same.")], "Same.");
    both(&[closing("Same."), before_call("Same.")], "Same.");
    both(
        &[before_call("Same."), closing("Same."), closing("Same.")],
        "Same.Same.",
    );
    both(
        &[before_call("Same."), thinking("\"x\""), closing("Same.")],
        "Same.",
    );
}

#[test]
fn a_record_that_goes_on_after_the_deltas_gives_the_rest() {
    both(&[delta("ab"), closing("abc")], "abc");
    both(&[delta("ab"), before_call("abc"), closing("abc")], "abc");
    both(
        &records(&[
            &[delta("a"), before_call("a")],
            &tool(),
            &[delta("b"), closing("abc")],
        ]),
        "abc",
    );
    both(
        &[delta("a\u{e9}"), closing("a\u{e9}\u{1F600}b")],
        "a\u{e9}\u{1F600}b",
    );
}

#[test]
fn deltas_after_a_repeat_in_the_same_segment() {
    let turn = [delta("ab"), before_call("ab"), thinking("\"x\""), delta("cd")];
    both(&records(&[&turn, &[closing("cd")]]), "abcd");
    both(&records(&[&turn, &[closing("abcd")]]), "abcd");
}

#[test]
fn a_repeat_with_other_white_space_around_it_is_a_repeat() {
    both(&[delta("\nHello "), closing("Hello")], "\nHello ");
}

#[test]
fn a_record_that_says_something_else_than_the_deltas() {
    let turn = [delta("a"), closing("b")];
    assert_eq!(answer(&turn), "ab");
    assert_eq!(partial_answer(&turn), "a");
}

#[test]
fn deltas_in_one_segment_do_not_hide_the_text_of_another() {
    both(
        &records(&[&[delta("a"), before_call("a")], &tool(), &[closing("b")]]),
        "ab",
    );
    both(
        &records(&[&[delta("a"), before_call("a")], &tool(), &[closing("a")]]),
        "a",
    );
}

#[test]
fn ids_that_are_null_are_none() {
    let nulls = assistant("\"ab\"", ",\"timestamp_ms\":null,\"model_call_id\":null");
    both(&[delta("a"), delta("b"), nulls], "ab");
}

#[test]
fn a_segment_longer_than_any_line_is_not_kept() {
    let options = ParserOptions {
        max_line_bytes: 200,
        ..ParserOptions::default()
    };
    let stream: String = (0..100).map(|n| line(&delta(&format!("{n} ")))).collect();
    let (events, parser) = events_with(options, &[stream.as_bytes()]);
    assert_eq!(events.len(), 100);
    assert_eq!(parser.dropped().lines, 0);
}

#[test]
fn repeats_still_count_as_lines() {
    let stream = [delta("ab"), before_call("ab"), closing("ab")]
        .map(|record| line(&record))
        .concat();
    let (events, parser) = events_with(ParserOptions::default(), &[stream.as_bytes()]);
    assert_eq!(events, ["text ab"]);
    assert_eq!(parser.lines_seen(), 3);
}

fn stamped(string: &str) -> String {
    assistant(string, ",\"timestamp_ms\":1")
}

fn all(records: &[String]) -> Vec<String> {
    events(records.iter().map(|record| line(record)).collect::<String>())
}

#[test]
fn a_character_cut_in_two_arrives_whole_in_the_second_delta() {
    assert_eq!(
        all(&[stamped(r#""hi \ud83d""#), stamped(r#""\ude00!""#)]),
        ["text hi ", "text 😀!"]
    );
    assert_eq!(
        all(&[thinking(r#""hi \ud83d""#), thinking(r#""\ude00!""#)]),
        ["thinking hi ", "thinking 😀!"]
    );
    assert_eq!(
        all(&[
            stamped(r#""\ud83d""#),
            stamped(r#""\ude00\ud83d""#),
            stamped(r#""\ude00""#)
        ]),
        ["text 😀", "text 😀"]
    );
}

#[test]
fn half_a_character_becomes_a_replacement_character_at_the_end_of_its_block() {
    assert_eq!(all(&[stamped(r#""hi \ud83d""#)]), ["text hi ", "text \u{FFFD}"]);
    assert_eq!(all(&[thinking(r#""\ud83d""#)]), ["thinking \u{FFFD}"]);
    assert_eq!(
        all(&[stamped(r#""a\ud83d""#), stamped("\"b\"")]),
        ["text a", "text \u{FFFD}b"]
    );
    assert_eq!(
        all(&[stamped(r#""a\ud83d""#), stamped(r#""\ud83db""#)]),
        ["text a", "text \u{FFFD}\u{FFFD}b"]
    );
    assert_eq!(all(&[stamped(r#""\ude00b""#)]), ["text \u{FFFD}b"]);
    assert_eq!(
        all(&[stamped(r#""a\ud83db\ude00c""#)]),
        ["text a\u{FFFD}b\u{FFFD}c"]
    );
    assert_eq!(
        all(&[thinking(r#""a\ud83d""#), stamped(r#""\ude00b""#)]),
        ["thinking a", "thinking \u{FFFD}", "text \u{FFFD}b"]
    );
    let call = started("c", r#"{"readToolCall":{}}"#);
    assert_eq!(
        all(&[stamped(r#""a\ud83d""#), call]),
        ["text a", "text \u{FFFD}", "start read:read#c -"]
    );
}

#[test]
fn noise_between_the_halves_does_not_part_them() {
    assert_eq!(
        all(&[
            stamped(r#""\ud83d""#),
            "log".into(),
            String::new(),
            stamped(r#""\ude00""#)
        ]),
        ["unknown NotJson -/- log", "unknown Blank -/- ", "text 😀"]
    );
}

#[test]
fn repeats_of_text_with_cut_characters_are_repeats() {
    let halves = [stamped(r#""hi \ud83d""#), stamped(r#""\ude00!""#)];
    both(&records(&[&halves, &[closing("hi 😀!")]]), "hi 😀!");
    both(&[stamped(r#""hi \ud83d""#), closing("hi 😀!")], "hi 😀!");
    both(&[stamped(r#""\ud83d""#), closing("😀!")], "😀!");
    both(
        &[stamped(r#""hi \ud83d""#), assistant(r#""hi \ud83d""#, "")],
        "hi \u{FFFD}",
    );
    both(
        &[
            stamped(r#""a\ud83d""#),
            stamped("\"b\""),
            assistant(r#""a\ud83db""#, ""),
        ],
        "a\u{FFFD}b",
    );
}
