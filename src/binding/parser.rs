//! The parser for those who own the bytes themselves.

use napi_derive::napi;

use crate::stream::batch::Batch;
use crate::stream::{MAX_LINE_BYTES, ParserOptions, StreamParser, parse_line};

use super::batch::EventBatch;

/// Bytes that came and could not be used.
#[napi(object, object_from_js = false)]
pub struct DroppedLines {
    pub lines: f64,
    pub bytes: f64,
}

/// One stream.
#[napi]
pub struct StreamReader {
    parser: StreamParser,
}

#[napi]
impl StreamReader {
    /// `lib/` has checked the limit; absent, it is the default.
    #[napi(constructor, catch_unwind)]
    pub fn new(max_line_bytes: Option<u32>, partial_output: bool) -> Self {
        Self {
            parser: StreamParser::new(options(max_line_bytes, partial_output)),
        }
    }

    /// The events of the lines that end in these bytes; nothing where there are none.
    #[napi(catch_unwind)]
    pub fn push(&mut self, chunk: &[u8]) -> Option<EventBatch> {
        self.read(|parser, batch| parser.push(chunk, &mut |event| batch.push(&event)))
    }

    /// The events of the last line.
    #[napi(catch_unwind)]
    pub fn finish(&mut self) -> Option<EventBatch> {
        self.read(|parser, batch| parser.finish(&mut |event| batch.push(&event)))
    }

    /// What could not be used so far.
    #[napi(catch_unwind)]
    #[allow(
        clippy::cast_precision_loss,
        reason = "counts of lines and bytes stay far below 2^53"
    )]
    pub fn dropped(&self) -> DroppedLines {
        let dropped = self.parser.dropped();
        DroppedLines {
            lines: dropped.lines as f64,
            bytes: dropped.bytes as f64,
        }
    }

    fn read(&mut self, read: impl FnOnce(&mut StreamParser, &mut Batch)) -> Option<EventBatch> {
        let mut batch = Batch::default();
        read(&mut self.parser, &mut batch);
        (!batch.is_empty()).then(|| batch.into())
    }
}

/// The event of one line: the batch holds exactly one.
#[napi(catch_unwind)]
pub fn parse_line_bytes(line: &[u8]) -> EventBatch {
    let mut batch = Batch::default();
    parse_line(line, &mut |event| batch.push(&event));
    batch.into()
}

/// The same for a string without lone surrogates.
#[napi(catch_unwind)]
#[allow(
    clippy::needless_pass_by_value,
    reason = "a string always comes over as a copy"
)]
pub fn parse_line_text(line: String) -> EventBatch {
    parse_line_bytes(line.as_bytes())
}

/// The longest line that may be asked for, in bytes.
#[napi(catch_unwind)]
pub fn most_line_bytes() -> u32 {
    u32::try_from(MAX_LINE_BYTES).unwrap_or(u32::MAX)
}

pub(super) fn options(max_line_bytes: Option<u32>, partial_output: bool) -> ParserOptions {
    let default = ParserOptions::default();
    ParserOptions {
        max_line_bytes: max_line_bytes
            .and_then(|bytes| usize::try_from(bytes).ok())
            .unwrap_or(default.max_line_bytes),
        partial_output,
    }
}
