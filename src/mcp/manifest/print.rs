//! A manifest as text, as `JSON.stringify(..., null, 2)` prints it.

use super::super::spell::{flat, quoted};
use super::{Baseline, Lease, Manifest, Pending, PendingKind, Quarantine, ServerEntry};

/// Fields that this version does not know, as they were, and in which order all fields stood.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Unknown(Vec<Slot>);

#[derive(Clone, PartialEq, Eq)]
enum Slot {
    Known(&'static str),
    /// Key, with its quotes, and value, both as they were spelled.
    Other(String, String),
}

impl Unknown {
    /// Nothing unknown; the fields that are known stand in their usual order.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// A known field stands here.
    pub(super) fn push_known(&mut self, name: &'static str) {
        if !self.has(name) {
            self.0.push(Slot::Known(name));
        }
    }

    pub(super) fn push(&mut self, key: &str, value: &str) {
        self.0.push(Slot::Other(key.to_owned(), value.to_owned()));
    }

    /// The value of an unknown field, as it was spelled.
    pub(in crate::mcp) fn get(&self, name: &str) -> Option<&str> {
        let name = quoted(name);
        self.0.iter().find_map(|slot| match slot {
            Slot::Other(key, value) if *key == name => Some(value.as_str()),
            _ => None,
        })
    }

    /// A field of this name and value, in its old place where there was one.
    pub(in crate::mcp) fn set(&mut self, name: &str, value: String) {
        let name = quoted(name);
        let there = self.0.iter_mut().find_map(|slot| match slot {
            Slot::Other(key, there) if *key == name => Some(there),
            _ => None,
        });
        match there {
            Some(there) => *there = value,
            None => self.0.push(Slot::Other(name, value)),
        }
    }

    /// Whether this known field stood there.
    fn has(&self, name: &str) -> bool {
        self.0
            .iter()
            .any(|slot| matches!(slot, Slot::Known(known) if *known == name))
    }

    /// Without white space between the parts of the values.
    fn flattened(&self) -> Self {
        let slots = self.0.iter().map(|slot| match slot {
            Slot::Known(name) => Slot::Known(name),
            Slot::Other(key, value) => Slot::Other(key.clone(), flat(value)),
        });
        Self(slots.collect())
    }

    /// Whether both hold the same unknown fields, in whatever order.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let sorted = |unknown: &Self| {
            let mut slots: Vec<(String, String)> = Vec::new();
            for slot in &unknown.0 {
                if let Slot::Other(key, value) = slot {
                    slots.push((key.clone(), flat(value)));
                }
            }
            slots.sort();
            slots
        };
        sorted(self) == sorted(other)
    }
}

