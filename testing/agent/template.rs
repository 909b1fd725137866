//! Placeholders: `${prompt}` and its kin, in plain text and inside JSON.
//!
//! A JSON line is kept as the text it has in the scenario, not as a parsed value: key order, odd numbers and
//! lone surrogate escapes then reach the reader under test as they were written.

use crate::codec;

/// What may stand between `${` and `}`.
pub(crate) const PLACEHOLDERS: &str = "prompt, stdin, cwd, session, resume, model, request, uuid, now, pid, n, \
     echo, env:NAME, fill:COUNT, fill:COUNT:TEXT, nested:DEPTH";

/// One placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Prompt,
    Stdin,
    Cwd,
    Session,
    Model,
    Request,
    Uuid,
    Now,
    Pid,
    Repetition,
    Echo,
    Env(String),
    Fill(usize, String),
    Nested(usize),
}

impl Value {
    fn parse(name: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "unknown placeholder '${{{name}}}'. Allowed: {PLACEHOLDERS}. A literal '${{' is written '$${{'"
            )
        };
        let count = |text: &str| text.parse::<usize>().map_err(|_| unknown());
        Ok(match name.split_once(':') {
            None => match name {
                "prompt" => Self::Prompt,
                "stdin" => Self::Stdin,
                "cwd" => Self::Cwd,
                "session" | "resume" => Self::Session,
                "model" => Self::Model,
                "request" => Self::Request,
                "uuid" => Self::Uuid,
                "now" => Self::Now,
                "pid" => Self::Pid,
                "n" => Self::Repetition,
                "echo" => Self::Echo,
                _ => return Err(unknown()),
            },
            Some(("env", variable)) if std::env::var_os(variable).is_some() => Self::Env(variable.to_owned()),
            Some(("env", variable)) => {
                return Err(format!("the environment variable '{variable}' is not set"));
            }
            Some(("fill", rest)) => match rest.split_once(':') {
                Some((number, text)) => Self::Fill(count(number)?, text.to_owned()),
                None => Self::Fill(count(rest)?, "x".to_owned()),
            },
            Some(("nested", depth)) => Self::Nested(count(depth)?),
            Some(_) => return Err(unknown()),
        })
    }

    /// Whether a string that is nothing but this placeholder becomes a JSON value of another type.
    fn is_json(&self) -> bool {
        matches!(
            self,
            Self::Now | Self::Pid | Self::Repetition | Self::Echo | Self::Nested(_)
        )
    }
}

/// How the value is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    /// Between the quotes of a JSON string.
    InString,
    /// In place of a whole JSON string.
    Whole,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(Value, Form),
}

/// A text with placeholders, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

impl Template {
    /// Plain text.
    pub(crate) fn text(source: &str) -> Result<Self, String> {
        let mut out = Builder::default();
        out.add(source, Form::Plain)?;
        Ok(out.finish())
    }

    /// JSON text, made compact. The text must be valid JSON.
    pub(crate) fn json(source: &str) -> Result<Self, String> {
        let mut out = Builder::default();
        let mut rest = source;
        while let Some(first) = rest.chars().next() {
            if first == '"' {
                let end = string_end(rest);
                let (token, after) = rest.split_at(end);
                rest = after;
                let is_key = after.trim_start().starts_with(':');
                out.add_json_string(&token[1..end - 1], is_key)?;
            } else {
                let end = rest.find('"').unwrap_or(rest.len());
                out.text
                    .extend(rest[..end].chars().filter(|c| !c.is_ascii_whitespace()));
                rest = &rest[end..];
            }
        }
        Ok(out.finish())
    }

    /// The text itself where it has no placeholders.
    pub(crate) fn constant(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with every placeholder filled in by `value`.
    pub(crate) fn render(&self, value: impl Fn(&Value) -> String) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Value(name, Form::Plain) => out.push_str(&value(name)),
                Piece::Value(name, Form::Whole) if name.is_json() => out.push_str(&value(name)),
                Piece::Value(name, Form::Whole) => out.push_str(&codec::quoted(&value(name))),
                Piece::Value(name, Form::InString) => {
                    let text = codec::quoted(&value(name));
                    out.push_str(&text[1..text.len() - 1]);
                }
            }
        }
        out
    }
}

/// Where the JSON string that starts `text` ends: the index behind its closing quote.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (i, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return i + 1,
            _ => {}
        }
    }
    text.len()
}

