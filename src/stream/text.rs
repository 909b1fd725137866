//! Which text is new: nothing lost, nothing given twice, no half of a surrogate pair.
//!
//! With `--stream-partial-output` the CLI writes deltas and then the same text again as one record, before a
//! tool call and at the end. Without it every record is new. The records themselves do not say which it
//! is, so a record is held against the deltas that came before it.

use std::borrow::Cow;

use super::event::Event;
use super::fingerprint::{Fingerprint, Hashing, Running};
use super::unescape::{Piece, join_halves};

/// How an assistant record was marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// `timestamp_ms` alone: a delta.
    Delta,
    /// `model_call_id`: a message before a tool call.
    Call,
    /// Neither: a message at the end.
    Final,
}

/// The two kinds of text that come in blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    Assistant,
    Thinking,
}

/// What a record said, short: its halves, and its text.
type Said = (Option<u16>, Fingerprint, Option<u16>);

/// What a record that is no delta adds to what was given already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum New {
    Nothing,
    /// It goes on where the deltas stopped: what follows this many bytes.
    After(usize),
    All,
}

type Sink<'s> = dyn FnMut(Event<'_>) + 's;

/// Lets new text through, once.
#[derive(Debug)]
pub(super) struct TextGate {
    /// The caller asked for partial output, so every record without the mark of a delta is a repeat.
    partial: bool,
    /// The deltas of a segment are remembered up to this many bytes: the record that repeats them is one
    /// line, and so cannot be longer than a line may be.
    limit: usize,
    hashing: Hashing,
    /// The deltas since the segment began.
    segment: String,
    /// Up to where a record has repeated them already.
    repeated: usize,
    /// All text of the turn.
    turn: Running,
    turn_has_deltas: bool,
    /// The last record of this segment that was no delta: its mark, and what it said.
    last: Option<(Mark, Said)>,
    /// A high half that waits for its low one.
    half: Option<(Block, u16)>,
}

impl TextGate {
    pub(super) fn new(partial: bool, limit: usize) -> Self {
        let hashing = Hashing::default();
        let turn = hashing.start();
        Self {
            partial,
            limit,
            hashing,
            segment: String::new(),
            repeated: 0,
            turn,
            turn_has_deltas: false,
            last: None,
            half: None,
        }
    }

    /// A prompt, a result or a new session: what was said before is no longer compared with.
    pub(super) fn new_turn(&mut self, sink: &mut Sink<'_>) {
        self.new_segment(sink);
        self.turn = self.hashing.start();
        self.turn_has_deltas = false;
    }

    /// A tool call separates what is said before it from what is said after it.
    pub(super) fn new_segment(&mut self, sink: &mut Sink<'_>) {
        self.end_block(sink);
        self.segment.clear();
        self.segment.shrink_to(64 * 1024);
        self.repeated = 0;
        self.last = None;
    }

    /// Something other than text has come: a half that is still alone stays alone.
    pub(super) fn end_block(&mut self, sink: &mut Sink<'_>) {
        match self.half.take() {
            None => {}
            Some((Block::Thinking, _)) => sink(Event::ThinkingDelta {
                text: Cow::Borrowed("\u{FFFD}"),
            }),
            Some((Block::Assistant, _)) => {
                self.turn.push("\u{FFFD}");
                if self.last.is_none() {
                    self.segment.push('\u{FFFD}');
                }
                sink(Event::AssistantText {
                    text: Cow::Borrowed("\u{FFFD}"),
                });
            }
        }
    }

    pub(super) fn thinking(&mut self, piece: Piece<'_>, sink: &mut Sink<'_>) {
        if let Some(text) = self.join(Block::Thinking, piece, sink) {
            sink(Event::ThinkingDelta { text });
        }
    }

