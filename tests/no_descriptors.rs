//! A host that has run out of descriptors. One test to the program: the limit is the whole process's.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]

mod turn;

use std::fs::File;

use fusion_cursor_native::turn::limits::LimitOptions;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use turn::{Eager, Stage, init, result, runs, within};

/// All descriptors that there are.
fn all_of_them() -> Vec<File> {
    std::iter::from_fn(|| File::open("/dev/null").ok()).collect()
}

#[tokio::test]
async fn what_left_its_group_is_ended_all_the_same() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(128);
    setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    let grace = LimitOptions {
        kill_grace_ms: Some(100.0),
        ..LimitOptions::default()
    };
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
