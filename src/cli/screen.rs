//! A terminal just good enough to tell what a text with cursor codes leaves behind.
//!
//! Builds of Cursor's CLI of early 2026 draw frames ("Loading models…") and wipe them again even into a pipe,
//! as public recordings show. Two things differ from a real terminal, for the sake of whoever parses the text:
//! a line that is written again from its start replaces the old one whole, since the rest of a longer old text
//! is never meant; and nothing wraps.

/// Blanks that cursor moves may fill in, beyond one for each character of the text. A hostile text could else
/// ask for gigabytes of them.
const SPARE_BLANKS: usize = 4096;

/// A cursor column further right than any terminal is wide.
const WIDEST: usize = 512;

const ESC: char = '\u{1b}';
const BEL: char = '\u{7}';
/// "String terminator" as one character.
const ST: char = '\u{9c}';

/// True for what has no place in a plain text: the text is then played on a [`Screen`].
pub(super) fn is_special(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || is_invisible(c)
}

/// Characters without width that carry no meaning here: a mark of the byte order, joints for line breaks, and
/// marks of the writing direction. The joiners inside emoji and of some scripts are not among them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The lines so far, and where the next character goes.
#[derive(Debug)]
pub(super) struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    saved: (usize, usize),
    /// The cursor was sent to the start of a line that has text: the next character replaces that text.
    restarted: bool,
    blanks: usize,
}

impl Screen {
    /// What is left of `text` once all of it was written.
    pub(super) fn play(text: &str) -> String {
        let mut screen = Self {
            lines: vec![Vec::new()],
            row: 0,
            column: 0,
            saved: (0, 0),
            restarted: false,
            blanks: SPARE_BLANKS + text.len(),
        };
        screen.write(text);
        let mut left = String::with_capacity(text.len());
        for (index, line) in screen.lines.iter().enumerate() {
            if index > 0 {
                left.push('\n');
            }
            left.extend(line);
        }
        left
    }

    fn write(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            match c {
                // A terminal takes the other two for line feeds, and the last one is "next line".
                '\n' | '\u{b}' | '\u{c}' | '\u{85}' => self.next_line(),
                '\r' => self.move_to_column(0),
                '\u{8}' => self.column = self.column.saturating_sub(1),
                ESC => rest = self.escape(rest),
                '\u{9b}' => rest = self.control_sequence(rest),
                '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => rest = after_string(rest),
                '\t' => self.put(c),
                _ if c.is_control() || is_invisible(c) => {}
                _ => self.put(c),
            }
        }
    }

    /// After an ESC; gives what comes behind its sequence.
    fn escape<'a>(&mut self, rest: &'a str) -> &'a str {
        let Some(c) = rest.chars().next() else {
            return rest;
        };
        let behind = &rest[c.len_utf8()..];
        match c {
            '[' => return self.control_sequence(behind),
            ']' | 'P' | 'X' | '^' | '_' => return after_string(behind),
            // A sequence of intermediates and one final character, such as the choice of a character set.
            ' '..='/' => {
                let behind = behind.trim_start_matches(|c: char| matches!(c, ' '..='/'));
                return behind
                    .strip_prefix(|c: char| matches!(c, '0'..='~'))
                    .unwrap_or(behind);
            }
            '7' => self.saved = (self.row, self.column),
            '8' => self.restore(),
            'E' => self.next_line(),
            'M' => self.row = self.row.saturating_sub(1),
            'c' => self.clear(),
            '0'..='~' => {}
            // No sequence: the character speaks for itself.
            _ => return rest,
        }
        behind
    }

    /// After a control sequence introducer: parameters, intermediates, one final character.
    fn control_sequence<'a>(&mut self, rest: &'a str) -> &'a str {
        let behind = rest.trim_start_matches(|c: char| matches!(c, '0'..='?'));
        let parameters = &rest[..rest.len() - behind.len()];
        let behind = behind.trim_start_matches(|c: char| matches!(c, ' '..='/'));
        // Without a final character it is cut off, and what broke it counts for itself.
        let Some(last) = behind.chars().next().filter(|c| matches!(c, '@'..='~')) else {
            return behind;
        };
        let mut numbers = parameters.split(';').map(|number| number.parse::<usize>().ok());
        let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
        let count = first.unwrap_or(1).max(1);
        match last {
            'A' => self.row = self.row.saturating_sub(count),
            'B' => self.row = self.row.saturating_add(count).min(self.lines.len() - 1),
            'C' => self.column = self.column.saturating_add(count).min(self.rightmost()),
            'D' => self.column = self.column.saturating_sub(count),
            'E' => {
                self.row = self.row.saturating_add(count).min(self.lines.len() - 1);
                self.move_to_column(0);
            }
            'F' => {
                self.row = self.row.saturating_sub(count);
                self.move_to_column(0);
            }
            'G' | '`' => self.move_to_column(count - 1),
            'H' | 'f' => {
                self.row = (count - 1).min(self.lines.len() - 1);
                self.move_to_column(second.unwrap_or(1).max(1) - 1);
            }
            'J' => self.erase_below(first.unwrap_or(0)),
            'K' => self.erase_in_line(first.unwrap_or(0)),
            's' => self.saved = (self.row, self.column),
            'u' => self.restore(),
            _ => {}
        }
        &behind[1..]
    }

    fn rightmost(&self) -> usize {
        self.lines[self.row].len().max(WIDEST)
    }

    fn move_to_column(&mut self, column: usize) {
        self.column = column.min(self.rightmost());
        self.restarted = self.column == 0;
    }

    fn restore(&mut self) {
        (self.row, self.column) = (self.saved.0.min(self.lines.len() - 1), self.saved.1);
    }

    fn next_line(&mut self) {
        self.row += 1;
        self.column = 0;
        self.restarted = true;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn put(&mut self, c: char) {
        let line = &mut self.lines[self.row];
        if std::mem::take(&mut self.restarted) && self.column == 0 {
            line.clear();
        }
        if self.column > line.len() {
            let missing = (self.column - line.len()).min(self.blanks);
            self.blanks -= missing;
            line.resize(line.len() + missing, ' ');
            self.column = line.len();
        }
        match line.get_mut(self.column) {
            Some(cell) => *cell = c,
            None => line.push(c),
        }
        self.column += 1;
    }

    fn clear(&mut self) {
        self.lines = vec![Vec::new()];
        (self.row, self.column) = (0, 0);
    }

    /// `ESC [ J`. What is above the cursor stays in every case: no recording has it wiped alone.
    fn erase_below(&mut self, how: usize) {
        match how {
            0 => {
                self.lines.truncate(self.row + 1);
                self.erase_in_line(0);
            }
            2 | 3 => {
                let column = self.column;
                self.clear();
                self.column = column.min(WIDEST);
            }
            _ => {}
        }
    }

    /// `ESC [ K`.
    fn erase_in_line(&mut self, how: usize) {
        let (line, column) = (&mut self.lines[self.row], self.column);
        match how {
            0 => line.truncate(column),
            1 if column >= line.len() => line.clear(),
            1 if column < self.blanks => {
                self.blanks -= column + 1;
                line[..=column].fill(' ');
            }
            1 | 2 => line.clear(),
            _ => {}
        }
    }
}

