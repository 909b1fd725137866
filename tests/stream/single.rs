//! One line on its own.

use fusion_cursor_native::stream::{MAX_LINE_BYTES, parse_line};

use super::support::{assistant, closing, completed, delta, show, started, thinking};

fn read(line: impl AsRef<[u8]>) -> String {
    let mut events = Vec::new();
    parse_line(line.as_ref(), &mut |event| events.push(show(&event)));
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0)
}

#[test]
fn line_ends_and_a_byte_order_mark_do_not_matter() {
    for line in ["@", "@\n", "@\r\n", "@\r", "\u{FEFF}@", " \t@ "] {
        assert_eq!(read(line.replace('@', &closing("hi"))), "text hi", "{line:?}");
    }
}

#[test]
fn a_line_break_inside_is_white_space() {
    assert_eq!(
        read("{\n\"type\":\n\"thinking\",\r\n\"subtype\":\"completed\"\n}"),
        "thinking completed"
    );
}

#[test]
fn text_passes_as_it_stands() {
    for record in [closing("a"), delta("a")] {
        assert_eq!(read(&record), "text a");
        assert_eq!(read(&record), "text a");
    }
    assert_eq!(read(closing("")), "text ");
    assert_eq!(read(thinking("\"\"")), "thinking ");
    assert_eq!(read("{\"type\":\"thinking\",\"subtype\":\"delta\"}"), "thinking ");
    assert_eq!(read(thinking(r#""\ude00a\ud83d""#)), "thinking \u{FFFD}a\u{FFFD}");
    assert_eq!(read(assistant(r#""\ud83d""#, "")), "text \u{FFFD}");
}

#[test]
fn of_several_things_the_first_known_counts() {
    let (known, new) = (closing("a"), "{\"type\":\"new\"}");
    assert_eq!(read(format!("{known}{}", closing("b"))), "text a");
    assert_eq!(read(format!("{new} {known}")), "text a");
    assert_eq!(read(format!("Loading {known}")), "text a");
    assert_eq!(read(format!("{known} trailing")), "text a");
    assert_eq!(
        read(format!("{new}{{\"type\":\"newer\"}}")),
        format!("unknown NewType new/- {new}")
    );
}

#[test]
fn every_line_gives_something() {
    assert_eq!(read(""), "unknown Blank -/- ");
    assert_eq!(read(" \r\n"), "unknown Blank -/-  ");
    assert_eq!(read("{\"type\""), "unknown NotJson -/- {\"type\"");
    assert_eq!(read(b"\xff"), "unknown NotJson -/- \u{FFFD}");
    assert_eq!(read("{}"), "unknown NewType -/- {}");
    let long = vec![b'x'; MAX_LINE_BYTES + 1];
    assert_eq!(read(&long), format!("unknown TooLong -/- {}", "x".repeat(4096)));
}

#[test]
fn nothing_is_remembered() {
    read(started("c", r#"{"readToolCall":{"args":{"path":"a"}}}"#));
    assert_eq!(
        read(completed("c", r#"{"readToolCall":{"result":{"success":{}}}}"#)),
        r#"end read:read#c - Success {"success":{}}"#
    );
}
