//! For property tests: a text as terminals and Windows would decorate it.

use proptest::collection::vec;
use proptest::prelude::*;

const CODES: [&str; 9] = [
    "\u{1b}[0m",
    "\u{1b}[1;38;5;12m",
    "\u{1b}[m",
    "\u{9b}31m",
    "\u{1b}[?25l",
    "\u{1b}]0;title\u{7}",
    "\u{1b}]8;;https://example.com\u{1b}\\",
    "\u{200b}",
    "\u{1b}(B",
];

/// `text` with codes strewn in at random, perhaps with a mark of the byte order, perhaps with CRLF, perhaps
/// behind a frame that was wiped.
pub(super) fn decorated(text: &'static str) -> impl Strategy<Value = String> {
    let codes = vec((0..=text.len(), prop::sample::select(&CODES[..])), 0..12);
    (codes, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(move |(mut codes, mark, crlf, frame)| {
        codes.sort_unstable();
        let mut out = String::new();
        if mark {
            out.push('\u{feff}');
        }
        if frame {
            out.push_str("\u{1b}[2K\u{1b}[GLoading…\n\u{1b}[2K\u{1b}[1A\u{1b}[2K\u{1b}[G");
        }
        let mut codes = codes.into_iter().peekable();
        for (at, c) in text.char_indices() {
            while let Some((_, code)) = codes.next_if(|(place, _)| *place <= at) {
                out.push_str(code);
            }
            if crlf && c == '\n' {
                out.push('\r');
            }
            out.push(c);
        }
        out.extend(codes.map(|(_, code)| code));
        out
    })
}
