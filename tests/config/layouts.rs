//! How a config looks with an entry of ours, and that it is as before without.

use fusion_cursor_native::mcp::compose::{compose, look, strip};
use fusion_cursor_native::mcp::manifest::ServerEntry;

fn entry(command: &str) -> ServerEntry {
    ServerEntry::new(command.to_owned(), Vec::new(), Vec::new())
}

fn with(text: &str, keys: &[&str]) -> String {
    let keys: Vec<String> = keys
        .iter()
        .map(|key| format!("fusion-custom-tools-{key}"))
        .collect();
    let node = entry("node");
    let entries: Vec<_> = keys.iter().map(|key| (key.as_str(), &node)).collect();
    let had = look(text.as_bytes()).unwrap().has_servers;
    compose(Some(text), &entries, had).unwrap()
}

/// The key is written `#` here.
fn short(text: &str) -> String {
    text.replace("fusion-custom-tools-", "#")
}

#[test]
fn an_entry_looks_like_its_neighbours() {
    let table = [
        (
            "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}\n",
            "{\n  \"mcpServers\": {\n    \"#1\": {\n      \"command\": \"node\",\n      \"args\": []\n    },\n    \"a\": {}\n  }\n}\n",
        ),
        // Tabs, CRLF, a comment on the brace's line, a trailing comma.
        (
            "{\r\n\t\"mcpServers\": { // mine\r\n\t\t// about a\r\n\t\t\"a\": {},\r\n\t},\r\n}",
            "{\r\n\t\"mcpServers\": { // mine\r\n\t\t\"#1\": {\r\n\t\t\t\"command\": \"node\",\r\n\t\t\t\"args\": []\r\n\t\t},\r\n\t\t// about a\r\n\t\t\"a\": {},\r\n\t},\r\n}",
        ),
        // One line.
        (
            r#"{ "mcpServers": { "a": {} } }"#,
            r##"{ "mcpServers": { "#1":{"command":"node","args":[]}, "a": {} } }"##,
        ),
        (
            r#"{"mcpServers":{}}"#,
            r##"{"mcpServers":{"#1":{"command":"node","args":[]}}}"##,
        ),
        (
            r#"{"x":1}"#,
            r##"{"mcpServers":{"#1":{"command":"node","args":[]}},"x":1}"##,
        ),
        // What JSON.stringify makes of an empty one.
        (
            "{\n    \"mcpServers\": {}\n}",
            "{\n    \"mcpServers\": {\n        \"#1\": {\n            \"command\": \"node\",\n            \"args\": []\n        }\n    }\n}",
        ),
        (
            "{}",
            "{\n  \"mcpServers\": {\n    \"#1\": {\n      \"command\": \"node\",\n      \"args\": []\n    }\n  }\n}",
        ),
        // The closing brace is on its own line already.
        (
            "{\n}\n",
            "{\n\n  \"mcpServers\": {\n    \"#1\": {\n      \"command\": \"node\",\n      \"args\": []\n    }\n  }\n}\n",
        ),
        (
            "{ // none\n}\n",
            "{ // none\n  \"mcpServers\": {\n    \"#1\": {\n      \"command\": \"node\",\n      \"args\": []\n    }\n  }\n}\n",
        ),
        // No object at all.
        (
            "",
            "{\"mcpServers\": {\n  \"#1\": {\n    \"command\": \"node\",\n    \"args\": []\n  }\n}}\n",
        ),
        (
            "\u{feff}// later\r\n",
            "\u{feff}{\"mcpServers\": {\r\n  \"#1\": {\r\n    \"command\": \"node\",\r\n    \"args\": []\r\n  }\r\n}}\r\n// later\r\n",
        ),
        // No `mcpServers`.
        (
            "{\n \"x\": 1 // one\n}",
            "{\n \"mcpServers\": {\n  \"#1\": {\n   \"command\": \"node\",\n   \"args\": []\n  }\n },\n \"x\": 1 // one\n}",
        ),
    ];
    for (before, after) in table {
        let composed = with(before, &["1"]);
        assert_eq!(short(&composed), after);
        let had = look(before.as_bytes()).unwrap().has_servers;
        assert_eq!(strip(&composed, had).unwrap(), before);
        assert_eq!(
            with(&with(before, &["1", "2"]), &["1"]),
            composed,
            "a second one leaves nothing"
        );
        let other_order = with(&composed, &["2", "1"]);
        assert_eq!(strip(&other_order, had).unwrap(), before);
    }
}

