//! Reads a scenario and refuses every mistake before the first step is played.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::read::{
    Checked, Object, array, bond, bytes, checked, cut, exit_code, flag, hold, millis, mistake, number,
    object, one_or_more, output, signal, signals, stream, string, take, template, templates, tool_calls,
    unix_only,
};
use crate::step::{Action, Bond, CallTools, Cut, Hold, Scenario, Source, Start, Step, Stream, Take, Write};
use crate::template::Template;

/// Each verb with the options that may stand beside it. `note` may stand everywhere.
const VERBS: &[(&str, &[&str])] = &[
    ("line", &["to", "write", "delayMs", "repeat"]),
    ("text", &["to", "write", "delayMs", "repeat"]),
    ("bytes", &["to", "write", "delayMs", "repeat"]),
    ("file", &["to", "write", "delayMs", "repeat"]),
    ("sleep", &[]),
    ("waitFile", &["limitMs"]),
    ("touch", &["content"]),
    ("stdin", &["copyTo"]),
    ("close", &[]),
    ("echo", &[]),
    ("ignore", &[]),
    ("trap", &["report", "say", "thenExit"]),
    ("start", &["as", "hold", "args"]),
    (
        "callTools",
        &["server", "protocol", "parallel", "report", "limitMs"],
    ),
    ("exit", &[]),
    ("raise", &[]),
    ("linger", &[]),
];

/// The names of a scenario's step lists.
const LISTS: &[&str] = &["turn", "resumed", "version", "status", "models", "about", "mcp"];
const SETTINGS: &[&str] = &["note", "lineDelayMs", "stdin"];

/// Reads a scenario. Relative paths start from `base`.
pub(crate) fn parse(source: &str, base: &Path) -> Checked<Scenario> {
    parse_with(source, base, |name| LISTS.contains(&name))
}

/// Reads the built-in answers of the commands, whose lists have names of their own.
pub(crate) fn parse_commands(source: &str) -> Checked<Scenario> {
    parse_with(source, Path::new(""), |_| true)
}

fn parse_with(source: &str, base: &Path, is_list: impl Fn(&str) -> bool) -> Checked<Scenario> {
    let top: Object = match serde_json::from_str(source) {
        Ok(top) => top,
        Err(error) => return mistake("", format!("not a JSON object: {error}")),
    };
    let mut scenario = Scenario {
        base: base.to_owned(),
        stdin: Take::All,
        lists: BTreeMap::new(),
    };
    let mut line_delay = 0;
    for (name, raw) in &top {
        match name.as_str() {
            "note" => drop(string(name, raw)?),
            "lineDelayMs" => line_delay = number(name, raw)?,
            "stdin" => scenario.stdin = take(name, raw)?,
            list if is_list(list) => {}
            other => {
                let allowed = [LISTS, SETTINGS].concat().join(", ");
                return mistake("", format!("unknown key '{other}'. Allowed: {allowed}"));
            }
        }
    }
    let reader = Reader {
        line_delay: Duration::from_millis(line_delay),
        base,
    };
    for (name, raw) in &top {
        if !SETTINGS.contains(&name.as_str()) {
            scenario.lists.insert(name.clone(), reader.steps(name, raw)?);
        }
    }
    Ok(scenario)
}

struct Reader<'a> {
    line_delay: Duration,
    base: &'a Path,
}

