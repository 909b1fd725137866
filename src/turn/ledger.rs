//! What a turn has so far, kept event by event.

use crate::process::Tail;
use crate::stream::event::{Dropped, Event, ToolEnd, ToolOutcome, TurnResult, UnknownReason};

use super::outcome::{Report, ToolCounts};

/// How much of the lines beside the stream is kept, in bytes; refusals are sometimes printed there.
const STRAY_LIMIT: usize = 4096;

/// Sees every event of a turn, in order.
#[derive(Debug)]
pub(super) struct Ledger {
    session_id: Option<String>,
    /// True where it is the init record's: a result for another session is then not ours.
    session_from_init: bool,
    model: Option<String>,
    text: String,
    counts: ToolCounts,
    stray: Tail,
    /// Whether the CLI itself spoke: launchers write no records.
    saw_record: bool,
    dropped: Dropped,
    result: Option<Finished>,
}

/// What the record that ended the turn says.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) is_error: bool,
    pub(super) text: String,
    usage: Option<String>,
    request_id: Option<String>,
}

impl Ledger {
    pub(super) fn new() -> Self {
        Self {
            session_id: None,
            session_from_init: false,
            model: None,
            text: String::new(),
            counts: ToolCounts::default(),
            stray: Tail::new(STRAY_LIMIT),
            saw_record: false,
            dropped: Dropped::default(),
            result: None,
        }
    }

    /// Take one event in. Where the event is a result whose text is the only answer that came, that text is
    /// given back, to be delivered before the result.
    pub(super) fn observe<'e>(&mut self, event: &'e Event<'_>) -> Option<&'e str> {
        self.saw_record |= !is_stray(event);
        match event {
            Event::SystemInit(init) => {
                if let Some(id) = &init.session_id {
                    self.session_id = Some(id.clone().into_owned());
                    self.session_from_init = true;
                }
                if let Some(model) = &init.model {
                    self.model = Some(model.clone().into_owned());
                }
            }
            Event::AssistantText { text } => self.text.push_str(text),
            Event::ToolCallStarted(_) => self.counts.started += 1,
            Event::ToolCallCompleted(_, end) => self.count_end(end),
            Event::Result(result) => return self.finish(result),
            Event::Unknown {
                reason: UnknownReason::NotJson,
                raw,
                ..
            } => {
                self.stray.push(raw.as_bytes());
                self.stray.push(b"\n");
            }
            _ => {}
        }
        None
    }

    fn count_end(&mut self, end: &ToolEnd<'_>) {
        self.counts.completed += 1;
        match end.outcome {
            ToolOutcome::Rejected | ToolOutcome::PermissionDenied => self.counts.rejected += 1,
            _ if end.is_error => self.counts.failed += 1,
            _ => {}
        }
    }

    fn finish<'e>(&mut self, result: &'e TurnResult<'_>) -> Option<&'e str> {
        if self.result.is_some() || self.is_of_another_session(result) {
            return None;
        }
        if self.session_id.is_none() {
            self.session_id = result.session_id.as_deref().map(str::to_owned);
        }
        let text = result.text.as_deref().unwrap_or_default();
        self.result = Some(Finished {
            is_error: result.is_error,
            text: if result.is_error {
                text.to_owned()
            } else {
                String::new()
            },
            usage: result.usage.as_ref().map(|usage| usage.0.clone().into_owned()),
            request_id: result.request_id.as_deref().map(str::to_owned),
        });
        let only_answer = !result.is_error && self.text.is_empty() && !text.is_empty();
        if only_answer {
            self.text.push_str(text);
        }
        only_answer.then_some(text)
    }

    fn is_of_another_session(&self, result: &TurnResult<'_>) -> bool {
        self.session_from_init
            && result
                .session_id
                .as_deref()
                .is_some_and(|id| Some(id) != self.session_id.as_deref())
    }

