//! A scanner over JSON text that finds members and skips values in one pass, without building anything.
//!
//! It is as strict as `JSON.parse` about structure and as lenient as it can be about the rest: raw control
//! characters, unknown escapes, `NaN` and `Infinity` pass, and numbers of any size. It never recurses, so nesting has no
//! limit, and it never compares what it finds with Unicode: a lone surrogate escape is just six bytes.

use std::borrow::Cow;

use super::quoted::quoted;
use super::value::{Str, Value};

/// The text is no JSON, or ends too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken;

pub(super) type Scan<T> = Result<T, Broken>;

/// Where a scan of one text has got to.
#[derive(Debug)]
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// Raw control characters met inside strings so far.
    controls: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            controls: 0,
        }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// The next byte that is no white space, without going past it.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if !is_space(byte) {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// Reads an object, and hands each key to `member`, which must read exactly its value.
    pub(super) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &Cow<'a, str>) -> Scan<()>,
    ) -> Scan<Value<'a>> {
        self.span(|scanner| {
            scanner.take(b'{')?;
            if scanner.peek() == Some(b'}') {
                return scanner.take(b'}');
            }
            loop {
                let key = scanner.key()?;
                member(scanner, &key.text())?;
                match scanner.peek().ok_or(Broken)? {
                    b',' => scanner.at += 1,
                    b'}' => return scanner.take(b'}'),
                    _ => return Err(Broken),
                }
            }
        })
    }

    /// Reads a key and the colon behind it.
    #[inline]
    pub(super) fn key(&mut self) -> Scan<Str<'a>> {
        self.take(b'"')?;
        let key = self.string()?;
        self.take(b':')?;
        Ok(key)
    }

    /// Reads an array, and lets `item` read each of its values.
    pub(super) fn array(&mut self, mut item: impl FnMut(&mut Self) -> Scan<()>) -> Scan<Value<'a>> {
        self.span(|scanner| {
            scanner.take(b'[')?;
            if scanner.peek() == Some(b']') {
                return scanner.take(b']');
            }
            loop {
                item(scanner)?;
                match scanner.peek().ok_or(Broken)? {
                    b',' => scanner.at += 1,
                    b']' => return scanner.take(b']'),
                    _ => return Err(Broken),
                }
            }
        })
    }

    /// Skips one value of any kind.
    pub(super) fn value(&mut self) -> Scan<Value<'a>> {
        match self.peek().ok_or(Broken)? {
            b'"' => {
                let (start, controls) = (self.at, self.controls);
                self.at += 1;
                let string = self.string()?;
                let raw = self.text.get(start..self.at).unwrap_or_default();
                Ok(Value {
                    raw,
                    escaped: string.escaped,
                    controls: self.controls != controls,
                })
            }
            b'{' | b'[' => self.span(Self::container),
            _ => self.span(Self::scalar),
        }
    }

    fn span(&mut self, read: impl FnOnce(&mut Self) -> Scan<()>) -> Scan<Value<'a>> {
        self.peek();
        let (start, controls) = (self.at, self.controls);
        read(self)?;
        let raw = self.text.get(start..self.at).unwrap_or_default();
        Ok(Value {
            raw,
            escaped: false,
            controls: self.controls != controls,
        })
    }

    #[inline]
    pub(super) fn take(&mut self, wanted: u8) -> Scan<()> {
        if self.peek() == Some(wanted) {
            self.at += 1;
            return Ok(());
        }
        Err(Broken)
    }

    /// Reads the rest of a string; its opening quote has been taken.
    #[inline]
    fn string(&mut self) -> Scan<Str<'a>> {
        let quoted = quoted(self.text.as_bytes(), self.at).ok_or(Broken)?;
        let raw = self.text.get(self.at..quoted.end).unwrap_or_default();
        self.at = quoted.end + 1;
        self.controls += usize::from(quoted.controls);
        Ok(Str {
            raw,
            escaped: quoted.escaped,
        })
    }

    fn scalar(&mut self) -> Scan<()> {
        const WORDS: [&[u8]; 6] = [b"true", b"false", b"null", b"NaN", b"Infinity", b"-Infinity"];
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let word = || {
            WORDS
                .iter()
                .find(|word| rest.starts_with(word))
                .map(|word| word.len())
        };
        self.at += number(rest).or_else(word).ok_or(Broken)?;
        Ok(())
    }

    fn container(&mut self) -> Scan<()> {
        let bytes = self.text.as_bytes();
        let mut nesting = Nesting::default();
        let mut expect = Expect::Value;
        while let Some(&byte) = bytes.get(self.at) {
            expect = match (byte, expect) {
                (b'"', Expect::Key | Expect::KeyOrEnd) => {
                    self.at += 1;
                    self.string()?;
                    Expect::Colon
                }
                (b'"', Expect::Value | Expect::ValueOrEnd) => {
                    self.at += 1;
                    self.string()?;
                    Expect::CommaOrEnd
                }
                (b':', Expect::Colon) => {
                    self.at += 1;
                    Expect::Value
                }
                (b',', Expect::CommaOrEnd) => {
                    self.at += 1;
                    if nesting.in_object() {
                        Expect::Key
                    } else {
                        Expect::Value
                    }
                }
                (b'{', Expect::Value | Expect::ValueOrEnd) => {
                    self.at += 1;
                    nesting.enter(true);
                    Expect::KeyOrEnd
                }
                (b'[', Expect::Value | Expect::ValueOrEnd) => {
                    self.at += 1;
                    nesting.enter(false);
                    Expect::ValueOrEnd
                }
                (b'}', Expect::KeyOrEnd | Expect::CommaOrEnd) if nesting.in_object() => {
                    self.at += 1;
                    if nesting.leave() {
                        return Ok(());
                    }
                    Expect::CommaOrEnd
                }
                (b']', Expect::ValueOrEnd | Expect::CommaOrEnd) if !nesting.in_object() => {
                    self.at += 1;
                    if nesting.leave() {
                        return Ok(());
                    }
                    Expect::CommaOrEnd
                }
                (b' ' | b'\t' | b'\r' | b'\n', _) => {
                    self.at += 1;
                    expect
                }
                (_, Expect::Value | Expect::ValueOrEnd) => {
                    self.scalar()?;
                    Expect::CommaOrEnd
                }
                _ => return Err(Broken),
            };
        }
        Err(Broken)
    }
}

/// What may come next inside a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Key,
    KeyOrEnd,
    Colon,
    Value,
    ValueOrEnd,
    CommaOrEnd,
}

/// One bit for each open container: set for an object. Only past 64 levels it needs memory of its own.
#[derive(Debug, Default)]
struct Nesting {
    top: u64,
    depth: usize,
    below: Vec<u64>,
}

impl Nesting {
    fn in_object(&self) -> bool {
        self.top & 1 == 1
    }

    fn enter(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.below.push(self.top);
        }
        self.top = self.top << 1 | u64::from(object);
        self.depth += 1;
    }

    /// True if that was the outermost.
    fn leave(&mut self) -> bool {
        self.depth = self.depth.saturating_sub(1);
        self.top >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.top = self.below.pop().unwrap_or_default();
        }
        self.depth == 0
    }
}

/// How long the number is that `bytes` begin with. Strict, for a comma that is lost must show.
pub(super) fn number(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    at = if bytes.get(at) == Some(&b'0') {
        at + 1
    } else {
        digits(at)?
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(at + 1 + sign)?;
    }
    Some(at)
}

/// White space of JSON, and the form feeds and vertical tabs that logs put around it.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}