impl Reader<'_> {
    fn steps(&self, place: &str, raw: &RawValue) -> Checked<Vec<Step>> {
        let items = array(place, raw)?;
        let mut steps = Vec::with_capacity(items.len());
        for (i, item) in items.iter().enumerate() {
            let place = format!("{place}[{i}]");
            let action = self.step(&place, item)?;
            steps.push(Step { place, action });
        }
        Ok(steps)
    }

    fn step(&self, place: &str, raw: &RawValue) -> Checked<Action> {
        let object = object(place, raw)?;
        let found: Vec<_> = VERBS
            .iter()
            .filter(|(verb, _)| object.contains_key(*verb))
            .collect();
        let verbs = || VERBS.iter().map(|(verb, _)| *verb).collect::<Vec<_>>().join(", ");
        let &[&(verb, options)] = found.as_slice() else {
            let what = match (found.as_slice(), object.keys().next()) {
                ([], None) => "no verb in the step".to_owned(),
                ([], Some(key)) => format!("unknown verb '{key}'"),
                _ => format!(
                    "more than one verb in a step: {}",
                    found.iter().map(|(verb, _)| *verb).collect::<Vec<_>>().join(", ")
                ),
            };
            return mistake(place, format!("{what}. Allowed verbs: {}", verbs()));
        };
        for key in object.keys() {
            if key != verb && key != "note" && !options.contains(&key.as_str()) {
                let allowed = if options.is_empty() {
                    "none".to_owned()
                } else {
                    options.join(", ")
                };
                return mistake(
                    place,
                    format!("'{verb}' has no option '{key}'. Allowed options: {allowed}"),
                );
            }
        }
        let fields = Fields {
            place,
            object: &object,
        };
        fields.optional("note", string)?;
        self.action(verb, &fields)
    }

    fn action(&self, verb: &str, fields: &Fields<'_>) -> Checked<Action> {
        let (place, raw) = fields.get(verb)?;
        let place = place.as_str();
        Ok(match verb {
            "line" => self.write(Source::Line(checked(place, Template::json(raw.get()))?), fields)?,
            "text" => self.write(Source::Text(template(place, raw)?), fields)?,
            "bytes" => self.write(Source::Bytes(bytes(place, raw)?), fields)?,
            "file" => self.write(Source::File(self.readable(place, raw)?), fields)?,
            "sleep" => Action::Sleep(millis(place, raw)?),
            "waitFile" => Action::WaitFile {
                path: template(place, raw)?,
                limit: fields
                    .optional("limitMs", millis)?
                    .unwrap_or(Duration::from_secs(60)),
            },
            "touch" => Action::Touch {
                path: template(place, raw)?,
                content: fields.optional("content", template)?,
            },
            "stdin" => Action::Stdin {
                take: take(place, raw)?,
                copy_to: fields
                    .optional("copyTo", |at, raw| one_or_more(at, raw, output))?
                    .unwrap_or_default(),
            },
            "close" => Action::Close(unix_only(place, "close", one_or_more(place, raw, stream)?)?),
            "echo" if raw.get() == "true" => Action::Echo(None),
            "echo" => Action::Echo(Some(template(place, raw)?)),
            "ignore" => Action::Ignore(
                signals(place, raw)?
                    .into_iter()
                    .map(|(number, _)| number)
                    .collect(),
            ),
            "trap" => Action::Trap {
                signals: signals(place, raw)?,
                report: fields.optional("report", template)?,
                say: fields.optional("say", template)?,
                exit: fields.optional("thenExit", exit_code)?,
            },
            "start" => self.start(place, raw, fields)?,
            "callTools" => Action::CallTools(CallTools {
                calls: tool_calls(place, raw)?,
                server: fields.optional("server", template)?,
                protocol: fields.optional("protocol", template)?,
                parallel: fields.optional("parallel", flag)?.unwrap_or(false),
                report: fields.optional("report", template)?,
                limit: fields
                    .optional("limitMs", millis)?
                    .unwrap_or(Duration::from_secs(60)),
            }),
            "exit" => Action::Exit(exit_code(place, raw)?),
            "raise" => Action::Raise(signal(place, raw)?.0),
            "linger" if raw.get() == "true" => Action::Linger,
            _ => return mistake(place, "must be true"),
        })
    }

    fn write(&self, source: Source, fields: &Fields<'_>) -> Checked<Action> {
        let paced = matches!(source, Source::Line(_) | Source::File(_));
        let default = if paced { self.line_delay } else { Duration::ZERO };
        let delay = fields.optional("delayMs", millis)?.unwrap_or(default);
        let cut = fields.optional("write", cut)?;
        Ok(Action::Write(Write {
            source,
            repeat: fields.optional("repeat", number)?.unwrap_or(1),
            to: fields.optional("to", output)?.unwrap_or(Stream::Stdout),
            cut: cut.unwrap_or(if delay.is_zero() { Cut::Whole } else { Cut::Lines }),
            delay,
        }))
    }

    /// A path whose file must be there already, unless only the turn will tell its name.
    fn readable(&self, place: &str, raw: &RawValue) -> Checked<Template> {
        let path = template(place, raw)?;
        if let Some(constant) = path.constant()
            && let Err(error) = std::fs::File::open(self.base.join(constant))
        {
            return mistake(place, format!("cannot read '{constant}': {error}"));
        }
        Ok(path)
    }

    fn start(&self, place: &str, raw: &RawValue, fields: &Fields<'_>) -> Checked<Action> {
        self.steps(place, raw)?;
        let bond = fields.optional("as", bond)?.unwrap_or(Bond::Member);
        let hold = fields.optional("hold", hold)?.unwrap_or(Hold {
            stdout: true,
            stderr: true,
        });
        let args = fields.optional("args", templates)?.unwrap_or_default();
        Ok(Action::Start(Start {
            steps: raw.get().to_owned(),
            line_delay: self.line_delay,
            bond,
            hold,
            args,
        }))
    }
}

/// Reads the steps that a parent handed to its child.
pub(crate) fn parse_steps(
    place: &str,
    raw: &RawValue,
    base: &Path,
    line_delay: Duration,
) -> Checked<Vec<Step>> {
    Reader { line_delay, base }.steps(place, raw)
}

struct Fields<'a> {
    place: &'a str,
    object: &'a Object,
}

impl Fields<'_> {
    fn get(&self, name: &str) -> Checked<(String, &RawValue)> {
        match self.object.get(name) {
            Some(raw) => Ok((format!("{}.{name}", self.place), raw)),
            None => mistake(self.place, format!("'{name}' is missing")),
        }
    }

    fn optional<T>(&self, name: &str, read: impl Fn(&str, &RawValue) -> Checked<T>) -> Checked<Option<T>> {
        match self.object.get(name) {
            Some(raw) => read(&format!("{}.{name}", self.place), raw).map(Some),
            None => Ok(None),
        }
    }
}

#[cfg(test)]
#[path = "scenario_tests.rs"]
mod tests;
