//! Lines to events.

use std::borrow::Cow;

use memchr::memmem;

use super::calls::{Calls, Started};
use super::delta::Deltas;
use super::envelope::{Envelope, Message};
use super::event::{
    Dropped, Event, OpenCall, Raw, SystemInit, Text, TurnResult, UNKNOWN_RAW_LIMIT, UnknownReason,
};
use super::json::Scanner;
use super::lines::Line;
use super::text::{Mark, TextGate};
use super::value::Value;

type Sink<'s> = dyn FnMut(Event<'_>) + 's;

/// What a record looks like from its first bytes, for one that stands behind something else on its line.
const RECORD: &str = "{\"type\"";

/// How many places of a line are tried for such a record: each try may read the whole rest.
const TRIES: usize = 16;

/// The values of a `status` that mean no harm.
const GOOD_STATUS: [&str; 6] = ["success", "succeeded", "finished", "completed", "ok", "done"];

/// Turns lines into events, and remembers what later lines need of earlier ones.
#[derive(Debug)]
pub(super) struct Decoder {
    deltas: Deltas,
    text: TextGate,
    calls: Calls,
    dropped: Dropped,
    lossy_lines: u64,
    /// The server whose tools have their bare names.
    own_server: Option<Box<str>>,
}

impl Decoder {
    /// `max_line_bytes` bounds what is remembered of text; `partial` as in the options.
    pub(super) fn new(max_line_bytes: usize, partial: bool) -> Self {
        Self::with(TextGate::new(partial, max_line_bytes))
    }

    /// For one line on its own: every record of it makes an event.
    pub(super) fn open() -> Self {
        Self::with(TextGate::open())
    }

    fn with(text: TextGate) -> Self {
        Self {
            deltas: Deltas::default(),
            text,
            calls: Calls::default(),
            dropped: Dropped::default(),
            lossy_lines: 0,
            own_server: None,
        }
    }

    pub(super) fn name_bare(&mut self, server: &str) {
        self.own_server = Some(server.into());
    }

    pub(super) fn dropped(&self) -> Dropped {
        self.dropped
    }

    pub(super) fn lossy_lines(&self) -> u64 {
        self.lossy_lines
    }

