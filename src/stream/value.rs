//! What the scanner finds: slices of a line that know how to become text or payload.

use std::borrow::Cow;

use super::unescape::{self, Piece};

/// One JSON value, as the slice it was written in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    /// The value with its quotes or brackets, without white space around it.
    pub(super) raw: &'a str,
    /// For a string: it holds a backslash.
    pub(super) escaped: bool,
    /// Some string in it holds a raw control character, which `JSON.parse` refuses.
    pub(super) controls: bool,
}

impl<'a> Value<'a> {
    pub(super) fn is_null(&self) -> bool {
        self.raw == "null"
    }

    pub(super) fn is_true(&self) -> bool {
        self.raw == "true"
    }

    /// The string that this value is.
    pub(super) fn string(&self) -> Option<Str<'a>> {
        let inner = self.raw.strip_prefix('"')?.strip_suffix('"')?;
        Some(Str {
            raw: inner,
            escaped: self.escaped,
        })
    }

    /// The number that this value is; huge ones become infinite, as in JavaScript.
    pub(super) fn number(&self) -> Option<f64> {
        self.raw
            .bytes()
            .next()
            .filter(|b| b.is_ascii_digit() || *b == b'-')?;
        self.raw.parse().ok()
    }

    /// The slice, with what `JSON.parse` would refuse in a string escaped.
    pub(super) fn payload(&self) -> Cow<'a, str> {
        if self.controls {
            Cow::Owned(unescape::escape_controls(self.raw))
        } else {
            Cow::Borrowed(self.raw)
        }
    }
}

/// The inside of a JSON string, still escaped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Str<'a> {
    /// The slice between the quotes.
    pub(super) raw: &'a str,
    /// It holds a backslash.
    pub(super) escaped: bool,
}

impl<'a> Str<'a> {
    /// Decoded, a lone surrogate as U+FFFD.
    #[inline]
    pub(super) fn text(&self) -> Cow<'a, str> {
        if self.escaped {
            self.piece().into_text()
        } else {
            Cow::Borrowed(self.raw)
        }
    }

    /// Decoded, with the surrogate halves at its ends kept apart.
    pub(super) fn piece(&self) -> Piece<'a> {
        if self.escaped {
            Piece::decode([self.raw])
        } else {
            Piece::plain(self.raw)
        }
    }

    /// Decoded as JSON text: a lone surrogate stays the escape that it was.
    pub(super) fn json_text(&self) -> Cow<'a, str> {
        if self.escaped {
            Cow::Owned(unescape::decode_json_text(self.raw))
        } else {
            Cow::Borrowed(self.raw)
        }
    }
}
