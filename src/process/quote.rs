//! The command line of a program on Windows: one text, which the program itself takes apart. Pure, and the same
//! everywhere.
//!
//! The rules are those of Microsoft's C runtime and of `CommandLineToArgvW`: blanks and tabs separate words, quotes
//! hold them together, and backslashes mean themselves but before a quote.

const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;
const BLANK: u16 = b' ' as u16;
const TAB: u16 = b'\t' as u16;

/// Append a word, in quotes where it needs them, with a blank before it unless it is the first.
///
/// The first word is the program's own name, which is read by another rule; a path holds no quote, so both give the
/// same, and it is always quoted: a system that takes the line for a path would else try it blank by blank.
pub fn push_word(line: &mut Vec<u16>, word: &[u16]) {
    let first = line.is_empty();
    if !first {
        line.push(BLANK);
    }
    let plain = |unit: &u16| !matches!(*unit, BLANK | TAB | QUOTE | 0x0A | 0x0B);
    if !first && !word.is_empty() && word.iter().all(plain) {
        line.extend_from_slice(word);
        return;
    }
    line.push(QUOTE);
    let mut backslashes = 0;
    for unit in word {
        match *unit {
            BACKSLASH => backslashes += 1,
            QUOTE => {
                // Twice as many, and one for the quote.
                line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(*unit);
    }
    if !first {
        // Those before the closing quote. In the first word backslashes mean nothing but themselves.
        line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    }
    line.push(QUOTE);
}

/// A path without the mark `\\?\`, by which it is taken as it is and which many programs do not understand; with it
/// where it would be another one: where only the mark can write it, or the end of a name would be dropped.
#[must_use]
pub fn unmarked(path: &str) -> &str {
    path.strip_prefix(r"\\?\")
        .filter(|rest| {
            let (drive, names) = rest.split_at_checked(2).unwrap_or_default();
            drive.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && drive.ends_with(':')
                && names.starts_with('\\')
                && !has_lost_end(names)
        })
        .unwrap_or(path)
}

/// Whether a name in this path ends as the system lets none end.
#[must_use]
pub fn has_lost_end(path: &str) -> bool {
    let mut names = path.split('\\').filter(|name| !matches!(*name, "." | ".."));
    names.any(|name| name.ends_with(['.', ' ']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn line(words: &[&str]) -> String {
        let mut line = Vec::new();
        for word in words {
            push_word(&mut line, &word.encode_utf16().collect::<Vec<_>>());
        }
        String::from_utf16(&line).unwrap()
    }

    /// As the documentation of `CommandLineToArgvW` and the C runtime has it, two quotes within quotes included.
    fn read(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        let mut rest = line.chars().peekable();
        // The first word ends at the closing quote, whatever is in it.
        let mut name = String::new();
        assert_eq!(rest.next(), Some('"'));
        for character in rest.by_ref() {
            if character == '"' {
                break;
            }
            name.push(character);
        }
        words.push(name);
        loop {
            while rest
                .next_if(|character| matches!(character, ' ' | '\t'))
                .is_some()
            {}
            if rest.peek().is_none() {
                return words;
            }
            let (mut word, mut quoted) = (String::new(), false);
            loop {
                let mut backslashes = 0;
                while rest.next_if_eq(&'\\').is_some() {
                    backslashes += 1;
                }
                let at_quote = rest.peek() == Some(&'"');
                word.push_str(&"\\".repeat(if at_quote { backslashes / 2 } else { backslashes }));
                if at_quote && backslashes % 2 == 1 {
                    rest.next();
                    word.push('"');
                    continue;
                }
                match rest.next() {
                    Some('"') if quoted && rest.next_if_eq(&'"').is_some() => word.push('"'),
                    Some('"') => quoted = !quoted,
                    Some(' ' | '\t') if !quoted => break,
                    Some(character) => word.push(character),
                    None => break,
                }
            }
            words.push(word);
        }
    }

    #[test]
    fn words_are_quoted_only_where_they_need_it() {
        assert_eq!(line(&[r"C:\a b\x.exe"]), r#""C:\a b\x.exe""#);
        assert_eq!(
            line(&["x", "a", "", "b c", r"d\", r"e f\", "g\"h", r#"i\"j"#, "[k=1,l]"]),
            r#""x" a "" "b c" d\ "e f\\" "g\"h" "i\\\"j" [k=1,l]"#
        );
    }

    #[test]
    fn a_mark_is_left_out_only_where_it_changes_nothing() {
        for (path, becomes) in [
            (r"\\?\C:\", r"C:\"),
            (r"\\?\c:\w t\.cursor\é", r"c:\w t\.cursor\é"),
            (r"C:\w", r"C:\w"),
            (r"/w/é", r"/w/é"),
            ("", ""),
        ] {
            assert_eq!(unmarked(path), becomes);
        }
        for path in [
            r"\\?\C:\w.\x",
            r"\\?\C:\w\x ",
            r"\\?\C:",
            r"\\?\é",
            r"\\?\UNC\server\share",
            r"\\?\Volume{0}\x",
            r"\\.\C:\x",
        ] {
            assert_eq!(unmarked(path), path);
        }
    }

    proptest! {
        #[test]
        fn what_is_read_back_is_what_was_given(words in prop::collection::vec(r#"[ \t"\\a%é😀\n]{0,12}"#, 0..6)) {
            let given: Vec<&str> = std::iter::once(r"C:\p q\x\").chain(words.iter().map(String::as_str)).collect();
            prop_assert_eq!(read(&line(&given)), given);
        }
    }
}
