//! Which version of Cursor's agent an answer to `--version` tells.
//!
//! Recorded builds print one line such as `2026.08.11-e8db854`. Notices of updates, warnings and failures may
//! stand around it, and may hold a version of another build.

use super::said::plain;

/// Words that may stand before the version on its line.
const LEADING: [&str; 5] = ["cursor-agent", "cursor", "agent", "version", "cli"];

/// Words of a notice about another version than the one that runs.
const NOTICE: [&str; 6] = ["update", "upgrade", "available", "latest", "newer", "new version"];

/// The version that the agent tells, from standard output or else from standard error.
///
/// It has the form of all recorded builds, `YYYY.MM.DD-<hex>` without any suffix, and stands alone on its
/// line, at most behind the agent's own name, `version` or `v`. A version inside a sentence is never taken,
/// nor one that the line before announces. An exit code is not looked at.
#[must_use]
pub fn agent_version(stdout: &str, stderr: &str) -> Option<String> {
    [stdout, stderr].into_iter().find_map(version_in)
}

fn version_in(text: &str) -> Option<String> {
    let text = plain(text);
    let mut doubtful = None;
    let mut before = "";
    // Whether only blank lines lie between this line and the one before.
    let mut apart = true;
    for line in text.lines().map(str::trim) {
        if line.is_empty() {
            apart = true;
            continue;
        }
        if let Some(version) = alone(line)
            && !before.ends_with([':', '→', '>'])
        {
            // "Update available!" right above may belong to it or not: it counts if nothing better comes.
            let lower = before.to_lowercase();
            if apart || !NOTICE.iter().any(|word| lower.contains(word)) {
                return Some(version.to_owned());
            }
            doubtful.get_or_insert_with(|| version.to_owned());
        }
        (before, apart) = (line, false);
    }
    doubtful
}

/// The version of a line that holds nothing else.
fn alone(line: &str) -> Option<&str> {
    let (leading, last) = line.rsplit_once(char::is_whitespace).unwrap_or(("", line));
    leading
        .split_whitespace()
        .all(|word| LEADING.iter().any(|known| word.eq_ignore_ascii_case(known)))
        .then(|| last.strip_prefix(['v', 'V']).unwrap_or(last))
        .filter(|word| is_agent_version(word))
}

fn is_agent_version(word: &str) -> bool {
    let Some((date, build)) = word.split_once('-') else {
        return false;
    };
    let mut parts = date.split('.');
    let mut number = |digits: usize| {
        let part = parts.next().filter(|part| part.len() == digits)?;
        part.bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| part.parse::<u16>().ok())?
    };
    let dated = number(4).is_some()
        && number(2).is_some_and(|month| (1..=12).contains(&month))
        && number(2).is_some_and(|day| (1..=31).contains(&day));
    dated
        && parts.next().is_none()
        && (6..=40).contains(&build.len())
        && build.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether this is the answer of the editor's own `cursor --version`: its version, commit and processor, a
