//! How a turn ended: what it gave, or why it failed.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use crate::cli::failure::{FailureClass, classify, not_runnable};
use crate::cli::unstarted::unstarted;
use crate::process::Exit;
use crate::stream::event::Dropped;

use super::leftovers::Leftover;

/// What a turn gave, or had so far when it failed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// From the init record, else from the result.
    pub session_id: Option<String>,
    /// All text that was delivered, joined.
    pub text: String,
    /// Token counts as JSON text.
    pub usage: Option<String>,
    /// Cursor's id of the request.
    pub request_id: Option<String>,
    /// The display name of the requested model.
    pub model: Option<String>,
    /// From the call to the end of the process.
    pub duration: Duration,
    /// How many tool calls there were, and how they went.
    pub tool_calls: ToolCounts,
    /// Lines that could not be used.
    pub dropped: Dropped,
    /// How the process ended; `None` where none was started.
    pub exit: Option<Exit>,
    /// What of the turn is still there: kept, waiting for another turn in the workspace to end, or another user's.
    pub leftovers: Vec<Leftover>,
}

/// How many tool calls there were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCounts {
    /// Calls that began.
    pub started: u32,
    /// Calls that ended, those whose start was never seen included.
    pub completed: u32,
    /// Ended with a failure or an error.
    pub failed: u32,
    /// Refused by a person, a mode, a hook or a rule.
    pub rejected: u32,
    /// Began and never ended.
    pub abandoned: u32,
}

/// Why a turn failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The workspace is not there.
    #[error("Cursor CLI spawn failed for {target}: {reason}")]
    CwdMissing {
        /// The program, or what was looked for.
        target: String,
        /// What is wrong with the folder.
        reason: String,
    },
    /// There is no program.
    #[error("Cursor CLI spawn failed for {target}: {reason}")]
    NotFound {
        /// What was looked for.
        target: String,
        /// Where, and what to do.
        reason: String,
    },
    /// There is one, and it cannot be run.
    #[error("Cursor CLI spawn failed for {target}: {reason}")]
    NotRunnable {
        /// The program.
        target: String,
        /// What the system said.
        reason: String,
    },
    /// The system could not start it.
    #[error("Cursor CLI spawn failed for {target}: {reason}")]
    SpawnFailed {
        /// The program.
        target: String,
        /// What the system said.
        reason: String,
        /// True where it was short of something that comes back.
        transient: bool,
    },
    /// There is one, and nothing here starts such a file.
    #[error("Cursor CLI spawn failed for {target}: {reason}")]
    LauncherUnsupported {
        /// The program.
        target: String,
        /// What is started, and which setting to change.
        reason: String,
    },
    /// A word of the command line cannot be passed on as it is.
    #[error("Cursor CLI spawn failed for {target}: {reason}")]
    UnsafeToken {
        /// The program.
        target: String,
        /// The word, and what is wrong with it.
        reason: String,
    },
    /// The command line is too long for what reads it.
    #[error("Cursor CLI spawn failed for {target}: {reason}")]
    CommandTooLong {
        /// The program.
        target: String,
        /// How long it is, and may be.
        reason: String,
    },
    /// No line came in time.
    #[error("Cursor CLI first-line timeout")]
    FirstLineTimeout,
    /// The stream was silent for too long.
    #[error("Cursor CLI inactivity timeout")]
    InactivityTimeout,
    /// The stream was silent for too long while a tool call was open.
    #[error("Cursor CLI tool timeout: {tool} did not end")]
    ToolTimeout {
        /// The open call's name; the oldest, where there are several.
        tool: String,
    },
    /// The caller ended the turn.
    #[error("Cursor CLI aborted")]
    Aborted,
    /// A callback failed; the caller has its error.
    #[error("a callback ended the turn")]
    ConsumerStopped,
    /// The CLI's result says that it failed.
    #[error("Cursor CLI reported an error: {text}")]
    Reported {
        /// What it says.
        text: String,
        /// What that means, where it is known.
        class: Option<FailureClass>,
    },
    /// The process ended by itself with exit code 0, and without a result.
    #[error("Cursor CLI stream ended without a result event.")]
    NoResult,
    /// The process ended without a result, and not well, or with a known complaint.
    #[error("Cursor CLI exited {status}: {said}")]
    Exited {
        /// The exit code, or the signal's name.
        status: String,
        /// The end of what it said on standard error, else of what it said beside the stream.
        said: String,
        /// What that means, where it is known.
        class: Option<FailureClass>,
    },
    /// Its session was disposed before it began.
    #[error("Cursor session is disposed.")]
    Disposed,
    /// A fault of this library.
    #[error("fusion-cursor-native failed inside: {0}")]
    Internal(String),
}

impl Cause {
    /// Whether the same call may succeed later without anybody changing anything.
    #[must_use]
    pub fn retryable(&self) -> bool {
        match self {
            Self::SpawnFailed { transient, .. } => *transient,
            Self::Reported { class, .. } | Self::Exited { class, .. } => {
                class.is_some_and(FailureClass::retryable)
            }
            _ => false,
        }
    }
}

/// A failed turn.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{cause}")]
pub struct Failure {
    /// Why.
    pub cause: Cause,
    /// The end of standard error, where a process ran.
    pub stderr_tail: Option<String>,
    /// What there was so far.
    pub partial: Report,
}

