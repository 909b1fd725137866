//! The loop of a running turn.

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument;

use crate::cli::secrets::Secrets;
use crate::process::{self, Exit, Owner, Running, Tree};
use crate::stream::StreamParser;
use crate::stream::batch::Batch;
use crate::stream::event::{Event, OpenCall};
use crate::stream::payloads::Payloads;

use super::beside::Beside;
use super::control::{Consumer, Controlled, Taken};
use super::ledger::Ledger;
use super::leftovers::{Leftovers, Teardown};
use super::limits::{self, OpenTool, Phase};
use super::outcome::{self, Cause, Failure, Report};
use super::stderr::Stderr;
use super::workspace::Stay;
use super::{Limits, TurnRequest, Wants, prepare};

/// Read at once, in bytes: what a pipe holds.
const CHUNK: usize = 256 * 1024;
/// Where this much waits for the consumer, in bytes, reading stops until it has taken the last batch.
const BACKLOG: usize = 128 * 1024;
/// As [`BACKLOG`], in events: so that a batch of small events does not hold the event loop for long.
const BACKLOG_EVENTS: usize = 2048;
/// While the consumer holds the reading up, this much is read ahead of it at most, in bytes, to tell a process
/// that has gone silent from one that waits for a free pipe.
const AHEAD: usize = 1024 * 1024;
/// All turns share a thread: after so many chunks a stream that pours lets the others have it.
const CHUNKS_IN_A_ROW: u32 = 8;
/// How much is read at most after the process has ended, in bytes. A pipe holds less, so what is behind it was
/// written by somebody else.
const DRAIN_LIMIT: usize = 2 * 1024 * 1024;

/// Why the loop was left.
enum End {
    /// The stream is over, or the process outstayed its grace.
    Done,
    /// The turn itself failed.
    Failed(Cause),
}

pub(super) async fn run(
    mut request: TurnRequest,
    controlled: Controlled,
    consumer: impl Consumer,
    started: Instant,
) -> Result<Report, Box<Failure>> {
    // The rest is copied for the look-up; the prompt may be large.
    let prompt = std::mem::take(&mut request.prompt);
    let fail = |cause| {
        let partial = Report {
            duration: started.elapsed(),
            ..Report::default()
        };
        Box::new(Failure {
            cause,
            stderr_tail: None,
            partial,
        })
    };
    let controlled = controlled.also(process::called_off(request.owner));
    let mut aborted = pin!(controlled.aborted());
    let (running, stay) = tokio::select! {
        biased;
        () = &mut aborted => return Err(fail(Cause::Aborted)),
        started = prepare::start(&request) => started.map_err(fail)?,
        () = sleep_until(started + request.limits.first_line) => return Err(fail(Cause::FirstLineTimeout)),
    };
    let span = tracing::info_span!("process", pid = running.tree.pid());
    let flow = Flow::new(running, stay, prompt, &request, controlled, consumer, started);
    flow.run().instrument(span).await
}

struct Flow<C> {
    program: PathBuf,
    stdout: ChildStdout,
    tree: Tree,
    stdin: Beside,
    stderr: Stderr,
    secrets: Secrets,
    parser: StreamParser,
    inbox: Inbox,
    controlled: Controlled,
    consumer: C,
    in_flight: bool,
    stay: Stay,
    owner: Owner,
    leftovers: Leftovers,
    limits: Limits,
    started: Instant,
    quiet_since: Instant,
    answered: bool,
    leaving_since: Option<Instant>,
    exit: Option<(Exit, Instant)>,
    drained: usize,
    ahead: usize,
    at_end: bool,
}

#[derive(Clone, Copy)]
enum Input<'a> {
    Chunk(&'a [u8]),
    End,
}

/// Where the parser puts events: into the ledger, and packed for the consumer.
struct Inbox {
    batch: Batch,
    wants_events: bool,
}

impl Inbox {
    fn take(&mut self, event: &Event<'_>, ledger: &mut Ledger) {
        let only_answer = ledger.observe(event);
        if !self.wants_events {
            return;
        }
        if let Some(text) = only_answer {
            self.batch.push(&Event::AssistantText { text: text.into() });
        }
        self.batch.push(event);
    }

    fn is_full(&self) -> bool {
        self.batch.weight() >= BACKLOG || self.batch.len() >= BACKLOG_EVENTS
    }
}

impl<C: Consumer> Flow<C> {
    fn new(
        running: Running,
        stay: Stay,
        prompt: String,
        request: &TurnRequest,
        controlled: Controlled,
        consumer: C,
        started: Instant,
    ) -> Self {
        Self {
            program: running.program,
            stdout: running.stdout,
            tree: running.tree,
            stdin: Beside::spawn(write_prompt(running.stdin, prompt)),
            stderr: Stderr::read(running.stderr),
            secrets: Secrets::of(&request.environment),
            parser: StreamParser::new(request.stream),
            inbox: Inbox {
                batch: Batch::new(match request.wants {
                    Wants::Payloads => Payloads::surely_read(),
                    Wants::Events | Wants::Nothing => Payloads::default(),
                }),
                wants_events: request.wants != Wants::Nothing,
            },
            controlled,
            consumer,
            in_flight: false,
            stay,
            owner: request.owner,
            leftovers: request.leftovers,
            limits: request.limits,
            started,
            quiet_since: started,
            answered: false,
            leaving_since: None,
            exit: None,
            drained: 0,
            ahead: 0,
            at_end: false,
        }
    }

