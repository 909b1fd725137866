//! Putting entries of ours in, in the shapes that `remove` knows to take back.

use super::super::manifest::ServerEntry;
use super::super::spell::{flat, quoted};
use super::super::syntax::{self, Object, Trivia};
use super::style::{Style, line_indent, own_line_indent};
use super::{Levels, SERVERS, is_ours};

/// How an entry is laid out.
#[derive(Debug, Clone, Copy)]
enum Layout<'a> {
    /// On the line that it is put in.
    Flat,
    /// On lines of its own, this far in.
    Lines { style: &'a Style<'a>, indent: &'a str },
}

/// Where in an object something can be put, so that it can be taken out again.
#[derive(Debug)]
enum Place<'a> {
    /// Before a member, from the end of the line before on: this line's end and indentation, then the entry and
    /// a comma.
    Above {
        at: usize,
        newline: &'a str,
        indent: String,
    },
    /// Before a member on the same line: this white space, then the entry and a comma.
    Beside { at: usize, blank: &'a str },
    /// Into an empty object, right behind its brace.
    Alone { at: usize },
    /// Into an empty object, on lines of its own; `empty_line` says that the closing brace was on its own line
    /// before, `closing` is what takes it there if it was not.
    Within {
        at: usize,
        newline: &'a str,
        empty_line: bool,
        indent: String,
        closing: Option<&'a str>,
    },
}

/// A file that was not there.
pub(super) fn new_file(entries: &[(&str, &ServerEntry)]) -> String {
    let style = Style {
        newline: "\n",
        step: "  ",
    };
    let layout = Layout::Lines {
        style: &style,
        indent: "  ",
    };
    format!("{{\n  {}\n}}\n", servers(entries, layout))
}

/// The text with these entries put in; none of their keys may stay from before.
pub(super) fn with(text: &str, levels: &Levels<'_>, entries: &[(&str, &ServerEntry)]) -> String {
    if entries.is_empty() {
        return text.to_owned();
    }
    let style = Style::of(text, levels.root.as_ref());
    match (&levels.root, &levels.servers) {
        (None, _) => from_nothing(text, &style, entries),
        (Some(_), Some((_, object))) => {
            let flat = object.members.is_empty() && is_one_line(text, levels);
            let place = Place::of(text, object, &style, flat);
            let put: Vec<String> = entries
                .iter()
                .map(|entry| one(*entry, place.layout(&style)))
                .collect();
            place.put(text, &put)
        }
        (Some(root), None) => {
            let place = Place::of(text, root, &style, false);
            let put = servers(entries, place.layout(&style));
            place.put(text, &[put])
        }
    }
}

/// A text without an object gets one whose braces hug the member, which no other shape does over several lines.
fn from_nothing(text: &str, style: &Style<'_>, entries: &[(&str, &ServerEntry)]) -> String {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let (mark, rest) = text.split_at(start);
    let put = servers(entries, Layout::Lines { style, indent: "" });
    format!("{mark}{{{put}}}{}{rest}", style.newline)
}

/// `"mcpServers": {...}`.
fn servers(entries: &[(&str, &ServerEntry)], layout: Layout<'_>) -> String {
    let mut out = quoted(SERVERS);
    match layout {
        Layout::Flat => {
            out.push_str(":{");
            let entries: Vec<String> = entries.iter().map(|entry| one(*entry, layout)).collect();
            out.push_str(&entries.join(","));
        }
        Layout::Lines { style, indent } => {
            let inner = format!("{indent}{}", style.step);
            let layout = Layout::Lines {
                style,
                indent: &inner,
            };
            out.push_str(": {");
            for (index, entry) in entries.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { "," });
                out.push_str(style.newline);
                out.push_str(&inner);
                out.push_str(&one(*entry, layout));
            }
            out.push_str(style.newline);
            out.push_str(indent);
        }
    }
    out.push('}');
    out
}

/// `"fusion-custom-tools-...": {...}`.
fn one((key, entry): (&str, &ServerEntry), layout: Layout<'_>) -> String {
    let printed = entry.to_json();
    let mut out = quoted(key);
    match layout {
        Layout::Flat => {
            out.push(':');
            out.push_str(&flat(&printed));
        }
        Layout::Lines { style, indent } => {
            out.push_str(": ");
            for (index, line) in printed.split('\n').enumerate() {
                if index > 0 {
                    out.push_str(style.newline);
                    out.push_str(indent);
                }
                let inner = line.trim_start_matches(' ');
                for _ in 0..(line.len() - inner.len()) / 2 {
                    out.push_str(style.step);
                }
                out.push_str(inner);
            }
        }
    }
    out
}

