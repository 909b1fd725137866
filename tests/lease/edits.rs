//! An operator, or a program that knows no lock, who changes the config while sessions use it.

use std::fs;

use crate::aside::{passed, test};
use crate::support::*;

#[tokio::test]
async fn after_an_edit_only_our_own_keys_go() {
    let place = Place::new();
    for (number, text) in [PLAIN, COMMENTED, BARE].into_iter().enumerate() {
        let tree = place.repository(&format!("repo{number}"));
        tree.write(text);
        let lease = tree.stage().await;
        let edit = |text: &str| text.replacen('{', "{ /* edited */ \"x\" : 1e2 ,", 1);
        tree.write(&edit(&tree.config().unwrap()));
        tree.chmod(CONFIG, 0o640);
        assert!(within("a beat", lease.heartbeat()).await);
        assert_eq!(tree.manifest()["operatorEditObserved"], true);
        assert_eq!(tree.keys(), [lease.server_key()]);
        dispose(&lease).await;
        assert_eq!(tree.config().unwrap(), edit(text));
        assert_eq!(tree.mode(CONFIG), 0o640, "the operator's own mode");
        assert!(!tree.file(MANIFEST).exists() && !tree.exclude().contains(">>>"));
    }
}

#[tokio::test]
async fn an_edit_that_nobody_saw_before_the_end_counts_too() {
    let place = Place::new();
    let tree = place.repository("repo");
    let lease = tree.stage().await;
    let edited = tree.config().unwrap().replacen('{', "{ \"x\": 1,", 1);
    tree.write(&edited);
    dispose(&lease).await;
    let left = tree.config().unwrap();
    assert!(left.contains("\"x\": 1") && !left.contains("fusion"), "{left}");
    assert!(tree.file(".cursor").exists());
    assert_eq!(tree.mode(".cursor"), 0o755, "the folder is the operator's now");
    assert_eq!(tree.shown(), "?? .cursor/mcp.json\n");
}

#[tokio::test]
async fn a_file_of_ours_that_was_only_laid_out_anew_goes() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let lease = tree.stage().await;
    tree.write(&tree.config().unwrap().replace("  ", "\t\t"));
    dispose(&lease).await;
    assert_eq!(tree.snapshot(), before);
}

#[tokio::test]
async fn a_config_that_the_operator_removes_stays_removed() {
    let place = Place::new();
    for beat in [false, true] {
        let tree = place.repository(if beat { "beat" } else { "still" });
        tree.write(PLAIN);
        let lease = tree.stage().await;
        fs::remove_file(tree.file(CONFIG)).unwrap();
        if beat {
            assert!(within("a beat", lease.heartbeat()).await);
            assert_eq!(tree.keys(), [lease.server_key()]);
        }
        dispose(&lease).await;
        assert_eq!(tree.config(), None);
    }
}

#[tokio::test]
async fn a_container_that_the_operator_puts_there_stays() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(BARE);
    let lease = tree.stage().await;
    let own = "{ \"a\": 1, \"mcpServers\": {} }";
    tree.write(own);
    assert!(within("a beat", lease.heartbeat()).await);
    dispose(&lease).await;
    assert_eq!(tree.config().unwrap(), own);
}

#[tokio::test]
async fn an_entry_of_ours_that_somebody_takes_out_comes_back_with_the_next_beat() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let lease = tree.stage().await;
    tree.write(PLAIN);
    assert!(within("a beat", lease.heartbeat()).await);
    assert_eq!(tree.keys(), [lease.server_key()]);
    // And with the lease, where a peer thought it dead; and with all of it.
    let mut manifest = tree.manifest();
    manifest["leases"] = serde_json::json!({});
    tree.write_file(MANIFEST, &manifest.to_string());
    assert!(within("a beat", lease.heartbeat()).await);
    assert_eq!(tree.manifest()["leases"].as_object().unwrap().len(), 1);
    fs::remove_dir_all(tree.file(".cursor")).unwrap();
    assert!(within("a beat", lease.heartbeat()).await);
    assert_eq!((tree.keys().len(), tree.shown()), (1, String::new()));
    dispose(&lease).await;
    assert!(!tree.file(".cursor").exists());
}

#[tokio::test]
async fn keys_of_ours_that_nobody_answers_for_go() {
    let place = Place::new();
    let residue = "{\"mcpServers\":{\"mine\":{},\"fusion-custom-tools-old\":{\"command\":\"x\"}}}";
    let tree = place.repository("repo");
    tree.write(residue);
    let lease = tree.stage().await;
    assert_eq!(tree.keys(), [lease.server_key()]);
    assert!(!tree.manifest()["baseline"].to_string().contains("fusion"));
    dispose(&lease).await;
    assert_eq!(tree.config().unwrap(), "{\"mcpServers\":{\"mine\":{}}}");
}

#[tokio::test]
async fn modes_stay_while_a_lease_lives_and_after() {
    let place = Place::new();
    let tree = place.repository("repo");
    for mode in [0o600, 0o640, 0o644, 0o444] {
        tree.write(PLAIN);
        tree.chmod(CONFIG, mode);
        let lease = tree.stage().await;
        assert_eq!(tree.mode(CONFIG), mode);
        assert_eq!(tree.mode(MANIFEST), 0o600);
        assert!(within("a beat", lease.heartbeat()).await);
        assert_eq!(tree.mode(CONFIG), mode);
        dispose(&lease).await;
        assert_eq!((tree.mode(CONFIG), tree.config().as_deref()), (mode, Some(PLAIN)));
        fs::remove_file(tree.file(CONFIG)).unwrap();
    }
}

#[test]
fn what_we_make_is_private_whatever_the_umask() {
    passed(&test("edits::made_without_a_umask").output().unwrap());
}

#[tokio::test]
#[ignore = "it changes the umask of its process"]
async fn made_without_a_umask() {
    let place = Place::new();
    let tree = place.repository("repo");
    rustix::process::umask(rustix::fs::Mode::empty());
    let lease = tree.stage().await;
    assert_eq!((tree.mode(CONFIG), tree.mode(MANIFEST)), (0o600, 0o600));
    dispose(&lease).await;
    assert!(!tree.file(".cursor").exists());
}
