//! Plays checked steps.

use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::step::{Action, Cut, Source, Step, Stream, Take, Write};
use crate::template::{Template, Value};
use crate::{child, codec, echo, host, sys};

/// How long `linger` stays: as good as for ever, yet a failed test leaves nothing behind for days.
const LINGER: Duration = Duration::from_secs(3600);
pub(crate) const POLL: Duration = Duration::from_millis(2);

/// Why a play ended before its last step.
#[derive(Debug)]
pub(crate) enum End {
    Exit(u8),
    /// Nobody reads what is written.
    PipeGone,
    /// A step could not be done.
    Failed(String),
}

/// What placeholders stand for.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// The prompt's part on the command line.
    pub(crate) words: String,
    pub(crate) stdin: Vec<u8>,
    pub(crate) session: String,
    pub(crate) request: String,
    pub(crate) model: String,
}

/// Plays steps in one process.
pub(crate) struct Player<'a> {
    pub(crate) base: &'a Path,
    pub(crate) context: Context,
}

impl Player<'_> {
    /// Plays the steps one by one; `Ok` when all are done.
    pub(crate) fn play(&mut self, steps: &[Step]) -> Result<(), End> {
        for step in steps {
            self.step(&step.action).map_err(|end| match end {
                End::Failed(what) => End::Failed(format!("{}: {what}", step.place)),
                other => other,
            })?;
        }
        Ok(())
    }

    fn step(&mut self, action: &Action) -> Result<(), End> {
        match action {
            Action::Write(write) => self.write(write)?,
            Action::Sleep(time) => sleep(*time),
            Action::WaitFile { path, limit } => self.wait_file(path, *limit)?,
            Action::Touch { path, content } => {
                let pid = || format!("{}\n", std::process::id());
                let content = content.as_ref().map_or_else(pid, |text| self.text(text));
                put(&self.path(path), content.as_bytes())?;
            }
            Action::Stdin { take, copy_to } => self.take(*take, copy_to)?,
            Action::Close(streams) => {
                for stream in streams {
                    sys::close(*stream).map_err(|error| failed("close", error))?;
                }
            }
            Action::Echo(Some(path)) => put(&self.path(path), self.echo().as_bytes())?,
            Action::Echo(None) => emit(Stream::Stdout, self.echo().as_bytes())?,
            Action::Ignore(signals) => {
                for signal in signals {
                    sys::ignore(*signal).map_err(|error| failed("ignore", error))?;
                }
            }
            Action::Trap {
                signals,
                report,
                say,
                exit,
            } => {
                let report = report.as_ref().map(|path| self.path(path));
                let say = say.as_ref().map(|text| self.text(text));
                for (number, name) in signals {
                    trap(*number, name, report.clone(), say.clone(), *exit)?;
                }
            }
            Action::Start(start) => child::start(self, start).map_err(|error| failed("start", error))?,
            Action::CallTools(calls) => host::play(self, calls)?,
            Action::Exit(code) => return Err(End::Exit(*code)),
            Action::Raise(signal) => sys::raise(*signal).map_err(|error| failed("raise", error))?,
            Action::Linger => {
                sleep(LINGER);
                return Err(End::Exit(0));
            }
        }
        Ok(())
    }

    fn write(&self, write: &Write) -> Result<(), End> {
        let mut bytes = Vec::new();
        for n in 0..write.repeat {
            match &write.source {
                Source::Line(template) => {
                    bytes.extend_from_slice(self.render(template, n).as_bytes());
                    bytes.push(b'\n');
                }
                Source::Text(template) => bytes.extend_from_slice(self.render(template, n).as_bytes()),
                Source::Bytes(source) => bytes.extend_from_slice(source),
                Source::File(path) => {
                    let path = self.path(path);
                    let content = std::fs::read(&path).map_err(|error| failed(path.display(), error))?;
                    bytes.extend_from_slice(&content);
                }
            }
        }
        let put = |part: &[u8]| {
            sleep(write.delay);
            emit(write.to, part)
        };
        match write.cut {
            Cut::Whole => put(&bytes),
            Cut::Lines => bytes.split_inclusive(|&byte| byte == b'\n').try_for_each(put),
            Cut::Bytes(size) => bytes.chunks(size).try_for_each(put),
        }
    }

    /// Reads stdin; a terminal is not waited for.
    pub(crate) fn take(&mut self, take: Take, copy_to: &[Stream]) -> Result<(), End> {
        if take == Take::All && std::io::stdin().is_terminal() {
            return Ok(());
        }
        let mut left = match take {
            Take::All => u64::MAX,
            Take::Bytes(count) => count,
            Take::Nothing => 0,
        };
        let mut buffer = vec![0; 65_536];
        while left > 0 {
            let room = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
            let count = match sys::read_stdin(&mut buffer[..room]) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    sleep(POLL);
                    continue;
                }
                Err(error) => return Err(failed("stdin", error)),
            };
            left -= count as u64;
            self.context.stdin.extend_from_slice(&buffer[..count]);
            for stream in copy_to {
                emit(*stream, &buffer[..count])?;
            }
        }
        Ok(())
    }

    fn wait_file(&self, path: &Template, limit: Duration) -> Result<(), End> {
        let path = self.path(path);
        let start = Instant::now();
        while !path.exists() {
            if start.elapsed() >= limit {
                return Err(failed(
                    path.display(),
                    format!("not there after {} ms", limit.as_millis()),
                ));
            }
            sleep(POLL);
        }
        Ok(())
    }

    /// Writes the echo into the file that the path names.
    pub(crate) fn echo_to(&self, path: &Template) -> Result<(), End> {
        put(&self.path(path), self.echo().as_bytes())
    }

    fn echo(&self) -> String {
        format!("{}\n", echo::report(&self.context.stdin))
    }

    pub(crate) fn path(&self, template: &Template) -> PathBuf {
        self.base.join(self.text(template))
    }

    /// The text with its placeholders filled in.
    pub(crate) fn text(&self, template: &Template) -> String {
        self.render(template, 0)
    }

    fn render(&self, template: &Template, repetition: u64) -> String {
        let context = &self.context;
        let stdin = || String::from_utf8_lossy(&context.stdin);
        template.render(|value| match value {
            // As the real CLI has it: what is piped in comes behind the words of the command line.
            Value::Prompt if context.words.is_empty() => stdin().into_owned(),
            Value::Prompt if context.stdin.is_empty() => context.words.clone(),
            Value::Prompt => format!("{}\n{}", context.words, stdin()),
            Value::Stdin => stdin().into_owned(),
            Value::Cwd => echo::cwd(),
            Value::Session => context.session.clone(),
            Value::Model => context.model.clone(),
            Value::Request => context.request.clone(),
            Value::Uuid => codec::uuid(),
            Value::Now => now().to_string(),
            Value::Pid => std::process::id().to_string(),
            Value::Repetition => repetition.to_string(),
            Value::Echo => echo::report(&context.stdin).to_string(),
            Value::Env(name) => std::env::var_os(name)
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            Value::Fill(count, text) => text.repeat(*count),
            Value::Nested(depth) => "[".repeat(*depth) + &"]".repeat(*depth),
        })
    }
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u128 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_millis())
}

