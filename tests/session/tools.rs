//! A session's tools: staged with it, told to Cursor while they can be called, and gone with it.

use std::fs;

use fusion_cursor_native::mcp::Reason;
use serde_json::{Value, json};

use crate::lease::{
    CONFIG, MANIFEST, PLAIN, Place, dead_pid, plugins_config, plugins_lease, plugins_manifest,
};
use crate::support::{Stage, TOOL, ask, call_tool, dispose};
use crate::turn::{init, result};

fn telling() -> Value {
    json!({
        "turn": [{ "echo": "first.json" }, init(), result("done")],
        "resumed": [{ "echo": "later.json" }, init(), result("done")],
    })
}

fn entry(stage: &Stage<'_>) -> Value {
    let config: Value = serde_json::from_str(&stage.tree.config().unwrap()).unwrap();
    config["mcpServers"][&stage.key].clone()
}

#[tokio::test]
async fn they_are_there_with_the_session_and_gone_with_it() {
    let place = Place::new();
    let repository = place.repository("repo");
    for (name, operators) in [("linked", None), ("configured", Some(PLAIN))] {
        let tree = repository.linked(name);
        if let Some(text) = operators {
            tree.write(text);
        }
        let stage = Stage::new(&tree, &telling());
        let before = (tree.snapshot(), tree.shown());
        let session = stage.create(true).await;
        assert_eq!(session.problem(), None);
        let shown = [
            format!("{}-{TOOL}", stage.key),
            format!("{}-fn_another", stage.key),
        ];
        assert_eq!(session.tool_names(), shown);
        assert_eq!(tree.shown(), "");
        let entry = entry(&stage);
        assert_eq!(
            (
                &entry["command"],
                &entry["args"][0],
                &entry["env"]["ELECTRON_RUN_AS_NODE"]
            ),
            (&json!("/usr/bin/node"), &json!("/opt/server.cjs"), &json!("1"))
        );
        assert!(fs::exists(entry["args"][1].as_str().unwrap()).unwrap());
        let answer = call_tool(&entry).unwrap();
        assert_eq!(answer, json!({ TOOL: stage.host.secret }).to_string());
        ask(&session, "one").outcome().await.unwrap();
        let (line, prompt) = stage.echo("first.json");
        assert!(line.ends_with("--mode plan --approve-mcps"), "{line}");
        assert!(prompt.contains(&shown.join(", ")), "{prompt}");
        ask(&session, "two").outcome().await.unwrap();
        let (line, prompt) = stage.echo("later.json");
        assert!(line.contains("--approve-mcps --resume s-1"), "{line}");
        assert_eq!(prompt, "two");
        dispose(&session).await;
        assert_eq!((tree.snapshot(), tree.shown()), before);
        assert_eq!(stage.bridge_folders(), 0);
        assert_eq!(call_tool(&entry), None, "nobody listens");
    }
}

#[tokio::test]
async fn the_flag_is_given_while_the_server_is_in_force_and_no_longer() {
    let place = Place::new();
    let tree = place.repository("repo");
    tree.write(PLAIN);
    let stage = Stage::new(&tree, &telling());
    let session = stage.create(true).await;
    let turn = async |echo: &str| {
        ask(&session, "hi").outcome().await.unwrap();
        stage.echo(echo).0.contains("--approve-mcps")
    };
    let whole = tree.config().unwrap();
    let broken = whole.replacen('{', "{,", 1);
    tree.write(&broken);
    assert!(!turn("first.json").await);
    assert!(!stage.echo("first.json").1.contains(TOOL), "not told either");
    let problem = session.problem().unwrap();
    assert_eq!(problem.reason, Reason::Unparsable, "{problem:?}");
    assert!(problem.message.contains(CONFIG), "{problem:?}");
    assert_eq!(tree.config().unwrap(), broken, "left as it is");
    // Mended, with what is ours still in it: nobody can tell a token of ours from the operator's by then.
    tree.write(&whole);
    assert!(!turn("later.json").await);
    assert_eq!(session.problem().unwrap().reason, Reason::Quarantined);
    tree.write(PLAIN);
    assert!(turn("later.json").await);
    assert_eq!(session.problem(), None);
    // Taken out by the operator: it is put back.
    tree.write(PLAIN);
    assert!(turn("later.json").await);
    assert_eq!(tree.keys(), [stage.key.as_str()]);
    // Released by the host.
    fusion_cursor_native::mcp::release_held(
        fusion_cursor_native::process::Whose::Of(stage.owner),
        Some(&tree.path),
    );
    assert!(!turn("later.json").await);
    let problem = session.problem().unwrap();
    assert!(problem.message.contains("make a new session"), "{problem:?}");
    dispose(&session).await;
    assert_eq!(tree.config().unwrap(), PLAIN);
}