    async fn run(mut self) -> Result<Report, Box<Failure>> {
        let mut end = self.stream().await;
        let deliver = !matches!(end, End::Failed(Cause::Aborted | Cause::ConsumerStopped));
        // A prompt that nobody reads any more must not hold a pipe open that the process waits on.
        self.stdin.end();
        if deliver {
            self.parse(Input::End);
        }
        // Whether it is one so far, its last events not yet taken.
        let good = matches!(end, End::Done) && self.controlled.ledger().lock().succeeded();
        let Self {
            tree,
            stay,
            owner,
            leftovers,
            limits,
            stdout,
            inbox,
            mut controlled,
            mut consumer,
            in_flight,
            stderr,
            ..
        } = self;
        let teardown = Teardown {
            tree,
            stay,
            owner,
            leftovers,
            grace: limits.kill_grace,
        };
        let (behind, delivered) = tokio::join!(
            async {
                let behind = teardown.begin(good).await;
                // Held open until now, so that nothing of the process died of a closed pipe before its SIGTERM.
                drop(stdout);
                behind
            },
            async {
                if deliver {
                    controlled
                        .deliver_last(&mut consumer, in_flight, inbox.batch)
                        .await
                } else {
                    Ok(())
                }
            },
        );
        if let Err(cause) = delivered {
            end = End::Failed(cause);
        }
        let ended = behind.exit;
        let good = good && matches!(end, End::Done);
        let (stderr_tail, leftovers) =
            tokio::join!(stderr.end(&self.secrets), behind.settle(good, &self.secrets));
        let own_exit = self.exit.map(|(exit, _)| exit);
        let ledger = controlled.ledger().lock();
        let report = Report {
            duration: self.started.elapsed(),
            exit: Some(own_exit.unwrap_or(ended)),
            leftovers,
            ..ledger.report()
        };
        let cause = match end {
            End::Failed(cause) => cause,
            End::Done => match ledger.finished() {
                Some(result) if result.is_error => {
                    outcome::reported(&self.secrets.redact(result.text.clone()), &stderr_tail)
                }
                Some(_) => return Ok(report),
                // One that stayed without a word until it was ended did not fail by itself.
                None => {
                    let exit = own_exit.unwrap_or(Exit::Code(0));
                    let stray = self.secrets.redact(ledger.stray());
                    let cause = outcome::without_result(exit, &stderr_tail, &stray);
                    let unclear = matches!(cause, Cause::Exited { class: None, .. });
                    let silent = unclear && !ledger.saw_record();
                    let never_ran =
                        silent.then(|| outcome::never_ran(&self.program, exit, &stderr_tail, &stray));
                    never_ran.flatten().unwrap_or(cause)
                }
            },
        };
        Err(Box::new(Failure {
            cause,
            stderr_tail: Some(stderr_tail),
            partial: report,
        }))
    }

    /// Read, and hand over, until there is a reason to stop.
    async fn stream(&mut self) -> End {
        let mut chunk = vec![0; CHUNK];
        let mut in_a_row = 0;
        let mut aborted = pin!(self.controlled.aborted());
        let mut looks_ahead = false;
        loop {
            if self.at_end && self.exit.is_some() {
                return End::Done;
            }
            if !self.in_flight && !self.inbox.batch.is_empty() {
                let next = Batch::like(&self.inbox.batch);
                let batch = std::mem::replace(&mut self.inbox.batch, next);
                if self.consumer.send(batch).is_err() {
                    return End::Failed(Cause::Aborted);
                }
                self.in_flight = true;
            }
            let held_up = self.in_flight && self.inbox.is_full();
            let reading = !self.at_end && (!held_up || looks_ahead);
            // The limits are on the process. What it wrote before its end is read however long the consumer takes.
            let watching = reading || self.at_end || self.exit.is_none();
            let deadline = self.deadline();
            tokio::select! {
                biased;
                () = &mut aborted => return End::Failed(Cause::Aborted),
                taken = self.controlled.next_taken(), if self.in_flight => {
                    self.in_flight = false;
                    looks_ahead = false;
                    if taken == Taken::Stop {
                        return End::Failed(Cause::ConsumerStopped);
                    }
                    if held_up {
                        self.resume();
                    }
                }
                exit = self.tree.exited(), if self.exit.is_none() => {
                    tracing::debug!(?exit, "process ended");
                    self.exit = Some((exit, Instant::now()));
                }
                read = self.stdout.read(&mut chunk), if reading => match read {
                    Ok(length) if length > 0 => {
                        self.take(&chunk[..length]);
                        if held_up {
                            looks_ahead = false;
                            self.ahead += length;
                            self.quiet_since = Instant::now();
                        }
                        if self.has_said_enough(length) {
                            return self.late();
                        }
                        in_a_row += 1;
                        if in_a_row == CHUNKS_IN_A_ROW {
                            in_a_row = 0;
                            yield_now().await;
                        }
                    }
                    // A pipe fails only where it is gone, which is its end.
                    Ok(_) | Err(_) => {
                        self.at_end = true;
                        self.leaving_since.get_or_insert_with(Instant::now);
                    }
                },
                () = sleep_until(deadline), if watching => {
                    // After the host itself was stopped, time is known to have passed before what came meanwhile is.
                    if reading && process::has_output(&self.stdout) {
                        yield_now().await;
                        continue;
                    }
                    if reading || !self.may_wait_for_consumer() {
                        return self.late();
                    }
                    looks_ahead = self.ahead < AHEAD;
                    if !looks_ahead {
                        self.quiet_since = Instant::now();
                    }
                }
            }
        }
    }