/// line each. That is how the editor's family answers in general; no recording of it was found.
#[must_use]
pub fn is_editor_version(stdout: &str) -> bool {
    let text = plain(stdout);
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    lines.windows(3).any(|lines| {
        let [version, commit, processor] = lines else {
            return false;
        };
        let mut numbers = version.splitn(3, '.');
        let semantic = numbers
            .by_ref()
            .all(|part| part.starts_with(|c: char| c.is_ascii_digit()))
            && version.matches('.').count() >= 2
            && !version.contains(char::is_whitespace);
        semantic
            && commit.len() == 40
            && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
            && (3..=10).contains(&processor.len())
            && processor
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decorated::decorated;
    use super::*;

    const COMMIT: &str = "0f1e2d3c4b5a69788796a5b4c3d2e1f001122334";

    #[test]
    fn the_agents_version_is_found() {
        let table = [
            ("2026.08.11-e8db854\n", ""),
            (
                "2026.08.11-e8db854",
                "Warning: 2026.01.01-aaaaaaa is old\n2026.01.01-aaaaaaa",
            ),
            ("", "2026.08.11-e8db854\n"),
            ("no version here", "2026.08.11-e8db854\n"),
            ("\u{feff}\u{1b}[32m2026.08.11-e8db854\u{1b}[0m\r\n", ""),
            ("v2026.08.11-e8db854", ""),
            ("cursor-agent 2026.08.11-e8db854", ""),
            ("cursor agent v2026.08.11-e8db854", ""),
            ("  Cursor Agent CLI version 2026.08.11-e8db854  ", ""),
            (
                "(node:12) Warning: SQLite is experimental\n2026.08.11-e8db854\n",
                "",
            ),
            (
                "A new version 2026.10.01-e373342 is available\n2026.08.11-e8db854\n",
                "",
            ),
            (
                "Update available: 2026.08.11-e8db854 → 2026.10.01-e373342\n\n2026.08.11-e8db854",
                "",
            ),
            (
                "A new version is available:\n  2026.10.01-e373342\n\n2026.08.11-e8db854\n",
                "",
            ),
            ("Update available\n2026.10.01-e373342\n\n2026.08.11-e8db854\n", ""),
            ("Update available!\n2026.08.11-e8db854\n", ""),
            ("2026.08.11-e8db854\nUpdate available: 2026.10.01-e373342\n", ""),
        ];
        for (stdout, stderr) in table {
            let found = agent_version(stdout, stderr);
            assert_eq!(
                found.as_deref(),
                Some("2026.08.11-e8db854"),
                "for {stdout:?} and {stderr:?}"
            );
        }
    }

    #[test]
    fn what_is_no_version_of_the_agent_is_not_taken() {
        for text in [
            "",
            "1.2.3",
            "grok agent 1.2.3",
            "grok agent 2026.08.11-e8db854",
            "A new version 2026.10.01-e373342 is available",
            "Update available: 2026.08.11-e8db854 → 2026.10.01-e373342",
            "2026.08.11-e8db854 → 2026.10.01-e373342",
            "A new version is available:\n2026.10.01-e373342",
            "Error: 2026.08.11-e8db854 is damaged",
            "error: unknown option '--version'",
            "CLI Version 2026.08.11-e8db854 (latest)",
            "2026.08.11",
            "2026.08.11-",
            "2026.8.11-e8db854",
            "2026.13.11-e8db854",
            "2026.08.32-e8db854",
            "2026.08.11.1-e8db854",
            "2026.08.11-e8db85g",
            "2026.08.11-e8db854-beta",
            "12026.08.11-e8db854",
            "２０２６.08.11-e8db854",
        ] {
            assert_eq!(agent_version(text, text), None, "for {text:?}");
        }
    }

    #[test]
    fn the_editor_is_known_by_its_three_lines() {
        for text in [
            format!("3.4.17\n{COMMIT}\nx64\n"),
            format!("Warning: too old\r\n3.4.17-insider\r\n{COMMIT}\r\narm64"),
        ] {
            assert!(is_editor_version(&text), "for {text:?}");
            assert_eq!(agent_version(&text, ""), None);
        }
        for text in [
            "",
            "3.4.17",
            "2026.08.11-e8db854\n",
            &format!("3.4.17\n{COMMIT}\n"),
            &format!("a.b.c\n{COMMIT}\nx64"),
            &format!("3.4\n{COMMIT}\nx64"),
            "3.4.17\nabc\nx64",
            &format!("3.4.17\n{COMMIT}\nnot a processor"),
        ] {
            assert!(!is_editor_version(text), "for {text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(stdout: String, stderr: String) {
            if let Some(version) = agent_version(&stdout, &stderr) {
                prop_assert!(is_agent_version(&version));
            }
            let _ = is_editor_version(&stdout);
        }

        #[test]
        fn decoration_changes_nothing(text in decorated("cursor-agent 2026.08.11-e8db854\n\nUpdate available: 2026.10.01-e373342\n")) {
            let expected = Some("2026.08.11-e8db854".to_owned());
            prop_assert_eq!(agent_version(&text, ""), expected.clone());
            prop_assert_eq!(agent_version("", &text), expected);
        }

        #[test]
        fn a_decorated_editor_is_still_one(text in decorated("3.4.17\n0f1e2d3c4b5a69788796a5b4c3d2e1f001122334\nx64\n")) {
            prop_assert!(is_editor_version(&text));
        }
    }
}
