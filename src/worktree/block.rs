//! The marker block in the exclude file: text in, text out.
//!
//! What is not in the block is never changed. So that all of it can be had back byte for byte, the block remembers
//! in comment lines what putting it there took: a line break after a last line that had none, the file, its folder.

use super::pattern::{Part, line, read};

const START: &[u8] = b"# >>> fusion cursor-runtime >>>";
const END: &[u8] = b"# <<< fusion cursor-runtime <<<";
/// In front of how many bytes of text there were before the line break that the block took.
const BREAK_ADDED: &[u8] = b"# fusion: added a line break after byte ";
const FILE_MADE: &[u8] = b"# fusion: made this file";
const FOLDER_MADE: &[u8] = b"# fusion: made this folder";
/// In front of the top of a working tree that git's own lists do not name.
const WORKTREE: &[u8] = b"# worktree: ";

/// What did not exist before the block did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) file: bool,
    pub(super) folder: bool,
}

/// An exclude file's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Text {
    before: Vec<u8>,
    block: Option<Block>,
    after: Vec<u8>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Block {
    start: Vec<u8>,
    lines: Vec<Line>,
    end: Vec<u8>,
}

/// A line of the block, as it stands there, line break included.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    raw: Vec<u8>,
    means: Means,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Means {
    Rule {
        prefix: Vec<u8>,
        part: Part,
    },
    BreakAdded(usize),
    FileMade,
    FolderMade,
    Worktree(Vec<u8>),
    /// Somebody else's.
    Unknown,
}

impl Text {
    /// Several blocks become one at the place of the last, whose rules win over more of the others. A block
    /// without its end ends before the first line that no block has.
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut text = Self::default();
        let mut rest = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
        while let Some(raw) = rest.next() {
            if content(raw) == END {
                // Without its start, it is what is left of a block.
                continue;
            }
            if content(raw) != START {
                text.after.extend_from_slice(raw);
                continue;
            }
            let mut found = Block {
                start: raw.to_vec(),
                ..Block::default()
            };
            while let Some(raw) = rest.next_if(|raw| content(raw) != START) {
                if content(raw) == END {
                    found.end = raw.to_vec();
                    break;
                }
                found.lines.push(Line::new(raw));
            }
            let foreign = |line: &Line| line.means == Means::Unknown;
            let own = match found.lines.iter().position(foreign) {
                Some(first) if found.end.is_empty() => first,
                _ => found.lines.len(),
            };
            let following = found.lines.split_off(own).into_iter();
            let following = following.flat_map(|line| line.raw).collect();
            text.before.append(&mut text.after);
            text.after = following;
            let earlier = text.block.replace(found);
            if let (Some(earlier), Some(block)) = (earlier, &mut text.block) {
                block.lines.splice(0..0, earlier.lines);
            }
        }
        if text.block.is_none() {
            text.before.append(&mut text.after);
        }
        text
    }

    /// The text, with a block that is whole.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.before.clone();
        if let Some(block) = &self.block {
            let lines = block.lines.iter().map(|line| &line.raw);
            let end = if block.end.is_empty() { END } else { &block.end };
            bytes.extend(broken(&block.start, true));
            lines.for_each(|raw| bytes.extend(broken(raw, true)));
            bytes.extend(broken(end, block.end.is_empty() || !self.after.is_empty()));
            bytes.extend(&self.after);
        }
        bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.block.is_none() && self.before.is_empty() && self.after.is_empty()
    }

    /// The prefixes that have at least one line in the block, each once.
    pub(super) fn prefixes(&self) -> Vec<&[u8]> {
        let mut prefixes: Vec<&[u8]> = Vec::new();
        for line in self.lines() {
            if let Means::Rule { prefix, .. } = &line.means
                && !prefixes.contains(&prefix.as_slice())
            {
                prefixes.push(prefix);
            }
        }
        prefixes
    }

    /// The working trees that the block names.
    pub(super) fn worktrees(&self) -> impl Iterator<Item = &[u8]> {
        self.lines().filter_map(|line| match &line.means {
            Means::Worktree(top) => Some(top.as_slice()),
            _ => None,
        })
    }

    /// What did not exist before the block did, as the block says.
    pub(super) fn made(&self) -> Made {
        Made {
            file: self.lines().any(|line| line.means == Means::FileMade),
            folder: self.lines().any(|line| line.means == Means::FolderMade),
        }
    }

    /// Whether the block has all lines of this prefix.
    pub(super) fn has(&self, prefix: &[u8]) -> bool {
        Part::ALL.into_iter().all(|part| self.has_line(prefix, part))
    }

    fn has_line(&self, prefix: &[u8], part: Part) -> bool {
        self.lines().any(|line| {
            matches!(&line.means, Means::Rule { prefix: known, part: this } if known == prefix && *this == part)
        })
    }

    /// Put in what is missing of this prefix's lines, and of the name of its working tree where it has to be noted.
    pub(super) fn ensure(&mut self, prefix: &[u8], worktree: Option<&[u8]>, made: Made) {
        let mut missing: Vec<Line> = Vec::new();
        if self.block.is_none() {
            self.block = Some(Block {
                start: with_break(START),
                lines: Vec::new(),
                end: with_break(END),
            });
            if self.before.last().is_some_and(|last| *last != b'\n') {
                let length = self.before.len();
                missing.push(Line::of(&[BREAK_ADDED, length.to_string().as_bytes()].concat()));
                self.before.push(b'\n');
            }
            if made.file {
                missing.push(Line::of(FILE_MADE));
            }
            if made.folder {
                missing.push(Line::of(FOLDER_MADE));
            }
        }
        if let Some(top) = worktree
            && !self.worktrees().any(|known| known == top)
        {
            missing.push(Line::of(&[WORKTREE, &guarded(top)].concat()));
        }
        for part in Part::ALL {
            if !self.has_line(prefix, part) {
                missing.push(Line::of(&line(prefix, part)));
            }
        }
        if let Some(block) = &mut self.block {
            block.lines.extend(missing);
        }
    }

    /// Take out the lines of all prefixes, and the names of all working trees, that are not to be kept; and with
    /// the last prefix the block, except for what somebody else wrote into it.
    pub(super) fn retain(&mut self, prefix: impl Fn(&[u8]) -> bool, worktree: impl Fn(&[u8]) -> bool) {
        let Some(block) = &mut self.block else {
            return;
        };
        block.lines.retain(|line| match &line.means {
            Means::Rule { prefix: known, .. } => prefix(known),
            Means::Worktree(top) => worktree(top),
            _ => true,
        });
        if self.prefixes().is_empty() {
            self.take_out();
        }
    }

    fn take_out(&mut self) {
        let Some(block) = self.block.take() else {
            return;
        };
        let mut added = None;
        let mut following = Vec::new();
        for line in block.lines {
            match line.means {
                Means::BreakAdded(length) => added = added.or(Some(length)),
                Means::Unknown => following.extend(broken(&line.raw, true)),
                _ => {}
            }
        }
        following.append(&mut self.after);
        // Only where it still is the last byte, and ends the same line as it did.
        if following.is_empty() && added.is_some_and(|length| length + 1 == self.before.len()) {
            self.before.pop();
        }
        self.before.append(&mut following);
    }

    fn lines(&self) -> impl Iterator<Item = &Line> {
        self.block.iter().flat_map(|block| &block.lines)
    }
}

