//! Events packed so that many of them cross into JavaScript at the price of one.
//!
//! A batch is two strings, a table of numbers and an arena of payloads. Text that fits Latin-1 goes into the
//! `narrow` string and all other text into the `wide` one, both in the encoding that V8 stores, so that making
//! the JavaScript strings is a copy. The table holds, for each event, its kind and then its fields; a text field
//! is a start and a length in one of the strings. Payloads (JSON that most consumers never look at) stay behind
//! in native memory, and the table only numbers them.
//!
//! `lib/batch.ts` reads this format; the constants of both must agree, which a test checks.

use super::event::{Event, Raw, ToolCall, ToolOutcome, UnknownReason};
use super::payloads::{Payloads, widen};

/// The kinds, in the order of their numbers in the table.
pub const KINDS: [&str; 12] = [
    "system-init",
    "user",
    "thinking-delta",
    "thinking-completed",
    "assistant-text",
    "tool-call-started",
    "tool-call-completed",
    "interaction-query",
    "connection",
    "retry",
    "result",
    "unknown",
];

/// In place of a number or a text's length: the field is absent.
pub const ABSENT: u32 = u32::MAX;

/// Set in a text's length where it lies in the wide string.
pub const WIDE: u32 = 1 << 31;

/// The most that a batch has room for before anything is in it, in elements of each of its parts: one that was
/// large for a single long line says nothing of the next.
const MOST_ROOM: usize = 256 * 1024;

/// Some events, ready to cross.
#[derive(Debug, Default)]
pub struct Batch {
    /// Latin-1.
    pub narrow: Vec<u8>,
    /// UTF-16.
    pub wide: Vec<u16>,
    /// See the module.
    pub table: Vec<u32>,
    /// What the events' payload numbers mean.
    pub payloads: Payloads,
    events: usize,
}

impl Batch {
    /// An empty one.
    #[must_use]
    pub fn new(payloads: Payloads) -> Self {
        Self {
            payloads,
            ..Self::default()
        }
    }

    /// An empty one with room for about what `last` holds: batches of one stream are much alike, and one that
    /// grows step by step is copied at every step.
    #[must_use]
    pub fn like(last: &Self) -> Self {
        let room = |length: usize| (length + length / 4).min(MOST_ROOM);
        Self {
            narrow: Vec::with_capacity(room(last.narrow.len())),
            wide: Vec::with_capacity(room(last.wide.len())),
            table: Vec::with_capacity(room(last.table.len())),
            payloads: Payloads::like(&last.payloads, room),
            events: 0,
        }
    }

    /// How many events are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events == 0
    }

    /// Roughly the bytes it holds.
    #[must_use]
    pub fn weight(&self) -> usize {
        self.narrow.len() + self.wide.len() * 2 + self.table.len() * 4 + self.payloads.weight()
    }

    /// Add one event behind the others.
    pub fn push(&mut self, event: &Event<'_>) {
        self.events += 1;
        match event {
            Event::SystemInit(init) => {
                self.kind(0);
                for text in [
                    &init.session_id,
                    &init.cwd,
                    &init.model,
                    &init.api_key_source,
                    &init.permission_mode,
                ] {
                    self.text(text.as_deref());
                }
            }
            Event::User { text } => self.said(1, text),
            Event::ThinkingDelta { text } => self.said(2, text),
            Event::ThinkingCompleted => {
                self.kind(3);
            }
            Event::AssistantText { text } => self.said(4, text),
            Event::ToolCallStarted(call) => self.kind(5).call(call),
            Event::ToolCallCompleted(call, end) => {
                self.kind(6).call(call);
                self.payload(end.result.as_ref());
                self.table.push(outcome_number(end.outcome));
                self.table.push(u32::from(end.is_error));
            }
            Event::InteractionQuery {
                phase,
                query_type,
                payload,
            } => {
                self.kind(7).text(Some(phase));
                self.text(query_type.as_deref());
                self.payload(payload.as_ref());
            }
            Event::Connection { state, attempt } => {
                self.kind(8).text(Some(state));
                self.table.push(attempt.unwrap_or(ABSENT));
            }
            Event::Retry { state, attempt } => {
                self.kind(9).text(Some(state));
                self.table.push(attempt.unwrap_or(ABSENT));
            }
            Event::Result(result) => {
                self.kind(10);
                for text in [
                    &result.session_id,
                    &result.subtype,
                    &result.text,
                    &result.request_id,
                ] {
                    self.text(text.as_deref());
                }
                self.table.push(u32::from(result.is_error));
                self.payload(result.usage.as_ref());
                let duration = result.duration_ms.map(number);
                self.text(duration.as_deref());
            }
            Event::Unknown {
                reason,
                record_type,
                record_subtype,
                raw,
            } => {
                self.kind(11);
                self.table.push(reason_number(*reason));
                self.text(record_type.as_deref());
                self.text(record_subtype.as_deref());
                self.text(Some(raw));
            }
        }
    }

    /// An event that is a text and nothing else, as most are.
    fn said(&mut self, kind: u32, text: &str) {
        let (start, length) = append(text, &mut self.narrow, &mut self.wide);
        self.table.extend_from_slice(&[kind, start, length]);
    }

    fn kind(&mut self, number: u32) -> &mut Self {
        self.table.push(number);
        self
    }

    fn text(&mut self, text: Option<&str>) {
        let Some(text) = text else {
            self.table.extend([0, ABSENT]);
            return;
        };
        let (start, length) = append(text, &mut self.narrow, &mut self.wide);
        self.table.extend([start, length]);
    }

    fn call(&mut self, call: &ToolCall<'_>) {
        self.text(call.call_id.as_deref());
        self.text(Some(&call.name));
        self.text(Some(&call.kind));
        self.payload(call.args.as_ref());
    }

    fn payload(&mut self, payload: Option<&Raw<'_>>) {
        let Some(Raw(json)) = payload else {
            self.table.push(ABSENT);
            return;
        };
        let number = self.payloads.add(json);
        self.table.push(number);
    }
}

