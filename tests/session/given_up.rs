//! A session that is given up while it is made: nothing of it is left, whenever that is.

use std::time::Duration;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::lock::KernelLock;
use fusion_cursor_native::process::{Whose, call_off};
use fusion_cursor_native::session::create;
use serde_json::json;

use crate::lease::{Place, eventually, within};
use crate::support::{Stage, dispose};

#[tokio::test]
async fn by_its_maker_at_any_moment() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    let mut made = 0;
    for step in 0..30 {
        let stage = Stage::new(&tree, &json!({ "turn": [] }));
        let (off, is_off) = cancel();
        let canceller = async {
            tokio::time::sleep(Duration::from_millis(step * 2)).await;
            off.cancel();
        };
        let (session, ()) = tokio::join!(stage.create_unless(true, is_off), canceller);
        if let Some(session) = session {
            made += 1;
            dispose(&session).await;
        }
        assert_eq!(stage.bridge_folders(), 0, "step {step}");
        assert_eq!(tree.snapshot(), before, "step {step}");
    }
    assert!(made < 30, "the first one at least was given up");
}

#[tokio::test]
async fn by_whoever_forgets_about_it() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    for step in 0..30 {
        let stage = Stage::new(&tree, &json!({ "turn": [] }));
        let (_calm, calm) = cancel();
        let making = tokio::spawn(create(stage.request(true), calm));
        tokio::time::sleep(Duration::from_millis(step * 2)).await;
        making.abort();
        if let Ok(Ok(Some(session))) = making.await {
            dispose(&session).await;
        }
        eventually("all of it is gone", || {
            stage.bridge_folders() == 0 && tree.snapshot() == before
        })
        .await;
    }
}

#[tokio::test]
async fn while_it_waits_for_a_lock() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    for by_owner in [false, true] {
        let mut stage = Stage::new(&tree, &json!({ "turn": [] }));
        stage.lock_timeout = Duration::from_secs(1);
        let folder = Folder::open(&tree.path).unwrap();
        let mut kernel = None;
        // The wait of the one before may still be on its way out.
        eventually("the lock is free", || {
            kernel = KernelLock::attempt(&folder).unwrap();
            kernel.is_some()
        })
        .await;
        let (off, is_off) = cancel();
        let making = tokio::spawn(create(stage.request(true), is_off));
        eventually("its bridge is open", || stage.bridge_folders() == 1).await;
        if by_owner {
            call_off(Whose::Of(stage.owner));
        } else {
            off.cancel();
        }
        let made = within("the end", making).await.unwrap().unwrap();
        assert!(made.is_none());
        assert_eq!(stage.bridge_folders(), 0);
        drop(kernel);
        assert_eq!(tree.snapshot(), before);
    }
}

#[tokio::test]
async fn before_it_began() {
    let place = Place::new();
    let tree = place.repository("repo");
    let before = tree.snapshot();
    for with_tools in [false, true] {
        let stage = Stage::new(&tree, &json!({ "turn": [] }));
        let (off, is_off) = cancel();
        off.cancel();
        assert!(stage.create_unless(with_tools, is_off).await.is_none());
        assert_eq!((tree.snapshot(), stage.bridge_folders()), (before.clone(), 0));
    }
}
