//! Chunks of bytes to lines.

use memchr::{memchr, memrchr};

/// How much of an over-long line is kept to show, in bytes.
const HEAD: usize = super::event::UNKNOWN_RAW_LIMIT;

/// A buffer with more room than this is given back once its line is done, in bytes.
const KEEP: usize = 256 * 1024;

const BOM: &[u8] = "\u{FEFF}".as_bytes();

/// A line without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// All of it, without a byte order mark.
    Whole(&'a [u8]),
    /// The same, of a line that is known to be UTF-8.
    Text(&'a str),
    /// It was longer than the limit.
    TooLong { head: &'a [u8], length: u64 },
}

/// Cuts a stream at every LF. CR LF counts as one line end; a lone CR, U+2028 and the like do not.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    /// The part of the current line that earlier chunks brought, or its head while it is skipped.
    buffer: Vec<u8>,
    skipping: Option<Skipped>,
    seen: u64,
}

/// A line that is being skipped up to its end.
#[derive(Debug, Clone, Copy)]
struct Skipped {
    length: u64,
    last: Option<u8>,
}

impl Lines {
    /// `limit`: the longest line that is kept, in bytes without its line end.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            buffer: Vec::new(),
            skipping: None,
            seen: 0,
        }
    }

    /// Lines that have ended so far.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    pub(super) fn push(&mut self, chunk: &[u8], mut line: impl FnMut(Line<'_>)) {
        let mut rest = chunk;
        if self.is_inside() {
            let Some((head, tail)) = cut(rest) else {
                return self.keep(rest);
            };
            self.keep(head);
            self.end(&mut line);
            rest = tail;
        }
        let whole = memrchr(b'\n', rest).map_or(0, |end| end + 1);
        let (mut whole, tail) = rest.split_at_checked(whole).unwrap_or((rest, &[]));
        // To check all of them at once costs far less than one by one.
        if let Ok(mut text) = simdutf8::basic::from_utf8(whole) {
            while let Some((head, tail)) = cut_text(text) {
                self.seen += 1;
                line(classify_text(head, self.limit));
                text = tail;
            }
        } else {
            while let Some((head, tail)) = cut(whole) {
                self.seen += 1;
                line(classify(head, self.limit));
                whole = tail;
            }
        }
        self.keep(tail);
    }

    fn is_inside(&self) -> bool {
        !self.buffer.is_empty() || self.skipping.is_some()
    }

    /// The stream is over: what is left is a line too.
    pub(super) fn finish(&mut self, mut line: impl FnMut(Line<'_>)) {
        if self.is_inside() {
            self.end(&mut line);
        }
    }

    fn keep(&mut self, part: &[u8]) {
        let Some(last) = part.last() else { return };
        if let Some(skipped) = &mut self.skipping {
            skipped.length += part.len() as u64;
            skipped.last = Some(*last);
            let room = HEAD.saturating_sub(self.buffer.len()).min(part.len());
            self.buffer
                .extend_from_slice(part.get(..room).unwrap_or_default());
            return;
        }
        let length = self.buffer.len().saturating_add(part.len());
        // One byte more than the limit may still be a CR that belongs to the line end.
        let longest = self.limit.saturating_add(1);
        if length > longest {
            let room = HEAD.saturating_sub(self.buffer.len()).min(part.len());
            self.buffer.truncate(HEAD);
            self.buffer
                .extend_from_slice(part.get(..room).unwrap_or_default());
            self.give_back();
            self.skipping = Some(Skipped {
                length: length as u64,
                last: Some(*last),
            });
            return;
        }
        if length > self.buffer.capacity() {
            let wanted = self.buffer.capacity().saturating_mul(2).max(length).min(longest);
            self.buffer
                .reserve_exact(wanted.saturating_sub(self.buffer.len()));
        }
        self.buffer.extend_from_slice(part);
    }

    fn end(&mut self, line: &mut impl FnMut(Line<'_>)) {
        self.seen += 1;
        match self.skipping.take() {
            None => line(classify(&self.buffer, self.limit)),
            Some(skipped) => {
                let length = skipped.length - u64::from(skipped.last == Some(b'\r'));
                // A short one may be here with the CR of its line end.
                let head = self.buffer.len().min(usize::try_from(length).unwrap_or(HEAD));
                line(Line::TooLong {
                    head: self.buffer.get(..head).unwrap_or_default(),
                    length,
                });
            }
        }
        self.buffer.clear();
        self.give_back();
    }

    fn give_back(&mut self) {
        if self.buffer.capacity() > KEEP {
            self.buffer.shrink_to(HEAD);
        }
    }
}

/// What comes before the first LF and what comes behind it.
fn cut(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr(b'\n', bytes)?;
    Some((bytes.get(..at)?, bytes.get(at + 1..)?))
}

fn cut_text(text: &str) -> Option<(&str, &str)> {
    let at = memchr(b'\n', text.as_bytes())?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

fn classify_text(line: &str, limit: usize) -> Line<'_> {
    let text = line.strip_suffix('\r').unwrap_or(line);
    if text.len() > limit {
        return classify(line.as_bytes(), limit);
    }
    Line::Text(text.strip_prefix('\u{FEFF}').unwrap_or(text))
}

pub(super) fn classify(line: &[u8], limit: usize) -> Line<'_> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > limit {
        return Line::TooLong {
            head: line.get(..HEAD).unwrap_or(line),
            length: line.len() as u64,
        };
    }
    Line::Whole(line.strip_prefix(BOM).unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use super::{HEAD, KEEP, Line, Lines};

    const MIB: usize = 1 << 20;

    fn push(lines: &mut Lines, bytes: &[u8]) {
        for chunk in bytes.chunks(65_536) {
            lines.push(chunk, |_| {});
        }
    }

    #[test]
    fn a_line_that_is_whole_in_its_chunk_is_not_copied() {
        let mut lines = Lines::new(MIB);
        let chunk = b"one\ntwo\n";
        lines.push(chunk, |_| {});
        assert_eq!(lines.buffer.capacity(), 0);
        lines.push(b"three", |_| {});
        assert_eq!(lines.buffer.len(), 5);
    }

    #[test]
    fn the_memory_of_a_long_line_is_given_back() {
        let mut lines = Lines::new(32 * MIB);
        push(&mut lines, &vec![b'x'; 20 * MIB]);
        assert!(lines.buffer.capacity() >= 20 * MIB);
        push(&mut lines, b"\nshort");
        assert!(lines.buffer.capacity() <= KEEP);
    }

    #[test]
    fn one_line_that_is_no_text_changes_nothing_for_those_around_it() {
        let good = b"one\r\n\xEF\xBB\xBFtwo\n\n1234567\n12345678\n";
        let bad = b"b\xFFd\n";
        let read = |stream: &[u8]| {
            let mut read = Vec::new();
            Lines::new(6).push(stream, |line| {
                read.push(match line {
                    Line::Whole(bytes) => bytes.to_vec(),
                    Line::Text(text) => text.as_bytes().to_vec(),
                    Line::TooLong { head, length } => format!("{length} {head:?}").into_bytes(),
                });
            });
            read
        };
        let alone = read(good);
        assert_eq!(alone.len(), 5);
        assert_eq!(alone[1], b"two");
        assert_eq!(
            read(&[good.as_slice(), bad].concat()),
            [alone.clone(), vec![b"b\xFFd".to_vec()]].concat()
        );
    }

    #[test]
    fn memory_stays_under_the_limit_whatever_comes() {
        let mut lines = Lines::new(MIB);
        for _ in 0..64 {
            push(&mut lines, &vec![b'x'; 65_536]);
            assert!(lines.buffer.capacity() <= MIB + 1);
        }
        assert!(lines.buffer.capacity() <= KEEP);
        assert_eq!(lines.buffer.len(), HEAD);
    }
}
