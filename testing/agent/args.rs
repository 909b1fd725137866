//! Reads the command line as the real CLI does: what that refuses is refused here too.

/// What the stand-in was asked to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Turn(Turn),
    /// A command beside the turn; `json` where its `--format` says so.
    Command {
        name: &'static str,
        json: bool,
    },
    Help,
    /// The text for stderr; the exit code is 1.
    Refused(String),
}

/// The parts of a turn's command line that placeholders tell.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The positional words, joined by blanks.
    pub(crate) prompt: String,
    pub(crate) model: Option<String>,
    pub(crate) resume: Option<String>,
    pub(crate) new_session: Option<String>,
}

enum Takes {
    Nothing,
    Value(&'static str),
    OneOf(&'static str, &'static [&'static str]),
    Maybe,
}

use Takes::{Maybe, Nothing, OneOf, Value};

/// The options of a turn. Most are also accepted before and behind a command's name.
const OPTIONS: &[(&[&str], Takes)] = &[
    (&["-p", "--print"], Nothing),
    (
        &["--output-format"],
        OneOf("format", &["text", "json", "stream-json"]),
    ),
    (&["--stream-partial-output"], Nothing),
    (&["-f", "--force"], Nothing),
    (&["--yolo"], Nothing),
    (&["--auto-review"], Nothing),
    (&["--trust"], Nothing),
    (&["--mode"], OneOf("mode", &["plan", "ask"])),
    (&["--plan"], Nothing),
    (&["-m", "--model"], Value("model")),
    (&["--list-models"], Nothing),
    (&["--resume"], Maybe),
    (&["--continue"], Nothing),
    (&["--approve-mcps"], Nothing),
    (&["--workspace"], Value("path")),
    (&["--add-dir"], Value("path")),
    (&["--plugin-dir"], Value("path")),
    (&["-w", "--worktree"], Maybe),
    (&["--worktree-base"], Value("branch")),
    (&["--skip-worktree-setup"], Nothing),
    (&["--sandbox"], OneOf("mode", &["enabled", "disabled"])),
    (&["--api-key"], Value("key")),
    (&["--auth-token"], Value("token")),
    (&["-H", "--header"], Value("header")),
    (&["-e", "--endpoint"], Value("url")),
    (&["-k", "--insecure"], Nothing),
    (&["--system-prompt"], Value("file")),
    (&["--new-session-id"], Value("uuid")),
    (&["--single-turn"], Nothing),
    (&["--show-thinking"], Nothing),
    (&["--allowed-tools"], Value("names")),
    (&["--exclude-tools"], Value("names")),
    (&["--background-shell-timeout"], Value("ms")),
    (&["--data-dir"], Value("path")),
    (&["-v", "--version"], Nothing),
    (&["-h", "--help"], Nothing),
];

const FORMAT: (&[&str], Takes) = (&["--format"], OneOf("format", &["text", "json"]));

/// The words that are commands when they come first.
const COMMANDS: &[(&str, &str)] = &[
    ("status", "status"),
    ("whoami", "status"),
    ("models", "models"),
    ("about", "about"),
    ("mcp", "mcp"),
];

/// Reads the words behind the program's name.
pub(crate) fn parse(words: &[String]) -> Request {
    let words = match words {
        [first, rest @ ..] if first == "agent" => rest,
        all => all,
    };
    let mut parser = Parser::default();
    match parser.read(words) {
        Ok(()) => parser.request(),
        Err(refusal) => Request::Refused(refusal),
    }
}

#[derive(Default)]
struct Parser {
    turn: Turn,
    words: Vec<String>,
    command: Option<&'static str>,
    json: bool,
    help: bool,
}

impl Parser {
    fn read(&mut self, words: &[String]) -> Result<(), String> {
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                self.words.extend(rest.cloned());
                break;
            }
            if !word.starts_with('-') || word == "-" {
                self.word(word);
                continue;
            }
            let (name, attached) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let Some((names, takes)) = self.option(name) else {
                // What a command takes beyond its name is the scenario's business.
                if self.command == Some("mcp") {
                    continue;
                }
                return Err(format!("error: unknown option '{name}'"));
            };
            let long = names.last().copied().unwrap_or(name);
            let value = match takes {
                Nothing => None,
                Maybe => attached.or_else(|| rest.next_if_value()),
                Value(label) => Some(attached.or_else(|| rest.next().cloned()).ok_or_else(|| {
                    format!("error: option '{} <{label}>' argument missing", names.join(", "))
                })?),
                OneOf(label, allowed) => {
                    let flags = names.join(", ");
                    let value = attached
                        .or_else(|| rest.next().cloned())
                        .ok_or_else(|| format!("error: option '{flags} <{label}>' argument missing"))?;
                    if !allowed.contains(&value.as_str()) {
                        let allowed = allowed.join(", ");
                        return Err(format!(
                            "error: option '{flags} <{label}>' argument '{value}' is invalid. Allowed choices are {allowed}."
                        ));
                    }
                    Some(value)
                }
            };
            self.set(long, value);
        }
        Ok(())
    }

    fn option(&self, name: &str) -> Option<(&'static [&'static str], &'static Takes)> {
        static FORMATTED: &[&str] = &["status", "about"];
        static WITH_FORMAT: (&[&str], Takes) = FORMAT;
        if name == "--format" {
            let formatted = self.command.is_some_and(|command| FORMATTED.contains(&command));
            return formatted.then_some((WITH_FORMAT.0, &WITH_FORMAT.1));
        }
        OPTIONS
            .iter()
            .find(|(names, _)| names.contains(&name))
            .map(|(names, takes)| (*names, takes))
    }

