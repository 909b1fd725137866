//! The end of a stream that may be of any length.

/// Keeps the last bytes of what is pushed into it, at most its limit.
#[derive(Debug)]
pub struct Tail {
    bytes: Vec<u8>,
    limit: usize,
}

impl Tail {
    /// An empty tail that keeps at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    /// Append, and forget what is now too far from the end.
    pub fn push(&mut self, chunk: &[u8]) {
        let chunk = &chunk[chunk.len().saturating_sub(self.limit)..];
        // Twice the limit is let in before the front is cut, so that small chunks do not move it each time.
        if self.bytes.len() + chunk.len() > self.limit * 2 {
            let keep = self.limit.saturating_sub(chunk.len()).min(self.bytes.len());
            self.bytes.drain(..self.bytes.len() - keep);
        }
        self.bytes.extend_from_slice(chunk);
    }

    /// The kept end as text: invalid UTF-8 is replaced, and a character cut at the front is left out.
    #[must_use]
    pub fn text(&self) -> String {
        let mut kept = &self.bytes[self.bytes.len().saturating_sub(self.limit)..];
        if kept.len() < self.bytes.len() || self.bytes.len() == self.limit {
            let cut = kept
                .iter()
                .take(3)
                .take_while(|byte| (0x80..0xC0).contains(*byte))
                .count();
            kept = &kept[cut..];
        }
        String::from_utf8_lossy(kept).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_all_of_a_short_text() {
        let mut tail = Tail::new(10);
        tail.push(b"abc");
        tail.push(b"def");
        assert_eq!(tail.text(), "abcdef");
    }

    #[test]
    fn keeps_the_end_of_a_long_text_however_it_is_cut() {
        let text: Vec<u8> = (0..1000u32)
            .map(|n| b'a' + u8::try_from(n % 26).unwrap())
            .collect();
        for size in [1, 3, 7, 10, 11, 50, 1000] {
            let mut tail = Tail::new(10);
            for chunk in text.chunks(size) {
                tail.push(chunk);
                assert!(tail.bytes.len() <= 20, "bounded for chunks of {size}");
            }
            assert_eq!(tail.text().as_bytes(), &text[990..], "for chunks of {size}");
        }
    }

    #[test]
    fn a_character_cut_at_the_front_is_left_out() {
        let mut tail = Tail::new(4);
        tail.push("😀😀".as_bytes());
        assert_eq!(tail.text(), "😀");
        tail.push("ab".as_bytes());
        assert_eq!(tail.text(), "ab");
    }
}