fn failed(what: impl Display, why: impl Display) -> End {
    End::Failed(format!("{what}: {why}"))
}

/// Writes all bytes, in as few writes as the system allows.
pub(crate) fn emit(to: Stream, bytes: &[u8]) -> Result<(), End> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match sys::write(to, rest) {
            Ok(0) => return Err(End::PipeGone),
            Ok(count) => rest = &rest[count..],
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(End::PipeGone),
            // The parent may share a pipe that it set to non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(POLL),
            Err(error) => return Err(failed("write", error)),
        }
    }
    Ok(())
}

/// Creates the file with its content in one step, so that nobody who waits for it finds it half written.
pub(crate) fn put(path: &Path, content: &[u8]) -> Result<(), End> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}.tmp", std::process::id()));
    std::fs::write(&draft, content)
        .and_then(|()| std::fs::rename(&draft, path))
        .map_err(|error| failed(path.display(), error))
}

fn trap(
    number: i32,
    name: &str,
    report: Option<PathBuf>,
    say: Option<String>,
    exit: Option<u8>,
) -> Result<(), End> {
    let line = format!("{name}\n");
    let on_signal = move || {
        // On a signal there is nobody to tell about a failure.
        if let Some(path) = &report
            && let Ok(mut file) = std::fs::File::options().append(true).create(true).open(path)
        {
            let _ = file.write_all(line.as_bytes());
        }
        if let Some(text) = &say {
            let _ = emit(Stream::Stderr, text.as_bytes());
        }
        if let Some(code) = exit {
            #[allow(
                clippy::exit,
                reason = "the steps go on in another thread, which cannot be told to return"
            )]
            std::process::exit(i32::from(code));
        }
    };
    sys::trap(number, on_signal).map_err(|error| failed("trap", error))
}
