//! Where a JSON string ends.

use wide::{u8x16, u8x64};

/// What is looked at first: most strings are keys, ids and a few words.
const SHORT: usize = 16;
/// And then so much at once.
const BLOCK: usize = 64;
/// Every other bit, from the second.
const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;

/// What a look for the end of a string has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quoted {
    /// The index of the closing quote.
    pub(super) end: usize,
    /// There is a backslash in it.
    pub(super) escaped: bool,
    /// There is a raw control character in it.
    pub(super) controls: bool,
}

/// Looks for the quote that closes the string whose inside begins at `from`.
#[inline]
pub(super) fn quoted(bytes: &[u8], from: usize) -> Option<Quoted> {
    short(bytes, from).or_else(|| long(bytes, from))
}

/// A string of a few characters without anything special in it.
#[inline]
fn short(bytes: &[u8], from: usize) -> Option<Quoted> {
    let bytes = u8x16::new(*bytes.get(from..)?.first_chunk::<SHORT>()?);
    let quotes = bytes.simd_eq(u8x16::splat(b'"')).to_bitmask();
    let special = bytes.simd_eq(u8x16::splat(b'\\')) | bytes.simd_le(u8x16::splat(0x1f));
    let is_plain = quotes != 0 && u64::from(special.to_bitmask()) & before(quotes.into()) == 0;
    is_plain.then_some(Quoted {
        end: from + quotes.trailing_zeros() as usize,
        escaped: false,
        controls: false,
    })
}

/// Any string, without a branch for each escape: what tools print is full of them, and no processor guesses where
/// they are.
fn long(bytes: &[u8], from: usize) -> Option<Quoted> {
    let mut scan = Scan::default();
    let mut at = from;
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
        if let Some(quote) = scan.block(*block) {
            return Some(scan.quoted(at + quote));
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..)?;
    let mut block = [b' '; BLOCK];
    block.get_mut(..rest.len())?.copy_from_slice(rest);
    let quote = scan.block(block)?;
    Some(scan.quoted(at + quote))
}

/// The bits below the lowest that is set; all, where none is.
#[inline]
fn before(mask: u64) -> u64 {
    mask.wrapping_sub(1) & !mask
}

/// What the blocks before said; each a mask with a bit for each byte.
#[derive(Default)]
struct Scan {
    /// 1 where the last byte was a backslash that escapes the next.
    carry: u64,
    backslashes: u64,
    controls: u64,
}

impl Scan {
    /// Reads one more block; the index in it of the quote that ends the string.
    #[inline]
    fn block(&mut self, block: [u8; BLOCK]) -> Option<usize> {
        let bytes = u8x64::new(block);
        let mask = |byte| bytes.simd_eq(u8x64::splat(byte)).to_bitmask();
        let backslashes = mask(b'\\');
        let controls = bytes.simd_le(u8x64::splat(0x1f)).to_bitmask();
        let quotes = mask(b'"') & !self.escaped(backslashes);
        // Only what comes before the quote counts.
        let inside = before(quotes);
        self.backslashes |= backslashes & inside;
        self.controls |= controls & inside;
        (quotes != 0).then(|| quotes.trailing_zeros() as usize)
    }

    /// Which bytes are escaped: those behind a run of backslashes of odd length. As simdjson finds them, all at
    /// once: a subtraction carries through each run.
    #[inline]
    fn escaped(&mut self, backslashes: u64) -> u64 {
        let starts = backslashes & !self.carry;
        let runs = ((starts << 1 | ODD).wrapping_sub(starts)) ^ ODD;
        let escaped = runs ^ (backslashes | self.carry);
        self.carry = (runs & backslashes) >> (BLOCK - 1) & 1;
        escaped
    }

    #[inline]
    fn quoted(&self, end: usize) -> Quoted {
        Quoted {
            end,
            escaped: self.backslashes != 0,
            controls: self.controls != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK, Quoted, quoted};

    /// Byte by byte.
    fn slowly(bytes: &[u8], from: usize) -> Option<Quoted> {
        let (mut escaped, mut controls, mut at) = (false, false, from);
        loop {
            match *bytes.get(at)? {
                b'"' => {
                    return Some(Quoted {
                        end: at,
                        escaped,
                        controls,
                    });
                }
                b'\\' => {
                    escaped = true;
                    controls |= *bytes.get(at + 1)? < 0x20;
                    at += 2;
                }
                byte => {
                    controls |= byte < 0x20;
                    at += 1;
                }
            }
        }
    }

    #[test]
    fn runs_of_backslashes_end_where_they_end_at_any_place_in_a_block() {
        for before in 0..2 * BLOCK {
            for run in 0..2 * BLOCK + 2 {
                let text = format!("{}{}\"x\"", "a".repeat(before), "\\".repeat(run));
                let found = quoted(text.as_bytes(), 0).map(|found| found.end);
                let end = before + run + if run % 2 == 0 { 0 } else { 2 };
                assert_eq!(found, Some(end), "{text}");
            }
        }
    }

    #[test]
    fn what_comes_behind_the_quote_does_not_count() {
        let found = quoted(b"ab\"\n\\", 0);
        assert_eq!(
            found,
            Some(Quoted {
                end: 2,
                escaped: false,
                controls: false
            })
        );
    }

    #[test]
    fn a_string_that_does_not_end_is_none() {
        for text in ["", "a", "\\\"", "0123456789abcde\\\"", "0123456789abcdef\\\""] {
            assert_eq!(quoted(text.as_bytes(), 0), None, "{text}");
        }
        assert_eq!(quoted(b"ab", 5), None);
    }

    proptest! {
        #[test]
        fn it_is_what_byte_by_byte_says(text in "[a\\\\\"\n\u{1f}é中]{0,80}", from in 0..20_usize) {
            prop_assert_eq!(quoted(text.as_bytes(), from), slowly(text.as_bytes(), from));
        }
    }
}