#[derive(Default)]
struct Builder {
    pieces: Vec<Piece>,
    text: String,
}

impl Builder {
    fn add(&mut self, source: &str, form: Form) -> Result<(), String> {
        let mut rest = source;
        while let Some(at) = rest.find("${") {
            if rest[..at].ends_with('$') {
                self.text.push_str(&rest[..at - 1]);
                self.text.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            self.text.push_str(&rest[..at]);
            let inner = &rest[at + 2..];
            let end = inner
                .find('}')
                .ok_or("a '${' without its '}'. A literal '${' is written '$${'")?;
            self.flush();
            self.pieces
                .push(Piece::Value(Value::parse(&decoded(&inner[..end], form)?)?, form));
            rest = &inner[end + 1..];
        }
        self.text.push_str(rest);
        Ok(())
    }

    fn add_json_string(&mut self, inner: &str, is_key: bool) -> Result<(), String> {
        let placeholder = inner.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        if let Some(name) = placeholder.filter(|name| !is_key && !name.contains('}')) {
            self.flush();
            self.pieces.push(Piece::Value(
                Value::parse(&decoded(name, Form::Whole)?)?,
                Form::Whole,
            ));
            return Ok(());
        }
        self.text.push('"');
        self.add(inner, Form::InString)?;
        self.text.push('"');
        Ok(())
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn finish(mut self) -> Template {
        self.flush();
        Template(self.pieces)
    }
}

/// The name of a placeholder; inside JSON it is still escaped.
fn decoded(name: &str, form: Form) -> Result<String, String> {
    if form == Form::Plain {
        return Ok(name.to_owned());
    }
    serde_json::from_str(&format!("\"{name}\""))
        .map_err(|error| format!("placeholder '${{{name}}}': {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(template: &Template) -> String {
        template.render(|value| match value {
            Value::Prompt => "say \"hi\"\n".to_owned(),
            Value::Now => "1700000000123".to_owned(),
            Value::Nested(depth) => format!("{}{}", "[".repeat(*depth), "]".repeat(*depth)),
            Value::Fill(count, text) => text.repeat(*count),
            Value::Env(name) => format!("<{name}>"),
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn json_is_made_compact_and_otherwise_kept() {
        let source = r#" { "z" : [ 1e400 , 9007199254740993 ], "a b" : "x  \ud83d \" y", "z": { } } "#;
        let template = Template::json(source).unwrap();
        assert_eq!(
            template.constant(),
            Some(r#"{"z":[1e400,9007199254740993],"a b":"x  \ud83d \" y","z":{}}"#)
        );
    }

    #[test]
    fn placeholders_in_json_are_escaped_and_numbers_stay_numbers() {
        let source =
            r#"{"${prompt}": "${prompt}", "t": "${now}", "s": "at ${now}: ${prompt}", "d": "${nested:2}"}"#;
        assert_eq!(
            fill(&Template::json(source).unwrap()),
            r#"{"say \"hi\"\n":"say \"hi\"\n","t":1700000000123,"s":"at 1700000000123: say \"hi\"\n","d":[[]]}"#
        );
    }

    #[test]
    fn strings_at_the_edges_of_quotes_stay_whole() {
        for source in [r#"["\"","\\","","\"${prompt}\""]"#, r#""\"""#] {
            let line = fill(&Template::json(source).unwrap());
            serde_json::from_str::<serde_json::Value>(&line).unwrap();
        }
        assert_eq!(fill(&Template::json(r#""\"""#).unwrap()), r#""\"""#);
    }

    #[test]
    fn text_takes_placeholders_and_the_escape() {
        let template = Template::text("a ${fill:3:한}$${x} ${env:PATH}|${fill:2}").unwrap();
        assert_eq!(fill(&template), "a 한한한${x} <PATH>|xx");
        assert_eq!(
            fill(&Template::json(r#"["${fill:2:\n}"]"#).unwrap()),
            r#"["\n\n"]"#
        );
    }

    #[test]
    fn mistakes_are_named() {
        for (source, part) in [
            ("${promt}", "unknown placeholder '${promt}'"),
            ("${fill:x}", "unknown placeholder"),
            (
                "${env:FUSION_CURSOR_NO_SUCH}",
                "'FUSION_CURSOR_NO_SUCH' is not set",
            ),
            ("${cwd", "without its '}'"),
        ] {
            let error = Template::text(source).unwrap_err();
            assert!(error.contains(part), "{source}: {error}");
        }
    }
}
