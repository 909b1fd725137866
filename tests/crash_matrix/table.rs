//! The table in `docs/crash-matrix.md`, made from what the operations really do.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::cell::steps;
use super::state::{Operation, State};

const BEGIN: &str = "<!-- The tables are made by tests/crash_matrix/table.rs. -->\n";
const END: &str = "<!-- Until here. -->\n";

fn document() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/crash-matrix.md")
}

async fn tables() -> String {
    let few = Arc::new(Semaphore::new(4));
    let mut running = JoinSet::new();
    for (row, state) in State::ALL.into_iter().enumerate() {
        for (column, operation) in Operation::ALL.into_iter().enumerate() {
            let few = Arc::clone(&few);
            running.spawn(async move {
                let _one = few.acquire().await.unwrap();
                ((row, column), steps(state, operation).await)
            });
        }
    }
    let mut all = BTreeMap::new();
    while let Some(done) = running.join_next().await {
        let (place, steps) = done.unwrap();
        all.insert(place, steps);
    }
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for (_, what) in all.values().flatten() {
        *kinds.entry(what.clone()).or_default() += 1;
    }
    let count = |row: usize, column: usize| all[&(row, column)].len() * 2;
    let columns = 0..Operation::ALL.len();
    let mut text = String::from(
        "| The config | stage | heartbeat | dispose | exit | reconcile | in all |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    for (row, state) in State::ALL.into_iter().enumerate() {
        write!(text, "| {} |", state.title()).unwrap();
        for column in columns.clone() {
            write!(text, " {} |", count(row, column)).unwrap();
        }
        let sum: usize = columns.clone().map(|column| count(row, column)).sum();
        writeln!(text, " {sum} |").unwrap();
    }
    text.push_str("| **in all** |");
    for column in columns.clone() {
        let sum: usize = (0..State::ALL.len()).map(|row| count(row, column)).sum();
        write!(text, " {sum} |").unwrap();
    }
    let sum: usize = all.values().map(|steps| steps.len() * 2).sum();
    writeln!(text, " **{sum}** |\n").unwrap();
    text.push_str("| Step | how often |\n|---|--:|\n");
    for (kind, count) in kinds {
        writeln!(text, "| `{kind}` | {count} |").unwrap();
    }
    text
}

/// What is before the tables, the tables, and what is after them.
fn split(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the tables");
    let (tables, after) = rest.split_once(END).expect("the end of the tables");
    (before, tables, after)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_docs_have_the_table_as_it_is() {
    let text = fs::read_to_string(document()).unwrap();
    let (_, there, _) = split(&text);
    let tables = tables().await;
    writeln!(std::io::stdout(), "{tables}").unwrap();
    assert_eq!(
        there.trim(),
        tables.trim(),
        "run: cargo test --no-default-features --features failpoints --test crash_matrix write_the_table -- --ignored"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it writes the docs"]
async fn write_the_table() {
    let text = fs::read_to_string(document()).unwrap();
    let (before, _, after) = split(&text);
    let tables = tables().await;
    fs::write(document(), format!("{before}{BEGIN}\n{tables}\n{END}{after}")).unwrap();
}
