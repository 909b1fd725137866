//! What is found on disk, and what it means: the journal's pending change, an operator's edit, a quarantined config.
//! Pure: bytes and the manifest in, a verdict out.

use super::compose::{Refusal, decode, look, seek_fusion_keys};
use super::manifest::{Manifest, Pending, PendingKind};

/// What became of a change that was begun and not confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingVerdict {
    /// It was made: the config is what it was to become.
    Made,
    /// It was not made: the config is what it was before.
    NotMade,
    /// Somebody else has changed the config.
    Edited,
}

/// What becomes of a quarantine record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuarantineVerdict {
    /// The config is as it was recorded.
    Stands,
    /// It is gone, or without a key of ours: valid, or such that this much can be told of it.
    Clears,
    /// It was changed, and cannot be edited yet: the record must hold this.
    Repin {
        /// Its text; `None` where it is none.
        raw: Option<String>,
        /// The keys of ours that seem to be in it.
        fusion_keys: Vec<String>,
    },
}

/// What a pending change found on disk means. `current` is the config, `None` where there is none; `confirmed` the
/// text it had when a session last knew it.
#[must_use]
pub fn judge_pending(pending: &Pending, current: Option<&[u8]>, confirmed: Option<&str>) -> PendingVerdict {
    if is(current, pending.raw.as_deref()) {
        PendingVerdict::Made
    } else if is(current, confirmed) {
        PendingVerdict::NotMade
    } else {
        PendingVerdict::Edited
    }
}

/// Settle what is pending, and latch an operator's edit; whether the manifest was changed by it.
///
/// After it nothing is pending, and `operator_edit_observed` is true if somebody else has changed the config since a
/// session last wrote it, now or before. A quarantined config is the operator's to change, so there it is the record
/// that tells: see [`judge_quarantine`].
pub fn settle(manifest: &mut Manifest, current: Option<&[u8]>) -> bool {
    let before = (manifest.pending.is_some(), manifest.operator_edit_observed);
    let edited = match manifest.pending.take() {
        None => is_edited(manifest, current),
        Some(pending) => match judge_pending(&pending, current, manifest.confirmed()) {
            PendingVerdict::Made => {
                if pending.kind != PendingKind::Quarantine {
                    manifest.last_written = pending.raw;
                }
                false
            }
            PendingVerdict::NotMade => false,
            PendingVerdict::Edited => true,
        },
    };
    manifest.operator_edit_observed |= edited;
    before.0 || before.1 != manifest.operator_edit_observed
}

/// Whether the config is none that a session wrote or found: neither what was last confirmed, nor what a pending
/// change makes of it.
#[must_use]
pub fn is_edited(manifest: &Manifest, current: Option<&[u8]>) -> bool {
    let pending = manifest.pending.as_ref();
    !is(current, manifest.confirmed()) && !pending.is_some_and(|pending| is(current, pending.raw.as_deref()))
}

/// Whether a quarantine still stands. `recorded` is the text in its record.
#[must_use]
pub fn judge_quarantine(recorded: Option<&str>, current: Option<&[u8]>) -> QuarantineVerdict {
    let Some(bytes) = current else {
        return QuarantineVerdict::Clears;
    };
    let fusion_keys = match look(bytes) {
        Ok(config) if config.fusion_keys.is_empty() => return QuarantineVerdict::Clears,
        Ok(config) => config.fusion_keys,
        Err(refusal) => {
            let keys = seek_fusion_keys(bytes);
            // Refused, but read: nothing of ours is in it.
            if keys.is_empty() && !matches!(refusal, Refusal::Unparsable { .. }) {
                return QuarantineVerdict::Clears;
            }
            keys
        }
    };
    let raw = decode(bytes).ok();
    if raw == recorded {
        return QuarantineVerdict::Stands;
    }
    QuarantineVerdict::Repin {
        raw: raw.map(ToOwned::to_owned),
        fusion_keys,
    }
}

fn is(current: Option<&[u8]>, text: Option<&str>) -> bool {
    current == text.map(str::as_bytes)
}