    pub(super) fn open_calls(&self) -> impl Iterator<Item = OpenCall<'_>> {
        self.calls.iter()
    }

    pub(super) fn line(&mut self, line: Line<'_>, sink: &mut Sink<'_>) {
        match line {
            Line::TooLong { head, length } => {
                self.drop_bytes(length);
                sink(unknown(
                    UnknownReason::TooLong,
                    &String::from_utf8_lossy(whole_characters(head)),
                ));
            }
            Line::Text(text) => self.records(text, text.as_bytes(), sink),
            Line::Whole(bytes) => {
                let text = if let Ok(text) = std::str::from_utf8(bytes) {
                    Cow::Borrowed(text)
                } else {
                    self.lossy_lines += 1;
                    String::from_utf8_lossy(bytes)
                };
                self.records(&text, bytes, sink);
            }
        }
    }

    /// The stream is over.
    pub(super) fn finish(&mut self, sink: &mut Sink<'_>) {
        self.text.end_block(sink);
    }

    /// A line is one record; or several; or records behind something that was written without a line end.
    /// `source` is the line as it came, before what is no UTF-8 in it became U+FFFD.
    fn records(&mut self, line: &str, source: &[u8], sink: &mut Sink<'_>) {
        if let Some(text) = self.deltas.text(line) {
            return self.text.thinking(text.piece(), sink);
        }
        let mut scanner = Scanner::new(line);
        let (mut from, mut alone) = (0, true);
        match scanner.peek() {
            None => return sink(unknown(UnknownReason::Blank, line)),
            Some(b'{') => {}
            Some(_) => match glued_records(line) {
                None => return self.not_json(line, source.len(), sink),
                Some(at) => {
                    let (before, records) = line.split_at(at);
                    self.not_json(before, source_length(source, at), sink);
                    scanner = Scanner::new(records);
                    (from, alone) = (at, false);
                }
            },
        }
        while scanner.peek().is_some() {
            let start = scanner.position();
            let mut envelope = Envelope::default();
            if envelope.read(&mut scanner).is_err() {
                if alone {
                    return self.not_json(line, source.len(), sink);
                }
                let rest = line.get(from + start..).unwrap_or_default();
                let length = source.len() - source_length(source, from + start);
                return self.not_json(rest, length, sink);
            }
            let raw = line
                .get(from + start..from + scanner.position())
                .unwrap_or_default();
            self.record(&envelope, raw, sink);
            alone = false;
        }
    }

    fn record(&mut self, record: &Envelope<'_>, raw: &str, sink: &mut Sink<'_>) {
        let record_type = text(record.record_type).unwrap_or_default();
        let subtype = text(record.subtype);
        match (&*record_type, subtype.as_deref()) {
            ("thinking", Some("delta")) => {
                let text = record.text.and_then(|text| text.string());
                self.text
                    .thinking(text.map(|text| text.piece()).unwrap_or_default(), sink);
            }
            ("thinking", Some("completed")) => self.plain(Event::ThinkingCompleted, sink),
            ("assistant", _) if record.message.is_some() => {
                let mark = match (record.model_call_id, record.timestamp_ms) {
                    (Some(_), _) => Mark::Call,
                    (None, Some(_)) => Mark::Delta,
                    (None, None) => Mark::Final,
                };
                let piece = record.message.as_ref().map(Message::piece).unwrap_or_default();
                self.text.assistant(piece, mark, sink);
            }
            ("tool_call", Some("started")) => self.tool_started(record, sink),
            ("tool_call", Some("completed")) => self.tool_completed(record, sink),
            ("user", _) => {
                self.text.new_turn(sink);
                let piece = record.message.as_ref().map(Message::piece).unwrap_or_default();
                sink(Event::User {
                    text: piece.into_text(),
                });
            }
            ("system", Some("init")) => {
                self.text.new_turn(sink);
                sink(Event::SystemInit(SystemInit {
                    session_id: text(record.session_id),
                    cwd: text(record.cwd),
                    model: text(record.model),
                    api_key_source: text(record.api_key_source),
                    permission_mode: text(record.permission_mode),
                }));
            }
            ("interaction_query", Some(phase)) => {
                let payload = if phase == "response" {
                    record.response.or(record.query)
                } else {
                    record.query.or(record.response)
                };
                let query = Event::InteractionQuery {
                    phase: Cow::Borrowed(phase),
                    query_type: text(record.query_type),
                    payload: payload.map(raw_of),
                };
                self.plain(query, sink);
            }
            ("connection", Some(state)) => {
                let state = Cow::Borrowed(state);
                self.plain(
                    Event::Connection {
                        state,
                        attempt: attempt(record),
                    },
                    sink,
                );
            }
            ("retry", Some(state)) => {
                self.plain(
                    Event::Retry {
                        state: Cow::Borrowed(state),
                        attempt: attempt(record),
                    },
                    sink,
                );
            }
            ("result", _) => {
                self.text.new_turn(sink);
                sink(Event::Result(result(record)));
            }
            _ => sink(Event::Unknown {
                reason: UnknownReason::NewType,
                record_type: text(record.record_type),
                record_subtype: text(record.subtype),
                raw: Cow::Borrowed(start_of(raw)),
            }),
        }
    }

    /// An event that ends a block of text and changes nothing else.
    fn plain(&mut self, event: Event<'_>, sink: &mut Sink<'_>) {
        self.text.end_block(sink);
        sink(event);
    }

    fn tool_started(&mut self, record: &Envelope<'_>, sink: &mut Sink<'_>) {
        self.text.new_segment(sink);
        let call = record
            .tool_call
            .call(call_id(record), None, self.own_server.as_deref());
        self.calls.start(Started {
            call_id: call.call_id.as_deref().map(Into::into),
            name: (&*call.name).into(),
            kind: (&*call.kind).into(),
            args: call.args.as_ref().map(|args| (&*args.0).into()),
            timeout_ms: record.tool_call.timeout_ms(),
        });
        sink(Event::ToolCallStarted(call));
    }

    fn tool_completed(&mut self, record: &Envelope<'_>, sink: &mut Sink<'_>) {
        self.text.new_segment(sink);
        let id = call_id(record);
        let started = self
            .calls
            .end(id.as_deref(), record.tool_call.kind().unwrap_or_default());
        let call = record
            .tool_call
            .call(id, started.as_ref(), self.own_server.as_deref());
        sink(Event::ToolCallCompleted(call, record.tool_call.end()));
    }

    fn not_json(&mut self, text: &str, length: usize, sink: &mut Sink<'_>) {
        self.drop_bytes(length as u64);
        sink(unknown(UnknownReason::NotJson, text));
    }

    fn drop_bytes(&mut self, length: u64) {
        self.dropped.lines += 1;
        self.dropped.bytes += length;
    }
}

