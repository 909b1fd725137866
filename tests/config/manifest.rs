//! The state file: what the plugin wrote is printed as it was, and what is unknown survives.

use std::path::Path;

use fusion_cursor_native::mcp::manifest::{Baseline, Manifest, ManifestError, PendingKind};
use serde_json::{Value, json};

/// What Node's `JSON.stringify(..., null, 2)` printed.
pub(crate) fn fixtures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/manifests");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    files
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

fn fixture(name: &str) -> Manifest {
    let (_, text) = fixtures().into_iter().find(|(file, _)| file == name).unwrap();
    Manifest::parse(text.as_bytes()).unwrap()
}

/// The least that a writer must write.
fn least() -> Value {
    json!({ "version": 1, "baseline": { "existed": true, "raw": "{}" } })
}

fn parse(value: &Value) -> Result<Manifest, ManifestError> {
    Manifest::parse(value.to_string().as_bytes())
}

#[test]
fn what_node_printed_is_printed_again_byte_for_byte() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 5);
    for (name, text) in fixtures {
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!(manifest.to_json(), text, "{name}");
    }
}

#[test]
fn the_fields_are_read() {
    let manifest = fixture("two-leases");
    assert!(manifest.baseline.existed && manifest.exclusion_owned && manifest.operator_edit_observed);
    assert_eq!(manifest.baseline.mode, Some(0o100_644));
    let raw = "{\r\n\t\"mcpServers\": { // é😀\u{2028}\u{1}\u{7f}\u{8}\u{c}\"\\/\n \"a\": 1e400, } }";
    assert_eq!(manifest.baseline.raw.as_deref(), Some(raw));
    assert_eq!(manifest.confirmed(), Some(format!("{raw}\n").as_str()));
    let keys: Vec<&str> = manifest.leases.keys().collect();
    assert_eq!(
        keys,
        ["fusion-custom-tools-b0", "fusion-custom-tools-a1"],
        "in the file's order"
    );
    let lease = manifest.leases.get("fusion-custom-tools-b0").unwrap();
    assert_eq!((lease.pid, lease.heartbeat_at), (4243, 1_764_535_000_124));
    assert_eq!(lease.hostname, "büro-2.local");
    assert_eq!(lease.entry.args[1], "--port");
    assert_eq!(
        lease.entry.env[0],
        ("FUSION_BRIDGE_TOKEN".to_owned(), "s3cret\"\\".to_owned())
    );
    let pending = fixture("pending").pending.unwrap();
    assert_eq!((pending.kind, pending.seq), (PendingKind::Write, (1 << 53) - 1));
    let quarantine = fixture("quarantine").quarantine.unwrap();
    assert_eq!(quarantine.fusion_keys, ["fusion-custom-tools-0", "x"]);
    let start = &fixture("later-release")
        .leases
        .get("fusion-custom-tools-1")
        .unwrap()
        .process_start
        .clone();
    assert_eq!(start.as_deref(), Some("linux:b:1:2"));
}

#[test]
fn what_is_unknown_survives_a_change_of_the_rest() {
    let mut manifest = fixture("later-release");
    manifest.pending = None;
    manifest.last_written = Some("new".to_owned());
    manifest.leases.remove("fusion-custom-tools-1");
    manifest
        .leases
        .get_mut("fusion-custom-tools-0")
        .unwrap()
        .heartbeat_at = 7;
    let printed = manifest.to_json();
    let value: Value = serde_json::from_str(&printed.replace("\\ud83d", "")).unwrap();
    assert_eq!(value["comment"], json!(["before", { "version": 2 }]));
    assert_eq!(value["writer"]["nested"], json!({ "deep": [[[{}]]] }));
    assert_eq!(value["baseline"]["digest"]["a"][1][0], json!(2.5e-7));
    assert_eq!(
        value["leases"]["fusion-custom-tools-0"]["role"],
        json!({ "a": 1 })
    );
    assert_eq!(
        value["leases"]["fusion-custom-tools-0"]["serverEntry"]["cwd"],
        json!({ "b": ["c"] })
    );
    assert_eq!(value["leases"]["fusion-custom-tools-0"]["heartbeatAt"], json!(7));
    assert_eq!(value["lastWrittenRaw"], json!("new"));
    assert!(printed.contains("\"why\": \"\\ud83d half\""));
}

