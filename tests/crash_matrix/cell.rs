//! One death, and what is found after it.

use std::fs;
use std::sync::Arc;

use fusion_cursor_native::disk::failpoint::Moment;
use fusion_cursor_native::mcp::{Lease, ReconcileReport, reconcile};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::child::{Ended, KEY, NEXT, PATIENCE, PEER, Plan, Work, go, try_stage};
use super::place::{CONFIG, Place, Snapshot, difference, git};
use super::state::{Operation, State, leave};

/// So many at once: most of them wait for a process.
const AT_ONCE: usize = 6;

/// The names of the steps that change the disk, each with its number.
pub(crate) async fn steps(state: State, operation: Operation) -> Vec<(u64, String)> {
    let template = state.found_by(operation).await;
    let (place, peer) = begin(state, operation, &template).await;
    let ended = go(&plan(state, operation, &place)).await;
    assert!(!ended.killed, "{}", ended.said);
    end_peer(peer).await;
    let _mark = fs::remove_file(plan(state, operation, &place).mark());
    // Taking the kernel's lock changes nothing that stays.
    let steps = ended.steps().into_iter();
    steps.filter(|(_, what)| what != "lock.kernel").collect()
}

/// Kill each operation at each of its steps in this state.
pub(crate) async fn all_of(state: State) {
    let (mut failures, mut cells) = (Vec::new(), 0);
    let places = Arc::new(Semaphore::new(AT_ONCE));
    for operation in Operation::ALL {
        let before = Arc::new(Before::of(state));
        let template = Arc::new(state.found_by(operation).await);
        let mut running = JoinSet::new();
        for (number, what) in steps(state, operation).await {
            for moment in [Moment::Before, Moment::After] {
                let (template, before) = (Arc::clone(&template), Arc::clone(&before));
                let places = Arc::clone(&places);
                let name = format!("{operation:?}, {moment:?} step {number} ({what})");
                running.spawn(async move {
                    let _place = places.acquire().await.unwrap();
                    let death = (number, moment);
                    let told =
                        tokio::spawn(async move { die(state, operation, &template, &before, death).await });
                    let told = told.await.unwrap_or_else(|error| Err(vec![error.to_string()]));
                    told.map_err(|what| format!("{name}:\n    {}", what.join("\n    ")))
                });
            }
        }
        while let Some(done) = running.join_next().await {
            cells += 1;
            failures.extend(done.unwrap().err());
        }
    }
    failures.sort();
    let shown = failures
        .iter()
        .take(12)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        failures.is_empty(),
        "{} of {cells} cells:\n{shown}",
        failures.len()
    );
}

fn plan(state: State, operation: Operation, place: &Place) -> Plan {
    Plan {
        key: KEY,
        work: Work::Do(operation),
        before: state.before(),
        recorded: state.is_recorded(),
        meanwhile: state.meanwhile(),
        ..Plan::new(place)
    }
}

/// A copy to work in, and the session beside it.
async fn begin(state: State, operation: Operation, template: &Place) -> (Place, Option<Lease>) {
    let place = template.copy();
    if state != State::Peer {
        return (place, None);
    }
    let peer = try_stage(place.path(), PEER).await.unwrap();
    if operation == Operation::Reconcile {
        leave(state, &place).await;
    }
    (place, Some(peer))
}

async fn end_peer(peer: Option<Lease>) {
    if let Some(peer) = peer {
        peer.dispose().await.unwrap();
    }
}

/// What an operator has before the first session.
pub(crate) struct Before {
    snapshot: Snapshot,
    /// What git would take, and shows.
    taken: String,
    shown: String,
}

impl Before {
    fn of(state: State) -> Self {
        let place = state.make();
        Self {
            snapshot: place.snapshot(),
            taken: place.taken_by_git(),
            shown: place.shown_by_git(),
        }
    }
}

/// What is wrong.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn unless(&mut self, good: bool, what: impl FnOnce() -> String) {
        if !good {
            self.0.push(what());
        }
    }
}

