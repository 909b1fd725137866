//! Bytes to lines to events.
//!
//! `lines` cuts the chunks that a pipe delivers into lines. `decode` reads each line once, by way of
//! `envelope` (the members of a record), `tools` (its `tool_call`) and `json` (a scanner that builds
//! nothing, and has `quoted` find the ends of strings), and hands typed events on; `delta` is its shorter way
//! for the kind of line that most are. `text` decides which text is new, `calls` remembers what a tool was
//! asked until it has ended, `value` and `unescape` decode. `event` is what the rest of the crate sees, `batch`
//! packs events for the crossing into JavaScript, `payloads` keeps what most never cross, and `single` reads a
//! line on its own.
//!
//! A line that lies whole in a chunk is read where it is, and what an event says is borrowed from it.

use std::fmt;

pub mod batch;
mod calls;
mod decode;
mod delta;
mod envelope;
pub mod event;
mod fingerprint;
mod json;
mod lines;
pub mod payloads;
mod quoted;
mod single;
mod text;
mod tools;
mod unescape;
mod value;

use decode::Decoder;
use event::{Dropped, Event, OpenCall};
use lines::Lines;

pub use single::parse_line;

/// The most that [`ParserOptions::max_line_bytes`] should be: what is made of a line of this length still fits
/// into one JavaScript string, even where every byte of it has to be escaped.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// How a stream is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParserOptions {
    /// The longest line that is read, in bytes without its line end. Default: 32 MiB.
    ///
    /// A longer one is skipped, counted and reported, and the stream goes on.
    pub max_line_bytes: usize,
    /// The CLI was started with `--stream-partial-output`. Default: false.
    ///
    /// Then a record that does not look like a delta only repeats deltas, even where it spells them in
    /// another way. Without it, deltas are still recognised as such when they come.
    pub partial_output: bool,
}

impl Default for ParserOptions {
    fn default() -> Self {
        Self {
            max_line_bytes: 32 * 1024 * 1024,
            partial_output: false,
        }
    }
}

/// Turns the bytes that the CLI writes to its standard output into events, however they are cut.
///
/// ```
/// use fusion_cursor_native::stream::{ParserOptions, StreamParser, event::Event};
///
/// let mut parser = StreamParser::new(ParserOptions::default());
/// let mut answer = String::new();
/// let mut sink = |event: Event<'_>| {
///     if let Event::AssistantText { text } = event {
///         answer.push_str(&text);
///     }
/// };
/// parser.push(b"{\"type\":\"assistant\",\"message\":{\"con", &mut sink);
/// parser.push(b"tent\":[{\"type\":\"text\",\"text\":\"Hi\"}]}}\n", &mut sink);
/// parser.finish(&mut sink);
/// assert_eq!(answer, "Hi");
/// ```
pub struct StreamParser {
    lines: Lines,
    decoder: Decoder,
}

impl StreamParser {
    /// A parser at the start of a stream.
    #[must_use]
    pub fn new(options: ParserOptions) -> Self {
        let ParserOptions {
            max_line_bytes,
            partial_output,
        } = options;
        Self {
            lines: Lines::new(max_line_bytes),
            decoder: Decoder::new(max_line_bytes, partial_output),
        }
    }

    /// From here on the `fn_*` tools of this MCP server have their bare names: `fn_list` and not
    /// `<server>-fn_list`. Those of every other server keep the server's name in front.
    #[must_use]
    pub fn with_bare_names_of(mut self, server: &str) -> Self {
        self.decoder.name_bare(server);
        self
    }

    /// Reads the next bytes and hands on the events of every line that they complete, in order.
    ///
    /// Text that is a repeat, and text that is empty, makes no event.
    pub fn push(&mut self, chunk: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        let Self { lines, decoder } = self;
        lines.push(chunk, |line| decoder.line(line, sink));
    }

    /// The stream is over: reads the last line, which may lack its line end, and lets go of half a character
    /// that still waited for its other half.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        let Self { lines, decoder } = self;
        lines.finish(|line| decoder.line(line, sink));
        decoder.finish(sink);
    }

    /// Lines that have ended so far, of any kind: also blank ones and repeats.
    #[must_use]
    pub fn lines_seen(&self) -> u64 {
        self.lines.seen()
    }

    /// Lines that could not be used.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        self.decoder.dropped()
    }

    /// Lines that were no valid UTF-8: what was wrong in them has become U+FFFD.
    #[must_use]
    pub fn lossy_lines(&self) -> u64 {
        self.decoder.lossy_lines()
    }

    /// Tool calls that have started and not ended, oldest first; at most the last 10 000.
    pub fn open_calls(&self) -> impl Iterator<Item = OpenCall<'_>> {
        self.decoder.open_calls()
    }
}

impl fmt::Debug for StreamParser {
    /// Counters only: what the buffers hold is the user's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamParser")
            .field("lines_seen", &self.lines_seen())
            .field("dropped", &self.dropped())
            .field("lossy_lines", &self.lossy_lines())
            .finish_non_exhaustive()
    }
}