#[tokio::test]
async fn what_is_tracked_by_now_is_not_approved_any_more() {
    let place = Place::new();
    let tree = place.repository("repo");
    let stage = Stage::new(&tree, &telling());
    let session = stage.create(true).await;
    // A commit with a config of its own is checked out.
    tree.write(PLAIN);
    place.run(&tree.path, &["add", "-f", CONFIG]);
    ask(&session, "hi").outcome().await.unwrap();
    assert!(!stage.echo("first.json").0.contains("--approve-mcps"));
    assert_eq!(session.problem().unwrap().reason, Reason::Tracked);
    dispose(&session).await;
    assert_eq!(tree.config().unwrap(), PLAIN);
}

/// A name, what is done before, and what that comes to.
type Spoil<'a> = (&'a str, &'a dyn Fn(&Stage<'_>), Reason);

#[tokio::test]
async fn where_they_cannot_be_had_the_session_goes_without() {
    let place = Place::new();
    let spoils: [Spoil<'_>; 4] = [
        (
            "tracked",
            &|stage| {
                stage.tree.write(PLAIN);
                stage.tree.place.run(&stage.tree.path, &["add", "-f", CONFIG]);
            },
            Reason::Tracked,
        ),
        (
            "malformed",
            &|stage| stage.tree.write("{ \"mcpServers\": "),
            Reason::Unparsable,
        ),
        (
            "quarantined",
            &|stage| {
                let text = "{ \"mcpServers\": { \"fusion-custom-tools-x\": {";
                stage.tree.write(text);
                let quarantine = json!({ "quarantine": {
                    "raw": text, "fusionKeys": ["fusion-custom-tools-x"], "observedAt": "2026-01-01T00:00:00.000Z",
                } });
                let manifest = plugins_manifest(Some(PLAIN), &quarantine);
                stage.tree.write_file(MANIFEST, &manifest.to_string());
            },
            Reason::Quarantined,
        ),
        (
            "no place for a bridge",
            &|stage| {
                fs::remove_dir(stage.folder.path()).unwrap();
                fs::write(stage.folder.path(), "").unwrap();
            },
            Reason::NotAFile,
        ),
    ];
    for (name, spoil, reason) in spoils {
        let tree = place.repository(name);
        let stage = Stage::new(&tree, &telling());
        spoil(&stage);
        let config = tree.config();
        let session = stage.create(true).await;
        let problem = session.problem().unwrap();
        assert_eq!(problem.reason, reason, "{name}: {problem:?}");
        if reason == Reason::Quarantined {
            assert!(
                problem.message.contains("take out fusion-custom-tools-x"),
                "{problem:?}"
            );
        }
        assert!(session.tool_names().is_empty() && session.bridge().is_none());
        ask(&session, "hi").outcome().await.unwrap();
        let (line, prompt) = stage.echo("first.json");
        assert!(
            !line.contains("--approve-mcps") && !prompt.contains("fn_"),
            "{line} {prompt}"
        );
        assert_eq!(session.problem(), Some(problem), "it is still so");
        assert_eq!(tree.config(), config, "{name}");
        if stage.folder.path().is_dir() {
            assert_eq!(stage.bridge_folders(), 0, "{name}");
        } else {
            fs::remove_file(stage.folder.path()).unwrap();
        }
        dispose(&session).await;
    }
}

#[tokio::test]
async fn a_worktree_is_put_in_order_first_with_tools_or_without() {
    let place = Place::new();
    let tree = place.repository("repo");
    for with_tools in [false, true] {
        let dead = "fusion-custom-tools-dead";
        let left = plugins_config(Some(PLAIN), dead);
        tree.write(&left);
        let leases = json!({ "leases": { dead: plugins_lease(dead_pid(), 0) }, "lastWrittenRaw": left });
        tree.write_file(MANIFEST, &plugins_manifest(Some(PLAIN), &leases).to_string());
        let stage = Stage::new(&tree, &telling());
        let session = stage.create(with_tools).await;
        assert_eq!(session.problem(), None);
        let mine = if with_tools {
            vec![stage.key.clone()]
        } else {
            Vec::new()
        };
        assert_eq!(tree.keys(), mine);
        dispose(&session).await;
        assert_eq!(tree.config().unwrap(), PLAIN);
        assert!(!tree.file(MANIFEST).exists());
    }
}

#[tokio::test]
async fn sessions_side_by_side_have_their_own() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let stages: Vec<_> = (0..3).map(|_| Stage::new(&tree, &telling())).collect();
    let mut sessions = Vec::new();
    for stage in &stages {
        sessions.push(stage.create(true).await);
    }
    for stage in &stages {
        let answer = call_tool(&entry(stage)).unwrap();
        assert!(answer.contains(&stage.host.secret), "{answer}");
    }
    let asked: Vec<_> = sessions.iter().map(|session| ask(session, "hi")).collect();
    for (stage, asked) in stages.iter().zip(asked) {
        asked.outcome().await.unwrap();
        let (_, prompt) = stage.echo("first.json");
        assert_eq!(prompt.matches("fusion-custom-tools-").count(), 2, "{prompt}");
        assert!(prompt.contains(&stage.key));
    }
    dispose(&sessions[1]).await;
    assert!(call_tool(&entry(&stages[0])).is_some() && call_tool(&entry(&stages[2])).is_some());
    dispose(&sessions[0]).await;
    dispose(&sessions[2]).await;
    assert_eq!(tree.snapshot(), before);
}
