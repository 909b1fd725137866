//! The one thing that is read from a repository's config: where its main working tree lies, if not around the git
//! directory.

/// The value of `core.worktree`, the last one.
pub(super) fn core_worktree(config: &[u8]) -> Option<Vec<u8>> {
    let mut in_core = false;
    let mut found = None;
    let mut lines = Lines(config);
    while let Some(line) = lines.next_whole() {
        let mut line = line.trim_ascii_start();
        if let Some(header) = line.strip_prefix(b"[") {
            let Some(end) = memchr::memchr(b']', header) else {
                in_core = false;
                continue;
            };
            in_core = header[..end].trim_ascii().eq_ignore_ascii_case(b"core");
            // A variable may stand behind its section's name.
            line = header[end + 1..].trim_ascii_start();
        }
        let name = line
            .split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
            .next();
        let name = name.unwrap_or_default();
        if in_core
            && name.eq_ignore_ascii_case(b"worktree")
            && let Some(given) = line[name.len()..].trim_ascii_start().strip_prefix(b"=")
        {
            found = Some(value(given));
        }
    }
    found
}

/// Lines, of which one that ends with a backslash goes on in the next.
struct Lines<'a>(&'a [u8]);

impl<'a> Lines<'a> {
    fn next_whole(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let mut from = 0;
        let end = loop {
            match memchr::memchr(b'\n', &self.0[from..]) {
                None => break self.0.len(),
                Some(at) => {
                    let end = from + at;
                    let line = self.0[..end].strip_suffix(b"\r").unwrap_or(&self.0[..end]);
                    let slashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
                    if slashes % 2 == 0 {
                        break end;
                    }
                    from = end + 1;
                }
            }
        };
        let line = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        Some(line)
    }
}

/// A value without its quotes, escapes and comment.
fn value(given: &[u8]) -> Vec<u8> {
    let mut value = Vec::new();
    // Blanks at the end are not part of it, unless quoted.
    let mut kept = 0;
    let mut quoted = false;
    let mut bytes = given.trim_ascii_start().iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => quoted = !quoted,
            b'#' | b';' if !quoted => break,
            b'\\' => {
                match bytes.next() {
                    Some(b'n') => value.push(b'\n'),
                    Some(b't') => value.push(b'\t'),
                    Some(b'\r') => _ = bytes.next(),
                    None | Some(b'\n') => {}
                    Some(other) => value.push(*other),
                }
                kept = value.len();
            }
            byte => value.push(*byte),
        }
        if quoted || !byte.is_ascii_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_working_tree_is_found_as_git_finds_it() {
        for (config, expected) in [
            ("", None),
            ("[core]\n\tbare = false\n", None),
            ("[core]\n\tworktree = ../../../sub\n", Some("../../../sub")),
            ("[Core]\r\n\tWorkTree=/a b  \r\n", Some("/a b")),
            ("[core] worktree = x", Some("x")),
            (
                "[core]\nworktree = \" a;#\\\"b\\\\ \" ; why\n",
                Some(" a;#\"b\\ "),
            ),
            ("[core]\nworktree = a # why\n", Some("a")),
            ("[core]\nworktree = a\\\nb\n", Some("ab")),
            (
                "[core]\nworktree = 1\n[other]\nworktree = 2\n[core]\nworktree = 3\n",
                Some("3"),
            ),
            ("[core \"x\"]\nworktree = 1\n", None),
            ("[core]\n# worktree = 1\n;worktree = 2\nworktrees = 3\n", None),
            ("[core\nworktree = 1\n", None),
            ("[alias]\nx = \"a\\\n[core]\\\nworktree = no\"\n", None),
        ] {
            let found = core_worktree(config.as_bytes()).map(|found| String::from_utf8(found).unwrap());
            assert_eq!(found.as_deref(), expected, "{config:?}");
        }
    }
}
