//! Texts compared without keeping them.

use std::hash::{BuildHasher, DefaultHasher, Hasher, RandomState};

/// The key of one stream's fingerprints, so that no text can be made to look like another.
#[derive(Debug, Default)]
pub(super) struct Hashing(RandomState);

/// Length and hash of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fingerprint {
    length: usize,
    hash: u64,
}

impl Fingerprint {
    /// Of the text, in bytes.
    pub(super) fn length(&self) -> usize {
        self.length
    }
}

/// The fingerprint of a text that still grows.
#[derive(Debug, Clone)]
pub(super) struct Running {
    hasher: DefaultHasher,
    /// The bytes since the last whole word; the first `length % 8` of them count.
    tail: [u8; 8],
    length: usize,
}

impl Hashing {
    pub(super) fn start(&self) -> Running {
        Running {
            hasher: self.0.build_hasher(),
            tail: [0; 8],
            length: 0,
        }
    }

    pub(super) fn of(&self, text: &str) -> Fingerprint {
        let mut running = self.start();
        running.push(text);
        running.fingerprint()
    }
}

impl Running {
    /// A hasher may tell "ab" from "a" and then "b", so it is given words of eight bytes, wherever the text
    /// was cut.
    pub(super) fn push(&mut self, text: &str) {
        let mut bytes = text.as_bytes();
        let filled = self.length % 8;
        self.length += bytes.len();
        if filled > 0 {
            let (room, rest) = bytes.split_at(bytes.len().min(8 - filled));
            for (slot, byte) in self.tail.iter_mut().skip(filled).zip(room) {
                *slot = *byte;
            }
            if filled + room.len() < 8 {
                return;
            }
            self.hasher.write_u64(u64::from_le_bytes(self.tail));
            bytes = rest;
        }
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.hasher.write_u64(u64::from_le_bytes(*word));
        }
        for (slot, byte) in self.tail.iter_mut().zip(rest) {
            *slot = *byte;
        }
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        let mut hasher = self.hasher.clone();
        let mut tail = [0; 8];
        for (slot, byte) in tail.iter_mut().zip(self.tail.iter().take(self.length % 8)) {
            *slot = *byte;
        }
        hasher.write_u64(u64::from_le_bytes(tail));
        Fingerprint {
            length: self.length,
            hash: hasher.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Hashing;

    #[test]
    fn the_same_text_has_the_same_fingerprint_however_it_was_cut() {
        let hashing = Hashing::default();
        let text = "zero one two three four five six";
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let mut running = hashing.start();
                running.push(&text[..first]);
                running.push(&text[first..second]);
                running.push(&text[second..]);
                assert_eq!(running.fingerprint(), hashing.of(text));
            }
        }
    }

    #[test]
    fn another_text_has_another_fingerprint() {
        let hashing = Hashing::default();
        assert_ne!(hashing.of("ab"), hashing.of("cd"));
        assert_ne!(hashing.of("a"), hashing.of("a\0"));
        assert_ne!(hashing.of(""), hashing.of("\0"));
    }
}
