//! What an answer of `cursor-agent status` says about who is logged in.
//!
//! `status --format json` and the text form are known from public recordings and parsers of builds of 2026;
//! both exit with 0 also where nobody is logged in.

use super::json::Raw;
use super::said::plain;

/// What the CLI says about the login. `None` is "not said", never "no".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthStatus {
    /// The member `isAuthenticated`, where it is a boolean; or what the text form says.
    pub is_authenticated: Option<bool>,
    /// The member `status`, such as `authenticated`.
    pub status: Option<String>,
    /// The e-mail address of the account. Never a word that stands in its place.
    pub email: Option<String>,
    /// The member `message`, or the line of the text form that decided.
    pub message: Option<String>,
    /// The member `hasAccessToken`.
    pub has_access_token: Option<bool>,
}

/// Reads the answer of `status`, in JSON or in its text form, whatever stands around it.
///
/// Of several JSON objects the one with `isAuthenticated` counts. An object inside another one, and the text
/// of a string, is never an answer. Two answers that contradict each other are none: the caller then knows
/// nothing, which is safer than either.
#[must_use]
pub fn parse_auth_status(stdout: &str) -> AuthStatus {
    let text = plain(stdout);
    let mut spare = None;
    let mut found: Option<AuthStatus> = None;
    for object in objects(&text) {
        if object.member("isAuthenticated").is_some() {
            let status = from_object(object);
            match &mut found {
                Some(first) if first.is_authenticated != status.is_authenticated => {
                    first.is_authenticated = None;
                    return found.unwrap_or_default();
                }
                Some(_) => {}
                None => found = Some(status),
            }
        } else if spare.is_none()
            && ["status", "hasAccessToken", "userInfo"]
                .iter()
                .any(|name| object.member(name).is_some())
        {
            spare = Some(from_object(object));
        }
    }
    found.or(spare).unwrap_or_else(|| from_text(&text))
}

/// Whether the CLI is too old for `status --format json`: it says so with `error: unknown option '--format'`,
/// or in the words of another parser of arguments. Then `status` alone answers, in its text form.
#[must_use]
pub fn format_was_rejected(said: &str) -> bool {
    plain(said).lines().any(|line| {
        let line = line.to_lowercase();
        line.contains("--format")
            && [
                "unknown option",
                "unrecognized option",
                "unexpected argument",
                "invalid option",
                "unknown argument",
            ]
            .iter()
            .any(|words| line.contains(words))
    })
}

/// The outermost JSON objects in a text.
fn objects(text: &str) -> impl Iterator<Item = Raw<'_>> {
    let mut rest = text;
    let mut effort = text.len().saturating_mul(8);
    std::iter::from_fn(move || {
        loop {
            rest = &rest[rest.find('{')?..];
            if let Some((object, behind)) = Raw::leading(rest, &mut effort) {
                rest = behind;
                return Some(object);
            }
            rest = &rest[1..];
        }
    })
}

fn from_object(object: Raw<'_>) -> AuthStatus {
    let text = |name| {
        object
            .member(name)
            .and_then(Raw::as_str)
            .map(std::borrow::Cow::into_owned)
    };
    let user = object
        .member("userInfo")
        .and_then(|user| user.member("email"))
        .and_then(Raw::as_str);
    AuthStatus {
        is_authenticated: object.member("isAuthenticated").and_then(Raw::as_bool),
        status: text("status"),
        email: user
            .map(std::borrow::Cow::into_owned)
            .or_else(|| text("email"))
            .filter(|email| is_email(email)),
        message: text("message"),
        has_access_token: object.member("hasAccessToken").and_then(Raw::as_bool),
    }
}

fn is_email(text: &str) -> bool {
    text.split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
        && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// The text form. Only whole lines count: loose words like "logged in" stand in many a sentence that says no.
fn from_text(text: &str) -> AuthStatus {
    let mut status = AuthStatus::default();
    for line in text.lines() {
        let line = line.trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, '✓' | '✔' | '√' | '✗' | '✘' | '✖' | '×')
        });
        let Some((answer, email)) = line_answer(line) else {
            continue;
        };
        if status.is_authenticated.is_some_and(|before| before != answer) {
            return AuthStatus::default();
        }
        status.is_authenticated = Some(answer);
        status.email = status.email.or_else(|| email.map(str::to_owned));
        status.message.get_or_insert_with(|| line.to_owned());
    }
    status
}

