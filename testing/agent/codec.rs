//! Small text forms: hex, base64, ids that look like UUIDs, JSON strings.

use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Standard base64 with padding.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut word = 0_u32;
        for i in 0..3 {
            word = (word << 8) | u32::from(chunk.get(i).copied().unwrap_or(0));
        }
        for i in 0..4 {
            if i <= chunk.len() {
                let six = (word >> (18 - 6 * i)) & 63;
                out.push(char::from(BASE64[six as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

/// The bytes of standard base64 text, with or without padding. `None` where it is not base64.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    if text.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut word, mut bits) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let six = BASE64.iter().position(|&b| b == byte)?;
        word = (word << 6) | u32::try_from(six).ok()?;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push(u8::try_from((word >> bits) & 0xff).ok()?);
        }
    }
    Some(out)
}

/// The bytes of hex text; blanks between the digits are allowed. `None` where it is not hex.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| !c.is_ascii_whitespace())
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect();
    let digits = digits?;
    if digits.len() % 2 != 0 {
        return None;
    }
    Some(digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

/// A fresh random id in the form of a version 4 UUID.
pub(crate) fn uuid() -> String {
    let half = || RandomState::new().hash_one(std::process::id());
    let (high, low) = (half(), half());
    let mut hex = String::with_capacity(32);
    // Writing to a String does not fail.
    let _ = write!(hex, "{high:016x}{low:016x}");
    let variant = ['8', '9', 'a', 'b'][(low & 3) as usize];
    format!(
        "{}-{}-4{}-{variant}{}-{}",
        &hex[..8],
        &hex[8..12],
        &hex[13..16],
        &hex[17..20],
        &hex[20..]
    )
}

/// The text as a JSON string, quotes included.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_goes_both_ways() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg=="),
            (b"fo", "Zm8="),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg=="),
            (&[0xff, 0xfe, 0x00, 0x80], "//4AgA=="),
        ] {
            assert_eq!(to_base64(bytes), text);
            assert_eq!(from_base64(text).as_deref(), Some(bytes));
        }
        assert_eq!(from_base64("Zm9vY"), None);
        assert_eq!(from_base64("Zm-v"), None);
    }

    #[test]
    fn hex_takes_blanks_and_refuses_the_rest() {
        assert_eq!(from_hex("ff 0A\n00"), Some(vec![0xff, 0x0a, 0x00]));
        assert_eq!(from_hex("f"), None);
        assert_eq!(from_hex("zz"), None);
    }

    #[test]
    fn ids_look_like_uuids_and_differ() {
        let id = uuid();
        assert_eq!(id.len(), 36);
        assert_eq!(&id[14..15], "4");
        assert!(id.chars().all(|c| c == '-' || c.is_ascii_hexdigit()));
        assert_ne!(id, uuid());
    }
}