/// Where records begin that stand behind a banner on one line, as in `Loading…{"type":"system"}`.
///
/// Only if nothing but records follows up to the end of the line, and not in the middle of a string: what
/// a tool prints must never become an event.
fn glued_records(line: &str) -> Option<usize> {
    let (mut checked, mut quotes) = (0, 0_usize);
    memmem::find_iter(line.as_bytes(), RECORD)
        .take(TRIES)
        .find(|&at| {
            quotes += memchr::memchr_iter(b'"', line.as_bytes().get(checked..at).unwrap_or_default()).count();
            checked = at;
            quotes.is_multiple_of(2) && line.get(at..).is_some_and(only_objects)
        })
}

fn only_objects(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    while scanner.peek().is_some() {
        if scanner.object(|scanner, _| scanner.value().map(|_| ())).is_err() {
            return false;
        }
    }
    true
}

/// How many bytes of the source the first `decoded` bytes of its text were.
fn source_length(source: &[u8], decoded: usize) -> usize {
    let (mut read, mut written) = (0, 0);
    for chunk in source.utf8_chunks() {
        let valid = chunk.valid().len();
        if written + valid >= decoded {
            return read + decoded - written;
        }
        read += valid + chunk.invalid().len();
        written += valid + char::REPLACEMENT_CHARACTER.len_utf8();
    }
    source.len()
}

fn unknown(reason: UnknownReason, raw: &str) -> Event<'_> {
    Event::Unknown {
        reason,
        record_type: None,
        record_subtype: None,
        raw: Cow::Borrowed(start_of(raw)),
    }
}

fn result<'a>(record: &Envelope<'a>) -> TurnResult<'a> {
    let subtype = text(record.subtype);
    let status = text(record.status);
    let bad_status = |status: &str| !GOOD_STATUS.iter().any(|good| status.eq_ignore_ascii_case(good));
    TurnResult {
        session_id: text(record.session_id),
        text: text(record.result),
        is_error: record.is_error.is_some_and(|flag| flag.is_true())
            || subtype.as_deref().is_some_and(|subtype| subtype != "success")
            || status.as_deref().is_some_and(bad_status),
        subtype,
        usage: record.usage.map(raw_of),
        request_id: text(record.request_id),
        duration_ms: record.duration_ms.and_then(|duration| duration.number()),
    }
}

fn call_id<'a>(record: &Envelope<'a>) -> Option<Text<'a>> {
    let own = record.call_id.and_then(|id| id.string());
    own.or_else(|| record.tool_call.call_id()).map(|id| id.text())
}

fn attempt(record: &Envelope<'_>) -> Option<u32> {
    let number = record.attempt?.number()?;
    // However it is spelt: `2`, `2.0` and `2e0` are the same.
    let whole = (0.0..f64::from(u32::MAX)).contains(&number) && number.fract() == 0.0;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and in range"
    )]
    whole.then_some(number as u32)
}

fn text(value: Option<Value<'_>>) -> Option<Text<'_>> {
    value.and_then(|value| value.string()).map(|string| string.text())
}

fn raw_of(value: Value<'_>) -> Raw<'_> {
    Raw(value.payload())
}

/// What an unknown event carries of its line.
fn start_of(line: &str) -> &str {
    let mut end = line.len().min(UNKNOWN_RAW_LIMIT);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.get(..end).unwrap_or(line)
}

/// Without the character that a cut at the end has left incomplete.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.get(..error.valid_up_to()).unwrap_or(bytes),
        _ => bytes,
    }
}
