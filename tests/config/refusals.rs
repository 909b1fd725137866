//! Configs that cannot be edited without a guess, and those that can in spite of their looks.

use fusion_cursor_native::mcp::compose::{Refusal, compose, look, seek_fusion_keys, strip};
use fusion_cursor_native::mcp::manifest::ServerEntry;

fn refusal(text: &str) -> Refusal {
    let refusal = look(text.as_bytes()).expect_err(text);
    let entry = ServerEntry::new("x".to_owned(), Vec::new(), Vec::new());
    let composed = compose(Some(text), &[("fusion-custom-tools-1", &entry)], true);
    assert_eq!(composed.unwrap_err(), refusal, "{text}");
    assert_eq!(strip(text, true).unwrap_err(), refusal, "{text}");
    refusal
}

#[test]
fn what_is_no_json_is_refused_with_its_place() {
    let table = [
        ("{", 1, 2),
        ("{\n  \"a\" 1}", 2, 7),
        ("{\r\n\r\"a\": 01}", 3, 6),
        ("{\"é\": x}", 1, 7),
        ("{'a': 1}", 1, 2),
        ("{a: 1}", 1, 2),
        ("{\"a\": 1 \"b\": 2}", 1, 9),
        ("{\"a\": 1,, \"b\": 2}", 1, 9),
        ("{,}", 1, 2),
        ("{\"a\": [1,,2]}", 1, 10),
        ("{\"a\": [1 2]}", 1, 10),
        ("{\"a\": 0x10}", 1, 7),
        ("{\"a\": +1}", 1, 7),
        ("{\"a\": .5}", 1, 7),
        ("{\"a\": NaN}", 1, 7),
        ("{\"a\": undefined}", 1, 7),
        ("{\"a\": 'b'}", 1, 7),
        ("{\"a\": \"b\n\"}", 1, 7),
        ("{\"a\": \"\t\"}", 1, 8),
        ("{\"a\": \"\\x41\"}", 1, 8),
        ("{\"a\": \"\\u12g4\"}", 1, 8),
        ("{\"a\": [}", 1, 8),
        ("{\"a\": 1]", 1, 8),
        ("{} {}", 1, 4),
        ("{} x", 1, 4),
        ("{ /* }", 1, 3),
        ("{ # c\n}", 1, 3),
        ("{\u{a0}}", 1, 2),
        ("{\"a\": 1}\0", 1, 9),
        ("<<<<<<< HEAD\n{}", 1, 1),
    ];
    for (text, at_line, at_column) in table {
        let Refusal::Unparsable { line, column, what } = refusal(text) else {
            panic!("{text:?}");
        };
        assert_eq!((line, column), (at_line, at_column), "{text:?}: {what}");
    }
    let message = refusal("{\n  \"a\" 1}").to_string();
    assert_eq!(
        message,
        "it is not valid JSON (line 2, column 7): a colon is missing"
    );
}

#[test]
fn other_shapes_are_refused() {
    for text in ["[]", "null", "\"x\"", "1", "true", " // c\n [{}] "] {
        assert_eq!(refusal(text), Refusal::Shape("the top level".to_owned()));
    }
    for value in ["[]", "null", "\"x\"", "1", "[{}]"] {
        let text = format!("{{\"x\": 1, \"mcpServers\": {value}}}");
        assert_eq!(refusal(&text), Refusal::Shape("\"mcpServers\"".to_owned()));
    }
}

#[test]
fn a_key_that_stands_twice_is_refused_only_where_it_matters() {
    for text in [
        r#"{"mcpServers": {}, "mcpServers": {}}"#,
        r#"{"mcpServers": {}, "x": 1, "mcpServer\u0073": 1}"#,
    ] {
        assert_eq!(refusal(text), Refusal::Duplicate("mcpServers".to_owned()));
    }
    let ours = r#"{"mcpServers": {"fusion-custom-tools-1": {}, "fusion-custom-tool\u0073-1": {}}}"#;
    assert_eq!(
        refusal(ours),
        Refusal::Duplicate("fusion-custom-tools-1".to_owned())
    );
    let elsewhere =
        r#"{"a": 1, "a": 2, "mcpServers": {"b": 1, "b": 2}, "c": {"mcpServers": 1, "mcpServers": 2}}"#;
    assert!(look(elsewhere.as_bytes()).is_ok());
}

