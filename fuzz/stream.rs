//! What must hold for any bytes that come through the pipe.

use fusion_cursor_native::stream::batch::{ABSENT, Batch, KINDS, WIDE};
use fusion_cursor_native::stream::event::{Event, Raw, ToolCall};
use fusion_cursor_native::stream::{ParserOptions, StreamParser, parse_line};
use serde_json::value::RawValue;

/// What the first byte chooses, and the stream behind it.
fn chosen(data: &[u8]) -> Option<(ParserOptions, u8, &[u8])> {
    let (choice, stream) = data.split_first()?;
    let mut options = ParserOptions {
        partial_output: choice & 1 == 1,
        ..ParserOptions::default()
    };
    if choice & 2 == 2 {
        options.max_line_bytes = usize::from(choice >> 2);
    }
    Some((options, *choice, stream))
}

/// The events of a stream that comes in these chunks, and what was counted.
fn read<'a>(options: ParserOptions, chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, String) {
    let mut parser = StreamParser::new(options);
    let mut events = Vec::new();
    let mut sink = |event: Event<'_>| events.push(format!("{event:?}"));
    for chunk in chunks {
        parser.push(chunk, &mut sink);
    }
    parser.finish(&mut sink);
    (events, format!("{parser:?}"))
}

/// However the bytes are cut, the events are the same.
pub(crate) fn lines(data: &[u8]) {
    let Some((options, choice, stream)) = chosen(data) else {
        return;
    };
    let whole = read(options, [stream]);
    assert_eq!(read(options, stream.chunks(1)), whole, "one byte at a time");
    let length = 1 + usize::from(choice) % 13;
    assert_eq!(read(options, stream.chunks(length)), whole, "{length} at a time");
    // Chunks of many lengths, a few of them empty.
    let mut state = u32::from(choice) | 1;
    let mut rest = stream;
    let uneven = std::iter::from_fn(|| {
        if rest.is_empty() {
            return None;
        }
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (chunk, more) = rest.split_at((state >> 26) as usize % (rest.len() + 1));
        rest = more;
        Some(chunk)
    });
    assert_eq!(read(options, uneven), whole, "unevenly");
}

/// Events are sound: none for nothing, no empty text, and payloads that a JSON reader can read.
pub(crate) fn events(data: &[u8]) {
    let Some((options, _, stream)) = chosen(data) else {
        return;
    };
    let mut batch = Batch::default();
    let mut texts = String::new();
    let mut parser = StreamParser::new(options);
    let mut sink = |event: Event<'_>| {
        check(&event);
        if let Event::AssistantText { text } | Event::ThinkingDelta { text } = &event {
            assert!(!text.is_empty());
            texts.push_str(text);
        }
        batch.push(&event);
    };
    parser.push(stream, &mut sink);
    parser.finish(&mut sink);
    assert_eq!(packed(&batch), texts, "what was packed is what was said");
    let dropped = parser.dropped();
    assert!(dropped.bytes <= stream.len() as u64);
    for line in stream.split(|byte| *byte == b'\n') {
        let mut count = 0;
        parse_line(line, &mut |event| {
            check(&event);
            count += 1;
        });
        assert_eq!(count, 1, "one line, one event");
    }
}

fn check(event: &Event<'_>) {
    let (call, end) = match event {
        Event::ToolCallStarted(call) => (Some(call), None),
        Event::ToolCallCompleted(call, end) => (Some(call), end.result.as_ref()),
        Event::InteractionQuery { payload, .. } => (None, payload.as_ref()),
        Event::Result(result) => (None, result.usage.as_ref()),
        _ => (None, None),
    };
    if let Some(ToolCall { name, kind, .. }) = call {
        assert!(!name.is_empty() && !kind.is_empty());
    }
    let args = call.and_then(|call| call.args.as_ref());
    for Raw(json) in args.into_iter().chain(end) {
        assert!(is_json(json), "{json}");
    }
}

/// Whether it is one JSON value, apart from what the parser lets pass on purpose.
fn is_json(text: &str) -> bool {
    let lenient = ["NaN", "Infinity", "\\", "\u{b}", "\u{c}"].iter();
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_i32, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            0..0x20 if in_string => return false,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
        if depth < 0 {
            return false;
        }
    }
    // serde_json does not go deeper than this.
    let out_of_reach = deepest > 120 || lenient.clone().any(|odd| text.contains(odd));
    depth == 0 && !in_string && (out_of_reach || serde_json::from_str::<&RawValue>(text).is_ok())
}

/// How many numbers of the table an event of each kind takes behind its kind.
const FIELDS: [usize; KINDS.len()] = [10, 2, 2, 0, 2, 7, 10, 5, 3, 3, 12, 7];

/// The text of the answer and of the thinking, read from where it was packed to.
fn packed(batch: &Batch) -> String {
    let mut texts = String::new();
    let mut at = 0;
    while let Some(&kind) = batch.table.get(at) {
        if ["thinking-delta", "assistant-text"].contains(&KINDS[kind as usize]) {
            texts.push_str(&unpacked(batch, at + 1));
        }
        at += 1 + FIELDS[kind as usize];
    }
    assert_eq!(at, batch.table.len());
    texts
}

fn unpacked(batch: &Batch, at: usize) -> String {
    let (start, length) = (batch.table[at] as usize, batch.table[at + 1]);
    assert_ne!(length, ABSENT);
    if length & WIDE == 0 {
        let bytes = &batch.narrow[start..start + length as usize];
        return bytes.iter().map(|byte| char::from(*byte)).collect();
    }
    let units = &batch.wide[start..start + (length & !WIDE) as usize];
    let text = String::from_utf16_lossy(units);
    assert!(text.encode_utf16().eq(units.iter().copied()), "no lone surrogate");
    text
}