#[test]
fn mixed_ends_of_lines_are_told_apart() {
    for before in [
        "\n{\r\r}",
        "\n{\r}",
        "\r{\n\n}",
        "\r\n{\r\n\r}",
        "\r// c\n{ // c\r\n\r\n}\r",
    ] {
        let composed = with(before, &["1", "2"]);
        assert_eq!(strip(&composed, false).unwrap(), before);
        assert_eq!(strip(&with(&composed, &["2"]), false).unwrap(), before);
    }
}

#[test]
fn a_new_file_is_as_the_plugin_prints_it() {
    let node = ServerEntry::new(
        "node".to_owned(),
        vec!["server.cjs".to_owned()],
        vec![("PORT".to_owned(), "1".to_owned())],
    );
    let text = compose(None, &[("fusion-custom-tools-1", &node)], false).unwrap();
    let printed = "{\n  \"mcpServers\": {\n    \"#1\": {\n      \"command\": \"node\",\n      \"args\": [\n        \"server.cjs\"\n      ],\n      \"env\": {\n        \"PORT\": \"1\"\n      }\n    }\n  }\n}\n";
    assert_eq!(short(&text), printed);
    let left = strip(&text, false).unwrap();
    assert!(look(left.as_bytes()).unwrap().is_empty, "{left:?}");
}