impl Line {
    fn new(raw: &[u8]) -> Self {
        Self {
            raw: raw.to_vec(),
            means: Means::of(content(raw)),
        }
    }

    fn of(content: &[u8]) -> Self {
        Self::new(&with_break(content))
    }
}

impl Means {
    fn of(content: &[u8]) -> Self {
        if let Some((prefix, part)) = read(content) {
            Self::Rule { prefix, part }
        } else if let Some(length) = content.strip_prefix(BREAK_ADDED).and_then(number) {
            Self::BreakAdded(length)
        } else if content == FILE_MADE {
            Self::FileMade
        } else if content == FOLDER_MADE {
            Self::FolderMade
        } else if let Some(top) = content.strip_prefix(WORKTREE) {
            Self::Worktree(unguarded(top))
        } else {
            Self::Unknown
        }
    }
}

/// A line without its line break.
fn content(raw: &[u8]) -> &[u8] {
    let line = raw.strip_suffix(b"\n").unwrap_or(raw);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn with_break(content: &[u8]) -> Vec<u8> {
    [content, b"\n"].concat()
}

/// A line that something follows has a line break, whatever an editor did to it.
fn broken(raw: &[u8], needed: bool) -> Vec<u8> {
    if needed && !raw.ends_with(b"\n") {
        with_break(raw)
    } else {
        raw.to_vec()
    }
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A path in one line.
fn guarded(path: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(path.len());
    for byte in path {
        match byte {
            b'\\' => line.extend(b"\\\\"),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            other => line.push(*other),
        }
    }
    line
}

fn unguarded(line: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(line.len());
    let mut bytes = line.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => path.extend(bytes.next().map(|escaped| match escaped {
                b'n' => b'\n',
                b'r' => b'\r',
                other => *other,
            })),
            other => path.push(*other),
        }
    }
    path
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;
