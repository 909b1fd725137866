//! The loop of a running turn.

use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use tracing::Instrument;

use crate::cli::secrets::Secrets;
use crate::process::{self, Exit, Owner, Running, Stdin, Stdout, Tree};
use crate::stream::StreamParser;
use crate::stream::batch::Batch;
use crate::stream::event::{Event, OpenCall};
use crate::stream::payloads::Payloads;

use super::beside::Beside;
use super::control::{Consumer, Controlled, Taken};
use super::ledger::Ledger;
use super::leftovers::{Leftovers, Teardown};
use super::limits::OpenTool;
use super::outcome::{self, Cause, Failure, Report};
use super::stderr::Stderr;
use super::watch::{End, Watch};
use super::workspace::Stay;
use super::{TurnRequest, Wants, prepare};

/// Read at once, in bytes: what a pipe holds.
const CHUNK: usize = 256 * 1024;
/// What a turn begins to read with, in bytes. Most turns say little at once, and all of a large buffer is written to where
/// it is made of memory that was used before: a turn that waits would hold it for nothing.
const FIRST_CHUNK: usize = 8 * 1024;
/// Where this much waits for the consumer, in bytes, reading stops until it has taken the last batch.
const BACKLOG: usize = 128 * 1024;
/// As [`BACKLOG`], in events: so that a batch of small events does not hold the event loop for long.
const BACKLOG_EVENTS: usize = 2048;
/// So many times both may wait where payloads are made only when read: a batch is then soon taken, and the fewer
/// there are, the less often the two sides wait for each other.
const UNREAD: usize = 4;
/// How long a process that was started too late is waited for at most, until it is gone.
const GIVEN_UP: Duration = Duration::from_secs(3);
/// All turns share a thread: after so many chunks a stream that pours lets the others have it.
const CHUNKS_IN_A_ROW: u32 = 8;

pub(super) async fn run(
    mut request: TurnRequest,
    controlled: Controlled,
    consumer: impl Consumer,
    started: Instant,
) -> Result<Report, Box<Failure>> {
    // The rest is copied for the look-up; the prompt may be large.
    let prompt = std::mem::take(&mut request.prompt);
    let fail = |cause| Box::new(Failure::unstarted(cause, started.elapsed()));
    let controlled = controlled.also(process::called_off(request.owner));
    let mut aborted = pin!(controlled.aborted());
    let (presence, departure) = process::presence();
    let given_up = tokio::select! {
        biased;
        () = &mut aborted => Err(Cause::Aborted),
        started = prepare::start(&request, presence) => Ok(started.map_err(fail)?),
        () = sleep_until(started + request.limits.first_line) => Err(Cause::FirstLineTimeout),
    };
    let (running, stay) = match given_up {
        Ok(started) => started,
        Err(cause) => {
            // It may just have been started, and is then being killed.
            departure.within(GIVEN_UP).await;
            return Err(fail(cause));
        }
    };
    let span = tracing::info_span!("process", pid = running.tree.pid());
    let flow = Flow::new(running, stay, prompt, &request, controlled, consumer, started);
    flow.run().instrument(span).await
}

struct Flow<C> {
    program: PathBuf,
    stdout: Stdout,
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
    kill_grace: Duration,
    watch: Watch,
}

#[derive(Clone, Copy)]
enum Input<'a> {
    Chunk(&'a [u8]),
    End,
}

/// Where the parser puts events: into the ledger, and packed for the consumer.
struct Inbox {
    batch: Batch,
    wants: Wants,
}

impl Inbox {
    fn take(&mut self, event: &Event<'_>, ledger: &mut Ledger) {
        let only_answer = ledger.observe(event);
        if self.wants == Wants::Nothing {
            return;
        }
        if let Some(text) = only_answer {
            self.batch.push(&Event::AssistantText { text: text.into() });
        }
        self.batch.push(event);
    }

