//! Hides what looks like a key or a token. It guesses on the side of hiding too much: a diagnostic that lacks
//! a word is a smaller loss than a key in a log.

/// What stands where a secret was.
const MASKED: &str = "***";

/// The ends of names whose value is a secret: of variables, flags, headers and members.
const SECRET_NAMES: [&str; 9] = [
    "key",
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "credential",
    "credentials",
    "cookie",
];

/// How tokens of known makers begin: keys of Cursor, and the usual ones of others.
const KNOWN_STARTS: [&str; 16] = [
    "key_",
    "crsr_",
    "sk-",
    "sk_",
    "ghp_",
    "gho_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "xapp-",
    "xoxb-",
    "xoxp-",
    "eyJ",
];

/// What may come behind a flag or `Bearer` in a sentence about it.
const PROSE: [&str; 15] = [
    "and",
    "argument",
    "auth",
    "authentication",
    "bearer",
    "basic",
    "environment",
    "flag",
    "for",
    "if",
    "is",
    "option",
    "or",
    "to",
    "token",
];

/// From this length on a run of letters and digits is looked at for how mixed it is.
const LONG: usize = 24;

/// The line with secrets replaced.
pub(super) fn mask(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    // Where the last run that may be base64 ended; what is before has been looked at.
    let mut base64_left = usize::MAX;
    while let Some(first) = rest.chars().next() {
        let name = run(rest, is_name);
        if name.is_empty() {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let behind = &rest[name.len()..];
        if let Some((kept, value)) = named_value(name, behind) {
            out.push_str(&rest[..name.len() + kept]);
            out.push_str(MASKED);
            rest = &behind[kept + value..];
            continue;
        }
        if KNOWN_STARTS
            .iter()
            .any(|start| name.len() >= start.len() + 3 && name.starts_with(start))
            || is_mixed(name)
        {
            let token = run(rest, |c| is_name(c) || matches!(c, '.' | '+' | '/' | '='));
            out.push_str(MASKED);
            rest = &rest[token.trim_end_matches('.').len()..];
            continue;
        }
        if rest.len() < base64_left {
            let wide = run(rest, |c| {
                c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')
            });
            if is_mixed(wide) && !out.ends_with(['/', '\\', '.', '~', ':', '_', '-']) {
                out.push_str(MASKED);
                rest = &rest[wide.len()..];
                continue;
            }
            base64_left = rest.len() - wide.len() + 1;
        }
        out.push_str(name);
        rest = behind;
    }
    out
}

/// Shorter ones could be any word of an answer.
const SHORTEST_KNOWN: usize = 8;

/// Replaces these very secrets, whatever they look like, in what a program wrote.
pub(super) fn hide(output: Vec<u8>, secrets: &[String]) -> Vec<u8> {
    let known = secrets.iter().map(String::as_bytes);
    known
        .filter(|secret| secret.len() >= SHORTEST_KNOWN)
        .fold(output, without)
}

fn without(output: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    let mut hidden = Vec::new();
    let mut rest = output.as_slice();
    while let Some(at) = rest.windows(secret.len()).position(|part| part == secret) {
        hidden.extend_from_slice(&rest[..at]);
        hidden.extend_from_slice(MASKED.as_bytes());
        rest = &rest[at + secret.len()..];
    }
    if hidden.is_empty() {
        return output;
    }
    hidden.extend_from_slice(rest);
    hidden
}

fn run(text: &str, of: impl Fn(char) -> bool) -> &str {
    &text[..text.find(|c| !of(c)).unwrap_or(text.len())]
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '\\')
}

/// Where a secret follows `name`: how many bytes lie between, and how long it is.
fn named_value(name: &str, behind: &str) -> Option<(usize, usize)> {
    let lower = name.to_ascii_lowercase();
    let scheme = matches!(lower.as_str(), "bearer" | "basic");
    if !scheme && !SECRET_NAMES.iter().any(|end| lower.ends_with(end)) {
        return None;
    }
    let skip = |from: usize, of: fn(char) -> bool| from + run(&behind[from..], of).len();
    let sign = skip(skip(0, is_quote), |c| c == ' ');
    let (at, named_by) = match behind[sign..].chars().next()? {
        c @ ('=' | ':') if !scheme => (skip(sign + 1, |c| c == ' '), c),
        _ if sign > 0 && (scheme || name.starts_with("--")) => (sign, ' '),
        _ => return None,
    };
    let start = skip(at, is_quote);
    let value = run(&behind[start..], |c| {
        !c.is_whitespace() && !is_quote(c) && !matches!(c, ',' | ';' | '&' | ')' | ']' | '}')
    });
    let bare = value.trim_end_matches(['.', ':']);
    let digits = bare.contains(|c: char| c.is_ascii_digit());
    let secret = !bare.is_empty()
        && !PROSE.iter().any(|word| bare.eq_ignore_ascii_case(word))
        && match named_by {
            // Hidden before; were it not seen as a value, its name could be taken for a token.
            _ if bare == MASKED => true,
            '=' => true,
            // A colon ends many a harmless clause too: "invalid token: unexpected end".
            ':' => digits || start > at || bare.len() >= 16,
            _ if lower == "basic" => bare.len() >= 6 && (digits || bare.ends_with('=')),
            _ => true,
        };
    secret.then_some((start, bare.len()))
}

