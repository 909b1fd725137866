//! Tests of the marker block.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The plugin's own block.
const PLAIN: &str = "# >>> fusion cursor-runtime >>>\n/.cursor/mcp.json\n/.cursor/.fusion-mcp-state.json\n\
                     /.cursor/.fusion-mcp.lock/\n# <<< fusion cursor-runtime <<<\n";

fn ensured(bytes: &[u8], prefix: &[u8]) -> Vec<u8> {
    let mut text = Text::parse(bytes);
    text.ensure(prefix, None, Made::default());
    text.bytes()
}

fn withdrawn(bytes: &[u8]) -> Vec<u8> {
    let mut text = Text::parse(bytes);
    text.retain(|_| false, |_| false);
    text.bytes()
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn the_block_is_the_protocols_and_comes_last() {
    assert_eq!(shown(&ensured(b"", b"")), PLAIN);
    assert_eq!(shown(&ensured(b"*.o\n", b"")), format!("*.o\n{PLAIN}"));
    assert_eq!(shown(&ensured(b"*.o\r\n", b"")), format!("*.o\r\n{PLAIN}"));
    assert_eq!(
        shown(&ensured(b"*.o", b"")),
        format!(
            "*.o\n{}",
            PLAIN.replacen(">>>\n/", ">>>\n# fusion: added a line break after byte 3\n/", 1)
        )
    );
}

#[test]
fn a_peers_block_is_taken_over_as_it_is() {
    let there = format!("*.o\n{PLAIN}*.a\n");
    assert_eq!(shown(&ensured(there.as_bytes(), b"")), there);
    assert_eq!(shown(&withdrawn(there.as_bytes())), "*.o\n*.a\n");
    // One that escapes more than is needed has lines for the same prefix.
    let escaped = PLAIN.replace("/.cursor", r"/a\!/.cursor");
    assert_eq!(shown(&ensured(escaped.as_bytes(), b"a!/")), escaped);
}

#[test]
fn every_prefix_has_its_own_lines_and_goes_alone() {
    let both = ensured(&ensured(b"x", b"apps/web/"), b"apps/[api]/");
    let text = Text::parse(&both);
    assert_eq!(text.prefixes(), [&b"apps/web/"[..], b"apps/[api]/"]);
    assert!(text.has(b"apps/web/") && text.has(b"apps/[api]/") && !text.has(b""));
    let mut text = Text::parse(&both);
    text.retain(|prefix| prefix == b"apps/web/", |_| false);
    assert_eq!(text.bytes(), ensured(b"x", b"apps/web/"));
    assert_eq!(withdrawn(&both), b"x");
}

#[test]
fn missing_lines_of_a_prefix_are_put_in() {
    let two = PLAIN.replace("/.cursor/mcp.json\n", "");
    assert!(!Text::parse(two.as_bytes()).has(b""));
    let mended = ensured(two.as_bytes(), b"");
    assert!(Text::parse(&mended).has(b""));
    assert_eq!(withdrawn(&mended), b"");
}

#[test]
fn what_somebody_wrote_into_the_block_stays() {
    let there = PLAIN.replace("# <<<", "*.mine\n# <<<");
    let more = ensured(there.as_bytes(), b"a/");
    assert!(shown(&more).contains("*.mine\n/a/.cursor"), "{}", shown(&more));
    assert_eq!(shown(&withdrawn(&more)), "*.mine\n");
    let joined = ensured(b"first", b"");
    let joined = shown(&joined).replace("# <<<", "*.mine\n# <<<");
    assert_eq!(shown(&withdrawn(joined.as_bytes())), "first\n*.mine\n");
}

#[test]
fn a_block_without_its_end_takes_only_what_is_ours() {
    let (cut, _) = PLAIN.split_once("# <<<").unwrap();
    for (after, left) in [("", ""), ("*.o\n", "*.o\n"), ("*.o", "*.o"), ("\n", "\n")] {
        let there = format!("a\n{cut}{after}");
        assert_eq!(
            shown(&ensured(there.as_bytes(), b"")),
            format!("a\n{PLAIN}{after}")
        );
        assert_eq!(shown(&withdrawn(there.as_bytes())), format!("a\n{left}"));
    }
    let torn = format!("{}\n", START.escape_ascii());
    assert_eq!(shown(&withdrawn(torn.as_bytes())), "");
}

#[test]
fn an_end_without_its_start_goes_too() {
    let (_, rest) = PLAIN.split_once('\n').unwrap();
    // Lines like ours outside of a block are the operator's.
    let rules = rest.replace("# <<< fusion cursor-runtime <<<\n", "");
    assert_eq!(shown(&withdrawn(&ensured(rest.as_bytes(), b"a/"))), rules);
}

#[test]
fn two_blocks_become_one() {
    let other = PLAIN.replace("/.cursor", "/a/.cursor");
    let there = format!("1\n{PLAIN}2\n{other}3");
    let text = Text::parse(there.as_bytes());
    assert_eq!(text.prefixes(), [&b""[..], b"a/"]);
    let merged = shown(&text.bytes());
    assert_eq!(merged.matches(">>> fusion").count(), 1, "{merged}");
    assert!(
        merged.starts_with("1\n2\n# >>>") && merged.ends_with("<<<\n3"),
        "{merged}"
    );
    assert_eq!(shown(&withdrawn(there.as_bytes())), "1\n2\n3");
    // The first without its end.
    let (cut, _) = PLAIN.split_once("# <<<").unwrap();
    assert_eq!(shown(&withdrawn(format!("1\n{cut}{other}").as_bytes())), "1\n");
}

#[test]
fn an_editor_may_change_the_line_breaks_of_the_block() {
    let dos = format!("*.o\n{PLAIN}").replace('\n', "\r\n");
    assert_eq!(shown(&ensured(dos.as_bytes(), b"")), dos);
    assert_eq!(shown(&withdrawn(dos.as_bytes())), "*.o\r\n");
    let cut = format!("*.o\n{}", PLAIN.trim_end());
    assert_eq!(shown(&ensured(cut.as_bytes(), b"")), cut);
    assert_eq!(shown(&withdrawn(cut.as_bytes())), "*.o\n");
}

#[test]
fn the_line_break_that_was_added_goes_only_where_it_still_is_the_last_byte() {
    let there = shown(&ensured(b"*.o", b""));
    assert_eq!(
        shown(&withdrawn(format!("{there}*.a\n").as_bytes())),
        "*.o\n*.a\n"
    );
    assert_eq!(
        shown(&withdrawn(format!("*.a\n{there}").as_bytes())),
        "*.a\n*.o\n"
    );
    assert_eq!(
        shown(&withdrawn(there.replacen("*.o", "*.c", 1).as_bytes())),
        "*.c"
    );
}

#[test]
fn the_block_remembers_what_was_made_for_it() {
    for (file, folder) in [(false, false), (true, false), (true, true)] {
        let made = Made { file, folder };
        let mut text = Text::parse(b"");
        text.ensure(b"", None, made);
        let mut text = Text::parse(&text.bytes());
        assert_eq!(text.made(), made);
        // A second session finds the file there, which does not make it the operator's.
        text.ensure(b"a/", None, Made::default());
        assert_eq!(text.made(), made);
        text.retain(|_| false, |_| true);
        assert!(text.is_empty());
    }
}

#[test]
fn working_trees_are_noted_once_and_go_alone() {
    let odd = b"/a\\b\nc\rd\xff e";
    let mut text = Text::parse(b"");
    text.ensure(b"", Some(odd), Made::default());
    text.ensure(b"", Some(odd), Made::default());
    text.ensure(b"", Some(b"/b"), Made::default());
    let mut text = Text::parse(&text.bytes());
    assert_eq!(text.worktrees().collect::<Vec<_>>(), [&odd[..], b"/b"]);
    text.retain(|_| true, |top| top == b"/b");
    assert_eq!(text.worktrees().collect::<Vec<_>>(), [&b"/b"[..]]);
}

/// What operators write: lines of anything, some like ours, the last with or without a line break.
fn operators() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        "[a-z*!#/ ]{0,6}".prop_map(String::into_bytes),
        vec(
            any::<u8>().prop_filter("no line break", |byte| *byte != b'\n'),
            0..6
        ),
        Just(b"/.cursor/mcp.json".to_vec()),
        Just(b"# fusion: made this file".to_vec()),
        Just(b"# fusion: added a line break after byte 3".to_vec()),
        Just(b"# worktree: /x".to_vec()),
    ];
    let ends = prop_oneof![Just(&b"\n"[..]), Just(&b"\r\n"[..])];
    (vec((line, ends), 0..5), any::<bool>()).prop_map(|(lines, cut)| {
        let mut bytes: Vec<u8> = lines
            .into_iter()
            .flat_map(|(line, end)| [line, end.to_vec()].concat())
            .collect();
        if cut && bytes.ends_with(b"\n") {
            bytes.pop();
        }
        bytes
    })
}

