//! A manifest from its text.

use super::super::compose::PREFIX;
use super::super::spell::decoded;
use super::super::syntax::{self, Broken, Member, Object, STATE, items_at, object_at};
use super::{
    Baseline, Lease, Leases, Manifest, ManifestError, Pending, PendingKind, Quarantine, ServerEntry, Unknown,
};

type Read<T> = Result<T, ManifestError>;

/// An object of the file: its members, and where it stands.
struct Fields<'a> {
    text: &'a str,
    object: Object<'a>,
    path: String,
}

/// A member's value.
#[derive(Clone, Copy)]
struct Value<'f, 'a> {
    text: &'a str,
    member: &'f Member<'a>,
}

pub(super) fn manifest(bytes: &[u8]) -> Read<Manifest> {
    let text = simdutf8::compat::from_utf8(bytes)
        .map_err(|error| ManifestError::Torn(format!("byte {} is not UTF-8", error.valid_up_to())))?;
    let object = match syntax::root(text, STATE) {
        Ok(Some(object)) => object,
        Ok(None) => return Err(ManifestError::Torn("there is nothing in it".to_owned())),
        Err(None) => return Err(ManifestError::Shape("(the whole file)".to_owned())),
        Err(Some(Broken { at, what })) => {
            let (line, column) = syntax::position(text, at);
            return Err(ManifestError::Torn(format!(
                "line {line}, column {column}: {what}"
            )));
        }
    };
    let path = String::new();
    let file = Fields { text, object, path };
    let version = file.get("version").ok_or_else(|| file.wrong("version"))?;
    if version.integer() != Some(1) {
        return Err(ManifestError::Version(short(version.raw())));
    }
    Ok(Manifest {
        baseline: baseline(&file.fields("baseline")?)?,
        exclusion_owned: file.truth("exclusionOwnedByFusion", Some(false))?,
        last_written: file.text_or_null("lastWrittenRaw", true)?,
        pending: file
            .fields_or_null("pending")?
            .map(|fields| pending(&fields))
            .transpose()?,
        operator_edit_observed: file.truth("operatorEditObserved", Some(false))?,
        config_unwritable: file.truth("configUnwritable", Some(false))?,
        quarantine: file
            .fields_or_null("quarantine")?
            .map(|fields| quarantine(&fields))
            .transpose()?,
        leases: match file.get("leases") {
            Some(_) => leases(&file.fields("leases")?)?,
            None => Leases::default(),
        },
        unknown: file.unknown(&[
            "version",
            "baseline",
            "exclusionOwnedByFusion",
            "lastWrittenRaw",
            "pending",
            "operatorEditObserved",
            "configUnwritable",
            "quarantine",
            "leases",
        ]),
    })
}

fn baseline(fields: &Fields<'_>) -> Read<Baseline> {
    let mode = match fields.get("mode") {
        None => None,
        Some(value) if value.raw() == "null" => None,
        Some(value) => {
            let mode = value.integer().and_then(|mode| u32::try_from(mode).ok());
            Some(mode.ok_or_else(|| fields.wrong("mode"))?)
        }
    };
    Ok(Baseline {
        existed: fields.truth("existed", None)?,
        raw: fields.text_or_null("raw", false)?,
        mode,
        parsable: fields.truth("parsable", Some(true))?,
        created_dir: fields.truth("createdDir", Some(false))?,
        unknown: fields.unknown(&["existed", "raw", "mode", "parsable", "createdDir"]),
    })
}

fn pending(fields: &Fields<'_>) -> Read<Pending> {
    let kind = match fields.text("kind", None)?.as_str() {
        "write" => PendingKind::Write,
        "restore" => PendingKind::Restore,
        "delete" => PendingKind::Delete,
        "quarantine" => PendingKind::Quarantine,
        _ => return Err(fields.wrong("kind")),
    };
    let seq = match fields.get("seq") {
        None => 0,
        Some(value) => value.count().ok_or_else(|| fields.wrong("seq"))?,
    };
    Ok(Pending {
        kind,
        raw: fields.text_or_null("raw", false)?,
        seq,
        unknown: fields.unknown(&["kind", "raw", "seq"]),
    })
}

fn quarantine(fields: &Fields<'_>) -> Read<Quarantine> {
    Ok(Quarantine {
        raw: fields.text_or_null("raw", false)?,
        fusion_keys: fields.texts("fusionKeys")?,
        observed_at: fields.text("observedAt", Some(""))?,
        unknown: fields.unknown(&["raw", "fusionKeys", "observedAt"]),
    })
}

fn leases(fields: &Fields<'_>) -> Read<Leases> {
    let read = |member: &Member<'_>| {
        // Under another key we would write an entry that nobody takes out again.
        if !member.key.starts_with(PREFIX) {
            return Err(fields.wrong(&member.key));
        }
        let object = object_at(fields.text, member.value, STATE).ok_or_else(|| fields.wrong(&member.key))?;
        let path = format!("{}{}.", fields.path, short(&member.key));
        let text = fields.text;
        Ok((
            member.key.clone().into_owned(),
            lease(&Fields { text, object, path })?,
        ))
    };
    fields.object.members.iter().map(read).collect()
}