/// A long run that changes between digits, small and capital letters far more often than words, paths, model
/// ids and versions do.
fn is_mixed(run: &str) -> bool {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Digit,
        Small,
        Capital,
    }
    let kinds = run.bytes().filter_map(|byte| match byte {
        b'0'..=b'9' => Some(Kind::Digit),
        b'a'..=b'z' => Some(Kind::Small),
        b'A'..=b'Z' => Some(Kind::Capital),
        _ => None,
    });
    let (mut changes, mut digits, mut last) = (0, false, None);
    for kind in kinds {
        digits |= kind == Kind::Digit;
        // A capital before small letters is how words begin.
        changes += usize::from(match (last, kind) {
            (None, _) | (Some(Kind::Capital), Kind::Small) => false,
            (Some(last), kind) => last != kind,
        });
        last = Some(kind);
    }
    run.len() >= LONG && digits && changes >= run.len() / 5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden() {
        let jwt =
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
        let hex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let base64 = "dGhpcyBpcyBhIHNl/3JldCBrZXkgb2Yg+29tZWJvZHk1MjM0NQ==";
        let table = [
            ("key_4f2a is wrong", "*** is wrong"),
            ("used 'crsr_abcdef'.", "used '***'."),
            ("sk-proj-abc, sk-ant-xyz", "***, ***"),
            ("glpat-abc ghu_abc xapp-1-A", "*** *** ***"),
            ("Bearer abc.def-ghi", "Bearer ***"),
            ("authorization: bearer abc", "authorization: bearer ***"),
            ("Authorization: Basic dXNlcjpwYXNz0=", "Authorization: Basic ***"),
            ("agent --api-key X -p", "agent --api-key *** -p"),
            ("agent --api-key=X -p", "agent --api-key=*** -p"),
            ("agent --auth-token 'X y'", "agent --auth-token '*** y'"),
            ("api_key=abc&model=auto", "api_key=***&model=auto"),
            ("api_key = abc", "api_key = ***"),
            ("CURSOR_API_KEY=abc agent", "CURSOR_API_KEY=*** agent"),
            ("CURSOR_AUTH_TOKEN=\"abc\"", "CURSOR_AUTH_TOKEN=\"***\""),
            (r#"{"apiKey":"abc","x":1}"#, r#"{"apiKey":"***","x":1}"#),
            (r#"{\"accessToken\": \"abc\"}"#, r#"{\"accessToken\": \"***\"}"#),
            ("Set-Cookie: sid4=1", "Set-Cookie: ***"),
            ("password: hunter2.", "password: ***."),
            (jwt, "***"),
            (&format!("at {jwt}."), "at ***."),
            (hex, "***"),
            (&format!("é{hex}é"), "é***é"),
            (base64, "***"),
            ("id 2c0c2a3f-5b0e-4b57-9d0c-0f3a5d0f4e11", "id ***"),
        ];
        for (line, masked) in table {
            assert_eq!(mask(line), masked, "for {line:?}");
            assert_eq!(mask(masked), masked, "again");
        }
    }

    #[test]
    fn a_known_secret_is_hidden_whatever_it_looks_like() {
        let hidden =
            |text: &str, secret: &str| String::from_utf8(hide(text.into(), &[secret.to_owned()])).unwrap();
        assert_eq!(
            hidden("horse battery: horse battery.", "horse battery"),
            "***: ***."
        );
        assert_eq!(hidden("a schlüssel b", "schlüssel"), "a *** b");
        assert_eq!(hidden("********", "********"), "***", "it ends");
        for (text, secret) in [("auto - Auto", "auto"), ("", "12345678"), ("1234567", "12345678")] {
            assert_eq!(hidden(text, secret), text);
        }
    }

    #[test]
    fn ordinary_words_paths_and_versions_stay() {
        for line in [
            "Error: Authentication required. Please run 'agent login' first, or set CURSOR_API_KEY environment variable.",
            "Error: Authentication required. Run 'agent login', pass --api-key/--auth-token, or set \
             CURSOR_API_KEY/CURSOR_AUTH_TOKEN.",
            "⚠ Warning: The provided API key is invalid. The API key was loaded from the CURSOR_API_KEY \
             environment variable.",
            "pass --api-key or --auth-token",
            "Run security unlock-keychain and try again.",
            "invalid token: unexpected end of input",
            "Cannot use this model: claude-opus-4-8-thinking-high-fast. Available models: gpt-5.3-codex-low-fast",
            "base[context=1m,effort=high,fast=false]",
            "/home/u/.local/share/cursor-agent/versions/2026.08.11-e8db854/index.js",
            "C:\\Users\\A User\\AppData\\Local\\cursor-agent\\versions\\2026.08.11-e8db854\\node.exe",
            "packages/Foo2/src/components/Thing/AnotherThing",
            "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/cursor-agent-logs-501",
            "cursor-agent-linux-x64-2026-10-build-12",
            "https://agentn.global.api5.cursor.sh (attempt 1)...",
            "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found",
            "SecItemCopyMatching failed -50",
            "https://nodejs.org/api/errors.html#ERR_DLOPEN_FAILED",
        ] {
            assert_eq!(mask(line), line);
        }
    }
}
