//! The payloads of a batch: JSON that stays behind in native memory until somebody reads it.

use super::batch::{WIDE, index};

/// JSON texts under their numbers.
#[derive(Debug, Default)]
pub struct Payloads {
    utf8: String,
    utf16: Vec<u16>,
    /// Where each lies: its start, and its length with [`WIDE`] set where it is in `utf16`.
    places: Vec<(u32, u32)>,
    surely_read: bool,
}

/// One payload, as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// As it came.
    Utf8(&'a str),
    /// As V8 stores it.
    Utf16(&'a [u16]),
}

impl Payloads {
    /// Payloads that will surely be read: what is not ASCII is made UTF-16 at once, on this thread, which costs
    /// the one that reads it nothing but a copy. All others are kept as they came, since most are never read.
    #[must_use]
    pub fn surely_read() -> Self {
        Self {
            surely_read: true,
            ..Self::default()
        }
    }

    /// As [`Batch::like`](super::batch::Batch::like).
    pub(super) fn like(last: &Self, room: impl Fn(usize) -> usize) -> Self {
        Self {
            utf8: String::with_capacity(room(last.utf8.len())),
            utf16: Vec::with_capacity(room(last.utf16.len())),
            places: Vec::with_capacity(room(last.places.len())),
            surely_read: last.surely_read,
        }
    }

    /// The payload of this number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<Payload<'_>> {
        let (start, length) = *self.places.get(usize::try_from(number).ok()?)?;
        let (start, end) = (start as usize, start as usize + (length & !WIDE) as usize);
        if length & WIDE == 0 {
            self.utf8.get(start..end).map(Payload::Utf8)
        } else {
            self.utf16.get(start..end).map(Payload::Utf16)
        }
    }

    /// The bytes of the texts.
    pub(super) fn weight(&self) -> usize {
        self.utf8.len() + self.utf16.len() * size_of::<u16>()
    }

    /// The bytes that the payloads take.
    #[must_use]
    pub fn size(&self) -> usize {
        self.utf8.capacity()
            + self.utf16.capacity() * size_of::<u16>()
            + self.places.capacity() * size_of::<(u32, u32)>()
    }

    pub(super) fn add(&mut self, json: &str) -> u32 {
        let place = if self.surely_read && !json.is_ascii() {
            let start = self.utf16.len();
            widen(json, &mut self.utf16);
            (index(start), index(self.utf16.len() - start) | WIDE)
        } else {
            let start = self.utf8.len();
            self.utf8.push_str(json);
            (index(start), index(json.len()))
        };
        self.places.push(place);
        index(self.places.len() - 1)
    }
}

/// Adds a text as UTF-16: most of it is ASCII even where not all of it is.
pub(super) fn widen(text: &str, into: &mut Vec<u16>) {
    let mut rest = text;
    into.reserve(text.len());
    while let Some(block) = rest.as_bytes().first_chunk::<16>() {
        let mut read = block.len();
        if block.is_ascii() {
            into.extend_from_slice(&block.map(u16::from));
        } else {
            read = 0;
            for character in rest.chars() {
                into.extend_from_slice(character.encode_utf16(&mut [0; 2]));
                read += character.len_utf8();
                if read >= block.len() {
                    break;
                }
            }
        }
        rest = rest.get(read..).unwrap_or_default();
    }
    into.extend(rest.encode_utf16());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Payload, Payloads, widen};

    const TEXTS: [&str; 5] = [
        r#"{"a":1}"#,
        r#"{"ü":"中"}"#,
        "[]",
        "",
        r#"["😀 between plain ones"]"#,
    ];

    fn add(mut payloads: Payloads) -> Payloads {
        for (number, json) in (0..).zip(TEXTS) {
            assert_eq!(payloads.add(json), number);
        }
        payloads
    }

    #[test]
    fn they_stay_under_their_numbers() {
        let payloads = add(Payloads::default());
        for (number, json) in (0..).zip(TEXTS) {
            assert_eq!(payloads.get(number), Some(Payload::Utf8(json)));
        }
        assert_eq!(payloads.get(5), None);
        assert_eq!(payloads.get(u32::MAX), None);
    }

    #[test]
    fn those_that_will_be_read_are_as_v8_stores_them() {
        let payloads = add(Payloads::surely_read());
        for (number, json) in (0..).zip(TEXTS) {
            let units: Vec<u16> = json.encode_utf16().collect();
            let kept = if json.is_ascii() {
                Payload::Utf8(json)
            } else {
                Payload::Utf16(&units)
            };
            assert_eq!(payloads.get(number), Some(kept));
        }
        let next = Payloads::like(&payloads, |length| length);
        assert!(next.surely_read && next.get(0).is_none());
    }

    proptest! {
        #[test]
        fn a_text_is_the_same_in_utf_16(text in "[a-f0-9ü中😀]{0,60}|[a-z]{0,40}😀?[a-z]{0,40}") {
            let mut wide = vec![7];
            widen(&text, &mut wide);
            prop_assert_eq!(String::from_utf16(&wide[1..]).unwrap(), text);
        }
    }
}