#[test]
fn text_of_another_encoding_is_refused() {
    let utf16: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let utf16_big: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let table: [&[u8]; 6] = [
        b"\xff\xfe{\0}\0",
        b"\xfe\xff\0{\0}",
        &utf16,
        &utf16_big,
        b"{\"a\": \"\xff\"}",
        b"{}\xc3",
    ];
    for bytes in table {
        assert!(matches!(look(bytes), Err(Refusal::NotUtf8(_))), "{bytes:?}");
    }
    let Err(Refusal::NotUtf8(what)) = look(b"{\n\"\xff\"}") else {
        panic!("it was taken");
    };
    assert_eq!(what, "a stray byte at line 2, column 2");
}

#[test]
fn nesting_has_a_bound_and_no_stack_to_exhaust() {
    let nested = |depth: usize| format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(look(nested(500).as_bytes()).is_ok());
    for depth in [512, 100_000, 4_000_000] {
        assert!(matches!(refusal(&nested(depth)), Refusal::Unparsable { .. }));
        assert!(matches!(refusal(&"[".repeat(depth)), Refusal::Unparsable { .. }));
        let objects = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        assert!(matches!(refusal(&objects), Refusal::Unparsable { .. }));
    }
}

#[test]
fn odd_but_valid_ones_are_taken() {
    for text in [
        "",
        " \r\n\t",
        "\u{feff}",
        "// only a comment",
        "/* a */ // b\n",
        "{}",
        "\u{feff}{}\r\n",
        r#"{"mcpServers": {"bad": "oops", "good": {}}}"#,
        r#"{"mcpServers": {"u": {"url": "https://x//y/*z*/"}}}"#,
        r#"{"a": "\ud83d", "\ude00": 1e400, "b": 12345678901234567890123}"#,
        "{\"a\": [1, 2,], \"b\": {\"c\": 1,},}",
        "{\"a\u{2028}\": \"\u{2029}\u{85}\u{7f}\"}",
        "{ // c\r \"a\": 1}",
    ] {
        assert!(
            look(text.as_bytes()).is_ok(),
            "{text:?}: {:?}",
            look(text.as_bytes())
        );
        assert_eq!(strip(text, true).unwrap(), text);
    }
}

#[test]
fn an_empty_config_is_told_from_one_that_says_something() {
    for (text, is_empty) in [
        ("", true),
        ("\u{feff} \n", true),
        ("{}", true),
        ("{\n}\n", true),
        ("// c", false),
        ("{ /* c */ }", false),
        ("{\"mcpServers\": {}}", false),
    ] {
        assert_eq!(look(text.as_bytes()).unwrap().is_empty, is_empty, "{text:?}");
    }
}

#[test]
fn keys_of_ours_are_found_in_what_cannot_be_parsed() {
    let text = "{\"mcpServers\": {\"fusion-custom-tools-1f\": {,\n 'fusion-custom-tools-2': fusion-custom-tools-1f \
                fusion-custom-tools- fusion-custom-tools-é <<<< \"fusion-custom-tools-3";
    let keys = [
        "fusion-custom-tools-1f",
        "fusion-custom-tools-2",
        "fusion-custom-tools-3",
    ];
    assert_eq!(seek_fusion_keys(text.as_bytes()), keys);
    assert!(seek_fusion_keys(b"fusion-custom-tools").is_empty());
    let many: Vec<String> = (0..100_000)
        .map(|number| format!("fusion-custom-tools-{number}"))
        .collect();
    let many = many.join(" ");
    assert_eq!(seek_fusion_keys(many.as_bytes()).len(), 100);
    assert_eq!(
        seek_fusion_keys(format!("fusion-custom-tools-{}", "x".repeat(1 << 20)).as_bytes())[0].len(),
        200
    );
}
