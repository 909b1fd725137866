//! The calls that run: from the head of a request to the answer of the tool, its deadline, or the end of the caller.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::cancel::Cancelled;

use super::message::{self, Asked};
use super::{Call, HostGone, RESULT_LIMIT, Tools, Why};

/// What became of a call.
#[cfg_attr(test, derive(Debug, PartialEq, Eq))]
pub(super) enum Outcome {
    /// The body of the answer.
    Answered(String),
    /// Nobody waits for it.
    Vanished,
    /// There is nobody who could run a tool.
    HostGone,
}

/// The calls of one bridge.
pub(super) struct Calls {
    tools: Arc<dyn Tools>,
    limit: Duration,
    next: AtomicU32,
    running: Mutex<HashMap<u32, Running>>,
}

struct Running {
    /// Until the host takes it.
    call: Option<Call>,
    answer: oneshot::Sender<String>,
}

impl Calls {
    pub(super) fn new(tools: Arc<dyn Tools>, limit: Duration) -> Self {
        Self {
            tools,
            limit,
            next: AtomicU32::new(1),
            running: Mutex::default(),
        }
    }

    /// What a call asks for; once, and only as long as somebody waits for its answer.
    pub(super) fn take(&self, number: u32) -> Option<Call> {
        self.running.lock().get_mut(&number)?.call.take()
    }

    /// The answer of a tool. One that comes late is forgotten.
    pub(super) fn answer(&self, number: u32, answer: String) {
        let running = self.running.lock().remove(&number);
        if let Some(running) = running {
            let _gone = running.answer.send(answer);
        }
    }

    /// Run one call to its end. Dropped, the call is called off.
    pub(super) async fn run(
        &self,
        asked: Asked,
        closed: &Cancelled,
        gone: impl Future<Output = ()>,
    ) -> Outcome {
        let (answer, answered) = oneshot::channel();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let Asked {
            name,
            arguments,
            call_id,
        } = asked;
        let call = Call {
            call_id: call_id.unwrap_or_else(|| format!("fusion-call-{number}")),
            name: name.clone(),
            arguments,
        };
        let running = Running {
            call: Some(call),
            answer,
        };
        self.running.lock().insert(number, running);
        let mut waiting = Waiting {
            calls: self,
            number,
            why: Why::CallerGone,
        };
        let began = Instant::now();
        if let Err(HostGone) = self.tools.called(number) {
            return Outcome::HostGone;
        }
        tracing::debug!(tool = %name, call = number, "a tool is called");
        let (answer, end) = tokio::select! {
            biased;
            answer = answered => match answer {
                Ok(answer) => (fitting(&name, answer), "answered"),
                Err(_) => return Outcome::HostGone,
            },
            () = closed.wait() => {
                waiting.why = Why::Disposed;
                (message::failed("The session that this tool belongs to has ended."), "disposed")
            }
            () = gone => {
                tracing::debug!(tool = %name, call = number, "the caller of a tool has gone");
                return Outcome::Vanished;
            }
            () = sleep(self.limit) => {
                waiting.why = Why::TimedOut;
                (message::failed(&late(&name, self.limit)), "timed out")
            }
        };
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(tool = %name, call = number, duration_ms = ms, bytes = answer.len(), end, "a call is over");
        Outcome::Answered(answer)
    }
}

/// An answer, where it is not too large.
fn fitting(name: &str, answer: String) -> String {
    let length = answer.len();
    if length <= RESULT_LIMIT {
        return answer;
    }
    message::failed(&format!(
        "The result of {} is {} MiB as JSON, over the limit of {} MiB. Return less of it, or write it to a file and \
         return the path.",
        name.escape_debug(),
        length.div_ceil(1 << 20),
        RESULT_LIMIT >> 20,
    ))
}

fn late(name: &str, limit: Duration) -> String {
    format!(
        "{} did not answer within {} ms, and was given up.",
        name.escape_debug(),
        limit.as_millis()
    )
}

