//! How a config is laid out, so that what is put in looks like the rest.

use super::super::syntax::{self, Object};

/// The longest indentation that is copied, in bytes: text that is indented by kilobytes must not grow by as much for
/// every line of ours.
const INDENT_LIMIT: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Style<'a> {
    /// The end of the file's first line.
    pub(super) newline: &'a str,
    /// One step of indentation.
    pub(super) step: &'a str,
}

impl<'a> Style<'a> {
    /// Of a file with this root, if it has any.
    pub(super) fn of(text: &'a str, root: Option<&Object<'_>>) -> Self {
        let newline = syntax::newline(text).map_or("\n", |end| &text[end]);
        let step = root
            .and_then(|root| {
                let first = root.members.first()?;
                let outer = line_indent(text, root.open);
                let inner = own_line_indent(text, first.whole.start)?;
                inner.strip_prefix(outer).filter(|step| !step.is_empty())
            })
            .unwrap_or("  ");
        Self { newline, step }
    }
}

/// The indentation of the line on which `at` stands.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let line = text[start..at].trim_start_matches('\u{feff}');
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    &line[..blank.min(INDENT_LIMIT)]
}

/// The indentation of what stands at `at`, if nothing is before it on its line.
pub(super) fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before
        .ends_with(['\n', '\r'])
        .then(|| &text[before.len()..at])
        .map(|indent| &indent[..indent.len().min(INDENT_LIMIT)])
}
