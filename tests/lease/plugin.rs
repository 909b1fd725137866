//! Both ways with the plugin: what it left is understood, and what we leave it can take over.

use std::fs;

use serde_json::{Value, json};

use crate::support::*;

const OLD: &str = "fusion-custom-tools-11111111-0000-4000-8000-000000000000";

fn lay(tree: &Worktree<'_>, config: Option<&str>, manifest: &Value) {
    fs::create_dir_all(tree.file(".cursor")).unwrap();
    if let Some(config) = config {
        tree.write(config);
    }
    tree.write_file(MANIFEST, &serde_json::to_string_pretty(manifest).unwrap());
    let exclude = tree.exclude();
    tree.write_file(".git/info/exclude", &(exclude + BLOCK));
}

/// Reconciled, all is as before the plugin came.
async fn restores(tree: &Worktree<'_>, text: Option<&str>) {
    let report = tree.reconcile().await;
    assert!(report.clean, "{report:?}");
    assert_eq!(tree.config().as_deref(), text, "{report:?}");
    assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));
    assert_eq!(tree.file(".cursor").exists(), text.is_some());
    let after = tree.snapshot();
    let again = tree.reconcile().await;
    assert!(again.clean && again.actions.is_empty(), "{again:?}");
    assert_eq!(tree.snapshot(), after);
}

#[tokio::test]
async fn each_kind_of_journal_is_finished_or_discarded() {
    let place = Place::new();
    let written = plugins_config(Some(PLAIN), OLD);
    let dead = json!({ OLD: plugins_lease(dead_pid(), 0) });
    let pending = |kind: &str, raw: Option<&str>| json!({ "kind": kind, "raw": raw, "seq": 7 });
    let cases = [
        (
            "write-made",
            pending("write", Some(&written)),
            Value::Null,
            written.as_str(),
            &dead,
        ),
        (
            "write-not-made",
            pending("write", Some(&written)),
            Value::Null,
            PLAIN,
            &dead,
        ),
        (
            "restore-made",
            pending("restore", Some(PLAIN)),
            json!(written),
            PLAIN,
            &json!({}),
        ),
        (
            "restore-not-made",
            pending("restore", Some(PLAIN)),
            json!(written),
            written.as_str(),
            &json!({}),
        ),
    ];
    for (name, pending, last, config, leases) in cases {
        let tree = place.repository(name);
        let fields = json!({ "pending": pending, "lastWrittenRaw": last, "leases": leases });
        lay(&tree, Some(config), &plugins_manifest(Some(PLAIN), &fields));
        // As the plugin's rename leaves it.
        tree.chmod(CONFIG, if config == PLAIN { 0o644 } else { 0o600 });
        restores(&tree, Some(PLAIN)).await;
        assert_eq!(tree.mode(CONFIG), 0o644, "{name}");
    }
    let alone = plugins_config(None, OLD);
    for (name, config) in [("delete-made", None), ("delete-not-made", Some(alone.as_str()))] {
        let tree = place.repository(name);
        let fields = json!({ "pending": pending("delete", None), "lastWrittenRaw": alone });
        lay(&tree, config, &plugins_manifest(None, &fields));
        restores(&tree, None).await;
    }
}

#[tokio::test]
async fn the_numbers_of_journals_have_no_end() {
    let place = Place::new();
    for (name, number) in [("whole", json!(u64::MAX)), ("float", json!(1e300))] {
        let tree = place.repository(name);
        tree.write(PLAIN);
        let fields = json!({ "pending": { "kind": "write", "raw": PLAIN, "seq": number } });
        tree.write_file(MANIFEST, &plugins_manifest(Some(PLAIN), &fields).to_string());
        let lease = tree.stage().await;
        dispose(&lease).await;
        assert_eq!(tree.config().as_deref(), Some(PLAIN), "{name}");
        assert!(!tree.file(MANIFEST).exists(), "{name}");
    }
}