/// Where the text now lies: its start, and its length with [`WIDE`] set where it is in `wide`.
fn append(text: &str, narrow: &mut Vec<u8>, wide: &mut Vec<u16>) -> (u32, u32) {
    let start = narrow.len();
    if text.is_ascii() {
        narrow.extend_from_slice(text.as_bytes());
        return (index(start), index(text.len()));
    }
    // Up to here UTF-8 begins no character beyond Latin-1.
    if text.bytes().fold(0, u8::max) < 0xC4 {
        narrow.extend(text.chars().filter_map(|character| u8::try_from(character).ok()));
        return (index(start), index(narrow.len() - start));
    }
    let start = wide.len();
    widen(text, wide);
    (index(start), index(wide.len() - start) | WIDE)
}

/// A position in a batch. Batches end long before 2 GiB: one line is at most what the parser's limit allows.
pub(super) fn index(position: usize) -> u32 {
    debug_assert!(position < WIDE as usize, "a batch is far smaller than 2 GiB");
    u32::try_from(position).unwrap_or(ABSENT)
}

/// A number as JavaScript's `Number` reads it.
fn number(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    number.to_string()
}

fn outcome_number(outcome: ToolOutcome) -> u32 {
    match outcome {
        ToolOutcome::Success => 0,
        ToolOutcome::Failure => 1,
        ToolOutcome::Rejected => 2,
        ToolOutcome::PermissionDenied => 3,
        ToolOutcome::Error => 4,
        ToolOutcome::Unknown => 5,
    }
}

fn reason_number(reason: UnknownReason) -> u32 {
    match reason {
        UnknownReason::Blank => 0,
        UnknownReason::NotJson => 1,
        UnknownReason::TooLong => 2,
        UnknownReason::NewType => 3,
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::super::payloads::Payload;
    use super::*;

    fn read(batch: &Batch, at: usize) -> String {
        let (start, length) = (batch.table[at] as usize, batch.table[at + 1]);
        if length & WIDE == 0 {
            let bytes = &batch.narrow[start..start + length as usize];
            bytes.iter().map(|byte| char::from(*byte)).collect()
        } else {
            String::from_utf16(&batch.wide[start..start + (length & !WIDE) as usize]).unwrap()
        }
    }

    fn text(text: &str) -> Event<'_> {
        Event::AssistantText {
            text: Cow::Borrowed(text),
        }
    }

    #[test]
    fn text_of_every_width_comes_out_as_it_went_in() {
        let texts = ["plain", "", "grün ÿ", "한中😀", "x\u{100}", "again"];
        let mut batch = Batch::default();
        for one in texts {
            batch.push(&text(one));
        }
        assert_eq!(batch.len(), texts.len());
        for (number, one) in texts.iter().enumerate() {
            assert_eq!(batch.table[number * 3], 4);
            assert_eq!(read(&batch, number * 3 + 1), *one);
        }
        assert_eq!(
            batch.narrow.len(),
            "plain".len() + 6 + "again".len(),
            "Latin-1 takes a byte a character"
        );
    }

    #[test]
    fn payloads_stay_behind_under_their_numbers() {
        let mut batch = Batch::default();
        for json in ["{\"a\":1}", "[]"] {
            let call = ToolCall {
                args: Some(Raw(Cow::Borrowed(json))),
                ..ToolCall::default()
            };
            batch.push(&Event::ToolCallStarted(call));
        }
        assert_eq!((batch.table[7], batch.table[15]), (0, 1));
        assert_eq!(batch.payloads.get(1), Some(Payload::Utf8("[]")));
        assert!(
            !String::from_utf8_lossy(&batch.narrow).contains('1'),
            "no payload is in the strings that always cross"
        );
    }

    #[test]
    fn the_next_one_has_room_for_as_much_but_not_for_one_long_line() {
        let mut batch = Batch::default();
        batch.push(&text("plain"));
        let next = Batch::like(&batch);
        assert!(next.is_empty() && next.narrow.capacity() >= 5);
        let json = "x".repeat(8 * MOST_ROOM);
        batch.push(&text(&json));
        batch.push(&text(&"中".repeat(8 * MOST_ROOM)));
        batch.push(&Event::ToolCallStarted(ToolCall {
            args: Some(Raw(Cow::Borrowed(&json))),
            ..ToolCall::default()
        }));
        let next = Batch::like(&batch);
        assert!(next.narrow.capacity() < 2 * MOST_ROOM);
        assert!(next.wide.capacity() < 2 * MOST_ROOM);
        assert!(next.payloads.size() < 2 * MOST_ROOM);
    }

    #[test]
    fn numbers_are_spelt_as_javascript_reads_them() {
        for (given, spelt) in [
            (12.0, "12"),
            (0.5, "0.5"),
            (-0.0, "-0"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(number(given), spelt);
        }
    }

    #[test]
    fn an_absent_field_is_told_from_an_empty_one() {
        let mut batch = Batch::default();
        batch.push(&Event::ToolCallStarted(ToolCall {
            call_id: Some("".into()),
            ..ToolCall::default()
        }));
        batch.push(&Event::ToolCallStarted(ToolCall::default()));
        assert_eq!(batch.table[2], 0, "an empty id");
        assert_eq!(batch.table[8 + 2], ABSENT, "no id");
        assert_eq!(batch.table[7], ABSENT, "no args");
    }
}
