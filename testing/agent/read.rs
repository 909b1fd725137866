//! Reads one JSON value of a scenario as what it has to be, or says what is wrong with it and where.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::step::{Bond, Cut, Hold, Stream, Take, ToolCall};
use crate::template::Template;
use crate::{codec, sys};

/// What is wrong with a scenario, and where.
#[derive(Debug)]
pub(crate) struct Mistake {
    place: String,
    what: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.what)
        } else {
            write!(f, "{}: {}", self.place, self.what)
        }
    }
}

pub(crate) type Checked<T> = Result<T, Mistake>;
pub(crate) type Object = BTreeMap<String, Box<RawValue>>;

pub(crate) fn mistake<T>(place: &str, what: impl Into<String>) -> Checked<T> {
    Err(Mistake {
        place: place.to_owned(),
        what: what.into(),
    })
}

pub(crate) fn object(place: &str, raw: &RawValue) -> Checked<Object> {
    serde_json::from_str(raw.get()).or_else(|_| mistake(place, "must be an object"))
}

pub(crate) fn array(place: &str, raw: &RawValue) -> Checked<Vec<Box<RawValue>>> {
    serde_json::from_str(raw.get()).or_else(|_| mistake(place, "must be an array"))
}

pub(crate) fn string(place: &str, raw: &RawValue) -> Checked<String> {
    serde_json::from_str(raw.get()).or_else(|_| mistake(place, "must be a string"))
}

pub(crate) fn number(place: &str, raw: &RawValue) -> Checked<u64> {
    serde_json::from_str(raw.get()).or_else(|_| mistake(place, "must be a whole number, not negative"))
}

pub(crate) fn millis(place: &str, raw: &RawValue) -> Checked<Duration> {
    number(place, raw).map(Duration::from_millis)
}

pub(crate) fn exit_code(place: &str, raw: &RawValue) -> Checked<u8> {
    serde_json::from_str(raw.get()).or_else(|_| mistake(place, "must be an exit code, 0 to 255"))
}

pub(crate) fn checked<T>(place: &str, result: Result<T, String>) -> Checked<T> {
    result.or_else(|what| mistake(place, what))
}

pub(crate) fn template(place: &str, raw: &RawValue) -> Checked<Template> {
    checked(place, Template::text(&string(place, raw)?))
}

pub(crate) fn templates(place: &str, raw: &RawValue) -> Checked<Vec<Template>> {
    let items = array(place, raw)?;
    items
        .iter()
        .enumerate()
        .map(|(i, item)| template(&format!("{place}[{i}]"), item))
        .collect()
}

pub(crate) fn flag(place: &str, raw: &RawValue) -> Checked<bool> {
    serde_json::from_str(raw.get()).or_else(|_| mistake(place, "must be true or false"))
}

pub(crate) fn tool_calls(place: &str, raw: &RawValue) -> Checked<Vec<ToolCall>> {
    let items = array(place, raw)?;
    items
        .iter()
        .enumerate()
        .map(|(i, item)| tool_call(&format!("{place}[{i}]"), item))
        .collect()
}

fn tool_call(place: &str, raw: &RawValue) -> Checked<ToolCall> {
    let object = object(place, raw)?;
    if let Some(key) = object
        .keys()
        .find(|key| !["tool", "arguments"].contains(&key.as_str()))
    {
        return mistake(place, format!("unknown key '{key}'. Allowed: tool, arguments"));
    }
    let Some(tool) = object.get("tool") else {
        return mistake(place, "'tool' is missing");
    };
    let arguments = match object.get("arguments") {
        None => None,
        Some(raw) if !raw.get().starts_with('{') => {
            return mistake(&format!("{place}.arguments"), "must be an object");
        }
        Some(raw) => Some(checked(&format!("{place}.arguments"), Template::json(raw.get()))?),
    };
    Ok(ToolCall {
        tool: template(&format!("{place}.tool"), tool)?,
        arguments,
    })
}

pub(crate) fn bytes(place: &str, raw: &RawValue) -> Checked<Vec<u8>> {
    let object = object(place, raw)?;
    let pair = object.iter().next().map(|(key, value)| (key.as_str(), value));
    let decoded = match pair {
        Some(("hex", text)) if object.len() == 1 => codec::from_hex(&string(place, text)?),
        Some(("base64", text)) if object.len() == 1 => codec::from_base64(&string(place, text)?),
        _ => return mistake(place, "must be {\"hex\": …} or {\"base64\": …}"),
    };
    decoded.map_or_else(|| mistake(place, "cannot be decoded"), Ok)
}

