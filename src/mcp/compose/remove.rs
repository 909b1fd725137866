//! Taking our entries out.
//!
//! `insert` puts an entry in one of a few shapes, and each has its own way back:
//!
//! - Before a member, on a line of its own or on the object's only line: from the line's start, or from what stands
//!   before it, to the comma.
//! - Into an object without members, on a line of its own, with the closing brace on the next. If that brace was on
//!   a line of its own before, the entry stands right below a line comment or below an empty line.
//! - Into a one-line object without members: right behind its brace.
//!
//! An entry that somebody else has put elsewhere goes the same way: with its line and one comma. A comment stays,
//! wherever it stands.

use std::collections::HashSet;
use std::ops::Range;

use super::super::syntax::{self, Object, Trivia};
use super::{Levels, is_ours};

/// The white space before a token.
#[derive(Debug)]
struct Run {
    /// Where it starts: right behind a token or comment.
    start: usize,
    /// The lines' ends in it.
    newlines: Vec<Range<usize>>,
    /// What it stands behind is a comment that lasts to the line's end.
    behind_line_comment: bool,
}

/// The text without those of our entries that `goes` names; `None` where nothing goes.
pub(super) fn without(
    text: &str,
    levels: &Levels<'_>,
    had_servers: bool,
    mut goes: impl FnMut(&str) -> bool,
) -> Option<String> {
    let (root, (index, servers)) = (levels.root.as_ref()?, levels.servers.as_ref()?);
    let going: Vec<bool> = servers
        .members
        .iter()
        .map(|member| is_ours(&member.key) && goes(&member.key))
        .collect();
    if !going.contains(&true) {
        return None;
    }
    let cuts = cuts(text, servers, &going);
    if !had_servers && !going.contains(&false) {
        let inside = cut(&text[..servers.close], &cuts);
        if inside[servers.open + 1..].trim_ascii().is_empty() {
            return Some(without_servers(text, root, *index, servers));
        }
    }
    Some(cut(text, &cuts))
}

/// The text without `mcpServers`.
fn without_servers(text: &str, root: &Object<'_>, index: usize, servers: &Object<'_>) -> String {
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    // What `insert` writes where there was no object at all.
    let whole = &root.members[index].whole;
    let from_nothing = root.members.len() == 1
        && root.open == start
        && whole.start == root.open + 1
        && whole.end == root.close
        && syntax::newline(&text[servers.open..servers.close]).is_some();
    let behind = &text[root.close + 1..];
    if let (true, Some(end)) = (from_nothing, syntax::newline(behind).filter(|end| end.start == 0)) {
        return format!("{}{}", &text[..start], &behind[end.end..]);
    }
    let going: Vec<bool> = (0..root.members.len()).map(|at| at == index).collect();
    cut(text, &cuts(text, root, &going))
}

/// What to cut, in order and apart from each other.
fn cuts(text: &str, object: &Object<'_>, going: &[bool]) -> Vec<Range<usize>> {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    let mut line_comments: HashSet<usize> = HashSet::new();
    let mut last_comma_stays = None;
    let all = !going.contains(&false);
    for (index, member) in object.members.iter().enumerate() {
        if !going[index] {
            last_comma_stays = member.comma;
            continue;
        }
        let before = match index.checked_sub(1) {
            None => object.open + 1,
            Some(previous) => {
                let previous = &object.members[previous];
                previous.comma.map_or(previous.whole.end, |comma| comma + 1)
            }
        };
        let run = Run::before(text, before, member.whole.start);
        if run.behind_line_comment {
            line_comments.insert(run.start);
        }
        let mut end = member.whole.end;
        let first_of_all = all && index == 0;
        let last_of_all = all && index + 1 == object.members.len();
        let start = if first_of_all {
            run.start_of_first()
        } else {
            run.start_of_line()
        };
        if last_of_all && member.comma.is_none() && closing_line_is_ours(text, object) {
            end = object.close;
        }
        cuts.push(start..end);
        match member.comma {
            Some(comma) => cuts.push(comma..comma + 1),
            // The last one, without a comma: then the last one that stays needs none either.
            None => cuts.extend(last_comma_stays.take().map(|comma| comma..comma + 1)),
        }
        if last_of_all && member.comma.is_some() && closing_line_is_ours(text, object) {
            cuts.push(member.comma.map_or(end, |comma| comma + 1)..object.close);
        }
    }
    cuts.sort_by_key(|cut| cut.start);
    joined(text, cuts, &line_comments)
}

/// Whether the white space before the closing brace came with our first entry; all entries are ours.
fn closing_line_is_ours(text: &str, object: &Object<'_>) -> bool {
    let (Some(first), Some(last)) = (object.members.first(), object.members.last()) else {
        return false;
    };
    let run = Run::before(text, object.open + 1, first.whole.start);
    let behind = last.comma.map_or(last.whole.end, |comma| comma + 1);
    run.newlines.len() == 1 && !run.behind_line_comment && text[behind..object.close].trim_ascii().is_empty()
}

/// The cuts with those that touch made one, and no line's end gone that a comment needs.
fn joined(text: &str, cuts: Vec<Range<usize>>, line_comments: &HashSet<usize>) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for cut in cuts {
        match out.last_mut() {
            Some(last) if last.end >= cut.start => last.end = last.end.max(cut.end),
            _ => out.push(cut),
        }
    }
    for index in 0..out.len() {
        if line_comments.contains(&out[index].start) && !ends_line(text, &out[index..]) {
            let end = syntax::newline(&text[out[index].clone()]).map_or(0, |end| end.end);
            out[index].start += end;
        }
    }
    out
}

/// Whether what follows the first of these cuts is a line's end that stays.
fn ends_line(text: &str, cuts: &[Range<usize>]) -> bool {
    let mut at = cuts[0].end;
    for next in &cuts[1..] {
        if !text[at..next.start].trim_matches([' ', '\t']).is_empty() {
            break;
        }
        at = next.end;
    }
    text[at..]
        .trim_start_matches([' ', '\t'])
        .starts_with(['\n', '\r'])
}

fn cut(text: &str, cuts: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for cut in cuts.iter().filter(|cut| cut.start < text.len()) {
        out.push_str(&text[at..cut.start]);
        at = cut.end.min(text.len());
    }
    out.push_str(&text[at..]);
    out
}

impl Run {
    fn before(text: &str, from: usize, to: usize) -> Self {
        let mut run = Self {
            start: from,
            newlines: Vec::new(),
            behind_line_comment: false,
        };
        for (kind, place) in syntax::trivia(text, from).take_while(|(_, place)| place.end <= to) {
            match kind {
                Trivia::Blank => {}
                Trivia::Newline => run.newlines.push(place),
                Trivia::LineComment | Trivia::BlockComment => {
                    run.start = place.end;
                    run.newlines.clear();
                    run.behind_line_comment = kind == Trivia::LineComment;
                }
            }
        }
        run
    }

    /// From the end of the line before; on a line with other things, from where those end.
    fn start_of_line(&self) -> usize {
        self.newlines.last().map_or(self.start, |end| end.start)
    }

    /// The same for the first of an object in which all goes: an empty line before it is its own.
    fn start_of_first(&self) -> usize {
        match self.newlines.as_slice() {
            [.., own, _] => own.start,
            _ => self.start_of_line(),
        }
    }
}