/// Takes the call off the list in the end, and tells the host where it is still at work.
struct Waiting<'a> {
    calls: &'a Calls,
    number: u32,
    why: Why,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let running = self.calls.running.lock().remove(&self.number);
        if running.is_some() {
            self.calls.tools.cancelled(self.number, self.why);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use serde_json::Value;

    use super::*;
    use crate::cancel::cancel;

    #[derive(Default)]
    struct Host {
        called: Mutex<Vec<u32>>,
        cancelled: Mutex<Vec<(u32, Why)>>,
        gone: bool,
    }

    impl Tools for Host {
        fn called(&self, number: u32) -> Result<(), HostGone> {
            self.called.lock().push(number);
            if self.gone { Err(HostGone) } else { Ok(()) }
        }

        fn cancelled(&self, number: u32, why: Why) {
            self.cancelled.lock().push((number, why));
        }
    }

    fn asked() -> Asked {
        message::read(br#"{"name":"fn_x","arguments":{"a":1}}"#).unwrap()
    }

    fn calls(limit: Duration) -> (Arc<Host>, Calls) {
        let host = Arc::new(Host::default());
        let calls = Calls::new(Arc::<Host>::clone(&host), limit);
        (host, calls)
    }

    fn text(outcome: Outcome) -> String {
        let Outcome::Answered(answer) = outcome else {
            panic!("{outcome:?}")
        };
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["isError"], true);
        answer["content"][0]["text"].as_str().unwrap().to_owned()
    }

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn an_answer_is_given_and_the_host_is_told_nothing_more() {
        let (host, calls) = calls(LONG);
        let (_open, closed) = cancel();
        let act = async {
            while host.called.lock().is_empty() {
                tokio::task::yield_now().await;
            }
            let call = calls.take(1).unwrap();
            assert_eq!(
                (call.name.as_str(), call.arguments.as_str()),
                ("fn_x", r#"{"a":1}"#)
            );
            assert_eq!(call.call_id, "fusion-call-1");
            assert!(calls.take(1).is_none());
            calls.answer(1, "{}".into());
            calls.answer(1, "late".into());
        };
        let (outcome, ()) = tokio::join!(calls.run(asked(), &closed, pending()), act);
        assert_eq!(outcome, Outcome::Answered("{}".into()));
        assert!(host.cancelled.lock().is_empty() && calls.running.lock().is_empty());
    }

    #[tokio::test]
    async fn every_other_end_is_told_to_the_host_once() {
        let (host, calls) = calls(Duration::from_millis(20));
        let (open, closed) = cancel();
        assert!(text(calls.run(asked(), &closed, pending()).await).contains("within 20 ms"));
        assert_eq!(calls.run(asked(), &closed, ready(())).await, Outcome::Vanished);
        drop(tokio::time::timeout(Duration::ZERO, calls.run(asked(), &closed, pending())).await);
        open.cancel();
        assert!(text(calls.run(asked(), &closed, pending()).await).contains("has ended"));
        assert_eq!(
            *host.cancelled.lock(),
            [
                (1, Why::TimedOut),
                (2, Why::CallerGone),
                (3, Why::CallerGone),
                (4, Why::Disposed)
            ]
        );
        assert!(calls.take(4).is_none(), "nobody waits for it");
    }

    #[tokio::test]
    async fn a_host_that_is_gone_is_told() {
        let host = Arc::new(Host {
            gone: true,
            ..Host::default()
        });
        let calls = Calls::new(host, LONG);
        let (_open, closed) = cancel();
        assert_eq!(calls.run(asked(), &closed, pending()).await, Outcome::HostGone);
    }

    #[test]
    fn a_result_that_is_too_large_is_an_error_that_says_so() {
        let most = "x".repeat(RESULT_LIMIT);
        assert_eq!(fitting("fn_x", most.clone()), most);
        let said = text(Outcome::Answered(fitting("fn_x", most + "x")));
        assert!(
            said.contains("fn_x is 17 MiB") && said.contains("limit of 16 MiB"),
            "{said}"
        );
    }
}
