//! Reads the members of JSON that came between other text.
//!
//! Strict about structure, lenient about values: `NaN`, raw control characters other than line ends, unknown
//! escapes and lone surrogates pass. It never recurses, so nesting has no limit.

use std::borrow::Cow;

/// One value in its text: an object, an array, a string, or a word such as `true` or `1.5`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// The value at the start of `text`, which must begin with `{` or `[`, and the text behind it.
    ///
    /// `effort` is lowered by what is looked at, so that a text full of brackets cannot cost a scan for each.
    pub(super) fn leading(text: &'a str, effort: &mut usize) -> Option<(Self, &'a str)> {
        let end = end_of(text.as_bytes(), effort)?;
        Some((Self(text.get(..end)?), &text[end..]))
    }

    pub(super) fn as_bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A whole number, written with nothing but digits.
    pub(super) fn as_u64(self) -> Option<u64> {
        let digits = self.0.bytes().all(|byte| byte.is_ascii_digit());
        if digits { self.0.parse().ok() } else { None }
    }

    /// A string; half of a surrogate pair becomes U+FFFD.
    pub(super) fn as_str(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix('"')?.strip_suffix('"')?;
        Some(if inner.contains('\\') {
            Cow::Owned(unescaped(inner))
        } else {
            Cow::Borrowed(inner)
        })
    }

    pub(super) fn is_array(self) -> bool {
        self.0.starts_with('[')
    }

    pub(super) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// The value of a member of an object; of several of one name the last, as JavaScript has it.
    pub(super) fn member(self, name: &str) -> Option<Raw<'a>> {
        if !self.is_object() {
            return None;
        }
        let mut parts = self.parts();
        let mut found = None;
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            if key.as_str().is_some_and(|key| key == name) {
                found = Some(value);
            }
        }
        found
    }

    /// The items of an array; the keys and values of an object by turns.
    pub(super) fn parts(self) -> impl Iterator<Item = Raw<'a>> {
        let mut rest = self.0.get(1..self.0.len().saturating_sub(1)).unwrap_or_default();
        std::iter::from_fn(move || {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || matches!(c, ',' | ':'));
            let value = &rest[..part_len(rest.as_bytes())];
            rest = &rest[value.len()..];
            (!value.is_empty()).then_some(Raw(value))
        })
    }
}

/// What may come next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

/// The length of the object or array that starts here, if it is whole.
fn end_of(text: &[u8], effort: &mut usize) -> Option<usize> {
    let mut open: Vec<u8> = Vec::new();
    let mut at = 0;
    let mut next = Next::Value;
    let end = loop {
        at += spaces(&text[at..]);
        let Some(&byte) = text.get(at) else { break None };
        if at >= *effort {
            break None;
        }
        match (byte, next) {
            (b'{' | b'[', Next::Value | Next::ValueOrEnd) => {
                at += 1;
                open.push(byte);
                next = if byte == b'{' {
                    Next::KeyOrEnd
                } else {
                    Next::ValueOrEnd
                };
                continue;
            }
            (b'}', Next::KeyOrEnd | Next::CommaOrEnd) if open.last() == Some(&b'{') => at += 1,
            (b']', Next::ValueOrEnd | Next::CommaOrEnd) if open.last() == Some(&b'[') => at += 1,
            (b'"', Next::Key | Next::KeyOrEnd) => {
                let key = string_len(&text[at..]);
                at += key.unwrap_or_else(|looked_at| looked_at);
                at += spaces(&text[at..]);
                if key.is_err() || text.get(at) != Some(&b':') {
                    break None;
                }
                at += 1;
                next = Next::Value;
                continue;
            }
            (b',', Next::CommaOrEnd) => {
                at += 1;
                next = if open.last() == Some(&b'{') {
                    Next::Key
                } else {
                    Next::Value
                };
                continue;
            }
            (_, Next::Value | Next::ValueOrEnd) if !open.is_empty() => {
                let len = match byte {
                    b'"' => string_len(&text[at..]),
                    _ => word_len(&text[at..]),
                };
                at += len.unwrap_or_else(|looked_at| looked_at);
                if len.is_err() {
                    break None;
                }
                next = Next::CommaOrEnd;
                continue;
            }
            _ => break None,
        }
        open.pop();
        if open.is_empty() {
            break Some(at);
        }
        next = Next::CommaOrEnd;
    };
    *effort = effort.saturating_sub(at + 1);
    end
}

/// The length of the value that starts here, in a text that is known to be whole.
fn part_len(text: &[u8]) -> usize {
    match text.first() {
        Some(b'"') => string_len(text).unwrap_or(text.len()),
        Some(b'{' | b'[') => {
            let (mut depth, mut at) = (0_usize, 0);
            while let Some(byte) = text.get(at) {
                match byte {
                    b'"' => {
                        at += string_len(&text[at..]).unwrap_or(text.len());
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    break;
                }
            }
            at.min(text.len())
        }
        _ => word_len(text).unwrap_or(0),
    }
}

fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// The length of a string with its quotes, or how much was looked at in vain. It ends on its line: an open
/// quote in a notice must not swallow what follows.
fn string_len(text: &[u8]) -> Result<usize, usize> {
    let mut at = 1;
    loop {
        match text.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            None | Some(b'\n' | b'\r') => return Err(at.min(text.len())),
            Some(_) => at += 1,
        }
    }
}

