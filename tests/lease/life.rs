//! The life of a config: staged, refreshed, disposed, from each state that an operator may have it in.

use crate::support::*;

#[tokio::test]
async fn a_config_has_the_server_while_the_lease_lives_and_is_as_before_afterwards() {
    let texts = [
        None,
        Some(PLAIN),
        Some(COMMENTED),
        Some(BARE),
        Some(""),
        Some(" \n"),
        Some("{}"),
        Some("{\"mcpServers\":{}}"),
        Some("// only this\n"),
        Some("{\"mcpServers\":{\"bad\":\"oops\",\"good\":{\"command\":\"x\"}}}"),
    ];
    let place = Place::new();
    for (number, text) in texts.into_iter().enumerate() {
        let tree = place.repository(&format!("repo{number}"));
        if let Some(text) = text {
            tree.write(text);
        }
        let (before, status) = (tree.snapshot(), tree.shown());
        let lease = tree.stage().await;
        assert_eq!(tree.keys(), [lease.server_key()], "{text:?}");
        assert!(tree.config().unwrap().contains(TOKEN));
        assert_eq!(tree.shown(), "", "git sees nothing: {text:?}");
        assert!(within("a beat", lease.heartbeat()).await);
        assert_eq!(tree.keys(), [lease.server_key()]);
        dispose(&lease).await;
        assert_eq!(tree.snapshot(), before, "{text:?}");
        assert_eq!(tree.shown(), status);
        assert!(!within("a beat", lease.heartbeat()).await);
        dispose(&lease).await;
        assert_eq!(tree.snapshot(), before);
    }
}
