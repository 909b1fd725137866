//! What a program said, as plain text and as one short line for people.

use std::borrow::Cow;

use super::mask::mask;
use super::screen::{Screen, is_special};

/// The most characters of a [`diagnostic`].
pub const DIAGNOSTIC_CHARS: usize = 180;

/// The text as a terminal would leave it: without a mark of the byte order, without colours and other codes,
/// with overwritten frames gone, without characters of no width, and with line feeds as the only line ends.
///
/// Doing it twice changes nothing more. Colours and frames in what Cursor's CLI prints into a pipe are known
/// from public recordings of builds of February to April 2026.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains(is_special) {
        Cow::Owned(Screen::play(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// One line, fit to be shown or logged: no control characters, white space folded, whatever looks like a key
/// or a token masked, at most [`DIAGNOSTIC_CHARS`] characters with `…` where it was cut.
///
/// Of many lines it takes the paragraph that begins with an error, or else the first one. An empty text gives
/// an empty line.
#[must_use]
pub fn diagnostic(text: &str) -> String {
    let text = plain(text);
    let mut words = telling(&text).flat_map(str::split_whitespace);
    let mut line = String::new();
    // Far more than is shown, so that no mask can change what is; and not all of a text without end.
    while line.len() < 64 * DIAGNOSTIC_CHARS {
        let Some(word) = words.next() else { break };
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let line = mask(&line);
    if line.chars().nth(DIAGNOSTIC_CHARS).is_none() {
        return line;
    }
    let mut cut: String = line.chars().take(DIAGNOSTIC_CHARS - 1).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// The lines from the one that names an error to the end of its paragraph, without the frames of a stack.
fn telling(text: &str) -> impl Iterator<Item = &str> {
    let start = text
        .lines()
        .position(names_error)
        .or_else(|| text.lines().position(|line| !line.trim().is_empty()))
        .unwrap_or(0);
    text.lines()
        .skip(start)
        .take_while(|line| !line.trim().is_empty())
        .enumerate()
        .filter(|(index, line)| *index == 0 || !line.trim_start().starts_with("at "))
        .map(|(_, line)| line)
}

/// `Error: …`, `error: …`, `✗ fatal: …`, `ActionRequiredError: …`.
fn names_error(line: &str) -> bool {
    let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
    let Some((word, _)) = line.split_once(':') else {
        return false;
    };
    let word = word.strip_prefix("Uncaught ").unwrap_or(word);
    ["error", "fatal"]
        .iter()
        .any(|name| word.eq_ignore_ascii_case(name))
        || (word.ends_with("Error") && word.chars().all(|c| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_plain_text_is_not_copied() {
        let text = "Available models\n\n\tauto - Auto ✓ 👩‍💻\n";
        assert!(matches!(plain(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn loading_frames_vanish() {
        let frames =
            "\u{1b}[2K\u{1b}[GLoading models…\n\u{1b}[2K\u{1b}[1A\u{1b}[2K\u{1b}[GAvailable models\n";
        assert_eq!(plain(frames), "Available models\n");
        let spinner =
            "\u{feff}⠋ Loading models…\r⠙ Loading models…\r\u{1b}[KAvailable models\r\n\r\nauto - Auto\r\n";
        assert_eq!(plain(spinner), "Available models\n\nauto - Auto\n");
    }

    #[test]
    fn a_diagnostic_is_one_line_that_says_something() {
        let table = [
            ("", ""),
            (" \r\n\t\u{1b}[0m", ""),
            ("one\ttwo\u{a0} three\n four", "one two three four"),
            ("one\n\ntwo", "one"),
            (
                "Debugger attached.\n\u{1b}[31mError: Authentication required.\u{1b}[0m\nRun 'agent login'.\n\nBye",
                "Error: Authentication required. Run 'agent login'.",
            ),
            (
                "⚠ Warning: The provided API key is invalid.\nThe API key was loaded from the CURSOR_API_KEY \
                 environment variable.",
                "⚠ Warning: The provided API key is invalid. The API key was loaded from the CURSOR_API_KEY \
                 environment variable.",
            ),
            (
                "/x/index.js:1\n  throw e\n  ^\n\nTypeError: x is no function\n    at f (/x/index.js:1:1)\n    at g",
                "TypeError: x is no function",
            ),
            (
                "note\nerror: unknown option '--json'",
                "error: unknown option '--json'",
            ),
            ("a\u{1}b\u{202e}c\u{9f}", "abc"),
        ];
        for (text, line) in table {
            assert_eq!(diagnostic(text), line, "for {text:?}");
        }
    }

    #[test]
    fn a_diagnostic_is_cut_between_characters() {
        for unit in ["x", "é", "模", "😀"] {
            let just = unit.repeat(DIAGNOSTIC_CHARS);
            assert_eq!(diagnostic(&just), just);
            let cut = diagnostic(&unit.repeat(DIAGNOSTIC_CHARS + 1));
            assert_eq!(cut, unit.repeat(DIAGNOSTIC_CHARS - 1) + "…");
        }
        assert_eq!(diagnostic(&"ab ".repeat(9_000)).chars().count(), DIAGNOSTIC_CHARS);
    }

    #[test]
    fn a_token_at_the_cut_does_not_show_its_first_half() {
        for before in 100..200 {
            let line = diagnostic(&format!(
                "{} key_0123456789abcdef0123456789abcdef",
                "x".repeat(before)
            ));
            assert!(!line.contains("0123"), "after {before}: {line}");
        }
    }

    fn noisy() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<String>(),
            "[\r\n\t\u{8}\u{1b}\u{9b}\u{9d}\u{7}\u{200b}]",
            "\u{1b}\\[[0-9;?]{0,4}[@-~]",
            "\u{1b}[\\]P_^][a-z;]{0,4}(\u{7}|\u{1b}\\\\)?",
            "[a-z :-]{0,12}",
            "(key_|sk-|Bearer |--api-key |token=|eyJ)[A-Za-z0-9._-]{0,40}",
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn plain_twice_is_plain(text in noisy()) {
            let once = plain(&text).into_owned();
            prop_assert_eq!(plain(&once), once.as_str());
            prop_assert!(!once.contains(is_special));
        }

        #[test]
        fn a_diagnostic_keeps_its_promises(text in noisy()) {
            let line = diagnostic(&text);
            prop_assert!(line.chars().count() <= DIAGNOSTIC_CHARS);
            prop_assert!(!line.contains(char::is_control));
            prop_assert_eq!(line.trim(), line.as_str());
            prop_assert!(!line.contains("  "));
            if !line.ends_with('…') {
                prop_assert_eq!(diagnostic(&line), line.as_str());
            }
        }
    }
}