    /// Whether a silence may be the consumer's doing, which holds the reading up. How long the process stays after
    /// its result is not: nothing it may still say is waited for.
    fn may_wait_for_consumer(&self) -> bool {
        !self.at_end && !self.is_leaving()
    }

    fn take(&mut self, chunk: &[u8]) {
        let before = self.parser.lines_seen();
        self.parse(Input::Chunk(chunk));
        if self.parser.lines_seen() > before {
            self.quiet_since = Instant::now();
        }
    }

    fn parse(&mut self, input: Input<'_>) {
        let Self {
            parser,
            inbox,
            controlled,
            ..
        } = self;
        let mut ledger = controlled.ledger().lock();
        let mut sink = |event: Event<'_>| inbox.take(&event, &mut ledger);
        match input {
            Input::Chunk(chunk) => parser.push(chunk, &mut sink),
            Input::End => parser.finish(&mut sink),
        }
        ledger.note(parser.open_calls().count(), parser.dropped());
        self.answered = ledger.finished().is_some();
        if self.answered {
            self.leaving_since.get_or_insert_with(Instant::now);
        }
    }

    fn is_leaving(&self) -> bool {
        matches!(self.phase(), Phase::Leaving { .. })
    }

    /// Whether a process that never stops talking has had its time. Its output keeps the reading so busy that
    /// the timer's turn may not come.
    fn has_said_enough(&mut self, length: usize) -> bool {
        if let Phase::Draining { .. } = self.phase() {
            self.drained += length;
            return self.drained >= DRAIN_LIMIT;
        }
        Instant::now() >= self.deadline()
    }

    /// The reading goes on after the consumer had stopped it: every wait begins anew.
    fn resume(&mut self) {
        let now = Instant::now();
        self.quiet_since = now;
        self.ahead = 0;
        self.exit = self.exit.map(|(exit, _)| (exit, now));
    }

    fn phase(&self) -> Phase {
        match (self.exit, self.leaving_since) {
            (Some((_, since)), _) => Phase::Draining {
                since,
                answered: self.answered,
            },
            (None, Some(since)) => Phase::Leaving { since },
            (None, None) if self.parser.lines_seen() == 0 => Phase::FirstLine,
            (None, None) => Phase::Streaming,
        }
    }

    fn deadline(&self) -> Instant {
        limits::deadline(
            &self.limits,
            self.phase(),
            self.started,
            self.quiet_since,
            self.open_tool(),
        )
    }

    fn open_tool(&self) -> Option<OpenTool> {
        // What other tools call their timeout need not be one.
        let own = |call: OpenCall<'_>| call.timeout_ms.filter(|_| call.kind == "shell").unwrap_or(0);
        let timeouts = self.parser.open_calls().map(own);
        timeouts.max().map(|ms| OpenTool {
            own_timeout: (ms > 0).then(|| Duration::from_millis(ms)),
        })
    }

    /// A wait is over.
    fn late(&self) -> End {
        match self.phase() {
            Phase::Draining { .. } | Phase::Leaving { .. } => End::Done,
            Phase::FirstLine => End::Failed(Cause::FirstLineTimeout),
            Phase::Streaming => End::Failed(match self.parser.open_calls().next() {
                Some(call) if self.limits.has_tool_limit() => Cause::ToolTimeout {
                    tool: call.name.to_owned(),
                },
                _ => Cause::InactivityTimeout,
            }),
        }
    }
}

/// Write the prompt and close the pipe. A process that does not read it all says by its exit what that means.
async fn write_prompt(mut stdin: ChildStdin, prompt: String) {
    if let Err(error) = stdin.write_all(prompt.as_bytes()).await {
        tracing::debug!(%error, "the prompt was not read to its end");
    }
}
