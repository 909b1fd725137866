//! A staging that is called off at each step that it makes, the last one too: nobody has the lease, and nothing is left.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::failpoint::{Moment, Step, Verdict, arm};
use fusion_cursor_native::mcp::{StagingError, stage};

use super::child::{KEY, request};
use super::place::difference;
use super::state::State;

/// At every step of a staging; how many there are.
async fn at_every_step(state: State) -> u64 {
    let template = state.make();
    let before = template.snapshot();
    for at in 1.. {
        for moment in [Moment::Before, Moment::After] {
            let place = template.copy();
            let (off, is_off) = cancel();
            let there = Arc::new(AtomicBool::new(false));
            let seen = Arc::clone(&there);
            let hook = move |step: &Step<'_>| {
                if (step.number, step.moment) == (at, moment) {
                    seen.store(true, Relaxed);
                    off.cancel();
                }
                Verdict::Go
            };
            let armed = arm(&place.room(), Box::new(hook));
            let staged = stage(request(place.path(), KEY), is_off).await;
            let last = armed.count() < at;
            drop(armed);
            if !there.load(Relaxed) {
                // There is no such step, or it found that there is nothing to do.
                staged.unwrap().dispose().await.unwrap();
                if last {
                    return at - 1;
                }
                continue;
            }
            assert!(
                matches!(staged, Err(StagingError::Cancelled)),
                "{at}, {moment:?}: {staged:?}"
            );
            let different = difference(&before, &place.snapshot());
            assert!(different.is_empty(), "{at}, {moment:?}: {different:?}");
        }
    }
    0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_no_file() {
    assert!(at_every_step(State::NoFile).await > 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_there_is_a_file() {
    assert!(at_every_step(State::Commented).await > 20);
}
