//! The shape that most lines of a session have, read without looking for anything else in it.

use super::json::{self, Scanner};
use super::quoted::quoted;
use super::value::Str;

/// How the CLI begins a piece of thinking.
const HEAD: &str = r#"{"type":"thinking","subtype":"delta","text":""#;

/// A longer tail is not remembered, in bytes.
const LONGEST_TAIL: usize = 512;

/// Reads pieces of thinking.
#[derive(Debug, Default)]
pub(super) struct Deltas {
    /// What the last one had behind its text, up to the number at its end. The next mostly has the same: the
    /// session, and the time as the last member.
    tail: String,
}

impl Deltas {
    /// The text of a line that is one piece of thinking, spelt as the CLI spells it. `None` says nothing about
    /// the line: whatever is a surprise here is for the decoder to judge.
    #[inline]
    pub(super) fn text<'a>(&mut self, line: &'a str) -> Option<Str<'a>> {
        let bytes = line.as_bytes();
        if !bytes.starts_with(HEAD.as_bytes()) {
            return None;
        }
        let quoted = quoted(bytes, HEAD.len())?;
        let text = Str {
            raw: line.get(HEAD.len()..quoted.end)?,
            escaped: quoted.escaped,
        };
        let rest = line.get(quoted.end + 1..)?;
        (self.is_as_last(rest) || self.read_tail(rest)).then_some(text)
    }

    fn is_as_last(&self, rest: &str) -> bool {
        !self.tail.is_empty()
            && rest
                .as_bytes()
                .strip_prefix(self.tail.as_bytes())
                .and_then(|rest| rest.strip_suffix(b"}"))
                .is_some_and(|number| json::number(number) == Some(number.len()))
    }

    /// Whether nothing but members that do not count follow, up to the end of the record and of the line.
    fn read_tail(&mut self, rest: &str) -> bool {
        let mut scanner = Scanner::new(rest);
        let mut last = 0;
        self.tail.clear();
        while scanner.take(b',').is_ok() {
            let Ok(key) = scanner.key() else { return false };
            // Of a member that is there twice, the last counts.
            if key.escaped || matches!(key.raw, "type" | "subtype" | "text") {
                return false;
            }
            last = scanner.position();
            if scanner.value().is_err() {
                return false;
            }
        }
        let is_whole = scanner.take(b'}').is_ok() && scanner.peek().is_none();
        if is_whole && last <= LONGEST_TAIL {
            self.tail.push_str(rest.get(..last).unwrap_or_default());
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use super::{Deltas, HEAD, LONGEST_TAIL};

    const SESSION: &str = r#"","session_id":"s","timestamp_ms":"#;

    fn line(text: &str, tail: &str) -> String {
        [HEAD, text, tail].concat()
    }

    fn read(deltas: &mut Deltas, text: &str, tail: &str) -> Option<String> {
        let line = line(text, tail);
        deltas.text(&line).map(|text| text.raw.to_owned())
    }

    #[test]
    fn pieces_with_the_same_tail_are_read() {
        let mut deltas = Deltas::default();
        for (text, number) in [("a", "1"), ("", "20"), (r#"\"\\"#, "0"), ("中", "-1.5e3")] {
            let found = read(&mut deltas, text, &format!("{SESSION}{number}}}"));
            assert_eq!(found.as_deref(), Some(text));
            assert_eq!(deltas.tail, SESSION[1..]);
        }
        assert_eq!(
            read(&mut deltas, "b", "\"}").as_deref(),
            Some("b"),
            "another tail"
        );
        assert_eq!(deltas.tail, "");
    }

    #[test]
    fn a_surprise_is_left_to_the_decoder() {
        let tails = [
            r#"","text":"again"}"#,
            r#"","type":"assistant"}"#,
            r#"","subtype":"completed"}"#,
            r#"","t\u0065xt":"again"}"#,
            r#"","session_id":"s","timestamp_ms":1,"text":"again"}"#,
            r#"","session_id":"s","timestamp_ms":1}{"type":"thinking"}"#,
            r#"","session_id":"s","timestamp_ms":1"#,
            r#"","session_id":"s","timestamp_ms":01}"#,
            r#"","session_id":"s","timestamp_ms":}"#,
            r#"","session_id":"s","timestamp_ms":1 2}"#,
            r#"","session_id":"s","timestamp_ms":1}}"#,
            r#"","session_id""#,
            r#"",}"#,
            r#"""#,
            "",
            "\\\"}",
        ];
        for tail in tails {
            // Also where the tail begins as one that was remembered.
            let mut warm = Deltas::default();
            assert!(read(&mut warm, "a", &format!("{SESSION}1}}")).is_some());
            for deltas in [&mut Deltas::default(), &mut warm] {
                assert_eq!(read(deltas, "a", tail), None, "{tail}");
            }
        }
        let spaced = line("a", "\"}").replacen(':', ": ", 1);
        assert!(Deltas::default().text(&spaced).is_none());
    }

    #[test]
    fn what_is_remembered_is_short() {
        let mut deltas = Deltas::default();
        let tail = format!("\",\"x\":\"{}\",\"timestamp_ms\":1}}", "y".repeat(LONGEST_TAIL));
        assert!(read(&mut deltas, "a", &tail).is_some());
        assert!(deltas.tail.capacity() < LONGEST_TAIL);
    }
}
