//! The lines by which git ignores our three paths in one folder of a repository.

use super::names::{CONFIG, CURSOR, LOCK, MANIFEST};

/// Which of the three paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Config,
    Manifest,
    Lock,
}

impl Part {
    pub(super) const ALL: [Self; 3] = [Self::Config, Self::Manifest, Self::Lock];

    fn tail(self) -> String {
        match self {
            Self::Config => format!("{CURSOR}/{CONFIG}"),
            Self::Manifest => format!("{CURSOR}/{MANIFEST}"),
            Self::Lock => format!("{CURSOR}/{LOCK}/"),
        }
    }
}

/// Whether a line can be written for this prefix: nothing stands for a line break in an exclude file.
pub(super) fn is_expressible(prefix: &[u8]) -> bool {
    !prefix.contains(&b'\n')
}

/// The line for one path. What git would take for a wildcard or an escape is escaped. `!`, `#` and blanks mean
/// something only at the beginning or the end of a line, where the prefix never is.
pub(super) fn line(prefix: &[u8], part: Part) -> Vec<u8> {
    let mut line = vec![b'/'];
    for byte in prefix {
        if matches!(byte, b'*' | b'?' | b'[' | b'\\') {
            line.push(b'\\');
        }
        line.push(*byte);
    }
    line.extend(part.tail().as_bytes());
    line
}

/// The prefix and the path that a line is for, if it is one of ours, whatever else in it is escaped.
pub(super) fn read(line: &[u8]) -> Option<(Vec<u8>, Part)> {
    let rooted = line.strip_prefix(b"/")?;
    let (escaped, part) = Part::ALL
        .into_iter()
        .find_map(|part| Some((rooted.strip_suffix(part.tail().as_bytes())?, part)))?;
    let mut prefix = Vec::with_capacity(escaped.len());
    let mut bytes = escaped.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => prefix.push(*bytes.next()?),
            // A wildcard stands for more than one folder.
            b'*' | b'?' | b'[' => return None,
            other => prefix.push(*other),
        }
    }
    (prefix.is_empty() || prefix.ends_with(b"/")).then_some((prefix, part))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lines_are_those_of_the_protocol() {
        let lines = |prefix: &[u8]| Part::ALL.map(|part| String::from_utf8(line(prefix, part)).unwrap());
        assert_eq!(
            lines(b""),
            [
                "/.cursor/mcp.json",
                "/.cursor/.fusion-mcp-state.json",
                "/.cursor/.fusion-mcp.lock/"
            ]
        );
        assert_eq!(lines(b"apps/web/")[0], "/apps/web/.cursor/mcp.json");
        assert_eq!(
            lines(br"a*b?c[d]\e !#/")[0],
            r"/a\*b\?c\[d]\\e !#/.cursor/mcp.json"
        );
    }

    #[test]
    fn a_peers_escapes_are_understood_and_wildcards_are_not_ours() {
        let prefix = |line: &[u8]| read(line).map(|(prefix, _)| prefix);
        assert_eq!(prefix(br"/a\!\#\ \]/.cursor/mcp.json"), Some(b"a!# ]/".to_vec()));
        for other in [
            &b"/*/.cursor/mcp.json"[..],
            b"/a?/.cursor/mcp.json",
            b"/[ab]/.cursor/mcp.json",
            b".cursor/mcp.json",
            b"!/.cursor/mcp.json",
            b"/a.cursor/mcp.json",
            b"/.cursor/.fusion-mcp.lock",
            b"/.cursor/mcp.json ",
            br"/a\",
        ] {
            assert_eq!(prefix(other), None, "{}", String::from_utf8_lossy(other));
        }
    }

    proptest! {
        #[test]
        fn a_line_is_read_as_what_it_was_written_for(folder in "[^/\n\0]{1,8}", index in 0..3_usize) {
            let prefix = format!("{folder}/").into_bytes();
            let part = Part::ALL[index];
            prop_assert_eq!(read(&line(&prefix, part)), Some((prefix, part)));
        }
    }
}