pub(crate) fn take(place: &str, raw: &RawValue) -> Checked<Take> {
    match raw.get() {
        "\"all\"" => Ok(Take::All),
        "\"never\"" => Ok(Take::Nothing),
        text => match text.parse() {
            Ok(count) => Ok(Take::Bytes(count)),
            Err(_) => mistake(place, "must be \"all\", \"never\" or a number of bytes"),
        },
    }
}

pub(crate) fn cut(place: &str, raw: &RawValue) -> Checked<Cut> {
    match raw.get() {
        "\"whole\"" => Ok(Cut::Whole),
        "\"lines\"" => Ok(Cut::Lines),
        text => match text.parse() {
            Ok(count) if count > 0 => Ok(Cut::Bytes(count)),
            _ => mistake(
                place,
                "must be \"whole\", \"lines\" or a number of bytes, 1 or more",
            ),
        },
    }
}

pub(crate) fn stream(place: &str, raw: &RawValue) -> Checked<Stream> {
    match raw.get() {
        "\"stdin\"" => Ok(Stream::Stdin),
        "\"stdout\"" => Ok(Stream::Stdout),
        "\"stderr\"" => Ok(Stream::Stderr),
        _ => mistake(place, "must be \"stdin\", \"stdout\" or \"stderr\""),
    }
}

pub(crate) fn output(place: &str, raw: &RawValue) -> Checked<Stream> {
    match stream(place, raw) {
        Ok(Stream::Stdin) | Err(_) => mistake(place, "must be \"stdout\" or \"stderr\""),
        found => found,
    }
}

pub(crate) fn one_or_more(
    place: &str,
    raw: &RawValue,
    read: impl Fn(&str, &RawValue) -> Checked<Stream>,
) -> Checked<Vec<Stream>> {
    if raw.get().starts_with('[') {
        array(place, raw)?.iter().map(|item| read(place, item)).collect()
    } else {
        read(place, raw).map(|one| vec![one])
    }
}

pub(crate) fn bond(place: &str, raw: &RawValue) -> Checked<Bond> {
    match raw.get() {
        "\"member\"" => Ok(Bond::Member),
        "\"group\"" => Ok(Bond::Group),
        "\"session\"" => Ok(Bond::Session),
        "\"daemon\"" => Ok(Bond::Daemon),
        _ => mistake(place, "must be \"member\", \"group\", \"session\" or \"daemon\""),
    }
}

pub(crate) fn hold(place: &str, raw: &RawValue) -> Checked<Hold> {
    let (stdout, stderr) = match raw.get() {
        "\"both\"" => (true, true),
        "\"stdout\"" => (true, false),
        "\"stderr\"" => (false, true),
        "\"none\"" => (false, false),
        _ => return mistake(place, "must be \"both\", \"stdout\", \"stderr\" or \"none\""),
    };
    Ok(Hold { stdout, stderr })
}

fn signal_number(place: &str, name: &str) -> Checked<i32> {
    if let Some((_, number)) = sys::SIGNALS.iter().find(|(known, _)| *known == name) {
        return Ok(*number);
    }
    let names = sys::SIGNALS
        .iter()
        .map(|(name, _)| *name)
        .collect::<Vec<_>>()
        .join(", ");
    mistake(place, format!("unknown signal '{name}'. Allowed: {names}"))
}

pub(crate) fn signal(place: &str, raw: &RawValue) -> Checked<(i32, String)> {
    let name = unix_only(place, "a signal", string(place, raw)?)?;
    Ok((signal_number(place, &name)?, name))
}

pub(crate) fn signals(place: &str, raw: &RawValue) -> Checked<Vec<(i32, String)>> {
    let found: Vec<_> = array(place, raw)?
        .iter()
        .map(|item| signal(place, item))
        .collect::<Checked<Vec<_>>>()?;
    match found
        .iter()
        .find(|(_, name)| matches!(name.as_str(), "SIGKILL" | "SIGSTOP"))
    {
        Some((_, name)) => mistake(place, format!("{name} cannot be caught")),
        None => Ok(found),
    }
}

pub(crate) fn unix_only<T>(place: &str, what: &str, value: T) -> Checked<T> {
    if cfg!(unix) {
        Ok(value)
    } else {
        mistake(place, format!("{what} is for Unix only"))
    }
}
