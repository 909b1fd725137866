//! `owner.json`, by which a lock directory says whose it is. Pure: text in, text out.

use serde_json::{Value, json};

use super::{Holder, World};

/// What `owner.json` says. All but the first three is ours; what else there may be is of no account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: i64,
    pub(super) hostname: String,
    /// Epoch milliseconds: when it was taken, or last shown to be held.
    pub(super) acquired_at: Option<i64>,
    /// When it was taken.
    pub(super) since: Option<i64>,
    /// When that process started.
    pub(super) start: Option<String>,
    /// The kernel lock was held when this was written, and is for as long as this is true.
    pub(super) kernel_lock: bool,
    /// Which taking of the lock this is.
    pub(super) token: Option<String>,
    /// How often the directory was taken over before: whoever has the highest number is the one.
    pub(super) claim: u64,
}

impl Owner {
    /// This process, from now on.
    pub(super) fn own(world: &dyn World, kernel_lock: bool, token: String, claim: u64) -> Self {
        let now = world.now_ms();
        Self {
            pid: i64::from(world.pid()),
            hostname: world.hostname().to_owned(),
            acquired_at: Some(now),
            since: Some(now),
            start: world.start().map(|start| start.0.clone()),
            kernel_lock,
            token: Some(token),
            claim,
        }
    }

    /// `None` where it does not say who it is.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = |key: &str| value.get(key).and_then(whole);
        Some(Self {
            pid: number("pid")?,
            hostname: text("hostname")?,
            acquired_at: number("acquiredAt"),
            since: number("since"),
            start: text("processStart"),
            kernel_lock: value.get("kernelLock") == Some(&Value::Bool(true)),
            token: text("token"),
            claim: value.get("claim").and_then(Value::as_u64).unwrap_or(0),
        })
    }

    pub(super) fn to_json(&self) -> String {
        let mut text = json!({
            "pid": self.pid,
            "hostname": self.hostname,
            "acquiredAt": self.acquired_at,
            "since": self.since,
            "processStart": self.start,
            "kernelLock": self.kernel_lock,
            "token": self.token,
            "claim": self.claim,
        })
        .to_string();
        text.push('\n');
        text
    }

    pub(super) fn holder(&self) -> Holder {
        Holder {
            pid: u32::try_from(self.pid).ok(),
            hostname: Some(self.hostname.clone()),
            since: self.since.or(self.acquired_at),
        }
    }
}

/// JavaScript writes large numbers in other ways too.
#[allow(
    clippy::cast_possible_truncation,
    reason = "a time or a pid beyond the range is none"
)]
fn whole(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().map(|number| number as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Machine;

    #[test]
    fn what_is_written_is_read() {
        let owner = Owner::own(Machine::get(), true, "t".into(), 3);
        assert_eq!(Owner::parse(owner.to_json().as_bytes()), Some(owner));
    }

    #[test]
    fn the_plugins_own_says_less_and_a_later_ones_more() {
        let plugins = Owner::parse(br#"{"pid":7,"hostname":"h","acquiredAt":1.5e3}"#).unwrap();
        assert_eq!((plugins.pid, plugins.hostname.as_str()), (7, "h"));
        assert_eq!(plugins.acquired_at, Some(1500));
        assert_eq!(
            (plugins.start, plugins.kernel_lock, plugins.claim),
            (None, false, 0)
        );
        let later =
            br#"{"pid":7,"hostname":"h","since":2,"token":5,"processStart":{},"kernelLock":"yes","x":[]}"#;
        let later = Owner::parse(later).unwrap();
        assert_eq!(
            (later.token.clone(), later.start.clone(), later.kernel_lock),
            (None, None, false)
        );
        assert_eq!(later.holder().since, Some(2));
    }

    #[test]
    fn what_names_nobody_is_no_owner() {
        for garbage in [
            "",
            "{",
            "null",
            "[]",
            r#"{"pid":7}"#,
            r#"{"pid":"7","hostname":"h"}"#,
            "\u{0}\u{0}",
        ] {
            assert_eq!(Owner::parse(garbage.as_bytes()), None, "{garbage:?}");
        }
    }
}
