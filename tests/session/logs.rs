//! What a session says of itself, and what it keeps to itself.

use std::sync::Arc;

use fusion_cursor_native::diagnostics::{Record, route, unroute};
use parking_lot::Mutex;
use serde_json::json;

use crate::lease::{PLAIN, Place};
use crate::support::{SYSTEM, Stage, ask, dispose};
use crate::turn::{init, result, text};

const PROMPT: &str = "a prompt that is nobody's business";
const ANSWER: &str = "an answer that is nobody's business";

#[tokio::test]
async fn its_records_have_its_number_and_no_word_of_what_is_said() {
    let place = Place::new();
    let tree = place.repository("repo");
    let records: Arc<Mutex<Vec<Record>>> = Arc::default();
    let all = Arc::clone(&records);
    let key = 77;
    route(
        key,
        "trace",
        Arc::new(move |record| all.lock().push(record.clone())),
    )
    .unwrap();
    let stage = Stage::new(&tree, &json!({ "turn": [init(), text(ANSWER), result(ANSWER)] }));
    let session = stage.create(true).await;
    let token = session.bridge().unwrap().token().reveal().to_owned();
    ask(&session, PROMPT).outcome().await.unwrap();
    // It has no tools, and says why.
    tree.write(&PLAIN.replacen('{', "{,", 1));
    let other = Stage::new(&tree, &json!({ "turn": [] }));
    let without = other.create(true).await;
    dispose(&without).await;
    dispose(&session).await;
    unroute(key);
    let records = std::mem::take(&mut *records.lock());
    for record in &records {
        let line = record.to_line();
        for secret in [PROMPT, ANSWER, SYSTEM, &token] {
            assert!(!line.contains(secret), "{line}");
        }
    }
    for said in [
        "a session is made",
        "a server is staged",
        "process started",
        "turn done",
        "a session has no tools",
        "a session is disposed",
    ] {
        // Other tests of this process have sessions and turns too.
        let ours = |record: &Record| {
            let number = &record.fields["session"];
            [&session, &without]
                .iter()
                .any(|one| format!("{one:?}").contains(&format!("number: {number},")))
        };
        let of_it =
            |record: &Record| record.message == said && record.fields.contains_key("session") && ours(record);
        assert!(records.iter().any(of_it), "{said:?} is not said: {records:?}");
    }
    let shown = format!("{session:?}");
    assert!(!shown.contains(&token) && !shown.contains(SYSTEM), "{shown}");
}