    fn is_full(&self) -> bool {
        let times = if self.wants == Wants::Payloads { 1 } else { UNREAD };
        self.batch.weight() >= BACKLOG * times || self.batch.len() >= BACKLOG_EVENTS * times
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
            parser: match &request.own_server {
                Some(server) => StreamParser::new(request.stream).with_bare_names_of(server),
                None => StreamParser::new(request.stream),
            },
            inbox: Inbox {
                batch: Batch::new(match request.wants {
                    Wants::Payloads => Payloads::surely_read(),
                    Wants::Events | Wants::Nothing => Payloads::default(),
                }),
                wants: request.wants,
            },
            controlled,
            consumer,
            in_flight: false,
            stay,
            owner: request.owner,
            leftovers: request.leftovers,
            kill_grace: request.limits.kill_grace,
            watch: Watch::new(request.limits, started),
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
            kill_grace: grace,
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
            grace,
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
        // Its processes may have taken long to end.
        let good = good && matches!(end, End::Done) && !controlled.is_called_off();
        let (stderr_tail, leftovers) =
            tokio::join!(stderr.end(&self.secrets), behind.settle(good, &self.secrets));
        let own_exit = self.watch.exit();
        let ledger = controlled.ledger().lock();
        let report = Report {
            duration: self.watch.elapsed(),
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
                Some(_) if controlled.ends_well() => return Ok(report),
                Some(_) => Cause::Aborted,
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
        let mut chunk = vec![0; FIRST_CHUNK];
        let mut in_a_row = 0;
        let mut aborted = pin!(self.controlled.aborted());
        let mut looks_ahead = false;
        loop {
            if self.watch.is_over() {
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
            let (at_end, runs) = (self.watch.is_at_end(), self.watch.exit().is_none());
            let reading = !at_end && (!held_up || looks_ahead);
            // The limits are on the process. What it wrote before its end is read however long the consumer takes.
            let watching = reading || at_end || runs;
            let deadline = self.watch.deadline(self.open_tool());
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
                        self.watch.resume(Instant::now());
                    }
                }
                exit = self.tree.exited(), if runs => {
                    tracing::debug!(?exit, "process ended");
                    self.watch.exited(exit, Instant::now());
                }
                read = self.stdout.read(&mut chunk), if reading => match read {
                    Ok(length) if length > 0 => {
                        self.take(&chunk[..length]);
                        if length == chunk.len() && length < CHUNK {
                            chunk = vec![0; CHUNK];
                        }
                        if held_up {
                            looks_ahead = false;
                            self.watch.read_ahead(length, Instant::now());
                        }
                        let open = self.open_tool();
                        if self.watch.has_said_enough(length, open, Instant::now()) {
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
                        self.watch.output_ended(Instant::now());
                    }
                },
                () = sleep_until(deadline), if watching => {
                    // After the host itself was stopped, time is known to have passed before what came meanwhile is.
                    if reading && process::has_output(&self.stdout) {
                        yield_now().await;
                        continue;
                    }
                    if reading || !self.watch.may_wait_for_consumer() {
                        return self.late();
                    }
                    looks_ahead = self.watch.looks_ahead(Instant::now());
                }
            }
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        let before = self.parser.lines_seen();
        self.parse(Input::Chunk(chunk));
        if self.parser.lines_seen() > before {
            self.watch.line_came(Instant::now());
        }
    }

    fn parse(&mut self, input: Input<'_>) {
        let Self {
            parser,
            inbox,
            controlled,
            watch,
            ..
        } = self;
        let mut ledger = controlled.ledger().lock();
        let mut sink = |event: Event<'_>| inbox.take(&event, &mut ledger);
        match input {
            Input::Chunk(chunk) => parser.push(chunk, &mut sink),
            Input::End => parser.finish(&mut sink),
        }
        ledger.note(parser.open_calls().count(), parser.dropped());
        if ledger.finished().is_some() {
            watch.answered(Instant::now());
        }
    }

    fn open_tool(&self) -> Option<OpenTool> {
        // What other tools call their timeout need not be one.
        let own = |call: OpenCall<'_>| call.timeout_ms.filter(|_| call.kind == "shell").unwrap_or(0);
        let timeouts = self.parser.open_calls().map(own);
        timeouts.max().map(|ms| OpenTool {
            own_timeout: (ms > 0).then(|| Duration::from_millis(ms)),
        })
    }

    fn late(&self) -> End {
        self.watch.late(self.parser.open_calls().next())
    }
}

/// Write the prompt and close the pipe. A process that does not read it all says by its exit what that means.
async fn write_prompt(mut stdin: Stdin, prompt: String) {
    if let Err(error) = stdin.write_all(prompt.as_bytes()).await {
        tracing::debug!(%error, "the prompt was not read to its end");
    }
}
