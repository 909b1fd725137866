//! What has no parts: space and comments, strings, numbers and words.

use memchr::memchr2;

use super::{Broken, Next, Scan, Scanner, Trivia};

impl Scanner<'_> {
    pub(super) fn skip_trivia(&mut self) -> Scan<()> {
        while self.trivia()?.is_some() {}
        Ok(())
    }

    /// One piece of it.
    pub(super) fn trivia(&mut self) -> Scan<Option<Trivia>> {
        let rest = self.rest();
        let (kind, len) = match rest {
            [b' ' | b'\t', ..] => {
                let len = rest
                    .iter()
                    .take_while(|byte| matches!(byte, b' ' | b'\t'))
                    .count();
                (Trivia::Blank, len)
            }
            [b'\n' | b'\r', ..] => (Trivia::Newline, newline_len(rest)),
            [b'/', b'/', ..] if self.dialect.extras => {
                let len = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
                (Trivia::LineComment, len)
            }
            [b'/', b'*', ..] if self.dialect.extras => {
                let end = memchr::memmem::find(&rest[2..], b"*/");
                let end = end.ok_or_else(|| self.broken("this comment has no end"))?;
                (Trivia::BlockComment, end + 4)
            }
            _ => return Ok(None),
        };
        self.at += len;
        Ok(Some(kind))
    }

    /// Skips the string that starts here.
    pub(super) fn string(&mut self) -> Scan<()> {
        let start = self.at;
        self.at += 1;
        loop {
            let rest = self.rest();
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))
                .unwrap_or(rest.len());
            self.at += plain;
            match &rest[plain..] {
                [b'"', ..] => {
                    self.at += 1;
                    return Ok(());
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                [b'\\', b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|x| x.is_ascii_hexdigit()) => {
                    self.at += 6;
                }
                [b'\\', ..] => return Err(self.broken("this escape is unknown")),
                [] | [b'\n' | b'\r', ..] => {
                    return Err(Broken {
                        at: start,
                        what: "this string has no end",
                    });
                }
                _ => return Err(self.broken("a control character stands in a string")),
            }
        }
    }

    /// Skips a number, `true`, `false` or `null`.
    pub(super) fn word(&mut self) -> Scan<()> {
        let rest = self.rest();
        let len = rest
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_'))
            .count();
        let word = &rest[..len];
        if matches!(word, b"true" | b"false" | b"null") || is_number(word) {
            self.at += len;
            return Ok(());
        }
        if self.dialect.extras && rest.first() == Some(&b'\'') {
            return Err(self.broken("a string stands in single quotes"));
        }
        Err(match word.first() {
            Some(b'-' | b'+' | b'.' | b'0'..=b'9') => self.broken("this is no number of JSON"),
            Some(_) => self.broken("this word is unknown"),
            None => self.unexpected(Next::Value),
        })
    }
}

pub(super) fn newline_len(text: &[u8]) -> usize {
    if text.starts_with(b"\r\n") { 2 } else { 1 }
}

fn is_number(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let (whole, rest) = digits(word);
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with(b"0")) {
        return false;
    }
    let rest = match rest.strip_prefix(b".").map(digits) {
        None => rest,
        Some((fraction, rest)) if !fraction.is_empty() => rest,
        Some(_) => return false,
    };
    let [b'e' | b'E', exponent @ ..] = rest else {
        return rest.is_empty();
    };
    let exponent = match exponent {
        [b'-' | b'+', exponent @ ..] => exponent,
        _ => exponent,
    };
    !exponent.is_empty() && exponent.iter().all(u8::is_ascii_digit)
}

fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().take_while(|byte| byte.is_ascii_digit()).count())
}