/// What is printed of a known field; `None` where it is left out.
type Field = (&'static str, Option<String>);

pub(super) fn manifest(manifest: &Manifest) -> String {
    let leases = manifest
        .leases
        .iter()
        .map(|(key, value)| (quoted(key), lease(value, "    ")));
    let fields = [
        ("version", Some("1".to_owned())),
        ("baseline", Some(baseline(&manifest.baseline, "  "))),
        ("exclusionOwnedByFusion", Some(truth(manifest.exclusion_owned))),
        ("lastWrittenRaw", Some(text(manifest.last_written.as_deref()))),
        ("pending", Some(or_null(manifest.pending.as_ref(), pending))),
        (
            "operatorEditObserved",
            Some(truth(manifest.operator_edit_observed)),
        ),
        ("configUnwritable", Some(truth(manifest.config_unwritable))),
        (
            "quarantine",
            Some(or_null(manifest.quarantine.as_ref(), quarantine)),
        ),
        ("leases", Some(object(leases.collect(), "  "))),
    ];
    object(ordered(&manifest.unknown, fields), "")
}

fn baseline(baseline: &Baseline, indent: &str) -> String {
    let mode = baseline.mode.map_or("null".to_owned(), |mode| mode.to_string());
    let fields = [
        ("existed", Some(truth(baseline.existed))),
        ("raw", Some(text(baseline.raw.as_deref()))),
        ("mode", Some(mode)),
        ("parsable", Some(truth(baseline.parsable))),
        ("createdDir", Some(truth(baseline.created_dir))),
    ];
    object(ordered(&baseline.unknown, fields), indent)
}

fn pending(pending: &Pending) -> String {
    let kind = match pending.kind {
        PendingKind::Write => "write",
        PendingKind::Restore => "restore",
        PendingKind::Delete => "delete",
        PendingKind::Quarantine => "quarantine",
    };
    let fields = [
        ("kind", Some(quoted(kind))),
        ("raw", Some(text(pending.raw.as_deref()))),
        ("seq", Some(pending.seq.to_string())),
    ];
    object(ordered(&pending.unknown, fields), "  ")
}

fn quarantine(quarantine: &Quarantine) -> String {
    let fields = [
        ("raw", Some(text(quarantine.raw.as_deref()))),
        ("fusionKeys", Some(array(&quarantine.fusion_keys, "    "))),
        ("observedAt", Some(quoted(&quarantine.observed_at))),
    ];
    object(ordered(&quarantine.unknown, fields), "  ")
}

fn lease(lease: &Lease, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let fields = [
        ("pid", Some(lease.pid.to_string())),
        ("hostname", Some(quoted(&lease.hostname))),
        ("heartbeatAt", Some(lease.heartbeat_at.to_string())),
        ("serverEntry", Some(entry(&lease.entry, &inner))),
        ("processStart", lease.process_start.as_deref().map(quoted)),
    ];
    object(ordered(&lease.unknown, fields), indent)
}

/// An entry that stands on a line that is indented this far. In a config it can stand at another depth than here,
/// so nothing in it may depend on that: unknown values are without white space, unless they stand where they stood.
pub(super) fn entry(entry: &ServerEntry, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let env = entry
        .env
        .iter()
        .map(|(name, value)| (quoted(name), quoted(value)));
    let has_env = !entry.env.is_empty() || entry.unknown.has("env");
    let fields = [
        ("command", Some(quoted(&entry.command))),
        ("args", Some(array(&entry.args, &inner))),
        ("env", has_env.then(|| object(env.collect(), &inner))),
    ];
    let unknown = if indent.is_empty() {
        entry.unknown.flattened()
    } else {
        entry.unknown.clone()
    };
    object(ordered(&unknown, fields), indent)
}

/// The fields in the order in which they stood, with the unknown ones among them; new ones last.
fn ordered<const N: usize>(unknown: &Unknown, mut fields: [Field; N]) -> Vec<(String, String)> {
    let mut out = Vec::with_capacity(N + unknown.0.len());
    // Of a new file, whose fields have no order yet, the known ones come first.
    let ordered = unknown.0.iter().any(|slot| matches!(slot, Slot::Known(_)));
    let names = fields.each_ref().map(|(name, _)| *name);
    let mut known = |name: &str| {
        let field = fields.iter_mut().find(|(known, _)| *known == name)?;
        Some((quoted(name), field.1.take()?))
    };
    if !ordered {
        out.extend(names.iter().filter_map(|name| known(name)));
    }
    for slot in &unknown.0 {
        match slot {
            Slot::Known(name) => out.extend(known(name)),
            Slot::Other(key, value) => out.push((key.clone(), value.clone())),
        }
    }
    out.extend(names.iter().filter_map(|name| known(name)));
    out
}

fn truth(value: bool) -> String {
    value.to_string()
}

fn text(value: Option<&str>) -> String {
    value.map_or("null".to_owned(), quoted)
}

fn or_null<T>(value: Option<&T>, print: impl FnOnce(&T) -> String) -> String {
    value.map_or("null".to_owned(), print)
}

fn object(fields: Vec<(String, String)>, indent: &str) -> String {
    let lines: Vec<String> = fields
        .into_iter()
        .map(|(key, value)| format!("{key}: {value}"))
        .collect();
    between('{', &lines, '}', indent)
}

fn array(items: &[String], indent: &str) -> String {
    let lines: Vec<String> = items.iter().map(|item| quoted(item)).collect();
    between('[', &lines, ']', indent)
}

fn between(open: char, lines: &[String], close: char, indent: &str) -> String {
    let mut out = String::from(open);
    for (index, line) in lines.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        out.extend([comma, "\n", indent, "  ", line]);
    }
    if !lines.is_empty() {
        out.extend(["\n", indent]);
    }
    out.push(close);
    out
}