    /// The session that was named, if one was.
    pub(super) fn session_id(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// Whether a record ended the turn, and well.
    pub(super) fn succeeded(&self) -> bool {
        self.finished().is_some_and(|result| !result.is_error)
    }

    /// The record that ended the turn, once it has come.
    pub(super) fn finished(&self) -> Option<&Finished> {
        self.result.as_ref()
    }

    /// Whether there was a record of any kind.
    pub(super) fn saw_record(&self) -> bool {
        self.saw_record
    }

    /// The end of what came beside the stream.
    pub(super) fn stray(&self) -> String {
        self.stray.text()
    }

    /// What only the parser knows.
    pub(super) fn note(&mut self, open_calls: usize, dropped: Dropped) {
        self.counts.abandoned = u32::try_from(open_calls).unwrap_or(u32::MAX);
        self.dropped = dropped;
    }

    /// What there is; the duration and the process's end are the caller's to fill in.
    pub(super) fn report(&self) -> Report {
        let result = self.result.as_ref();
        Report {
            session_id: self.session_id.clone(),
            text: self.text.clone(),
            usage: result.and_then(|end| end.usage.clone()),
            request_id: result.and_then(|end| end.request_id.clone()),
            model: self.model.clone(),
            tool_calls: self.counts,
            dropped: self.dropped,
            ..Report::default()
        }
    }
}

/// A line that is blank or no JSON.
fn is_stray(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Unknown {
            reason: UnknownReason::NotJson | UnknownReason::Blank,
            ..
        }
    )
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::stream::event::{SystemInit, ToolCall};

    fn init(id: &'static str) -> Event<'static> {
        Event::SystemInit(SystemInit {
            session_id: Some(id.into()),
            ..SystemInit::default()
        })
    }

    fn result(id: Option<&'static str>, text: &'static str, is_error: bool) -> Event<'static> {
        Event::Result(TurnResult {
            session_id: id.map(Cow::Borrowed),
            text: Some(text.into()),
            is_error,
            ..TurnResult::default()
        })
    }

    fn text(text: &'static str) -> Event<'static> {
        Event::AssistantText { text: text.into() }
    }

    #[test]
    fn the_results_text_counts_only_where_no_other_came() {
        let mut ledger = Ledger::new();
        ledger.observe(&init("s"));
        assert_eq!(ledger.observe(&result(Some("s"), "all", false)), Some("all"));
        assert_eq!(ledger.report().text, "all");

        let mut ledger = Ledger::new();
        ledger.observe(&text("piece"));
        assert_eq!(ledger.observe(&result(None, "all", false)), None);
        assert_eq!(ledger.report().text, "piece");
    }

    #[test]
    fn an_errors_text_is_no_answer() {
        let mut ledger = Ledger::new();
        assert_eq!(
            ledger.observe(&result(Some("s"), "Request timed out", true)),
            None
        );
        assert!(
            ledger
                .finished()
                .is_some_and(|end| end.is_error && end.text == "Request timed out")
        );
        assert_eq!(ledger.report().text, "");
    }

    #[test]
    fn a_result_of_another_session_ends_nothing() {
        let mut ledger = Ledger::new();
        ledger.observe(&init("mine"));
        ledger.observe(&result(Some("other"), "x", false));
        assert!(ledger.finished().is_none());
        ledger.observe(&result(None, "y", false));
        assert!(ledger.finished().is_some(), "one that names no session is ours");
        assert_eq!(ledger.report().session_id.as_deref(), Some("mine"));
    }

    #[test]
    fn without_an_init_the_result_names_the_session() {
        let mut ledger = Ledger::new();
        ledger.observe(&result(Some("late"), "x", false));
        assert_eq!(ledger.report().session_id.as_deref(), Some("late"));
    }

    #[test]
    fn every_end_of_a_tool_is_counted_once() {
        let mut ledger = Ledger::new();
        let end = |outcome, is_error| {
            Event::ToolCallCompleted(
                ToolCall::default(),
                ToolEnd {
                    result: None,
                    outcome,
                    is_error,
                },
            )
        };
        for _ in 0..3 {
            ledger.observe(&Event::ToolCallStarted(ToolCall::default()));
        }
        for event in [
            end(ToolOutcome::Success, false),
            end(ToolOutcome::Error, true),
            end(ToolOutcome::Failure, true),
            end(ToolOutcome::Rejected, true),
            end(ToolOutcome::PermissionDenied, true),
        ] {
            ledger.observe(&event);
        }
        let counts = ledger.report().tool_calls;
        assert_eq!(
            counts,
            ToolCounts {
                started: 3,
                completed: 5,
                failed: 2,
                rejected: 2,
                abandoned: 0
            }
        );
    }
}