#[test]
fn odd_spellings_of_what_is_unknown_stay() {
    let text = r#"{ "version": 1, "n": 12345678901234567890123.10e+00, "baseline":{"raw":null,"existed":false,"x" : [ 1 ,2]}, "\ud800": "\u0041", "a:" : 1, "n": 2 }"#;
    let printed = Manifest::parse(text.as_bytes()).unwrap().to_json();
    for part in [
        "\"n\": 12345678901234567890123.10e+00",
        "\"n\": 2",
        "\"x\": [ 1 ,2]",
        r#""\ud800": "\u0041""#,
        "\"a:\": 1",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let text = format!(r#"{{"version": 1, "baseline": {{"existed": false, "raw": null}}, "deep": {deep}}}"#);
    assert!(
        Manifest::parse(text.as_bytes())
            .unwrap()
            .to_json()
            .contains(&deep)
    );
}

#[test]
fn entries_of_peers_reach_the_config_with_all_that_is_in_them() {
    let manifest = fixture("later-release");
    let composed = fusion_cursor_native::mcp::compose::compose(None, &manifest.entries(), false).unwrap();
    let config: Value = serde_json::from_str(&composed).unwrap();
    let entry = &config["mcpServers"]["fusion-custom-tools-0"];
    let expected = json!({ "type": "stdio", "command": "node", "cwd": { "b": ["c"] }, "args": [], "env": {}, "timeout": 30 });
    assert_eq!(*entry, expected);
    let again = fusion_cursor_native::mcp::compose::compose(Some(&composed), &manifest.entries(), false);
    assert_eq!(again.unwrap(), composed);
}

#[test]
fn numbers_may_be_written_as_javascript_does() {
    let mut value = least();
    value["pending"] = json!({ "kind": "delete", "raw": null, "seq": 5_000_000_000_u64 });
    let entry = json!({ "command": "x", "args": [] });
    value["leases"]["fusion-custom-tools-1"] =
        json!({ "pid": 1, "hostname": "h", "heartbeatAt": 2, "serverEntry": entry });
    let text = value.to_string();
    for (spelled, read) in [
        ("1.7e12", 1_700_000_000_000),
        ("1764535000123.75", 1_764_535_000_123),
        ("-1", -1),
        ("1e300", i64::MAX),
        ("-0", 0),
    ] {
        let text = text.replace("\"heartbeatAt\":2", &format!("\"heartbeatAt\":{spelled}"));
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!(
            manifest.leases.values().next().unwrap().heartbeat_at,
            read,
            "{spelled}"
        );
        assert_eq!(manifest.pending.unwrap().seq, 5_000_000_000);
    }
    for (spelled, read) in [("18446744073709551615", u64::MAX), ("1e3", 1000), ("-1", 0)] {
        let text = text.replace("5000000000", spelled);
        let manifest = Manifest::parse(text.as_bytes());
        assert_eq!(manifest.unwrap().pending.unwrap().seq, read, "{spelled}");
    }
}

#[test]
fn halves_of_surrogate_pairs_lose_nothing_else() {
    let text = r#"{"version": 1, "baseline": {"existed": true, "raw": "a\ud83d \ud83d\ude00 \ude00z"}, "lastWrittenRaw": "\ud83d"}"#;
    let manifest = Manifest::parse(text.as_bytes()).unwrap();
    assert_eq!(manifest.baseline.raw.as_deref(), Some("a\u{fffd} 😀 \u{fffd}z"));
    assert_eq!(manifest.last_written.as_deref(), Some("\u{fffd}"));
}

#[test]
fn older_writers_may_lack_what_nothing_depends_on() {
    let manifest = parse(&least()).unwrap();
    let baseline = Baseline {
        existed: true,
        raw: Some("{}".to_owned()),
        mode: None,
        parsable: true,
        created_dir: false,
        unknown: manifest.baseline.unknown.clone(),
    };
    let expected = Manifest {
        unknown: manifest.unknown.clone(),
        ..Manifest::new(baseline)
    };
    assert_eq!(manifest, expected);
    let mut value = least();
    value["quarantine"] = json!({ "raw": "{" });
    value["pending"] = json!({ "kind": "write", "raw": "{}" });
    value["leases"] = json!({ "fusion-custom-tools-1": {
        "pid": 1, "hostname": "h", "heartbeatAt": 2, "serverEntry": { "command": "x" } } });
    let manifest = parse(&value).unwrap();
    assert_eq!(manifest.pending.unwrap().seq, 0);
    assert!(manifest.quarantine.unwrap().fusion_keys.is_empty());
    assert!(manifest.leases.values().next().unwrap().entry.args.is_empty());
}

#[test]
fn what_a_crash_leaves_is_torn() {
    let (_, text) = fixtures().into_iter().next().unwrap();
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(
            matches!(
                Manifest::parse(&text.as_bytes()[..end]),
                Err(ManifestError::Torn(_))
            ),
            "{end}"
        );
    }
    for bytes in [
        &b""[..],
        b" \n",
        b"\0\0\0\0",
        b"{\"version\": 1, \xff",
        b"{} {}",
        b"// c",
        b"{\"a\": 1,}",
    ] {
        assert!(
            matches!(Manifest::parse(bytes), Err(ManifestError::Torn(_))),
            "{bytes:?}"
        );
    }
}

#[test]
fn other_versions_are_named() {
    for (version, named) in [
        (json!(2), "2"),
        (json!("1"), "\"1\""),
        (json!(null), "null"),
        (json!(0), "0"),
    ] {
        let mut value = least();
        value["version"] = version;
        // Whatever else is in it: only the version tells how to read the rest.
        value["baseline"] = json!([]);
        assert_eq!(parse(&value), Err(ManifestError::Version(named.to_owned())));
    }
    let message = ManifestError::Version("2".to_owned()).to_string();
    assert_eq!(
        message,
        "it is of version 2, and this release knows version 1; a newer one is in use here"
    );
}

#[test]
fn wrong_shapes_are_named() {
    let mut full: Value = least();
    full["lastWrittenRaw"] = json!("x");
    full["pending"] = json!({ "kind": "write", "raw": "{}", "seq": 1 });
    full["quarantine"] = json!({ "raw": null, "fusionKeys": ["a"], "observedAt": "" });
    full["leases"] = json!({ "fusion-custom-tools-1": { "pid": 1, "hostname": "h", "heartbeatAt": 2,
        "serverEntry": { "command": "x", "args": ["a"], "env": { "A": "b" } } } });
    assert!(parse(&full).is_ok());
    let lease = "/leases/fusion-custom-tools-1";
    let table = [
        ("/baseline", json!(null), "baseline"),
        ("/baseline", json!([]), "baseline"),
        ("/baseline/existed", json!(1), "baseline.existed"),
        ("/baseline/existed", json!(null), "baseline.existed"),
        ("/baseline/raw", json!(1), "baseline.raw"),
        ("/lastWrittenRaw", json!(false), "lastWrittenRaw"),
        ("/pending", json!("write"), "pending"),
        ("/pending/kind", json!("other"), "pending.kind"),
        ("/pending/raw", json!([]), "pending.raw"),
        ("/pending/seq", json!("1"), "pending.seq"),
        ("/quarantine/raw", json!({}), "quarantine.raw"),
        ("/quarantine/fusionKeys", json!([1]), "quarantine.fusionKeys"),
        ("/quarantine/fusionKeys", json!({}), "quarantine.fusionKeys"),
        ("/quarantine/observedAt", json!(5), "quarantine.observedAt"),
        ("/leases", json!(null), "leases"),
        (lease, json!(null), "leases.fusion-custom-tools-1"),
        (
            &format!("{lease}/pid"),
            json!("1"),
            "leases.fusion-custom-tools-1.pid",
        ),
        (
            &format!("{lease}/hostname"),
            json!(null),
            "leases.fusion-custom-tools-1.hostname",
        ),
        (
            &format!("{lease}/heartbeatAt"),
            json!(null),
            "leases.fusion-custom-tools-1.heartbeatAt",
        ),
        (
            &format!("{lease}/serverEntry"),
            json!([]),
            "leases.fusion-custom-tools-1.serverEntry",
        ),
        (
            &format!("{lease}/serverEntry/command"),
            json!(1),
            "leases.fusion-custom-tools-1.serverEntry.command",
        ),
        (
            &format!("{lease}/serverEntry/args"),
            json!("a"),
            "leases.fusion-custom-tools-1.serverEntry.args",
        ),
        (
            &format!("{lease}/serverEntry/env/A"),
            json!(1),
            "leases.fusion-custom-tools-1.serverEntry.env.A",
        ),
    ];
    for (pointer, wrong, named) in table {
        let mut value = full.clone();
        *value.pointer_mut(pointer).unwrap() = wrong.clone();
        assert_eq!(
            parse(&value),
            Err(ManifestError::Shape(named.to_owned())),
            "{pointer} {wrong}"
        );
    }
    for missing in ["existed", "raw"] {
        let mut value = full.clone();
        value["baseline"].as_object_mut().unwrap().remove(missing);
        assert_eq!(
            parse(&value),
            Err(ManifestError::Shape(format!("baseline.{missing}")))
        );
    }
    assert_eq!(parse(&json!({})), Err(ManifestError::Shape("version".to_owned())));
    assert_eq!(
        parse(&json!([1])),
        Err(ManifestError::Shape("(the whole file)".to_owned()))
    );
    // A lease under a key that is not ours would put an entry into the config that nobody takes out.
    let mut value = full.clone();
    value["leases"]["a"] = full.pointer(lease).unwrap().clone();
    assert_eq!(parse(&value), Err(ManifestError::Shape("leases.a".to_owned())));
}
