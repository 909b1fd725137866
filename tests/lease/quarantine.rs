//! A config that is no JSON: recorded, left alone, and free again once it is mended.

use std::fs;

use fusion_cursor_native::mcp::{ActionKind, Reason};

use crate::support::*;

const BROKEN: &str = "{ \"mcpServers\": { \"mine\": { ";

fn broken_with(key: &str) -> String {
    format!("{{ \"mcpServers\": {{ \"{key}\": {{ \"command\": \"node\" ")
}

#[tokio::test]
async fn at_first_sight() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(BROKEN);
    tree.chmod(CONFIG, 0o640);
    let problem = tree.refused().await;
    assert_eq!(problem.reason, Reason::Unparsable, "{problem:?}");
    assert!(problem.message.contains(CONFIG) && problem.message.contains("line 1"));
    assert_eq!(tree.config().unwrap(), BROKEN);
    let manifest = tree.manifest();
    assert_eq!(manifest["quarantine"]["raw"], BROKEN);
    assert_eq!(manifest["baseline"]["parsable"], false);
    assert_eq!(manifest["baseline"]["mode"], 0o100_640);
    assert_eq!(tree.exclude().matches(BLOCK).count(), 1);
    assert_eq!(tree.shown(), "");
    let recorded = tree.snapshot();

    let problem = tree.refused().await;
    assert_eq!(problem.reason, Reason::Quarantined, "{problem:?}");
    assert!(problem.message.contains("mend it"), "{problem:?}");
    assert_eq!(tree.snapshot(), recorded);
    let report = tree.reconcile().await;
    assert!(!report.clean && report.actions.is_empty(), "{report:?}");
    assert!(report.quarantine.unwrap().cure.contains("mend it"));
    assert_eq!(tree.snapshot(), recorded, "nothing to do, nothing written");

    tree.write("{ still broken");
    assert_eq!(tree.refused().await.reason, Reason::Quarantined);
    assert_eq!(tree.manifest()["quarantine"]["raw"], "{ still broken");
    tree.write(PLAIN);
    let lease = tree.stage().await;
    assert_eq!(tree.manifest()["quarantine"], serde_json::Value::Null);
    dispose(&lease).await;
    assert_eq!(tree.config().unwrap(), PLAIN);
    assert_eq!(tree.mode(CONFIG), 0o640);
    assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));
}

#[tokio::test]
async fn broken_while_a_lease_lives() {
    let place = Place::new();
    for cure in ["mended", "mended with the key", "removed"] {
        let tree = place.repository(&cure.replace(' ', "-"));
        tree.write(PLAIN);
        let lease = tree.stage().await;
        let broken = broken_with(lease.server_key());
        tree.write(&broken);
        assert!(!within("a beat", lease.heartbeat()).await);
        assert_eq!(tree.config().unwrap(), broken);
        let manifest = tree.manifest();
        assert_eq!(manifest["quarantine"]["raw"], broken.as_str());
        assert_eq!(manifest["quarantine"]["fusionKeys"][0], lease.server_key());
        if cure == "mended" {
            tree.write(BARE);
            assert!(within("a beat", lease.heartbeat()).await, "in force again");
            assert_eq!(tree.keys(), [lease.server_key()]);
            tree.write(&broken);
        }
        dispose(&lease).await;
        assert_eq!(tree.config().unwrap(), broken);
        assert_eq!(tree.manifest()["leases"], serde_json::json!({}));
        assert_eq!(tree.shown(), "", "the exclusion stays");
        assert_eq!(tree.refused().await.reason, Reason::Quarantined);

        match cure {
            "mended" => tree.write(COMMENTED),
            "removed" => fs::remove_file(tree.file(CONFIG)).unwrap(),
            _ => {
                let mended = format!("{{\"mcpServers\":{{\"{}\":{{}}}}}}", lease.server_key());
                tree.write(&mended);
                let report = tree.reconcile().await;
                assert!(report.quarantine.unwrap().cure.contains(lease.server_key()));
                assert_eq!(tree.config().unwrap(), mended, "it is the operator's to take out");
                tree.write(COMMENTED);
            }
        }
        let mended = tree.config();
        let report = tree.reconcile().await;
        assert!(report.clean, "{report:?}");
        let kinds: Vec<ActionKind> = report.actions.iter().map(|action| action.kind).collect();
        assert!(kinds.contains(&ActionKind::QuarantineCleared), "{kinds:?}");
        assert_eq!(tree.config(), mended);
        assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));
    }
}

#[tokio::test]
async fn what_cannot_be_edited_and_may_hold_a_token_stays_hidden() {
    let place = Place::new();
    for (name, text) in [
        ("twice", "{\"mcpServers\":{\"KEY\":{}},\"mcpServers\":{}}"),
        ("list", "[\"KEY\"]"),
    ] {
        let tree = place.repository(name);
        tree.write(PLAIN);
        let lease = tree.stage().await;
        let text = text.replace("KEY", lease.server_key());
        tree.write(&text);
        dispose(&lease).await;
        assert_eq!(tree.config().unwrap(), text);
        assert_eq!(tree.shown(), "", "{name}");
        tree.write(PLAIN);
        assert!(tree.reconcile().await.clean);
        assert_eq!(tree.shown(), "?? .cursor/mcp.json\n");
    }
}

#[tokio::test]
async fn what_cannot_be_edited_and_is_none_of_ours_is_left_to_the_operator() {
    let place = Place::new();
    for (name, text) in [("list", "[]"), ("none", "")] {
        let tree = place.repository(name);
        tree.write(PLAIN);
        let lease = tree.stage().await;
        if name == "none" {
            fs::remove_file(tree.file(CONFIG)).unwrap();
            std::os::unix::fs::symlink("/dev/null", tree.file(CONFIG)).unwrap();
        } else {
            tree.write(text);
        }
        assert!(!within("a beat", lease.heartbeat()).await);
        dispose(&lease).await;
        assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));
        assert_eq!(tree.config().unwrap(), text);
    }
}