fn prefixes() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let folder = prop_oneof![Just(String::new()), "[a-c*?!# \\[\\\\]{1,3}/"];
    vec(folder.prop_map(String::into_bytes), 1..4)
}

proptest! {
    #[test]
    fn whatever_was_there_is_had_back(original in operators(), prefixes in prefixes()) {
        let mut bytes = original.clone();
        for prefix in &prefixes {
            bytes = ensured(&bytes, prefix);
            prop_assert!(Text::parse(&bytes).has(prefix));
            prop_assert_eq!(&ensured(&bytes, prefix), &bytes, "it is there already");
        }
        // One after the other, as their sessions end.
        for (index, _) in prefixes.iter().enumerate() {
            let still = &prefixes[index + 1..];
            let mut text = Text::parse(&bytes);
            text.retain(|prefix| still.iter().any(|known| known == prefix), |_| false);
            bytes = text.bytes();
            for prefix in still {
                prop_assert!(Text::parse(&bytes).has(prefix));
            }
        }
        prop_assert_eq!(bytes, original);
    }

    #[test]
    fn what_is_written_around_the_block_stays(
        original in operators(),
        above in operators(),
        below in operators(),
        prefixes in prefixes(),
    ) {
        let mut bytes = original.clone();
        for prefix in &prefixes {
            bytes = ensured(&bytes, prefix);
        }
        let mut above = above;
        if !above.is_empty() && !above.ends_with(b"\n") {
            above.push(b'\n');
        }
        let edited = [above.clone(), bytes, below.clone()].concat();
        let mut left = original;
        let moved = !above.is_empty() || !below.is_empty();
        if moved && !left.is_empty() && !left.ends_with(b"\n") {
            left.push(b'\n');
        }
        prop_assert_eq!(withdrawn(&edited), [above, left, below].concat());
    }

    #[test]
    fn no_text_is_too_odd(lines in vec(prop_oneof![
        Just(b"# >>> fusion cursor-runtime >>>\n".to_vec()),
        Just(b"# <<< fusion cursor-runtime <<<\n".to_vec()),
        Just(b"/.cursor/mcp.json\n".to_vec()),
        Just(b"*.o\n".to_vec()),
        Just(b"*.o".to_vec()),
    ], 0..10)) {
        let bytes = lines.concat();
        let text = Text::parse(&bytes);
        let whole = text.bytes();
        prop_assert_eq!(&Text::parse(&whole).bytes(), &whole);
        prop_assert!(Text::parse(&ensured(&bytes, b"a/")).has(b"a/"));
        let left = shown(&withdrawn(&ensured(&bytes, b"a/")));
        prop_assert!(!left.lines().any(|line| line.starts_with("# ")), "{left}");
        // The operator's rules stay, all of them, each in a line.
        let rules = |text: &str| text.matches("*.o").count();
        prop_assert_eq!(rules(&left), rules(&shown(&bytes)));
    }
}