    pub(super) fn assistant(&mut self, piece: Piece<'_>, mark: Mark, sink: &mut Sink<'_>) {
        if piece.is_empty() {
            return;
        }
        if self.half.is_some_and(|(block, _)| block == Block::Thinking) {
            self.end_block(sink);
        }
        if mark == Mark::Delta {
            self.turn_has_deltas = true;
            self.last = None;
            return self.delta(piece, sink);
        }

        let said = (piece.low, self.hashing.of(&piece.text), piece.high);
        let repeats_last = self
            .last
            .is_some_and(|(other, last)| other != mark && last == said);
        self.last = (!repeats_last).then_some((mark, said));
        if repeats_last {
            return;
        }
        match self.new_part(&piece) {
            New::Nothing => {}
            New::After(from) => {
                // The half that waits is part of what this record says in full.
                self.half = None;
                let rest = Cow::Borrowed(piece.text.get(from..).unwrap_or_default());
                self.delta(
                    Piece {
                        low: None,
                        text: rest,
                        high: piece.high,
                    },
                    sink,
                );
            }
            New::All => {
                if let Some(text) = self.join(Block::Assistant, piece, sink) {
                    self.turn.push(&text);
                    sink(Event::AssistantText { text });
                }
            }
        }
        self.repeated = self.segment.len();
    }

    fn delta(&mut self, piece: Piece<'_>, sink: &mut Sink<'_>) {
        if let Some(text) = self.join(Block::Assistant, piece, sink) {
            self.turn.push(&text);
            self.segment.push_str(&text);
            if self.segment.len() > self.limit {
                self.segment = String::new();
                self.repeated = 0;
            }
            sink(Event::AssistantText { text });
        }
    }

    fn new_part(&self, piece: &Piece<'_>) -> New {
        if !self.turn_has_deltas || piece.low.is_some() {
            return New::All;
        }
        let half = self.half.map(|(_, high)| high);
        let text = piece.text.as_ref();
        let fresh = self.segment.get(self.repeated..).unwrap_or_default();
        let adds_to = |said: usize| {
            let more = text.get(said..)?;
            if more.is_empty() && (piece.high.is_none() || piece.high == half) {
                return Some(New::Nothing);
            }
            continues(more, half).then_some(New::After(said))
        };
        for said in [self.segment.as_str(), fresh] {
            if (!said.is_empty() || half.is_some())
                && text.starts_with(said)
                && let Some(new) = adds_to(said.len())
            {
                return new;
            }
        }
        let turn = self.turn.fingerprint();
        if text
            .get(..turn.length())
            .is_some_and(|start| self.hashing.of(start) == turn)
            && let Some(new) = adds_to(turn.length())
        {
            return new;
        }
        // The same text with other white space around it.
        let same = !fresh.trim().is_empty() && fresh.trim() == text.trim();
        // Deltas came, and this is not what they say: with the flag it is still their repeat.
        if same || self.partial && !fresh.is_empty() {
            New::Nothing
        } else {
            New::All
        }
    }

    /// Completes `piece` with the half that waits, and keeps its own last half back.
    fn join<'p>(&mut self, block: Block, piece: Piece<'p>, sink: &mut Sink<'_>) -> Option<Cow<'p, str>> {
        if piece.is_empty() {
            return None;
        }
        if self.half.is_some_and(|(waiting, _)| waiting != block) {
            self.end_block(sink);
        }
        let first = match (self.half.take(), piece.low) {
            (None, None) => None,
            (Some((_, high)), Some(low)) => Some(join_halves(high, low)),
            (Some(_), None) | (None, Some(_)) => Some(char::REPLACEMENT_CHARACTER),
        };
        self.half = piece.high.map(|high| (block, high));
        let text = match first {
            None => piece.text,
            Some(first) => {
                let mut text = String::with_capacity(piece.text.len() + first.len_utf8());
                text.push(first);
                text.push_str(&piece.text);
                Cow::Owned(text)
            }
        };
        (!text.is_empty()).then_some(text)
    }
}

/// Whether `more` can follow a text whose last half is `half`.
fn continues(more: &str, half: Option<u16>) -> bool {
    let Some(half) = half else { return true };
    more.chars().next().is_some_and(|first| {
        first == char::REPLACEMENT_CHARACTER || first.encode_utf16(&mut [0; 2]).first() == Some(&half)
    })
}
