//! The inside of JSON strings to text, with UTF-16 surrogate halves handled one by one.

use std::borrow::Cow;
use std::fmt::Write;

use memchr::memchr;

/// Decoded text whose first and last code unit may be half of a surrogate pair.
///
/// JavaScript cuts text between any two code units, so the other half may sit in the next record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Piece<'a> {
    /// A low half that comes before `text`.
    pub(super) low: Option<u16>,
    /// Everything between; a half that is alone in there has become U+FFFD.
    pub(super) text: Cow<'a, str>,
    /// A high half that comes after `text`.
    pub(super) high: Option<u16>,
}

impl<'a> Piece<'a> {
    /// Text that needs no decoding.
    pub(super) fn plain(text: &'a str) -> Self {
        Self {
            low: None,
            text: Cow::Borrowed(text),
            high: None,
        }
    }

    /// Decodes and joins the insides of JSON strings.
    pub(super) fn decode<'s>(parts: impl IntoIterator<Item = &'s str>) -> Self {
        let mut joiner = Joiner::default();
        for part in parts {
            unescape(part, &mut joiner);
        }
        Self {
            low: joiner.low,
            text: Cow::Owned(joiner.text),
            high: joiner.high,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.low.is_none() && self.text.is_empty() && self.high.is_none()
    }

    /// The text with U+FFFD for a half at either end.
    pub(super) fn into_text(self) -> Cow<'a, str> {
        if self.low.is_none() && self.high.is_none() {
            return self.text;
        }
        let low = if self.low.is_some() { "\u{FFFD}" } else { "" };
        let high = if self.high.is_some() { "\u{FFFD}" } else { "" };
        Cow::Owned([low, &self.text, high].concat())
    }
}

/// The character that two halves make.
pub(super) fn join_halves(high: u16, low: u16) -> char {
    char::decode_utf16([high, low])
        .next()
        .and_then(Result::ok)
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Decodes a string that itself holds JSON text. A lone half stays an escape, which is what `JSON.parse`
/// of the decoded string would see in it.
pub(super) fn decode_json_text(raw: &str) -> String {
    let mut out = JsonText::default();
    unescape(raw, &mut out);
    out.settle();
    out.text
}

/// JSON text with the raw control characters in its strings escaped.
pub(super) fn escape_controls(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len() + 16);
    let (mut in_string, mut after_backslash) = (false, false);
    for c in raw.chars() {
        if in_string && c < ' ' {
            if after_backslash {
                // The backslash would swallow the start of our escape.
                out.pop();
            }
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
            in_string ^= c == '"' && !after_backslash;
        }
        after_backslash = in_string && c == '\\' && !after_backslash;
    }
    out
}

trait Sink {
    fn text(&mut self, text: &str);
    fn unit(&mut self, unit: u16);
}

fn unescape(raw: &str, out: &mut impl Sink) {
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        let (before, after) = rest.split_at(at);
        out.text(before);
        let mut chars = after.chars();
        chars.next();
        let escape = chars.next();
        rest = chars.as_str();
        let plain = match escape {
            Some('n') => "\n",
            Some('t') => "\t",
            Some('r') => "\r",
            Some('b') => "\u{8}",
            Some('f') => "\u{c}",
            Some('u') => {
                if let Some(unit) = rest.get(..4).and_then(hex) {
                    out.unit(unit);
                    rest = rest.get(4..).unwrap_or_default();
                    continue;
                }
                "u"
            }
            // A quote, a backslash, a slash, or an escape that JSON does not know, which stands for itself.
            Some(c) => {
                out.text(c.encode_utf8(&mut [0; 4]));
                continue;
            }
            None => "\\",
        };
        out.text(plain);
    }
    out.text(rest);
}

fn hex(digits: &str) -> Option<u16> {
    // `from_str_radix` would also take a sign.
    digits
        .bytes()
        .all(|b| b.is_ascii_hexdigit())
        .then(|| u16::from_str_radix(digits, 16).ok())
        .flatten()
}

fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

/// Collects text for a [`Piece`].
#[derive(Default)]
struct Joiner {
    low: Option<u16>,
    text: String,
    high: Option<u16>,
}

impl Joiner {
    /// A high half that is still open here stays alone.
    fn settle(&mut self) {
        if self.high.take().is_some() {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

impl Sink for Joiner {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.settle();
            self.text.push_str(text);
        }
    }

    fn unit(&mut self, unit: u16) {
        if is_high(unit) {
            self.settle();
            self.high = Some(unit);
        } else if !is_low(unit) {
            self.settle();
            self.text
                .push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
        } else if let Some(high) = self.high.take() {
            self.text.push(join_halves(high, unit));
        } else if self.text.is_empty() && self.low.is_none() {
            self.low = Some(unit);
        } else {
            self.text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

/// Collects decoded JSON text.
#[derive(Default)]
struct JsonText {
    text: String,
    high: Option<u16>,
}

impl JsonText {
    fn settle(&mut self) {
        if let Some(high) = self.high.take() {
            self.lone(high);
        }
    }

    fn lone(&mut self, half: u16) {
        // Writing to a String cannot fail.
        let _ = write!(self.text, "\\u{half:04x}");
    }
}

impl Sink for JsonText {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.settle();
            self.text.push_str(text);
        }
    }

    fn unit(&mut self, unit: u16) {
        if is_high(unit) {
            self.settle();
            self.high = Some(unit);
        } else if let Some(high) = self.high.take_if(|_| is_low(unit)) {
            self.text.push(join_halves(high, unit));
        } else if is_low(unit) {
            self.lone(unit);
        } else {
            self.settle();
            self.text
                .push(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }
}