/// The length of `true`, `null`, `-1.5e3`, `NaN`, `-Infinity`, or how much was looked at in vain.
fn word_len(text: &[u8]) -> Result<usize, usize> {
    let len = text
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'))
        .count();
    let word = &text[..len];
    let known: [&[u8]; 6] = [b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity"];
    let number = word.iter().any(u8::is_ascii_digit)
        && word
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
    if known.contains(&word) || number {
        Ok(len)
    } else {
        Err(len)
    }
}

fn unescaped(inner: &str) -> String {
    let mut units: Vec<u16> = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let Some(escape) = (c == '\\').then(|| rest.chars().next()).flatten() else {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            continue;
        };
        rest = &rest[escape.len_utf8()..];
        let plain = match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'u' => {
                let unit = rest
                    .get(..4)
                    .and_then(|digits| u16::from_str_radix(digits, 16).ok());
                if let Some(unit) = unit {
                    units.push(unit);
                    rest = &rest[4..];
                    continue;
                }
                'u'
            }
            other => other,
        };
        units.extend(plain.encode_utf16(&mut [0; 2]).iter());
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leading(text: &str) -> Option<(Raw<'_>, &str)> {
        Raw::leading(text, &mut usize::MAX.clone())
    }

    #[test]
    fn a_value_is_taken_whole_or_not_at_all() {
        for text in [
            "{}",
            "[]",
            "[ ]",
            r#"{"a":1}"#,
            r#"{"a" : [1, "}", {"b": null}] , "a":-1.5e+3}"#,
            "[NaN, Infinity, -Infinity, 1e400, 99999999999999999999]",
            r#"["\ud83d", "\x", "\"", "\\"]"#,
            "[\"\u{1}\t\"]",
            "{\n  \"a\": true\n}",
        ] {
            assert_eq!(
                leading(&format!("{text} behind")),
                Some((Raw(text), " behind")),
                "for {text:?}"
            );
        }
        for text in [
            "",
            "x",
            "\"x\"",
            "1",
            "{",
            "[",
            "{]",
            "[}",
            "{a:1}",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            "[1,]",
            "[,1]",
            "[1 2]",
            "[warn]",
            "[x]",
            r#"{"a":1"#,
            r#"{"a"#,
            "{\"a\n\":1}",
            r#"["\"#,
            "[truefalse]",
            "{,}",
            "[-]",
        ] {
            assert_eq!(leading(text), None, "for {text:?}");
        }
    }

    #[test]
    fn nesting_has_no_limit() {
        let deep = format!(
            r#"{{"x":{}1{},"y":true}}"#,
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        let (value, _) = leading(&deep).unwrap();
        assert_eq!(value.member("y").and_then(Raw::as_bool), Some(true));
    }

    #[test]
    fn members_and_items_are_read() {
        let text = r#"{"a": 1, "b\u0041": "x\n\ud83d\ude00\ud83d", "c": {"a": 2}, "d": [1, [2, "]"], {}], "a": true}"#;
        let (value, _) = leading(text).unwrap();
        assert_eq!(
            value.member("a").and_then(Raw::as_bool),
            Some(true),
            "the last of one name"
        );
        assert_eq!(value.member("bA").unwrap().as_str().unwrap(), "x\n😀\u{fffd}");
        assert_eq!(
            value.member("c").unwrap().member("a").and_then(Raw::as_u64),
            Some(2)
        );
        let items: Vec<&str> = value.member("d").unwrap().parts().map(|item| item.0).collect();
        assert_eq!(items, ["1", r#"[2, "]"]"#, "{}"]);
        assert_eq!(value.member("e"), None);
        assert_eq!(Raw("-1").as_u64(), None);
        assert_eq!(Raw("\"true\"").as_bool(), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[\[{]([\[\]{}":,\\ \n]|true|1|"a"|"a":|\\u[0-9a-d]{0,4}|é){0,40}"#) {
            if let Some((value, behind)) = leading(&text) {
                prop_assert_eq!(value.0.len() + behind.len(), text.len());
                for part in value.parts() {
                    let _ = (part.as_str(), part.as_u64(), part.member("a"));
                }
            }
        }

        #[test]
        fn what_serde_json_takes_is_taken(text in r#"[\[{]([\[\]{}":,]|true|1|"a"|"a":){0,10}"#) {
            let strict = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            let taken = leading(&text).is_some_and(|(_, behind)| behind.is_empty());
            prop_assert_eq!(taken, strict, "{}", text);
        }
    }
}