/// Behind the string of an operating system command or its like. The string of one that was cut off ends with
/// its line, so that it cannot swallow all that follows.
fn after_string(rest: &str) -> &str {
    let Some(end) = rest.find([BEL, ST, ESC, '\n', '\u{18}', '\u{1a}']) else {
        return "";
    };
    let behind = &rest[end..];
    match behind.strip_prefix("\u{1b}\\") {
        Some(behind) => behind,
        None if behind.starts_with([ESC, '\n']) => behind,
        None => behind
            .strip_prefix([BEL, ST, '\u{18}', '\u{1a}'])
            .unwrap_or(behind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_leave_what_a_terminal_would_show() {
        let table = [
            (
                "\u{1b}[1mauto\u{1b}[0m - \u{1b}[38;5;12mAuto\u{1b}[m",
                "auto - Auto",
            ),
            ("\u{1b}[?25l\u{1b}[>4;1mx\u{1b}[?25h", "x"),
            ("\u{9b}31mx\u{9b}0m", "x"),
            (
                "\u{1b}]0;title\u{7}x\u{1b}]8;;http://a\u{1b}\\y\u{9d}t\u{9c}z",
                "xyz",
            ),
            ("\u{1b}Pq#0\u{1b}\\x\u{90}q\u{9c}y", "xy"),
            ("\u{1b}(Bx\u{1b}=y\u{1b}>", "xy"),
            ("\u{1b}]0;cut off\nx", "\nx"),
            ("\u{1b}]0;cut off\u{1b}[1mx", "x"),
            ("x\u{1b}", "x"),
            ("x\u{1b}[", "x"),
            ("x\u{1b}[31", "x"),
            ("\u{1b}[3é", "é"),
            ("\u{1b}é", "é"),
            ("a\u{8}b", "b"),
            ("a\u{0}\u{7f}\u{200b}\u{feff}b", "ab"),
            ("one\u{b}two\u{c}three\u{85}four", "one\ntwo\nthree\nfour"),
        ];
        for (text, left) in table {
            assert_eq!(Screen::play(text), left, "for {text:?}");
        }
    }

    #[test]
    fn cursor_moves_write_over_what_was_there() {
        let table = [
            ("Loading…\rDone", "Done"),
            ("Loading…\r\u{1b}[KDone", "Done"),
            ("Loading…\u{1b}[1GDone", "Done"),
            ("Loading…\u{1b}[2KDone", "        Done"),
            ("Loading…\u{1b}[2K\u{1b}[G", ""),
            ("Loading…\u{1b}[2K\rDone", "Done"),
            ("abc\r\n", "abc\n"),
            ("abc\r\r\ndef", "abc\ndef"),
            ("abc\u{1b}[2DX", "aXc"),
            ("abc\u{1b}[2D\u{1b}[1Kx", " xc"),
            ("a\u{1b}[3Cb", "a   b"),
            ("a\nb\nc\u{1b}[2A\rX", "X\nb\nc"),
            ("a\nb\nc\u{1b}[2FX\u{1b}[EY", "X\nY\nc"),
            ("a\nb\nc\u{1b}[1;1H\u{1b}[JX", "X"),
            ("old\nlines\u{1b}[2J\u{1b}[Hnew", "new"),
            ("a\u{1b}7bc\u{1b}8\u{1b}[Kd", "ad"),
            ("a\u{1b}[sbc\u{1b}[u\u{1b}[Kd", "ad"),
            ("a\nb\u{1b}M\rc", "c\nb"),
        ];
        for (text, left) in table {
            assert_eq!(Screen::play(text), left, "for {text:?}");
        }
    }

    #[test]
    fn far_moves_cost_no_memory() {
        let mut text = String::new();
        for _ in 0..10_000 {
            text.push_str("\u{1b}[999999999Cx\u{1b}[999999999B\n\u{1b}[99999999999999999999999Cy\n");
        }
        assert!(Screen::play(&text).len() < 3 * text.len());
    }
}
