//! A host that is killed at any moment of a turn leaves nothing.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::host::{Host, Stage, init};
use crate::seen::all_gone;

const KILLS: u32 = 200;
const AT_ONCE: usize = 6;
/// Longer than the turn below takes, so that some hosts die between two turns.
const LONGEST_US: u64 = 150_000;

/// In so many of them one process is deaf to SIGTERM, which costs the guard's grace.
const DEAF_ONE_IN: u32 = 8;

/// A short turn of every kind of process, with something to read all the time.
fn short(deaf: bool) -> Value {
    let child = |deaf: bool| {
        let ignore = deaf.then(|| json!({ "ignore": ["SIGTERM"] }));
        let steps: Vec<_> = ignore.into_iter().chain([json!({ "linger": true })]).collect();
        Value::from(steps)
    };
    let line = json!({ "line": { "type": "thinking", "subtype": "delta", "text": "x" }, "repeat": 10, "delayMs": 1 });
    json!({ "turn": [
        init(),
        { "start": child(false), "as": "member" },
        line,
        { "start": child(deaf), "as": "session" },
        line,
        { "start": child(false), "as": "daemon" },
        { "line": { "type": "result", "subtype": "success", "is_error": false, "result": "x", "session_id": "s-1" } },
    ] })
}

/// A number below `limit` from a seed and the number of a kill: the same each time.
fn pseudo(seed: u64, kill: u32, limit: u64) -> u64 {
    let mut mixed = seed ^ u64::from(kill).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for _ in 0..3 {
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    (mixed >> 16) % limit
}

#[test]
fn two_hundred_kills_at_random_moments() {
    let seed = std::env::var("FUSION_CURSOR_CRASH_SEED").map_or_else(
        |_| RandomState::new().hash_one(std::process::id()),
        |seed| seed.parse().unwrap(),
    );
    println!("FUSION_CURSOR_CRASH_SEED={seed}");
    let next = AtomicU32::new(0);
    let stages = [false, true].map(|deaf| Stage::new(&short(deaf)));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let kill = next.fetch_add(1, Ordering::Relaxed);
                    if kill >= KILLS {
                        return;
                    }
                    let moment = Duration::from_micros(pseudo(seed, kill, LONGEST_US));
                    let mut host = Host::start();
                    assert_eq!(host.hear(), "here");
                    let stage = &stages[usize::from(kill.is_multiple_of(DEAF_ONE_IN))];
                    host.tell(&format!("turns {}", stage.path("").display()));
                    thread::sleep(moment);
                    host.signal(Signal::KILL);
                    let died = host.died();
                    all_gone(
                        host.pid(),
                        died,
                        &format!("seed {seed}, kill {kill} after {moment:?}"),
                    );
                }
            });
        }
    });
}