#[tokio::test]
async fn a_journal_and_an_operators_edit() {
    let place = Place::new();
    let tree = place.repository("repo");
    let written = plugins_config(Some(PLAIN), OLD);
    let edited = written.replacen('{', "{ /* mine */", 1);
    let fields = json!({
        "pending": { "kind": "restore", "raw": PLAIN, "seq": 2 },
        "lastWrittenRaw": written,
    });
    lay(&tree, Some(&edited), &plugins_manifest(Some(PLAIN), &fields));
    assert!(tree.reconcile().await.clean);
    let left = tree.config().unwrap();
    assert!(
        left.contains("/* mine */") && left.contains("npx") && !left.contains("fusion"),
        "{left}"
    );
}

#[tokio::test]
async fn a_journal_of_a_quarantine() {
    let place = Place::new();
    let tree = place.repository("repo");
    let broken = format!("{{ \"{OLD}\": ");
    let fields =
        json!({ "pending": { "kind": "quarantine", "raw": broken, "seq": 2 }, "lastWrittenRaw": "x" });
    lay(&tree, Some(&broken), &plugins_manifest(Some(PLAIN), &fields));
    let report = tree.reconcile().await;
    assert_eq!(report.quarantine.unwrap().fusion_keys, [OLD]);
    assert_eq!(tree.config().unwrap(), broken);
    assert_eq!(tree.manifest()["pending"], Value::Null);
    assert_eq!(tree.shown(), "");
}

#[tokio::test]
async fn a_live_session_of_the_plugins_shares_the_config() {
    let place = Place::new();
    let tree = place.repository("repo");
    let written = plugins_config(Some(PLAIN), OLD);
    let mut lease = plugins_lease(std::process::id(), 60_000);
    lease["later"] = json!([1, { "x": 2 }]);
    let mut manifest = plugins_manifest(
        Some(PLAIN),
        &json!({ "lastWrittenRaw": written, "leases": { OLD: lease } }),
    );
    manifest["baseline"]["more"] = json!("kept");
    manifest["also"] = json!({ "deep": [1.50] });
    lay(&tree, Some(&written), &manifest);
    let ours = tree.stage().await;
    let mut keys = tree.keys();
    keys.sort();
    assert_eq!(keys, [ours.server_key(), OLD]);
    let now = tree.manifest();
    assert_eq!(now["leases"][OLD], lease, "as it was, with what we do not know");
    assert_eq!(now["baseline"], manifest["baseline"]);
    assert_eq!(now["also"], manifest["also"]);
    let lines = tree.exclude().matches(".cursor/mcp.json").count();
    assert_eq!(lines, 1);
    dispose(&ours).await;
    assert_eq!(tree.keys(), [OLD]);
    assert_eq!(tree.manifest()["leases"][OLD], lease);
    assert_eq!(tree.shown(), "");
    // The plugin goes, and does not come to its end.
    let mut manifest = tree.manifest();
    manifest["leases"][OLD]["pid"] = json!(dead_pid());
    tree.write_file(MANIFEST, &manifest.to_string());
    restores(&tree, Some(PLAIN)).await;
}

#[tokio::test]
async fn leases_die_with_their_process_or_their_age() {
    let place = Place::new();
    let minute = 60_000;
    let own = std::process::id();
    let elsewhere = |age: i64| {
        let mut lease = plugins_lease(1, age);
        lease["hostname"] = json!("another-machine");
        lease
    };
    let mut other_life = plugins_lease(own, 0);
    other_life["processStart"] = json!(
        fusion_cursor_native::lock::World::start(fusion_cursor_native::lock::Machine::get())
            .map(|start| format!("{}1", start.0))
    );
    let cases = [
        ("alive", plugins_lease(own, 14 * minute), true),
        ("silent", plugins_lease(own, 16 * minute), false),
        ("dead", plugins_lease(dead_pid(), 0), false),
        ("elsewhere", elsewhere(14 * minute), true),
        ("elsewhere-silent", elsewhere(16 * minute), false),
        ("ahead", plugins_lease(own, -60 * minute), true),
        ("far-ahead", plugins_lease(own, -25 * 60 * minute), false),
        ("reused-pid", other_life, false),
        ("no-pid", plugins_lease(0, 0), false),
    ];
    for (name, lease, lives) in cases {
        let tree = place.repository(name);
        let written = plugins_config(Some(PLAIN), OLD);
        let fields = json!({ "lastWrittenRaw": written, "leases": { OLD: lease } });
        lay(&tree, Some(&written), &plugins_manifest(Some(PLAIN), &fields));
        let report = tree.inspect().await;
        assert_eq!(report.leases[0].live, lives, "{name}: {report:?}");
        assert_eq!(report.residue.is_empty(), lives, "{name}: {report:?}");
        let report = tree.reconcile().await;
        assert_eq!(report.leases_left == 1, lives, "{name}: {report:?}");
        assert_eq!(tree.keys().len() == 1, lives, "{name}");
        assert_eq!(report.actions.is_empty(), lives, "{name}: {report:?}");
    }
}

