//! What holds for any config. jsonc-parser, which shares no code with the scanner here, is the judge.

use fusion_cursor_native::mcp::compose::{compose, look};
use fusion_cursor_native::mcp::manifest::ServerEntry;
use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, ParseResult, parse_to_ast};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::value::RawValue;

#[path = "../../fuzz/config.rs"]
#[allow(dead_code, reason = "the fuzz target uses the rest")]
mod config;

use config::{document, entry, holds};

fn parsed(text: &str) -> Option<ParseResult<'_>> {
    let strict = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let collect = CollectOptions {
        comments: CommentCollectionStrategy::AsTokens,
        tokens: true,
    };
    parse_to_ast(text, &collect, &strict).ok()
}

/// Names and values of an object, as they are spelled, without our own.
fn others(text: &str, object: &Object<'_>) -> Vec<(String, String)> {
    let members = object.properties.iter();
    members
        .filter(|member| !member.name.as_str().starts_with("fusion-custom-tools-"))
        .map(|member| {
            (
                member.name.as_str().to_owned(),
                member.value.text(text).to_owned(),
            )
        })
        .collect()
}

/// What the operator has in a config: members of the root, members of `mcpServers`, comments.
type Operators = (Vec<(String, String)>, Vec<(String, String)>, Vec<String>);

fn operators(text: &str) -> Operators {
    let result = parsed(text).unwrap_or_else(|| panic!("{text:?} is no JSON"));
    let comments = result
        .tokens
        .iter()
        .flatten()
        .filter_map(|token| match &token.token {
            Token::CommentLine(comment) | Token::CommentBlock(comment) => Some((*comment).to_owned()),
            _ => None,
        });
    let comments = comments.collect();
    let Some(Value::Object(root)) = &result.value else {
        return (Vec::new(), Vec::new(), comments);
    };
    let servers = root.get_object("mcpServers");
    let inner = servers.map(|servers| others(text, servers)).unwrap_or_default();
    let mut outer = others(text, root);
    outer.retain(|(name, _)| name != "mcpServers");
    (outer, inner, comments)
}

fn ours(text: &str) -> Vec<(String, serde_json::Value)> {
    let result = parsed(text).unwrap_or_else(|| panic!("{text:?} is no JSON"));
    let Some(Value::Object(root)) = &result.value else {
        return Vec::new();
    };
    let servers = root.get_object("mcpServers");
    let members = servers.iter().flat_map(|servers| &servers.properties);
    let ours = members.filter(|member| member.name.as_str().starts_with("fusion-custom-tools-"));
    ours.map(|member| {
        let value = serde_json::from_str(member.value.text(text)).unwrap();
        (member.name.as_str().to_owned(), value)
    })
    .collect()
}

fn expected(entries: &[(String, ServerEntry)]) -> Vec<(String, serde_json::Value)> {
    let value = |entry: &ServerEntry| {
        let mut value = serde_json::json!({ "command": entry.command, "args": entry.args });
        for (name, text) in &entry.env {
            value["env"][name] = text.as_str().into();
        }
        value
    };
    entries
        .iter()
        .map(|(key, entry)| (key.clone(), value(entry)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn adding_and_removing_gives_the_same_bytes(choices in vec(any::<u8>(), 0..80)) {
        holds(document(&choices).as_bytes());
    }

    #[test]
    fn no_text_breaks_what_must_hold(text in r#"[ \r\n]?(\{|\{"mcpServers" ?: ?\{|//|/\*|\*/|"fusion-custom-tools-[12]":|[\[\]{}":,'/\n\r\t ]|1|"a"|"a":|null|é){0,25}"#) {
        holds(text.as_bytes());
    }

    #[test]
    fn no_bytes_break_what_must_hold(bytes in vec(any::<u8>(), 0..40)) {
        holds(&bytes);
    }

    #[test]
    fn the_operators_part_is_untouched_and_ours_is_all_there(choices in vec(any::<u8>(), 0..80), which in 0..4_usize) {
        // The judge does not take lone surrogates.
        let text = document(&choices).replace("\\ud83d", "");
        let Ok(config) = look(text.as_bytes()) else {
            return Ok(());
        };
        let sets = [vec![entry(1)], vec![entry(2), entry(1)], vec![entry(7), entry(8), entry(9)], vec![]];
        let entries: Vec<_> = sets[which].iter().map(|(key, entry)| (key.as_str(), entry)).collect();
        let composed = compose(Some(&text), &entries, config.has_servers).unwrap();
        let (text, composed) = (text.trim_start_matches('\u{feff}'), composed.trim_start_matches('\u{feff}'));
        let (before, after) = (operators(text), operators(composed));
        // A comment in an entry of ours goes with it.
        if config.fusion_keys.is_empty() {
            prop_assert_eq!(before, after, "{}", composed);
        } else {
            prop_assert_eq!((before.0, before.1), (after.0, after.1), "{}", composed);
        }
        let mut found = ours(composed);
        let mut wanted = expected(&sets[which]);
        found.sort_by(|one, other| one.0.cmp(&other.0));
        wanted.sort_by(|one, other| one.0.cmp(&other.0));
        prop_assert_eq!(found, wanted);
        // Comments and trailing commas come from the operator alone.
        if serde_json::from_str::<&RawValue>(text).is_ok() {
            prop_assert!(serde_json::from_str::<&RawValue>(composed).is_ok(), "{}", composed);
        }
    }

    #[test]
    fn what_json_takes_is_taken_and_what_jsonc_refuses_is_refused(text in r#"\{("a":|"mcpS":|[\[\]{}:,]|//b|/\*|\*/|\n| |-?0|1\.5|01|1\.|\.5|1e5|true|nul|null|"a"|"\\u12"|"\\x"|'a'){0,10}\}"#) {
        let looked = look(text.as_bytes()).is_ok();
        if serde_json::from_str::<&RawValue>(&text).is_ok() {
            prop_assert!(looked, "{}", text);
        }
        prop_assert_eq!(looked, parsed(&text).is_some(), "{}", text);
    }
}
