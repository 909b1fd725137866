//! What operators write into their config.

/// Where a text stands with us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Absent,
    Good,
    /// It is recorded, and left alone.
    Unparsable,
    /// It is JSON that cannot be edited without a guess.
    Refused,
}

/// At most one `"n": 1` is in each; it is what gets edited.
pub(crate) const TEXTS: [(&str, Status); 19] = [
    ("", Status::Good),
    ("\u{feff}// later\r\n", Status::Good),
    ("{}", Status::Good),
    ("{\n}\n", Status::Good),
    ("{ \"n\": 1 }", Status::Good),
    ("{\n\t\"n\": 1, // why\n}\n", Status::Good),
    ("{\"mcpServers\": {}}", Status::Good),
    ("{\n  \"mcpServers\": {\n  },\n  \"n\": 1\n}\n", Status::Good),
    ("{\n  \"mcpServers\": {}\n}", Status::Good),
    (
        "{\"mcpServers\":{\"bad\":\"oops\",\"files\":{\"n\": 1}}}\n",
        Status::Good,
    ),
    (
        "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\"\n    }\n  }\n}\n",
        Status::Good,
    ),
    (
        "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": { // here\r\n\t\t\"files\": { \"args\": [\"http://x//y\",], /* why */ \"n\": 1 },\r\n\t},\r\n}",
        Status::Good,
    ),
    (
        "// a\n{\r\r  \"x\": [1e400, \"\\ud83d\", 1.0e+2],\r\n  \"x\": 2 }",
        Status::Good,
    ),
    (
        "{ // none\n  \"mcp\\u0053ervers\": { /* none */ } }\n",
        Status::Good,
    ),
    ("{ oops", Status::Unparsable),
    ("{\"mcpServers\": {\"a\": }}", Status::Unparsable),
    ("[]\n", Status::Refused),
    ("{\"mcpServers\": null}", Status::Refused),
    ("{\"mcpServers\": {}, \"mcpServers\": {}}", Status::Refused),
];

/// What a merge leaves at the top.
pub(crate) const GARBAGE: &str = "<<<<<<< HEAD\n";

/// The same with another number, if there is one in it.
pub(crate) fn with_number(text: &str, number: u32) -> Option<String> {
    let at = text.find("\"n\": ")? + "\"n\": ".len();
    let digits = text[at..].bytes().take_while(u8::is_ascii_digit).count();
    Some(format!("{}{number}{}", &text[..at], &text[at + digits..]))
}

pub(crate) fn has_servers(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.contains("\"mcpServers\"") || text.contains("\"mcp\\u0053ervers\""))
}
