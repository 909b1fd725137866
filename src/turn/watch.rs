//! What a running turn waits for, since when, and what it means that a wait is over.

use std::time::Duration;

use tokio::time::Instant;

use crate::process::Exit;
use crate::stream::event::OpenCall;

use super::Limits;
use super::limits::{self, OpenTool, Phase};
use super::outcome::Cause;

/// While the consumer holds the reading up, this much is read ahead of it at most, in bytes, to tell a process
/// that has gone silent from one that waits for a free pipe.
const AHEAD: usize = 1024 * 1024;
/// How much is read at most after the process has ended, in bytes. A pipe holds less, so what is behind it was
/// written by somebody else.
const DRAIN_LIMIT: usize = 2 * 1024 * 1024;

/// Why the loop was left.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The stream is over, or the process outstayed its grace.
    Done,
    /// The turn itself failed.
    Failed(Cause),
}

/// The clock of one turn.
#[derive(Debug)]
pub(super) struct Watch {
    limits: Limits,
    started: Instant,
    /// The last line, or the moment the reading went on after a pause that the consumer made.
    quiet_since: Instant,
    spoken: bool,
    answered: bool,
    at_end: bool,
    leaving_since: Option<Instant>,
    exit: Option<(Exit, Instant)>,
    drained: usize,
    ahead: usize,
}

impl Watch {
    pub(super) fn new(limits: Limits, started: Instant) -> Self {
        Self {
            limits,
            started,
            quiet_since: started,
            spoken: false,
            answered: false,
            at_end: false,
            leaving_since: None,
            exit: None,
            drained: 0,
            ahead: 0,
        }
    }

    /// From the beginning of the turn.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// A line came, of any kind.
    pub(super) fn line_came(&mut self, now: Instant) {
        self.spoken = true;
        self.quiet_since = now;
    }

    /// The result came.
    pub(super) fn answered(&mut self, now: Instant) {
        self.answered = true;
        self.leaving_since.get_or_insert(now);
    }

    /// Standard output is at its end.
    pub(super) fn output_ended(&mut self, now: Instant) {
        self.at_end = true;
        self.leaving_since.get_or_insert(now);
    }

    pub(super) fn exited(&mut self, exit: Exit, now: Instant) {
        self.exit = Some((exit, now));
    }

