//! What we remember in the manifest beside what version 1 says: one field of our own, which the plugin keeps.
//!
//! It holds for one text that we wrote. Where the plugin has written since, it says nothing.

use serde_json::Value;

use super::compose;
use super::manifest::Manifest;

const FIELD: &str = "native";

/// The operator's own state under a text of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Memo {
    /// Whether there is a file of the operator's under our entries.
    pub(super) existed: bool,
    /// Whether `mcpServers` is the operator's.
    pub(super) had_servers: bool,
}

impl Memo {
    /// What is remembered, if it is about the text that was written last; or about the one that was to be written
    /// after it, and was not.
    pub(super) fn of(manifest: &Manifest) -> Option<Self> {
        let value: Value = serde_json::from_str(manifest.unknown.get(FIELD)?).ok()?;
        let last = sum(manifest.last_written.as_deref());
        let fits = value.get("of")? == &last || value.get("after") == Some(&Value::String(last));
        fits.then_some(Self {
            existed: value.get("existed")?.as_bool()?,
            had_servers: value.get("hadServers")?.as_bool()?,
        })
    }

    /// From the baseline alone.
    pub(super) fn from_baseline(manifest: &Manifest) -> Self {
        let baseline = &manifest.baseline;
        let looked = baseline
            .raw
            .as_ref()
            .and_then(|raw| compose::look(raw.as_bytes()).ok());
        Self {
            // After an edit that only the plugin saw, what lies there may be the operator's.
            existed: baseline.existed || manifest.operator_edit_observed,
            had_servers: looked.is_some_and(|config| config.has_servers),
        }
    }

    /// Remember it for this text; for the last one too, if that is what lies there until then.
    pub(super) fn put(&self, manifest: &mut Manifest, text: Option<&str>, last_lies_there: bool) {
        let last = last_lies_there.then(|| sum(manifest.last_written.as_deref()));
        let value = serde_json::json!({
            "of": sum(text),
            "after": last,
            "existed": self.existed,
            "hadServers": self.had_servers,
        });
        manifest.unknown.set(FIELD, value.to_string());
    }
}

/// Tells texts apart that two programs wrote: FNV-1a.
fn sum(text: Option<&str>) -> String {
    let Some(text) = text else {
        return "absent".to_owned();
    };
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{sum:016x}")
}
