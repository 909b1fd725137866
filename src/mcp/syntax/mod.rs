//! A scanner over JSON text, with or without comments, that finds members and skips values without building
//! anything: what stands where is all that an edit needs.
//!
//! It takes what `JSON.parse` takes and refuses what `JSON.parse` refuses, except for comments and trailing commas
//! where they are allowed. It never recurses, so no nesting can exhaust the stack. A lone surrogate escape is just
//! six bytes: a parser that decodes strings would refuse a text that Cursor reads.

mod tokens;

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

use super::spell::decoded;
use tokens::newline_len;

/// What is taken besides JSON, and how deep.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    /// Comments and trailing commas.
    extras: bool,
    /// How many objects and arrays may be open at once.
    depth: usize,
}

/// A config. Deeper nesting than this is nobody's config, and the parsers that recurse refuse it too.
pub(super) const CONFIG: Dialect = Dialect {
    extras: true,
    depth: 512,
};

/// The state file.
pub(super) const STATE: Dialect = Dialect {
    extras: false,
    depth: usize::MAX,
};

/// Where the text stops making sense, in bytes, and what is wrong there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) what: &'static str,
}

pub(super) type Scan<T> = Result<T, Broken>;

/// An object, by where its parts stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object<'a> {
    /// Of the brace.
    pub(super) open: usize,
    pub(super) members: Vec<Member<'a>>,
    /// Of the brace.
    pub(super) close: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member<'a> {
    /// Decoded.
    pub(super) key: Cow<'a, str>,
    /// From the key's first quote to the value's end.
    pub(super) whole: Range<usize>,
    /// Of the value's first byte.
    pub(super) value: usize,
    /// The comma behind it.
    pub(super) comma: Option<usize>,
}

impl Member<'_> {
    pub(super) fn value<'t>(&self, text: &'t str) -> &'t str {
        &text[self.value..self.whole.end]
    }
}

/// What may stand between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trivia {
    /// Spaces and tabs.
    Blank,
    /// One line's end: CRLF, LF or CR.
    Newline,
    /// Without the line's end.
    LineComment,
    BlockComment,
}

/// What may come next in a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
}

/// The whole text as one object, or `None` where it holds nothing but trivia. A text of another kind of value is
/// `Err(None)`.
pub(super) fn root(text: &str, dialect: Dialect) -> Result<Option<Object<'_>>, Option<Broken>> {
    let mut scanner = Scanner { text, at: 0, dialect };
    scanner.skip_bom();
    scanner.skip_trivia().map_err(Some)?;
    let object = match scanner.peek() {
        None => return Ok(None),
        Some(b'{') => Some(scanner.object().map_err(Some)?),
        Some(_) => {
            scanner.value().map_err(Some)?;
            None
        }
    };
    scanner.skip_trivia().map_err(Some)?;
    if scanner.peek().is_some() {
        return Err(Some(scanner.broken("nothing may follow the value")));
    }
    object.map(Some).ok_or(None)
}

/// The object that starts at `at`, in a text that was scanned before; `None` where another value starts there.
pub(super) fn object_at(text: &str, at: usize, dialect: Dialect) -> Option<Object<'_>> {
    let mut scanner = Scanner { text, at, dialect };
    (scanner.peek() == Some(b'{'))
        .then(|| scanner.object().ok())
        .flatten()
}

/// The items of the array that starts at `at`, in a text that was scanned before.
pub(super) fn items_at(text: &str, at: usize, dialect: Dialect) -> Option<Vec<&str>> {
    let mut scanner = Scanner { text, at, dialect };
    if scanner.peek() != Some(b'[') {
        return None;
    }
    scanner.at += 1;
    let mut items = Vec::new();
    loop {
        scanner.skip_trivia().ok()?;
        match scanner.peek()? {
            b']' => return Some(items),
            b',' => scanner.at += 1,
            _ => items.push(&text[scanner.value().ok()?]),
        }
    }
}

/// The pieces of trivia from `at` on, with their places, up to the next token.
pub(super) fn trivia(text: &str, at: usize) -> impl Iterator<Item = (Trivia, Range<usize>)> {
    let mut scanner = Scanner {
        text,
        at,
        dialect: CONFIG,
    };
    std::iter::from_fn(move || {
        let start = scanner.at;
        let kind = scanner.trivia().ok()??;
        Some((kind, start..scanner.at))
    })
}

/// Where the first line's end in it is, if there is one.
pub(super) fn newline(text: &str) -> Option<Range<usize>> {
    let start = memchr2(b'\n', b'\r', text.as_bytes())?;
    Some(start..start + newline_len(&text.as_bytes()[start..]))
}