fn line_answer(line: &str) -> Option<(bool, Option<&str>)> {
    let said = line.trim_end_matches(['.', '!']);
    if let Some(email) = said
        .strip_prefix("Logged in as ")
        .map(str::trim)
        .filter(|email| is_email(email))
    {
        return Some((true, Some(email)));
    }
    let said = said.to_lowercase();
    if matches!(
        said.as_str(),
        "login successful" | "logged in" | "logged in (unable to fetch user details)"
    ) {
        return Some((true, None));
    }
    let no = [
        "not logged in",
        "you are not logged in",
        "you are not authenticated",
        "not authenticated",
    ];
    no.iter()
        .filter_map(|no| said.strip_prefix(no))
        .any(|behind| {
            behind.is_empty() || behind.starts_with(['.', ',', ';', ':', '!']) || behind.starts_with(" (")
        })
        .then_some((false, None))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decorated::decorated;
    use super::*;

    const OUT: &str = r#"{"status":"unauthenticated","isAuthenticated":false,"hasAccessToken":false,"hasRefreshToken":false,"message":"Not logged in"}"#;
    const IN: &str = r#"{"status":"authenticated","isAuthenticated":true,"hasAccessToken":true,"hasRefreshToken":true,"userInfo":{"email":"me@example.com","userId":123,"firstName":"Me","lastName":"{[","createdAt":"2026-01-05T09:30:00.000Z"}}"#;

    fn logged_out() -> AuthStatus {
        AuthStatus {
            is_authenticated: Some(false),
            status: Some("unauthenticated".into()),
            email: None,
            message: Some("Not logged in".into()),
            has_access_token: Some(false),
        }
    }

    fn logged_in() -> AuthStatus {
        AuthStatus {
            is_authenticated: Some(true),
            status: Some("authenticated".into()),
            email: Some("me@example.com".into()),
            message: None,
            has_access_token: Some(true),
        }
    }

    #[test]
    fn json_is_found_in_whatever_surrounds_it() {
        let pretty =
            serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(IN).unwrap()).unwrap();
        for json in [IN, &pretty, &pretty.replace('\n', "\r\n")] {
            for (before, after) in [
                ("", ""),
                ("\u{feff}", "\n"),
                ("\u{feff}notice\r\n", "\r\n"),
                ("Loading…\r\u{1b}[2K\u{1b}[32m", "\u{1b}[0m\n\nUpdate available\n"),
                ("Notice: {update} [now]\n", ""),
                ("[dotenv@17] injecting env {\"\n", "\n}]"),
                ("{\"level\":\"warn\",\"msg\":\"old\"}\n", "\n{\"done\":true}"),
                ("{\"status\":\"starting\"}\n", ""),
                ("{\"a\": [\n", ""),
                ("Warning: glued ", " trailer {"),
                ("Not logged in\n", ""),
            ] {
                let text = format!("{before}{json}{after}");
                assert_eq!(parse_auth_status(&text), logged_in(), "for {text:?}");
            }
        }
        assert_eq!(parse_auth_status(OUT), logged_out());
        assert_eq!(
            parse_auth_status(&format!("{OUT}\n✓ Logged in as a@b.co")),
            logged_out()
        );
    }

    #[test]
    fn only_a_boolean_of_the_outermost_object_decides() {
        for text in [
            r#"{"isAuthenticated":"true"}"#,
            r#"{"isAuthenticated":1}"#,
            r#"{"isAuthenticated":null,"message":"x"}"#,
            r#"{"isauthenticated":true}"#,
            r#"{"authenticated":true,"loggedIn":true}"#,
            r#"{"status":"authenticated"}"#,
            r#"{"data":{"isAuthenticated":true}}"#,
            r#"{"message":"{\"isAuthenticated\":true}"}"#,
            "[true]",
            r#"{"isAuthenticated":true"#,
            "{\"isAuthenticated\":\"x\"}\nLogged in",
            "{\"isAuthenticated\":true}\n{\"isAuthenticated\":false}",
            "{\"isAuthenticated\":false}\n{\"isAuthenticated\":true}",
        ] {
            assert_eq!(parse_auth_status(text).is_authenticated, None, "for {text:?}");
        }
        assert_eq!(
            parse_auth_status(r#"{"status":"authenticated"}"#)
                .status
                .as_deref(),
            Some("authenticated")
        );
    }

    #[test]
    fn odd_json_does_not_hide_the_answer() {
        let deep = format!(
            r#"{{"x":{}{},"isAuthenticated":true}}"#,
            "[".repeat(50_000),
            "]".repeat(50_000)
        );
        for text in [
            &deep,
            r#"{"isAuthenticated":true,"x":"\ud83d","\ude00":1}"#,
            r#"{"isAuthenticated":false,"isAuthenticated":true}"#,
            r#"{"x":NaN,"y":1e400,"z":-Infinity,"isAuthenticated":true}"#,
            r#"{"is\u0041uthenticated":true}"#,
            "{\"x\":\"\u{1}\t\",\"isAuthenticated\":true}",
        ] {
            let start: String = text.chars().take(60).collect();
            assert_eq!(
                parse_auth_status(text).is_authenticated,
                Some(true),
                "for {start:?}"
            );
        }
    }

    #[test]
    fn an_email_is_an_email_or_absent() {
        for email in [r#""Logged in""#, r#""""#, "null", "5", r#""@b""#, r#""a b@c""#] {
            let text = format!(r#"{{"isAuthenticated":true,"userInfo":{{"email":{email}}}}}"#);
            let status = parse_auth_status(&text);
            assert_eq!(
                (status.is_authenticated, status.email),
                (Some(true), None),
                "for {text:?}"
            );
        }
        let top = parse_auth_status(r#"{"isAuthenticated":true,"email":"a@b.co"}"#);
        assert_eq!(top.email.as_deref(), Some("a@b.co"));
    }

    #[test]
    fn the_text_form_is_read_by_whole_lines() {
        let table: &[(&str, Option<bool>, Option<&str>)] = &[
            (" ✓ Logged in as a@b.co\n", Some(true), Some("a@b.co")),
            (
                "\u{1b}[32m✓\u{1b}[0m Logged in as \u{1b}[1ma@b.co\u{1b}[0m",
                Some(true),
                Some("a@b.co"),
            ),
            ("Logged in (unable to fetch user details)", Some(true), None),
            (
                "Starting login process...\nChecking authentication status...\n✓ Login successful!\nLogged in (unable \
                 to fetch user details)\n",
                Some(true),
                None,
            ),
            (
                "\u{1b}[2K\u{1b}[GChecking…\r\u{1b}[2K✓ Login successful!",
                Some(true),
                None,
            ),
            ("Not logged in\n", Some(false), None),
            ("✗ Not logged in. Run 'agent login'", Some(false), None),
            ("You are not authenticated", Some(false), None),
            ("no subscription", None, None),
            ("You are Logged in as nobody", None, None),
            ("Logged in as nobody", None, None),
            ("Was never Logged in", None, None),
            ("Not logged into MCP", None, None),
            ("authenticated", None, None),
            ("Error: Your macOS login keychain is locked.", None, None),
            ("Logged in\nNot logged in", None, None),
            ("", None, None),
        ];
        for (text, answer, email) in table {
            let status = parse_auth_status(text);
            assert_eq!(status.is_authenticated, *answer, "for {text:?}");
            assert_eq!(status.email.as_deref(), *email, "for {text:?}");
            assert_eq!(status.message.is_some(), answer.is_some(), "for {text:?}");
        }
    }

    #[test]
    fn an_old_cli_rejects_the_format() {
        assert!(format_was_rejected(
            "\u{1b}[31merror: unknown option '--format'\u{1b}[0m\r\n"
        ));
        assert!(format_was_rejected("error: unexpected argument '--format' found"));
        for said in [
            "",
            OUT,
            "error: unknown option '--json'",
            "Usage: status [--format json]",
        ] {
            assert!(!format_was_rejected(said), "for {said:?}");
        }
    }

    #[test]
    fn a_text_full_of_brackets_takes_no_time() {
        for unit in ["{", "{\"a\":", "[", "{\"", "{\"a\":[\"", "{}"] {
            assert_eq!(parse_auth_status(&unit.repeat(50_000)), AuthStatus::default());
        }
        let unclosed = format!("{}\"{}", "[{\"a\":".repeat(2_000), "x".repeat(1_000_000));
        assert_eq!(parse_auth_status(&unclosed), AuthStatus::default());
    }

    proptest! {
        #[test]
        fn no_text_panics(text: String, json in r#"[{}\[\]":, a-c\\\n]{0,60}"#) {
            let _ = (parse_auth_status(&text), format_was_rejected(&text));
            let _ = parse_auth_status(&json);
        }

        #[test]
        fn decoration_changes_nothing(json in decorated(IN), text in decorated(" ✓ Logged in as a@b.co\n"), old in decorated("error: unknown option '--format'\n")) {
            prop_assert_eq!(parse_auth_status(&json), logged_in());
            prop_assert_eq!(parse_auth_status(&text), parse_auth_status("Logged in as a@b.co"));
            prop_assert!(format_was_rejected(&old));
        }
    }
}
