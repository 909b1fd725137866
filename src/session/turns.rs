//! One turn of a session: its place in the line, what it says and resumes, and what stays of it.

use std::future::Future;
use std::time::Duration;

use tokio::select;
use tokio::time::Instant;
use tracing::Instrument;

use crate::cancel::cancel;
use crate::process::called_off;
use crate::runtime::{self, joined};
use crate::turn::{self, Cause, Consumer, Controlled, Failure, Report, TurnRequest};

use super::context::first_prompt;
use super::line::{Call, Place};
use super::{Prompt, Session};

type Outcome = Result<Report, Box<Failure>>;

fn unstarted(cause: Cause, duration: Duration) -> Outcome {
    Err(Box::new(Failure::unstarted(cause, duration)))
}

impl Session {
    /// Run a turn when those that were asked for before are over. Its place in the line is taken by this call.
    ///
    /// As [`turn::run`], but for the wait: an abort leaves the line at once, and the limits and the duration count from
    /// the turn's own start. Dropping the future aborts it, and whoever waits behind it waits for its end all the same.
    ///
    /// # Errors
    /// As [`turn::run`]; [`Cause::Disposed`] where the session was disposed before the turn began.
    pub fn turn<C: Consumer>(
        &self,
        prompt: Prompt,
        controlled: Controlled,
        consumer: C,
    ) -> impl Future<Output = Outcome> + Send + use<C> {
        let place = self.0.line.join();
        let session = self.clone();
        async move {
            let (forgotten, off) = cancel();
            let controlled = controlled.also(off);
            let span = tracing::info_span!("session", session = session.0.number);
            let turn = session.wait_and_run(place, prompt, controlled, consumer);
            match runtime::spawn(turn.instrument(span)) {
                Ok(turn) => {
                    let _forgotten = forgotten.on_drop();
                    joined(turn).await
                }
                Err(error) => unstarted(Cause::Internal(error.to_string()), Duration::ZERO),
            }
        }
    }

    async fn wait_and_run(
        self,
        mut place: Place,
        prompt: Prompt,
        controlled: Controlled,
        consumer: impl Consumer,
    ) -> Outcome {
        // The owner's end counts for those that wait too.
        let controlled = controlled.also(called_off(self.0.turn.owner));
        select! {
            biased;
            () = controlled.aborted() => return unstarted(Cause::Aborted, Duration::ZERO),
            call = place.called() => if call == Call::Closed {
                return unstarted(Cause::Disposed, Duration::ZERO);
            },
        }
        let started = Instant::now();
        let controlled = controlled.also(self.0.ending.token());
        let has_tools = select! {
            biased;
            () = controlled.aborted() => return unstarted(Cause::Aborted, started.elapsed()),
            has_tools = self.has_tools_now() => has_tools,
        };
        let so_far = controlled.so_far();
        self.0.id.lock().running = Some(so_far.clone());
        let over = Over(&self);
        let outcome = turn::run(self.request(prompt, has_tools), controlled, consumer).await;
        self.0
            .id
            .lock()
            .memory
            .settle(outcome.is_ok(), so_far.session_id().as_deref());
        drop(over);
        drop(place);
        outcome
    }

    /// Ask the lease, as an operator may have changed the config since.
    async fn has_tools_now(&self) -> bool {
        let Some(toolset) = &self.0.toolset else {
            return false;
        };
        let problem = toolset.check().await.err();
        let in_force = problem.is_none();
        *self.0.problem.lock() = problem;
        in_force
    }

    fn request(&self, prompt: Prompt, has_tools: bool) -> TurnRequest {
        let session = &self.0;
        let mut request = session.turn.clone();
        let held = session.id.lock().memory.held().map(str::to_owned);
        request.prompt = if held.is_some() {
            prompt.text
        } else {
            let tools = if has_tools { self.tool_names() } else { &[] };
            first_prompt(&session.context, request.flags.coding, tools, &prompt.text)
        };
        request.flags.resume = held;
        // It approves whatever else is in the config too.
        request.flags.approve_mcps |= has_tools;
        request.own_server = session
            .toolset
            .as_ref()
            .map(|toolset| toolset.server_key().to_owned());
        request.wants = prompt.wants;
        request
    }
}

/// No turn runs any more, however it ended.
struct Over<'a>(&'a Session);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.0.id.lock().running = None;
    }
}