#[test]
fn what_the_plugin_or_a_formatter_has_put_elsewhere_goes_with_its_line_and_one_comma() {
    let table = [
        // Last, as the plugin puts it.
        (
            "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"#1\": {\n      \"x\": 1\n    }\n  }\n}",
            "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}",
        ),
        // In the middle.
        (
            "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"#1\": {},\n    \"b\": {}\n  }\n}",
            "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {}\n  }\n}",
        ),
        // Last with a trailing comma, which stays with the one before it.
        (
            "{\"mcpServers\": {\n \"a\": {},\n \"#1\": {},\n}}",
            "{\"mcpServers\": {\n \"a\": {},\n}}",
        ),
        // In one line.
        (
            r##"{"mcpServers": {"a": 1, "#1": 2, "b": 3, "#2": {}}}"##,
            r#"{"mcpServers": {"a": 1, "b": 3}}"#,
        ),
        // Comments stay.
        (
            "{\"mcpServers\": {\n  // above\n  \"#1\": {}, // beside\n  /* b's */ \"b\": {}\n}}",
            "{\"mcpServers\": {\n  // above\n // beside\n  /* b's */ \"b\": {}\n}}",
        ),
        (
            "{\"mcpServers\": {\n  \"a\": {}, // a's\n  \"#1\": {} // ours\n}}",
            "{\"mcpServers\": {\n  \"a\": {} // a's\n // ours\n}}",
        ),
        // And do not swallow what is behind.
        (
            "{\"mcpServers\": {\n  // above\n  \"#1\": {}, \"b\": {}\n}}",
            "{\"mcpServers\": {\n  // above\n \"b\": {}\n}}",
        ),
        (
            "{\"mcpServers\": { // above\n  \"#1\": {}}}",
            "{\"mcpServers\": { // above\n}}",
        ),
        (
            "{\"mcpServers\": {\n \"#1\": 1, // one\n \"#2\": 2\n}}",
            "{\"mcpServers\": { // one\n}}",
        ),
        (
            "{\"mcpServers\": {\n// above\n\"#1\": {}, \n\"#2\": {}\t}}",
            "{\"mcpServers\": {\n// above\n \t}}",
        ),
        (
            "{\"mcpServers\": {\n// above\n\"#1\": {},\t\n\"#2\": {} ,\r\n\"#3\": {}\n}}",
            "{\"mcpServers\": {\n// above\t \n}}",
        ),
        // A comma on the next line.
        (
            "{\"mcpServers\": {\n  \"#1\": {} // c\n  , \"b\": {}\n}}",
            "{\"mcpServers\": { // c\n   \"b\": {}\n}}",
        ),
        // Escapes in our key and in the container's.
        (
            r#"{"mcp\u0053ervers": {"\u0066usion-custom-tools-1": null, "a": 1}}"#,
            r#"{"mcp\u0053ervers": { "a": 1}}"#,
        ),
        // The last one of a container that was there.
        (
            "{\n  \"mcpServers\": {\n    \"#1\": {}\n  }\n}",
            "{\n  \"mcpServers\": {}\n}",
        ),
        (r##"{"mcpServers": { "#1": {}, }}"##, r#"{"mcpServers": { }}"#),
    ];
    for (before, after) in table {
        let before = before.replace('#', "fusion-custom-tools-");
        assert_eq!(strip(&before, true).unwrap(), after, "{before}");
    }
}

#[test]
fn the_container_goes_if_it_is_ours_and_nothing_is_left_in_it() {
    let table = [
        (
            "{\n  \"x\": 1,\n  \"mcpServers\": {\n    \"#1\": {}\n  }\n}",
            "{\n  \"x\": 1\n}",
        ),
        (
            "{\n  \"mcpServers\": {\n    \"#1\": {}\n  },\n  \"x\": 1\n}",
            "{\n  \"x\": 1\n}",
        ),
        ("{\"mcpServers\": {\"#1\": {}}}", "{}"),
        (
            "{\n  \"mcpServers\": {\n    \"#1\": {},\n    \"a\": {}\n  }\n}",
            "{\n  \"mcpServers\": {\n    \"a\": {}\n  }\n}",
        ),
        // Braces that hug it on one side only are not those that come with it.
        ("{ \"mcpServers\": {\n  \"#1\": {}\n}}\n", "{}\n"),
        // Somebody wrote there.
        (
            "{\"mcpServers\": {\"#1\": {} /* mine */}}",
            "{\"mcpServers\": { /* mine */}}",
        ),
        // Nothing of ours in it: it is not ours either.
        ("{\"mcpServers\": {}}", "{\"mcpServers\": {}}"),
    ];
    for (before, after) in table {
        let before = before.replace('#', "fusion-custom-tools-");
        assert_eq!(strip(&before, false).unwrap(), after, "{before}");
    }
}

#[test]
fn equal_entries_stay_where_they_are_and_others_are_written_anew() {
    let text = "{\"mcpServers\": {\n  \"a\": {},\n  \"#1\": { \"args\": [], \"command\": \"node\" },\n  \"#2\": {\"command\": \"no\"}\n}}";
    let text = text.replace('#', "fusion-custom-tools-");
    let node = entry("node");
    let (one, two) = ("fusion-custom-tools-1", "fusion-custom-tools-2");
    let kept = compose(Some(&text), &[(one, &node)], true).unwrap();
    assert_eq!(
        short(&kept),
        "{\"mcpServers\": {\n  \"a\": {},\n  \"#1\": { \"args\": [], \"command\": \"node\" }\n}}"
    );
    assert_eq!(compose(Some(&kept), &[(one, &node)], true).unwrap(), kept);
    let both = compose(Some(&text), &[(one, &node), (two, &node)], true).unwrap();
    assert_eq!(look(both.as_bytes()).unwrap().fusion_keys, [two, one]);
    let json: serde_json::Value = serde_json::from_str(&both).unwrap();
    assert_eq!(json["mcpServers"][two]["command"], "node");
    let other = compose(Some(&kept), &[(one, &entry("deno"))], true).unwrap();
    assert!(other.contains("deno") && !other.contains("node"), "{other}");
}

#[test]
fn keys_of_ours_elsewhere_are_not_ours() {
    let text = r#"{"fusion-custom-tools-1": 1, "mcpServers": {"a": {"fusion-custom-tools-2": 2}, "fusion-custom-tools": 3}}"#;
    assert!(look(text.as_bytes()).unwrap().fusion_keys.is_empty());
    assert_eq!(strip(text, false).unwrap(), text);
}

#[test]
fn eight_mebibytes_take_no_longer_than_they_must() {
    let mut text = String::from("{\"mcpServers\": {");
    for number in 0..115_000 {
        let ours = format!("\n // c\n  \"fusion-custom-tools-{number}\": {{\"command\": \"x\"}}, ");
        text.extend([ours, format!("\"s{number}\": [1, [2]],")]);
    }
    text.push_str("\n}}");
    assert!(text.len() > 8 << 20, "{}", text.len());
    // A scan for each member would take hours.
    let started = std::time::Instant::now();
    let clean = strip(&text, true).unwrap();
    let composed = with(&clean, &["1", "2"]);
    assert_eq!(strip(&composed, true).unwrap(), clean);
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