/// All between the outermost braces stands on one line, and something is there.
fn is_one_line(text: &str, levels: &Levels<'_>) -> bool {
    levels
        .root
        .as_ref()
        .is_some_and(|root| syntax::newline(&text[root.open..root.close]).is_none())
}

impl<'a> Place<'a> {
    fn of(text: &'a str, object: &Object<'_>, style: &'a Style<'a>, flat: bool) -> Self {
        match object.members.first() {
            None if flat => Self::Alone { at: object.open + 1 },
            None => Self::within(text, object, style),
            Some(_) => Self::before_first(text, object, style),
        }
    }

    fn before_first(text: &'a str, object: &Object<'_>, style: &'a Style<'a>) -> Self {
        let first = &object.members[0];
        let mut at = object.open + 1;
        let mut last_newline = None;
        for (kind, place) in syntax::trivia(text, object.open + 1) {
            match kind {
                Trivia::Newline => last_newline = Some(place),
                Trivia::LineComment | Trivia::BlockComment if last_newline.is_none() => at = place.end,
                _ => {}
            }
        }
        let Some(last_newline) = last_newline else {
            let blank = &text[object.open + 1..];
            let blank = &blank[..blank.len() - blank.trim_start_matches([' ', '\t']).len()];
            let at = object.open + 1;
            return Self::Beside { at, blank };
        };
        let ours = own_line_indent(text, first.whole.start);
        // Among entries that are all ours, what stands before the first is what its way back goes by.
        if let (true, Some(indent)) = (object.members.iter().all(|member| is_ours(&member.key)), ours) {
            return Self::Above {
                at: last_newline.start,
                newline: &text[last_newline],
                indent: indent.to_owned(),
            };
        }
        let indent = ours.map_or_else(
            || format!("{}{}", line_indent(text, object.open), style.step),
            ToOwned::to_owned,
        );
        Self::Above {
            at,
            newline: style.newline,
            indent,
        }
    }

    fn within(text: &'a str, object: &Object<'_>, style: &'a Style<'a>) -> Self {
        let outer = line_indent(text, object.open);
        let indent = format!("{outer}{}", style.step);
        let mut last: Option<(Trivia, usize)> = None;
        let mut last_newline = None;
        for (kind, place) in syntax::trivia(text, object.open + 1) {
            match kind {
                Trivia::Blank => {}
                Trivia::Newline => last_newline = Some((place.start, last)),
                Trivia::LineComment | Trivia::BlockComment => last_newline = None,
            }
            last = Some((kind, place.end));
        }
        let Some((at, before)) = last_newline else {
            return Self::Within {
                at: object.close,
                newline: style.newline,
                empty_line: false,
                indent,
                closing: Some(outer),
            };
        };
        let behind_comment = matches!(before, Some((Trivia::LineComment, end)) if end == at);
        // LF behind a lone CR would make one line's end of two.
        let newline = if text[..at].ends_with('\r') && style.newline == "\n" {
            "\r\n"
        } else {
            style.newline
        };
        Self::Within {
            at,
            newline,
            empty_line: !behind_comment,
            indent,
            closing: None,
        }
    }

    fn layout<'s>(&'s self, style: &'s Style<'s>) -> Layout<'s> {
        match self {
            Self::Above { indent, .. } | Self::Within { indent, .. } => Layout::Lines { style, indent },
            Self::Beside { .. } | Self::Alone { .. } => Layout::Flat,
        }
    }

    fn put(&self, text: &str, entries: &[String]) -> String {
        let mut put = String::new();
        let at = match self {
            Self::Above { at, newline, indent } => {
                for entry in entries {
                    put.extend([newline, indent.as_str(), entry, ","]);
                }
                *at
            }
            Self::Beside { at, blank } => {
                for entry in entries {
                    put.extend([blank, entry.as_str(), ","]);
                }
                *at
            }
            Self::Alone { at } => {
                put.push_str(&entries.join(","));
                *at
            }
            Self::Within {
                at,
                newline,
                empty_line,
                indent,
                closing,
            } => {
                put.push_str(if *empty_line { newline } else { "" });
                for (index, entry) in entries.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    put.extend([comma, newline, indent.as_str(), entry]);
                }
                if let Some(closing) = closing {
                    put.extend([newline, *closing]);
                }
                *at
            }
        };
        format!("{}{put}{}", &text[..at], &text[at..])
    }
}