impl Failure {
    /// Of a turn for which nothing was started.
    #[must_use]
    pub fn unstarted(cause: Cause, duration: Duration) -> Self {
        let partial = Report {
            duration,
            ..Report::default()
        };
        Self {
            cause,
            stderr_tail: None,
            partial,
        }
    }
}

/// How much of what the CLI said goes into an error's message, in characters; all of the tail is beside it.
const SAID_LIMIT: usize = 2000;

/// The cause where the process ended without a result.
pub(super) fn without_result(exit: Exit, stderr: &str, stray: &str) -> Cause {
    let class = classify(stderr).or_else(|| classify(stray));
    if exit == Exit::Code(0) && class.is_none() {
        return Cause::NoResult;
    }
    let status = match (exit.code(), exit.signal_name()) {
        // As Node has it, and everybody who looks up an error of Windows.
        (Some(code), _) => code.cast_unsigned().to_string(),
        (None, name) => name.unwrap_or_default(),
    };
    // Where only the stray lines explain the end, they are the message.
    let stderr_explains = !stderr.trim().is_empty() && (class.is_none() || classify(stderr).is_some());
    let said = if stderr_explains { stderr } else { stray };
    Cause::Exited {
        status,
        said: end_of(said.trim(), SAID_LIMIT),
        class,
    }
}

/// The cause where not a record came, and how the process ended tells that the program did not run at all.
pub(super) fn never_ran(program: &Path, exit: Exit, stderr: &str, stray: &str) -> Option<Cause> {
    let said = if stderr.trim().is_empty() { stray } else { stderr };
    let target = program.display().to_string();
    let why = |reason: &dyn Display| format!("{reason}: {}", end_of(said.trim(), SAID_LIMIT));
    if let Some(unstarted) = unstarted(said, exit.code()) {
        return Some(Cause::SpawnFailed {
            target,
            reason: why(&unstarted.reason),
            transient: unstarted.transient,
        });
    }
    let reason = not_runnable(said, exit.code())?;
    Some(Cause::NotRunnable {
        target,
        reason: why(&reason),
    })
}

/// The cause where the result itself is an error.
pub(super) fn reported(text: &str, stderr: &str) -> Cause {
    let said = if text.trim().is_empty() { stderr } else { text };
    Cause::Reported {
        text: end_of(said.trim(), SAID_LIMIT),
        class: classify(text).or_else(|| classify(stderr)),
    }
}

/// At most that many bytes of its end, from the beginning of a character.
pub(super) fn last_bytes(text: String, limit: usize) -> String {
    let mut from = text.len().saturating_sub(limit);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    if from == 0 { text } else { text[from..].to_owned() }
}

fn end_of(text: &str, limit: usize) -> String {
    let skip = text.chars().count().saturating_sub(limit);
    text.chars().skip(skip).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_exit_without_a_result_is_no_success() {
        assert_eq!(without_result(Exit::Code(0), "", ""), Cause::NoResult);
        assert_eq!(
            without_result(Exit::Code(0), "some warning", "banner"),
            Cause::NoResult
        );
    }

    #[test]
    fn a_refusal_is_known_whatever_its_exit_code_and_channel() {
        let text = "⚠ Workspace Trust Required";
        for (exit, stderr, stray) in [
            (Exit::Code(0), text, ""),
            (Exit::Code(0), "", text),
            (Exit::Code(1), text, ""),
            (Exit::Code(1), "noise", text),
        ] {
            let cause = without_result(exit, stderr, stray);
            assert!(
                matches!(&cause, Cause::Exited { class: Some(FailureClass::WorkspaceUntrusted), said, .. } if said == text),
                "{cause:?}"
            );
        }
    }

    #[test]
    fn the_message_has_the_code_or_the_signal_and_the_end_of_what_was_said() {
        assert_eq!(
            without_result(Exit::Code(7), " boom\n", "").to_string(),
            "Cursor CLI exited 7: boom"
        );
        assert_eq!(
            without_result(Exit::Signal(9), "", "").to_string(),
            "Cursor CLI exited SIGKILL: "
        );
        let long = format!("{}é", "x".repeat(5000));
        let message = without_result(Exit::Code(1), &long, "").to_string();
        assert!(message.ends_with("xé") && message.chars().count() < 2100);
    }

    #[test]
    fn a_code_of_windows_is_told_as_it_is_known_there() {
        let exit = Exit::Code(0xC000_0005_u32.cast_signed());
        assert_eq!(
            without_result(exit, "", "").to_string(),
            "Cursor CLI exited 3221225477: "
        );
    }

    #[test]
    fn the_end_begins_with_a_whole_character() {
        assert_eq!(last_bytes("abc".into(), 3), "abc");
        assert_eq!(last_bytes("aé".into(), 2), "é");
        assert_eq!(last_bytes("aé".into(), 1), "");
    }

    #[test]
    fn a_reported_error_keeps_its_text_and_class() {
        let cause = reported("You've hit your usage limit", "");
        assert_eq!(
            cause.to_string(),
            "Cursor CLI reported an error: You've hit your usage limit"
        );
        assert!(matches!(
            cause,
            Cause::Reported {
                class: Some(FailureClass::UsageLimit),
                ..
            }
        ));
        assert_eq!(
            reported("", "from stderr").to_string(),
            "Cursor CLI reported an error: from stderr"
        );
    }
}
