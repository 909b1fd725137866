//! Recordings of the real CLI, where a folder of them is at hand.
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

use std::path::PathBuf;

use fusion_cursor_native::stream::ParserOptions;

use super::support::events_with;

/// Every `*.jsonl` in the folder that `FUSION_CURSOR_STREAMS` names.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = std::env::var_os("FUSION_CURSOR_STREAMS").map(PathBuf::from) else {
        println!("skipped: FUSION_CURSOR_STREAMS names no folder of recordings");
        return Vec::new();
    };
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(path).unwrap(),
            )
        })
        .collect();
    found.sort();
    found
}

#[test]
fn every_record_is_understood_and_every_cut_is_the_same() {
    for (name, stream) in recordings() {
        let (whole, parser) = events_with(ParserOptions::default(), &[&stream]);
        let not_json = stream
            .split(|b| *b == b'\n')
            .filter(|line| !line.is_empty() && line[0] != b'{')
            .count();
        assert_eq!(parser.dropped().lines, not_json as u64, "{name}");
        assert!(
            !whole.iter().any(|event| event.starts_with("unknown NewType")),
            "{name}: {whole:#?}"
        );
        for at in 0..=stream.len() {
            let (head, tail) = stream.split_at(at);
            assert_eq!(
                events_with(ParserOptions::default(), &[head, tail]).0,
                whole,
                "{name} at {at}"
            );
        }
    }
}

#[test]
fn the_text_of_a_turn_is_its_result() {
    for (name, stream) in recordings() {
        let said = ["parallel-shell", "partial-output"]
            .iter()
            .any(|part| name.contains(part));
        for partial_output in [false, true].into_iter().filter(|_| said) {
            let options = ParserOptions {
                partial_output,
                ..ParserOptions::default()
            };
            let (events, parser) = events_with(options, &[&stream]);
            let text: String = events
                .iter()
                .filter_map(|event| event.strip_prefix("text "))
                .collect();
            let result = events.last().unwrap();
            assert!(result.starts_with("result success error=false"), "{name}");
            assert!(result.contains(&format!(" text={text} usage=")), "{name}: {text}");
            assert_eq!(parser.open_calls().count(), 0, "{name}");
        }
    }
}
