//! Strings of JSON, as `JSON.stringify` spells them and as anybody may.

use std::borrow::Cow;
use std::fmt::Write;

/// A string with its quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The same JSON without white space between its parts.
pub(super) fn flat(printed: &str) -> String {
    let mut out = String::with_capacity(printed.len());
    let (mut in_string, mut escaped) = (false, false);
    for c in printed.chars() {
        if in_string || !c.is_ascii_whitespace() {
            out.push(c);
        }
        in_string ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
    }
    out
}

/// What stands between the quotes of a string that was scanned, decoded; half of a surrogate pair becomes U+FFFD.
pub(super) fn decoded(inner: &str) -> Cow<'_, str> {
    if !inner.contains('\\') {
        return Cow::Borrowed(inner);
    }
    let mut out = String::with_capacity(inner.len());
    let mut units: Vec<u16> = Vec::new();
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        let escaped = &rest[at + 1..];
        if at > 0 {
            flush(&mut units, &mut out);
            out.push_str(&rest[..at]);
        }
        rest = escaped.get(1..).unwrap_or_default();
        let plain = match escaped.as_bytes().first() {
            Some(b'u') => {
                let unit = rest.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
                units.push(unit.unwrap_or(0xfffd));
                rest = rest.get(4..).unwrap_or_default();
                continue;
            }
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(other) => char::from(*other),
            None => break,
        };
        flush(&mut units, &mut out);
        out.push(plain);
    }
    flush(&mut units, &mut out);
    out.push_str(rest);
    Cow::Owned(out)
}

/// Escapes that stand side by side may be halves of one character.
fn flush(units: &mut Vec<u16>, out: &mut String) {
    out.extend(char::decode_utf16(units.drain(..)).map(|unit| unit.unwrap_or('\u{fffd}')));
}