/// Line and column of a byte, from 1; the column counts characters.
pub(super) fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let (mut line, mut start) = (1, 0);
    while let Some(end) = newline(&before[start..]) {
        line += 1;
        start += end.end;
    }
    let column = before[start..].trim_start_matches('\u{feff}').chars().count() + 1;
    (line, column)
}

#[derive(Debug)]
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn broken(&self, what: &'static str) -> Broken {
        Broken { at: self.at, what }
    }

    fn skip_bom(&mut self) {
        if self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
        }
    }

    /// Reads the object that starts here.
    fn object(&mut self) -> Scan<Object<'a>> {
        let open = self.at;
        self.at += 1;
        let mut members: Vec<Member<'a>> = Vec::new();
        loop {
            self.skip_trivia()?;
            match self.peek() {
                Some(b'}') => {
                    let close = self.at;
                    let comma = members.last().and_then(|last| last.comma);
                    if let (Some(at), false) = (comma, self.dialect.extras) {
                        let what = "a comma may not stand before the end of an object";
                        return Err(Broken { at, what });
                    }
                    self.at += 1;
                    return Ok(Object { open, members, close });
                }
                Some(b'"') if members.last().is_none_or(|last| last.comma.is_some()) => {
                    members.push(self.member()?);
                }
                Some(b',') if members.last().is_some_and(|last| last.comma.is_none()) => {
                    let at = self.at;
                    if let Some(last) = members.last_mut() {
                        last.comma = Some(at);
                    }
                    self.at += 1;
                }
                _ => {
                    let comma = members.last().is_some_and(|last| last.comma.is_none());
                    return Err(self.unexpected(if comma { Next::CommaOrEnd } else { Next::Key }));
                }
            }
        }
    }

    /// Reads a key, the colon and the value.
    fn member(&mut self) -> Scan<Member<'a>> {
        let start = self.at;
        self.string()?;
        let key = decoded(&self.text[start + 1..self.at - 1]);
        self.colon()?;
        self.skip_trivia()?;
        let value = self.value()?;
        Ok(Member {
            key,
            whole: start..value.end,
            value: value.start,
            comma: None,
        })
    }

    fn colon(&mut self) -> Scan<()> {
        self.skip_trivia()?;
        if self.peek() != Some(b':') {
            return Err(self.broken("a colon is missing"));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips the value that starts here.
    fn value(&mut self) -> Scan<Range<usize>> {
        let start = self.at;
        let mut open: Vec<u8> = Vec::new();
        let mut next = Next::Value;
        loop {
            self.skip_trivia()?;
            match (self.peek(), next) {
                (Some(byte @ (b'{' | b'[')), Next::Value | Next::ValueOrEnd) => {
                    // The members that `object` reads are one level down already.
                    if open.len() + 2 >= self.dialect.depth {
                        return Err(self.broken("objects and arrays are nested too deep"));
                    }
                    self.at += 1;
                    open.push(byte);
                    next = if byte == b'{' {
                        Next::KeyOrEnd
                    } else {
                        Next::ValueOrEnd
                    };
                    continue;
                }
                (Some(b'"'), Next::Key | Next::KeyOrEnd) => {
                    self.string()?;
                    self.colon()?;
                    next = Next::Value;
                    continue;
                }
                (Some(b','), Next::CommaOrEnd) => {
                    self.at += 1;
                    next = match (open.last(), self.dialect.extras) {
                        (Some(b'{'), true) => Next::KeyOrEnd,
                        (Some(b'{'), false) => Next::Key,
                        (_, true) => Next::ValueOrEnd,
                        (_, false) => Next::Value,
                    };
                    continue;
                }
                (Some(b'}'), Next::KeyOrEnd | Next::CommaOrEnd) if open.last() == Some(&b'{') => {
                    self.at += 1;
                    open.pop();
                }
                (Some(b']'), Next::ValueOrEnd | Next::CommaOrEnd) if open.last() == Some(&b'[') => {
                    self.at += 1;
                    open.pop();
                }
                (Some(b'"'), Next::Value | Next::ValueOrEnd) => self.string()?,
                (Some(_), Next::Value | Next::ValueOrEnd) => self.word()?,
                _ => return Err(self.unexpected(next)),
            }
            if open.is_empty() {
                return Ok(start..self.at);
            }
            next = Next::CommaOrEnd;
        }
    }

    fn unexpected(&self, next: Next) -> Broken {
        self.broken(match (self.peek(), next) {
            (None, _) => "the text ends too early",
            (_, Next::Value | Next::ValueOrEnd) => "a value is missing",
            (_, Next::Key | Next::KeyOrEnd) => "a key in double quotes is missing",
            (_, Next::CommaOrEnd) => "a comma or the closing bracket is missing",
        })
    }
}