fn lease(fields: &Fields<'_>) -> Read<Lease> {
    let integer = |name: &str| {
        let value = fields.get(name).and_then(Value::integer);
        value.ok_or_else(|| fields.wrong(name))
    };
    Ok(Lease {
        pid: integer("pid")?,
        hostname: fields.text("hostname", None)?,
        heartbeat_at: integer("heartbeatAt")?,
        entry: server_entry(&fields.fields("serverEntry")?)?,
        process_start: fields.text_or_null("processStart", true)?,
        unknown: fields.unknown(&["pid", "hostname", "heartbeatAt", "serverEntry", "processStart"]),
    })
}

fn server_entry(fields: &Fields<'_>) -> Read<ServerEntry> {
    let mut env = Vec::new();
    if fields.get("env").is_some() {
        let given = fields.fields("env")?;
        for member in &given.object.members {
            let value = string(member.value(given.text)).ok_or_else(|| given.wrong(&member.key))?;
            env.push((member.key.clone().into_owned(), value));
        }
    }
    Ok(ServerEntry {
        command: fields.text("command", None)?,
        args: fields.texts("args")?,
        env,
        unknown: fields.unknown(&["command", "args", "env"]),
    })
}

/// An entry that stands in a config; `None` where it has comments, trailing commas or another shape.
pub(super) fn entry(text: &str) -> Option<ServerEntry> {
    let object = syntax::root(text, STATE).ok()??;
    let path = String::new();
    server_entry(&Fields { text, object, path }).ok()
}

/// What a message may show of a value.
fn short(raw: &str) -> String {
    raw.chars().take(40).collect()
}

impl<'a> Fields<'a> {
    /// A member's value; of several of one name the last, as JavaScript has it.
    fn get<'f>(&'f self, name: &str) -> Option<Value<'f, 'a>> {
        let member = self.object.members.iter().rfind(|member| member.key == name)?;
        let text = self.text;
        Some(Value { text, member })
    }

    fn wrong(&self, name: &str) -> ManifestError {
        ManifestError::Shape(format!("{}{}", self.path, short(name)))
    }

    fn fields(&self, name: &str) -> Read<Fields<'a>> {
        let object = self
            .get(name)
            .and_then(|value| object_at(self.text, value.member.value, STATE))
            .ok_or_else(|| self.wrong(name))?;
        Ok(Fields {
            text: self.text,
            object,
            path: format!("{}{}.", self.path, short(name)),
        })
    }

    /// `None` also where it is missing.
    fn fields_or_null(&self, name: &str) -> Read<Option<Fields<'a>>> {
        match self.get(name) {
            None => Ok(None),
            Some(value) if value.raw() == "null" => Ok(None),
            Some(_) => self.fields(name).map(Some),
        }
    }

    fn truth(&self, name: &str, missing: Option<bool>) -> Read<bool> {
        match self.get(name).map(Value::raw) {
            Some("true") => Ok(true),
            Some("false") => Ok(false),
            None => missing.ok_or_else(|| self.wrong(name)),
            Some(_) => Err(self.wrong(name)),
        }
    }

    fn text(&self, name: &str, missing: Option<&str>) -> Read<String> {
        let text = match self.get(name) {
            None => missing.map(ToOwned::to_owned),
            Some(value) => string(value.raw()),
        };
        text.ok_or_else(|| self.wrong(name))
    }

    fn text_or_null(&self, name: &str, may_be_missing: bool) -> Read<Option<String>> {
        match self.get(name) {
            None if may_be_missing => Ok(None),
            Some(value) if value.raw() == "null" => Ok(None),
            _ => self.text(name, None).map(Some),
        }
    }

    /// Empty where it is missing.
    fn texts(&self, name: &str) -> Read<Vec<String>> {
        let Some(value) = self.get(name) else {
            return Ok(Vec::new());
        };
        items_at(self.text, value.member.value, STATE)
            .and_then(|items| items.into_iter().map(string).collect())
            .ok_or_else(|| self.wrong(name))
    }

    fn unknown(&self, known: &[&'static str]) -> Unknown {
        let mut unknown = Unknown::new();
        for member in &self.object.members {
            if let Some(name) = known.iter().find(|name| **name == member.key) {
                unknown.push_known(name);
                continue;
            }
            let key = self.text[member.whole.start..member.value].trim_ascii_end();
            let key = key.strip_suffix(':').unwrap_or(key).trim_ascii_end();
            unknown.push(key, member.value(self.text));
        }
        unknown
    }
}

impl<'a> Value<'_, 'a> {
    fn raw(self) -> &'a str {
        self.member.value(self.text)
    }

    /// A number without its fraction: JavaScript may write a time as `1.7e12`.
    fn integer(self) -> Option<i64> {
        let raw = self.raw();
        raw.parse().ok().or_else(|| {
            let float: f64 = raw.parse().ok()?;
            #[allow(
                clippy::cast_possible_truncation,
                reason = "what is out of range is the end of the range"
            )]
            (is_number(raw) && float.is_finite()).then_some(float as i64)
        })
    }

    fn count(self) -> Option<u64> {
        let raw = self.raw();
        raw.parse().ok().or_else(|| {
            let float: f64 = raw.parse().ok()?;
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "what is out of range is the end of the range"
            )]
            (is_number(raw) && float.is_finite()).then_some(float as u64)
        })
    }
}

fn is_number(raw: &str) -> bool {
    raw.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

fn string(raw: &str) -> Option<String> {
    let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
    Some(decoded(inner).into_owned())
}