/// One cell of the table.
async fn die(
    state: State,
    operation: Operation,
    template: &Place,
    before: &Before,
    death: (u64, Moment),
) -> Result<(), Vec<String>> {
    let (place, peer) = begin(state, operation, template).await;
    let plan = Plan {
        death: Some(death),
        ..plan(state, operation, &place)
    };
    let Ended { killed, said } = go(&plan).await;
    let edited = fs::remove_file(plan.mark()).is_ok() || state.before().is_some();
    let mut wrong = Wrong::default();
    wrong.unless(killed, || format!("it was not killed: {said}"));
    unseen(&place, before, "dead", &mut wrong);
    // What lies there after a step lies there before the next one too. So the one is put in order by a reconcile, and
    // the other by the next session.
    if death.1 == Moment::Before || state.is_broken() {
        let report = reconcile(place.path(), git(), PATIENCE).await;
        wrong.unless(is_fine(state, &report), || format!("{report:?}"));
    } else {
        let next = try_stage(place.path(), NEXT).await;
        let next = next.map_err(|error| vec![format!("the next session: {error}")])?;
        wrong.unless(place.keys().contains(&NEXT.to_owned()), || {
            "the next session has nothing".to_owned()
        });
        unseen(&place, before, "used by the next session", &mut wrong);
        let ended = next.dispose().await;
        wrong.unless(ended.is_ok(), || format!("the next session: {ended:?}"));
    }
    if peer.is_some() || state.is_broken() {
        unseen(&place, before, "reconciled", &mut wrong);
    }
    if let Some(peer) = peer {
        let keys = place.keys();
        wrong.unless(keys == [PEER], || format!("beside the living: {keys:?}"));
        peer.dispose().await.unwrap();
    }
    let mut config = state.expected(edited);
    if state.is_broken() {
        wrong.unless(place.config() == config, || {
            format!("{:?} is not {config:?}", place.config())
        });
        let left = leftovers(&place);
        wrong.unless(left.is_empty(), || format!("left before it is mended: {left:?}"));
        fs::write(place.file(CONFIG), State::mended()).unwrap();
        config = Some(State::mended().to_owned());
        let report = reconcile(place.path(), git(), PATIENCE).await;
        wrong.unless(report.clean, || format!("mended: {report:?}"));
    }
    wrong
        .0
        .extend(difference(&expected(&place, before, config), &place.snapshot()));
    let shown = place.shown_by_git();
    wrong.unless(shown == before.shown, || {
        format!("git shows {shown:?}, not {:?}", before.shown)
    });
    if wrong.0.is_empty() { Ok(()) } else { Err(wrong.0) }
}

/// Git takes nothing of ours: nothing that it would not have taken before, and no config with a key of ours.
fn unseen(place: &Place, before: &Before, when: &str, wrong: &mut Wrong) {
    let taken = place.taken_by_git();
    let foreign: Vec<_> = taken
        .lines()
        .filter(|line| !before.taken.lines().any(|was| was == *line))
        .collect();
    wrong.unless(foreign.is_empty(), || {
        format!("{when}: git would take {foreign:?}")
    });
    let with_config = taken.lines().any(|line| line.contains(CONFIG));
    let text = place.config().unwrap_or_default();
    wrong.unless(!(with_config && text.contains("fusion-custom-tools-")), || {
        format!("{when}: git would take a config with a key of ours")
    });
}

fn is_fine(state: State, report: &ReconcileReport) -> bool {
    report.problems.is_empty() && (report.clean || state.is_broken())
}

/// What must not be left where a record stays.
fn leftovers(place: &Place) -> Vec<String> {
    let all = place.snapshot();
    let names = all.keys().map(|path| path.display().to_string());
    names
        .filter(|name| name.contains("fusion-tmp") || name.contains(".lock"))
        .collect()
}

/// As it was, but for what the operator himself has written.
fn expected(place: &Place, before: &Before, config: Option<String>) -> Snapshot {
    let mut expected = before.snapshot.clone();
    let path = place.file(CONFIG).strip_prefix(place.room()).unwrap().to_owned();
    if let (Some(entry), Some(config)) = (expected.get_mut(&path), config) {
        entry.2 = config.as_bytes().escape_ascii().to_string();
    }
    expected
}
