//! One line on its own, for a consumer that cuts the stream itself.

use super::MAX_LINE_BYTES;
use super::decode::Decoder;
use super::event::Event;
use super::lines::classify;

/// Reads one line by itself and hands on exactly one event.
///
/// A line end and a byte order mark around the line do not matter, and a line break inside it is white space.
/// Nothing is known of the lines before it: text passes whole even where it is empty or a repeat, half a
/// surrogate pair is U+FFFD at once, and a completed tool call has no `args` but its own. Of several objects
/// on the line, or of a record behind a banner, the first of a known type counts; where there is none, the
/// event is the first unknown one. A line over [`MAX_LINE_BYTES`] is [`TooLong`](super::event::UnknownReason).
pub fn parse_line(line: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
    let line = classify(line.strip_suffix(b"\n").unwrap_or(line), MAX_LINE_BYTES);
    let mut given = false;
    let mut first = |wanted: fn(&Event<'_>) -> bool| {
        Decoder::open().line(line, &mut |event| {
            if !given && wanted(&event) {
                given = true;
                sink(event);
            }
        });
        given
    };
    // An event lives only as long as its call, so what none was better than is read again.
    if !first(|event| !matches!(event, Event::Unknown { .. })) {
        first(|_| true);
    }
}
