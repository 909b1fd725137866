//! What a config means that is found beside a state file.

use fusion_cursor_native::mcp::manifest::{Baseline, Manifest, Pending, PendingKind, Unknown};
use fusion_cursor_native::mcp::recover::{
    PendingVerdict, QuarantineVerdict, is_edited, judge_pending, judge_quarantine, settle,
};

fn manifest(raw: Option<&str>) -> Manifest {
    Manifest::new(Baseline {
        existed: raw.is_some(),
        raw: raw.map(ToOwned::to_owned),
        mode: raw.map(|_| 0o100_644),
        parsable: true,
        created_dir: false,
        unknown: Unknown::new(),
    })
}

fn pending(kind: PendingKind, raw: Option<&str>) -> Pending {
    Pending {
        kind,
        raw: raw.map(ToOwned::to_owned),
        seq: 1,
        unknown: Unknown::new(),
    }
}

#[test]
fn a_pending_change_was_made_or_not_or_somebody_else_made_another() {
    let table = [
        (Some("new"), Some("new"), Some("old"), PendingVerdict::Made),
        (Some("new"), Some("old"), Some("old"), PendingVerdict::NotMade),
        (Some("new"), Some("other"), Some("old"), PendingVerdict::Edited),
        (Some("new"), None, Some("old"), PendingVerdict::Edited),
        (Some("new"), None, None, PendingVerdict::NotMade),
        (Some("new"), Some(""), None, PendingVerdict::Edited),
        (None, None, Some("old"), PendingVerdict::Made),
        (None, Some("old"), Some("old"), PendingVerdict::NotMade),
        (None, Some("other"), Some("old"), PendingVerdict::Edited),
        // What changes nothing was made.
        (Some("old"), Some("old"), Some("old"), PendingVerdict::Made),
    ];
    for (raw, current, confirmed, verdict) in table {
        let pending = pending(PendingKind::Write, raw);
        let judged = judge_pending(&pending, current.map(str::as_bytes), confirmed);
        assert_eq!(judged, verdict, "{raw:?} {current:?} {confirmed:?}");
    }
    let bytes = Some(&b"\xff"[..]);
    assert_eq!(
        judge_pending(&pending(PendingKind::Write, None), bytes, None),
        PendingVerdict::Edited
    );
}

#[test]
fn settling_promotes_discards_or_latches() {
    for (current, last_written, edited) in [
        (Some("new"), Some("new"), false),
        (Some("old"), None, false),
        (Some("other"), None, true),
        (None, None, true),
    ] {
        let mut manifest = manifest(Some("old"));
        manifest.pending = Some(pending(PendingKind::Write, Some("new")));
        assert!(settle(&mut manifest, current.map(str::as_bytes)));
        assert_eq!(manifest.pending, None);
        assert_eq!(manifest.last_written.as_deref(), last_written, "{current:?}");
        assert_eq!(manifest.operator_edit_observed, edited, "{current:?}");
        // Once settled, nothing changes any more, and an edit stays noted.
        assert!(!settle(&mut manifest, current.map(str::as_bytes)));
        assert_eq!(manifest.operator_edit_observed, edited);
    }
}

#[test]
fn a_deletion_that_was_made_leaves_no_text_to_compare_with() {
    let mut manifest = manifest(None);
    manifest.last_written = Some("ours".to_owned());
    manifest.pending = Some(pending(PendingKind::Delete, None));
    assert!(settle(&mut manifest, None));
    assert_eq!(manifest.confirmed(), None);
    assert!(!manifest.operator_edit_observed && !is_edited(&manifest, None));
    assert!(is_edited(&manifest, Some(b"")), "an empty file is a file");
}

#[test]
fn an_edit_is_what_no_session_wrote_or_found() {
    let mut manifest = manifest(Some("old"));
    assert!(!is_edited(&manifest, Some(b"old")));
    assert!(is_edited(&manifest, Some(b"old\n")));
    assert!(is_edited(&manifest, Some(b"\xff")));
    assert!(is_edited(&manifest, None));
    manifest.last_written = Some("ours".to_owned());
    assert!(
        is_edited(&manifest, Some(b"old")),
        "the baseline counts only before any write"
    );
    assert!(!is_edited(&manifest, Some(b"ours")));
    manifest.pending = Some(pending(PendingKind::Write, Some("next")));
    assert!(!is_edited(&manifest, Some(b"next")));
    assert!(!is_edited(&manifest, Some(b"ours")));
}

#[test]
fn a_quarantine_clears_when_the_config_is_gone_or_good() {
    let broken = "{ \"mcpServers\": { \"fusion-custom-tools-1\": { }";
    let judge = |current: Option<&str>| judge_quarantine(Some(broken), current.map(str::as_bytes));
    let repin = |raw: &str, keys: &[&str]| QuarantineVerdict::Repin {
        raw: Some(raw.to_owned()),
        fusion_keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    assert_eq!(judge(Some(broken)), QuarantineVerdict::Stands);
    assert_eq!(judge(None), QuarantineVerdict::Clears);
    for good in ["", "{}", "// c", "{\"mcpServers\": {\"a\": 1}}"] {
        assert_eq!(judge(Some(good)), QuarantineVerdict::Clears);
    }
    assert_eq!(judge(Some("{ oops")), repin("{ oops", &[]));
    let still = "{ \"fusion-custom-tools-2\" }";
    assert_eq!(judge(Some(still)), repin(still, &["fusion-custom-tools-2"]));
    let ours = "{\"mcpServers\": {\"fusion-custom-tools-\\u0031\": 1}}";
    assert_eq!(judge(Some(ours)), repin(ours, &["fusion-custom-tools-1"]));
    // Not to be edited without a guess, and nothing of ours is in it.
    for other in [
        "[]",
        "null",
        "{\"mcpServers\": 1}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
    ] {
        assert_eq!(judge(Some(other)), QuarantineVerdict::Clears);
    }
    assert_eq!(
        judge_quarantine(Some(broken), Some(b"\xff")),
        QuarantineVerdict::Clears
    );
    let twice = "{\"mcpServers\": {\"fusion-custom-tools-1\": 1, \"fusion-custom-tools-1\": 2}}";
    assert_eq!(judge(Some(twice)), repin(twice, &["fusion-custom-tools-1"]));
    let utf16: Vec<u8> = broken.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = QuarantineVerdict::Repin {
        raw: None,
        fusion_keys: vec!["fusion-custom-tools-1".to_owned()],
    };
    assert_eq!(judge_quarantine(Some(broken), Some(&utf16)), wide);
    assert_eq!(judge_quarantine(None, Some(&utf16)), QuarantineVerdict::Stands);
}
