//! The turns of a session that wait for each other.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};

/// One is served at a time, in the order in which they came. Clones are the same line.
#[derive(Debug, Clone)]
pub(super) struct Line {
    state: Arc<Mutex<State>>,
    /// Whether somebody is served.
    busy: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    came: u64,
    served: Option<u64>,
    waiting: VecDeque<(u64, oneshot::Sender<Call>)>,
    closed: bool,
}

/// What one hears who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// It is its turn, until it leaves.
    Served,
    /// There will be none.
    Closed,
}

/// A place in the line. Dropped, it is left, wherever in the line it is.
#[derive(Debug)]
pub(super) struct Place {
    line: Line,
    number: u64,
    call: oneshot::Receiver<Call>,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            state: Arc::default(),
            busy: watch::Sender::new(false),
        }
    }
}

impl Line {
    /// Come to its end.
    pub(super) fn join(&self) -> Place {
        let (tell, call) = oneshot::channel();
        let mut state = self.state.lock();
        let number = state.came;
        state.came += 1;
        if state.closed {
            // The receiver is here.
            let _heard = tell.send(Call::Closed);
        } else {
            state.waiting.push_back((number, tell));
            self.serve(&mut state);
        }
        Place {
            line: self.clone(),
            number,
            call,
        }
    }

    /// Send away all that wait, and whoever comes from now on. The one that is served stays until it leaves.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        for (_, tell) in state.waiting.drain(..) {
            // A place is in the line for as long as its receiver is there.
            let _heard = tell.send(Call::Closed);
        }
    }

    /// Resolves when nobody is served.
    pub(super) async fn emptied(&self) {
        let mut busy = self.busy.subscribe();
        // This line has the sender, so that it does not go.
        let _empty = busy.wait_for(|busy| !busy).await.is_ok();
    }

    fn serve(&self, state: &mut State) {
        if state.served.is_none()
            && let Some((number, tell)) = state.waiting.pop_front()
        {
            state.served = Some(number);
            let _heard = tell.send(Call::Served);
        }
        self.busy.send_replace(state.served.is_some());
    }

    fn leave(&self, number: u64) {
        let mut state = self.state.lock();
        if state.served == Some(number) {
            state.served = None;
            self.serve(&mut state);
        } else {
            state.waiting.retain(|(waiting, _)| *waiting != number);
        }
    }
}

impl Place {
    /// Resolves when there is something to hear.
    pub(super) async fn called(&mut self) -> Call {
        // The line drops the other end only of a place that has left.
        (&mut self.call).await.unwrap_or(Call::Closed)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.leave(self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use tokio::time::timeout;

    use super::*;

    #[derive(Debug, Clone)]
    enum Step {
        Join,
        /// The one that came as this one of those that are still there.
        Leave(usize),
        Close,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            8 => Just(Step::Join),
            8 => any::<usize>().prop_map(Step::Leave),
            1 => Just(Step::Close),
        ]
    }

    /// A line as a list says it: the first one that was not sent away is served.
    #[derive(Default)]
    struct Model {
        there: Vec<(usize, Option<Call>)>,
        closed: bool,
    }

    impl Model {
        fn settle(&mut self) {
            let is_served = |(_, call): &(usize, Option<Call>)| *call == Some(Call::Served);
            if self.closed {
                for (_, call) in &mut self.there {
                    call.get_or_insert(Call::Closed);
                }
            } else if !self.there.iter().any(is_served)
                && let Some((_, call)) = self.there.first_mut()
            {
                *call = Some(Call::Served);
            }
        }
    }

    proptest! {
        #[test]
        fn it_does_as_a_list(steps in vec(step(), 0..60)) {
            let (line, mut model) = (Line::default(), Model::default());
            let mut places: Vec<(Place, Option<Call>)> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Join => {
                        places.push((line.join(), None));
                        model.there.push((number, None));
                    }
                    Step::Leave(_) if places.is_empty() => {}
                    Step::Leave(which) => {
                        let which = which % places.len();
                        drop(places.remove(which));
                        model.there.remove(which);
                    }
                    Step::Close => {
                        line.close();
                        model.closed = true;
                    }
                }
                model.settle();
                for (place, call) in &mut places {
                    if let Ok(heard) = place.call.try_recv() {
                        prop_assert_eq!(call.replace(heard), None, "told once");
                    }
                }
                let told: Vec<_> = places.iter().map(|(_, call)| *call).collect();
                let expected: Vec<_> = model.there.iter().map(|(_, call)| *call).collect();
                prop_assert_eq!(&told, &expected);
                let busy = told.contains(&Some(Call::Served));
                prop_assert_eq!(*line.busy.borrow(), busy);
            }
        }
    }

    #[tokio::test]
    async fn whoever_waits_hears_it_and_the_end_is_told_when_the_last_has_left() {
        let line = Line::default();
        line.emptied().await;
        let mut first = line.join();
        assert_eq!(first.called().await, Call::Served);
        let mut second = line.join();
        let waits = tokio::spawn(async move { (second.called().await, second) });
        line.close();
        assert_eq!(waits.await.unwrap().0, Call::Closed);
        assert_eq!(line.join().called().await, Call::Closed);
        let emptied = line.emptied();
        tokio::pin!(emptied);
        assert!(timeout(Duration::from_millis(20), &mut emptied).await.is_err());
        drop(first);
        emptied.await;
    }
}
