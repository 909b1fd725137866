//! What holds a token, a text of an operator or the environment of a host does not show it.

use std::fmt::Debug;
use std::time::Duration;

use fusion_cursor_native::bridge::Call;
use fusion_cursor_native::mcp::StageRequest;
use fusion_cursor_native::mcp::manifest::{Manifest, ServerEntry};
use fusion_cursor_native::process::{Launch, Owner};
use fusion_cursor_native::worktree::Git;

const SECRET: &str = "s3cr3t";

fn shown(what: &dyn Debug) -> String {
    let shown = format!("{what:?} {what:#?}");
    assert!(!shown.contains(SECRET), "{shown}");
    shown
}

#[test]
fn it_is_in_no_debug() {
    let env = || vec![("KEY".into(), SECRET.into())];
    let git = Git {
        env: env(),
        owner: Owner(1),
        limit: Duration::from_secs(1),
    };
    let entry = ServerEntry::new(
        "node".into(),
        vec![SECRET.into()],
        vec![("TOKEN".into(), SECRET.into())],
    );
    let entry_shown = shown(&entry);
    assert!(entry_shown.contains("node") && entry_shown.contains("TOKEN"));
    shown(&StageRequest {
        worktree: "/w".into(),
        server_key: "fusion-custom-tools-x".into(),
        entry,
        lock_timeout: Duration::ZERO,
        git,
        scope: Owner(1),
    });
    shown(&Launch {
        program: "/bin/true".into(),
        args: vec![SECRET.into()],
        cwd: "/".into(),
        env: env(),
        owner: Owner(1),
        via: None,
    });
    shown(&Call {
        name: "fn_x".into(),
        call_id: "1".into(),
        arguments: format!("{{\"a\":\"{SECRET}\"}}"),
    });
}

#[test]
fn no_file_of_state_shows_what_is_in_it() {
    for text in [
        include_str!("fixtures/manifests/two-leases.json"),
        include_str!("fixtures/manifests/pending.json"),
        include_str!("fixtures/manifests/quarantine.json"),
        include_str!("fixtures/manifests/later-release.json"),
    ] {
        let manifest = Manifest::parse(text.as_bytes()).expect("a manifest");
        let shown = shown(&manifest);
        let entries = || manifest.leases.iter().map(|(_, lease)| &lease.entry);
        let held = [
            manifest.baseline.raw.as_ref(),
            manifest.last_written.as_ref(),
            manifest.pending.as_ref().and_then(|pending| pending.raw.as_ref()),
            manifest
                .quarantine
                .as_ref()
                .and_then(|quarantine| quarantine.raw.as_ref()),
        ]
        .into_iter()
        .flatten()
        .chain(entries().flat_map(|entry| &entry.args))
        .chain(entries().flat_map(|entry| entry.env.iter().map(|(_, value)| value)));
        for text in held.filter(|text| text.len() > 3) {
            assert!(!shown.contains(text.as_str()), "{text} in {shown}");
        }
    }
}