#[tokio::test]
async fn what_we_leave_has_the_plugins_shape() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(COMMENTED);
    let lease = tree.stage().await;
    let manifest = tree.manifest();
    assert_eq!(manifest["version"], 1);
    assert_eq!(
        manifest["baseline"],
        json!({ "existed": true, "raw": COMMENTED, "mode": 0o100_644, "parsable": true, "createdDir": false })
    );
    assert_eq!(manifest["exclusionOwnedByFusion"], true);
    assert_eq!(manifest["lastWrittenRaw"], tree.config().unwrap().as_str());
    assert_eq!(manifest["pending"], Value::Null);
    assert_eq!(manifest["operatorEditObserved"], false);
    assert_eq!(manifest["configUnwritable"], false);
    assert_eq!(manifest["quarantine"], Value::Null);
    let ours = &manifest["leases"][lease.server_key()];
    assert_eq!(ours["pid"], std::process::id());
    assert_eq!(ours["hostname"], hostname().as_str());
    assert!((now_ms() - ours["heartbeatAt"].as_i64().unwrap()).abs() < 20_000);
    assert_eq!(
        ours["serverEntry"],
        json!({ "command": "/usr/bin/node", "args": ["/opt/server.cjs"], "env": { "TOKEN": TOKEN } })
    );
    assert!(tree.exclude().ends_with(BLOCK));
    // It takes our lease away and restores, as it does at its end; ours comes back with a beat, and leaves well.
    fs::write(tree.file(CONFIG), COMMENTED).unwrap();
    fs::remove_file(tree.file(MANIFEST)).unwrap();
    let exclude = tree.exclude().replace(BLOCK, "");
    tree.write_file(".git/info/exclude", &exclude);
    assert!(within("a beat", lease.heartbeat()).await);
    assert_eq!((tree.keys().len(), tree.shown()), (1, String::new()));
    dispose(&lease).await;
    assert_eq!(tree.config().unwrap(), COMMENTED);
    assert!(!tree.exclude().contains(">>>"));
}

#[tokio::test]
async fn a_torn_manifest_is_replaced() {
    let place = Place::new();
    for (name, torn) in [("empty", ""), ("half", "{\n  \"version\": 1,\n  \"base")] {
        let tree = place.repository(name);
        lay(&tree, Some(&plugins_config(Some(PLAIN), OLD)), &Value::Null);
        tree.write_file(MANIFEST, torn);
        let report = tree.inspect().await;
        assert_eq!(report.manifest.state, "torn");
        assert!(!report.residue.is_empty());
        let lease = tree.stage().await;
        assert_eq!(tree.keys(), [lease.server_key()]);
        assert_eq!(tree.manifest()["operatorEditObserved"], true);
        dispose(&lease).await;
        assert!(tree.config().unwrap().contains("npx") && tree.keys().is_empty());

        lay(&tree, Some(&plugins_config(Some(PLAIN), OLD)), &Value::Null);
        tree.write_file(MANIFEST, torn);
        let report = tree.reconcile().await;
        assert!(report.clean, "{report:?}");
        assert!(tree.config().unwrap().contains("npx") && tree.keys().is_empty());
        assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));
    }
}
