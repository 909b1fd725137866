//! A host that has run out of descriptors. One test to the program: the limit is the whole process's.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::fs::File;

use fusion_cursor_native::process::guard;
use fusion_cursor_native::turn::Cause;
use fusion_cursor_native::turn::limits::LimitOptions;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use turn::{Eager, Stage, init, result, runs, within};

/// All descriptors that there are.
fn all_of_them() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

#[tokio::test]
async fn it_is_guarded_when_it_has_some_again_and_ends_what_left_its_group_without_any() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(128);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    let grace = LimitOptions {
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    };
    let stage = Stage::new(&json!([init(), result("x")]));
    let taken = all_of_them();
    let refused = stage.run().await.unwrap_err().cause;
    drop(taken);
    assert!(
        matches!(refused, Cause::SpawnFailed { transient: true, .. }),
        "{refused:?}"
    );
    assert_eq!(guard::pid(), None);
    stage.run().await.unwrap();
    assert!(guard::pid().is_some());
    // The descriptor that its leader waits for is the only one that this host has to give.
    for ending in [result("x"), json!({ "exit": 3 })] {
        let stage = Stage::new(&json!([
            init(),
            { "start": [{ "ignore": ["SIGTERM"] }, { "touch": "daemon" }, { "linger": true }], "as": "daemon", "hold": "none" },
            { "start": [{ "touch": "session" }, { "linger": true }], "as": "session", "hold": "none" },
            { "waitFile": "daemon" },
            { "waitFile": "session" },
            { "touch": "ready" },
            { "waitFile": "go" },
            ending,
        ]))
        .limits(grace);
        let (_control, task) = stage.start(|control| Eager { control });
        stage.touched("ready").await;
        let strays = [stage.touched("daemon").await, stage.touched("session").await];
        let mut taken = all_of_them();
        drop(taken.pop());
        std::fs::write(stage.path("go"), "").unwrap();
        taken.extend(all_of_them());
        let ended = within("the turn", task).await.unwrap();
        drop(taken);
        for stray in strays {
            assert!(!runs(stray), "{stray} runs after {ended:?}");
        }
        let leftovers = ended.map_or_else(|failure| failure.partial.leftovers, |report| report.leftovers);
        assert_eq!(leftovers, []);
    }
}