    fn word(&mut self, word: &str) {
        let command = COMMANDS.iter().find(|(known, _)| *known == word);
        match command {
            Some((_, name)) if self.words.is_empty() && self.command.is_none() => self.command = Some(name),
            _ => self.words.push(word.to_owned()),
        }
    }

    fn set(&mut self, long: &str, value: Option<String>) {
        match long {
            "--model" => self.turn.model = value,
            "--resume" => self.turn.resume = value,
            "--new-session-id" => self.turn.new_session = value,
            "--format" => self.json = value.as_deref() == Some("json"),
            "--version" => self.command = Some("version"),
            "--list-models" => self.command = Some("models"),
            "--help" => self.help = true,
            _ => {}
        }
    }

    fn request(mut self) -> Request {
        if self.help {
            return Request::Help;
        }
        if let Some(name) = self.command {
            return Request::Command {
                name,
                json: self.json,
            };
        }
        self.turn.prompt = self.words.join(" ");
        Request::Turn(self.turn)
    }
}

/// The value of an option that may have none: the next word, unless that is an option itself.
trait NextIfValue {
    fn next_if_value(&mut self) -> Option<String>;
}

impl NextIfValue for std::slice::Iter<'_, String> {
    fn next_if_value(&mut self) -> Option<String> {
        let next = self
            .as_slice()
            .first()
            .filter(|word| !word.starts_with('-'))
            .cloned();
        if next.is_some() {
            self.next();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Request {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn turn(prompt: &str, model: Option<&str>, resume: Option<&str>) -> Request {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Request::Turn(Turn {
            prompt: prompt.to_owned(),
            model: owned(model),
            resume: owned(resume),
            new_session: None,
        })
    }

    #[test]
    fn turns() {
        for (line, expected) in [
            ("", turn("", None, None)),
            (
                "-p --output-format stream-json --force --trust --model auto",
                turn("", Some("auto"), None),
            ),
            (
                "agent --print --mode=plan --workspace /w fix it",
                turn("fix it", None, None),
            ),
            ("--resume abc say", turn("say", None, Some("abc"))),
            ("--resume --print say", turn("say", None, None)),
            (
                "--resume=abc -- --say status",
                turn("--say status", None, Some("abc")),
            ),
            ("tell status", turn("tell status", None, None)),
            ("agent agent", turn("agent", None, None)),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn commands() {
        for (line, name, json) in [
            ("--version", "version", false),
            ("agent -v", "version", false),
            ("status", "status", false),
            ("whoami --format json", "status", true),
            ("agent about --format=json", "about", true),
            ("models --api-key k", "models", false),
            ("--list-models", "models", false),
            ("mcp list --anything", "mcp", false),
        ] {
            assert_eq!(words(line), Request::Command { name, json }, "{line}");
        }
    }

    #[test]
    fn refusals() {
        for (line, expected) in [
            ("--nope", "error: unknown option '--nope'"),
            ("-p --nope=1 x", "error: unknown option '--nope'"),
            ("models --json", "error: unknown option '--json'"),
            ("models --format json", "error: unknown option '--format'"),
            ("--format json", "error: unknown option '--format'"),
            ("--model", "error: option '-m, --model <model>' argument missing"),
            (
                "--output-format xml",
                "error: option '--output-format <format>' argument 'xml' is invalid. Allowed choices are text, json, stream-json.",
            ),
        ] {
            assert_eq!(words(line), Request::Refused(expected.to_owned()), "{line}");
        }
    }
}