    /// How the process ended, where it has ended by itself.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.exit.map(|(exit, _)| exit)
    }

    /// Whether there is more to be read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// Nothing more can come.
    pub(super) fn is_over(&self) -> bool {
        self.at_end && self.exit.is_some()
    }

    /// So much was read though the consumer has not taken what came before.
    pub(super) fn read_ahead(&mut self, length: usize, now: Instant) {
        self.ahead += length;
        self.quiet_since = now;
    }

    /// Nothing came for the whole of a limit, and nothing was read, since the consumer holds the reading up. Whether
    /// to look now whether there is something. Where enough was seen, the wait begins anew.
    pub(super) fn looks_ahead(&mut self, now: Instant) -> bool {
        let looks = self.ahead < AHEAD;
        if !looks {
            self.quiet_since = now;
        }
        looks
    }

    /// The reading goes on after the consumer had stopped it: every wait begins anew.
    pub(super) fn resume(&mut self, now: Instant) {
        self.quiet_since = now;
        self.ahead = 0;
        self.exit = self.exit.map(|(exit, _)| (exit, now));
    }

    /// Whether a silence may be the consumer's doing, which holds the reading up. How long the process stays after
    /// its result is not: nothing it may still say is waited for.
    pub(super) fn may_wait_for_consumer(&self) -> bool {
        !self.at_end && !matches!(self.phase(), Phase::Leaving { .. })
    }

    /// Whether a process that never stops talking has had its time, now that so much was read. Its output keeps the
    /// reading so busy that the timer's turn may not come.
    pub(super) fn has_said_enough(&mut self, length: usize, open: Option<OpenTool>, now: Instant) -> bool {
        if let Phase::Draining { .. } = self.phase() {
            self.drained += length;
            return self.drained >= DRAIN_LIMIT;
        }
        now >= self.deadline(open)
    }

    /// When the present wait is over.
    pub(super) fn deadline(&self, open: Option<OpenTool>) -> Instant {
        limits::deadline(&self.limits, self.phase(), self.started, self.quiet_since, open)
    }

    /// A wait is over. `open`: the oldest tool call that has not ended.
    pub(super) fn late(&self, open: Option<OpenCall<'_>>) -> End {
        match self.phase() {
            Phase::Draining { .. } | Phase::Leaving { .. } => End::Done,
            Phase::FirstLine => End::Failed(Cause::FirstLineTimeout),
            Phase::Streaming => End::Failed(match open {
                Some(call) if self.limits.has_tool_limit() => Cause::ToolTimeout {
                    tool: call.name.to_owned(),
                },
                _ => Cause::InactivityTimeout,
            }),
        }
    }

    fn phase(&self) -> Phase {
        match (self.exit, self.leaving_since) {
            (Some((_, since)), _) => Phase::Draining {
                since,
                answered: self.answered,
            },
            (None, Some(since)) => Phase::Leaving { since },
            (None, None) if !self.spoken => Phase::FirstLine,
            (None, None) => Phase::Streaming,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turn::limits::{DRAIN, DRAIN_ANSWERED, LimitOptions};

    const SECOND: Duration = Duration::from_secs(1);

    fn watch(options: &LimitOptions) -> (Watch, Instant) {
        let started = Instant::now();
        (Watch::new(Limits::new(options, |_| None), started), started)
    }

    fn call(name: &str) -> OpenCall<'_> {
        OpenCall {
            call_id: None,
            name,
            kind: "shell",
            timeout_ms: None,
        }
    }

    #[test]
    fn what_is_late_depends_on_what_came() {
        let (mut watch, started) = watch(&LimitOptions::default());
        let left = |watch: &Watch| watch.deadline(None) - started;
        assert_eq!(left(&watch), 30 * SECOND);
        assert_eq!(watch.late(None), End::Failed(Cause::FirstLineTimeout));
        watch.line_came(started + SECOND);
        assert_eq!(left(&watch), 121 * SECOND);
        assert_eq!(watch.late(None), End::Failed(Cause::InactivityTimeout));
        watch.answered(started + 5 * SECOND);
        watch.answered(started + 9 * SECOND);
        watch.output_ended(started + 9 * SECOND);
        assert_eq!(
            left(&watch),
            7 * SECOND,
            "from the result on, not from what came later"
        );
        assert_eq!(watch.late(Some(call("shell"))), End::Done);
        assert!(!watch.is_over());
        watch.exited(Exit::Code(0), started + 6 * SECOND);
        assert_eq!(left(&watch), 6 * SECOND + DRAIN_ANSWERED);
        assert_eq!(watch.late(None), End::Done);
        assert!(watch.is_over());
    }

    #[test]
    fn a_tool_that_is_late_is_named_where_it_has_a_limit() {
        let (mut plain, started) = watch(&LimitOptions::default());
        plain.line_came(started);
        let named = Cause::ToolTimeout { tool: "build".into() };
        assert_eq!(plain.late(Some(call("build"))), End::Failed(named));
        let (mut said, started) = watch(&LimitOptions {
            inactivity_ms: Some(5.0),
            ..LimitOptions::default()
        });
        said.line_came(started);
        assert_eq!(
            said.late(Some(call("build"))),
            End::Failed(Cause::InactivityTimeout)
        );
    }

    #[test]
    fn after_the_end_so_much_is_read_and_no_more() {
        let (mut watch, started) = watch(&LimitOptions::default());
        watch.exited(Exit::Code(1), started);
        let late = started + DRAIN;
        assert!(
            !watch.has_said_enough(DRAIN_LIMIT - 1, None, late),
            "it counts bytes"
        );
        assert!(watch.has_said_enough(1, None, started));
    }

    #[test]
    fn one_that_never_stops_talking_is_late_while_it_talks() {
        let (mut watch, started) = watch(&LimitOptions::default());
        assert!(!watch.has_said_enough(usize::MAX, None, started + 29 * SECOND));
        assert!(watch.has_said_enough(1, None, started + 30 * SECOND));
    }

    #[test]
    fn a_consumer_that_holds_the_reading_up_is_waited_for_while_the_process_may_speak() {
        let (mut watch, started) = watch(&LimitOptions::default());
        watch.line_came(started);
        assert!(watch.may_wait_for_consumer());
        assert!(watch.looks_ahead(started + 120 * SECOND), "is it silent?");
        watch.read_ahead(AHEAD, started + 120 * SECOND);
        assert!(!watch.looks_ahead(started + 240 * SECOND), "enough was seen");
        assert_eq!(watch.deadline(None) - started, 360 * SECOND);
        watch.exited(Exit::Code(0), started + 250 * SECOND);
        assert!(watch.may_wait_for_consumer(), "what it wrote is still to be read");
        watch.resume(started + 300 * SECOND);
        assert_eq!(watch.deadline(None) - started, 300 * SECOND + DRAIN);
        assert!(watch.looks_ahead(started), "from the beginning");
        watch.output_ended(started);
        assert!(!watch.may_wait_for_consumer());
    }
}
