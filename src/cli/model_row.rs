//! One line of a list of models.

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row<'a> {
    Blank,
    /// `Available models`.
    Header,
    /// `ID  Name`, or a line of dashes below it.
    ColumnTitles,
    /// "No models available for this account."
    NoModels,
    /// `id - Label`, with the label and its marks.
    Model(&'a str, &'a str),
    /// `id<TAB>Label` or `id  Label`.
    Columns(&'a str, &'a str),
    /// An id alone, at most with marks.
    Lone(&'a str, &'a str),
    /// Anything else.
    Prose,
}

impl<'a> Row<'a> {
    pub(super) fn parts(&self) -> Option<(&'a str, &'a str)> {
        match *self {
            Self::Model(id, label) | Self::Columns(id, label) | Self::Lone(id, label) => Some((id, label)),
            _ => None,
        }
    }

    /// The id is not merely a word: it has a digit or a sign in it. `auto`, the one id that every recorded list
    /// has, counts too.
    pub(super) fn has_telling_id(&self) -> bool {
        self.parts()
            .is_some_and(|(id, _)| id == "auto" || id.contains(|c: char| !c.is_ascii_alphabetic()))
    }
}

/// Words that begin a remark such as `warning - old version`, in small letters.
const REMARKS: [&str; 12] = [
    "debug", "error", "fatal", "hint", "info", "note", "notice", "tip", "usage", "warn", "warning", "loading",
];

/// The titles that columns may have, in small letters.
const TITLES: [&str; 8] = [
    "id",
    "model",
    "name",
    "label",
    "description",
    "model id",
    "display name",
    "slug",
];

pub(super) fn read_row(line: &str) -> Row<'_> {
    let line = line.trim();
    if line.is_empty() {
        return Row::Blank;
    }
    let lower = line.to_lowercase();
    if is_header(&lower) {
        return Row::Header;
    }
    if lower
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .starts_with("no models available")
    {
        return Row::NoModels;
    }
    if line
        .bytes()
        .all(|byte| matches!(byte, b'-' | b'=' | b' ' | b'\t'))
    {
        return Row::ColumnTitles;
    }
    if let Some((id, label)) = line
        .split_once(" - ")
        .or_else(|| Some((line.strip_suffix(" -")?, "")))
    {
        let id = id.trim_end();
        if is_id(id) {
            return Row::Model(id, label.trim());
        }
    }
    let columns = line
        .find(['\t', ' '])
        .filter(|at| line[*at..].starts_with('\t') || line[*at..].starts_with("  "));
    if let Some((id, label)) = columns.map(|at| line.split_at(at)) {
        let label = label.trim();
        let is_title = |word: &str| TITLES.contains(&word.to_lowercase().as_str());
        if is_title(id)
            && label
                .split(['\t'])
                .flat_map(|part| part.split("  "))
                .any(|part| is_title(part.trim()))
        {
            return Row::ColumnTitles;
        }
        if is_id(id) && !split_marks(label).0.is_empty() {
            // What else a table says in further columns is not part of the label; marks stand there too.
            return Row::Columns(
                id,
                match label.split_once('\t') {
                    Some((label, more)) if !split_marks(more).0.is_empty() => label.trim_end(),
                    _ => label,
                },
            );
        }
    }
    let (id, _) = split_marks(line);
    if is_id(id) {
        Row::Lone(id, &line[id.len()..])
    } else {
        Row::Prose
    }
}

/// `lower` is in small letters. Frames of "Loading models…" whose codes somebody took away may be glued to it.
fn is_header(lower: &str) -> bool {
    let mut rest = lower;
    while let Some(behind) = rest.strip_prefix("loading models") {
        rest = behind.trim_start_matches(['.', '…', ' ']);
    }
    matches!(
        rest.trim_end_matches([':', '：', ' ']),
        "available models" | "models" | "available models for this account"
    )
}

/// `[A-Za-z0-9._-]+` with a letter in it, perhaps with parameters in brackets, and no word that prose begins
/// with: those are capitalised, or in [`REMARKS`].
fn is_id(text: &str) -> bool {
    let (name, parameters) = match text.find('[') {
        Some(at) => text.split_at(at),
        None => (text, "[]"),
    };
    let Some(parameters) = parameters
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'))
    else {
        return false;
    };
    let formed = name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.contains(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
        && !parameters.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '[' | ']'));
    let mut letters = name.chars();
    let capitalised =
        letters.next().is_some_and(|c| c.is_ascii_uppercase()) && letters.all(|c| c.is_ascii_lowercase());
    let sentence_end = name.ends_with('.');
    formed && !capitalised && !sentence_end && !REMARKS.contains(&name)
}

/// The marks at the end of a label.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) default: bool,
    pub(super) current: bool,
}

/// Takes the known marks off the end of a label. Other parentheses are part of it.
pub(super) fn split_marks(label: &str) -> (&str, Marks) {
    let mut marks = Marks::default();
    let mut label = label.trim();
    while let Some((before, inner)) = label.strip_suffix(')').and_then(|open| open.rsplit_once('(')) {
        let mut words = inner.split(',').map(str::trim);
        if !words.clone().all(|word| matches!(word, "default" | "current")) {
            break;
        }
        marks.default |= words.clone().any(|word| word == "default");
        marks.current |= words.any(|word| word == "current");
        label = before.trim_end();
    }
    (label, marks)
}
