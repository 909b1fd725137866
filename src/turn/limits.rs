//! How long a turn may be silent, and which silence is over the limit.

use std::time::Duration;

use tokio::time::Instant;

/// Read at the call, in milliseconds.
pub const FIRST_LINE_VARIABLE: &str = "PI_CURSOR_CLI_FIRST_LINE_TIMEOUT_MS";
/// Read at the call, in milliseconds.
pub const INACTIVITY_VARIABLE: &str = "PI_CURSOR_CLI_TIMEOUT_MS";

const FIRST_LINE: Duration = Duration::from_secs(30);
const INACTIVITY: Duration = Duration::from_secs(120);
const OPEN_TOOL: Duration = Duration::from_secs(600);
/// What a shell call may take over its own timeout before it is taken for dead.
const OVER_OWN_TIMEOUT: Duration = Duration::from_secs(30);
/// A limit no turn reaches; it keeps sums of instants and limits in range.
const NEVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// What a caller may say about the limits, in milliseconds. Zero, less, or no number: the default.
#[derive(Debug, Clone, Copy, Default)]
pub struct LimitOptions {
    /// Default: the variable, else 30 000.
    pub first_line_ms: Option<f64>,
    /// Default: the variable, else 120 000.
    pub inactivity_ms: Option<f64>,
    /// Default: see [`Limits::silence`].
    pub tool_ms: Option<f64>,
    /// Default: 2000. Zero means zero.
    pub exit_grace_ms: Option<f64>,
    /// Default: 2000. Zero means zero.
    pub kill_grace_ms: Option<f64>,
}

/// The limits of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Until the first line, the start and the writing of the prompt included.
    pub first_line: Duration,
    /// Between two lines.
    pub inactivity: Duration,
    /// The caller, or the variable, said `inactivity`: it then governs open tool calls too.
    inactivity_said: bool,
    tool: Option<Duration>,
    /// How long the process may stay after its result.
    pub exit_grace: Duration,
    /// Between SIGTERM and SIGKILL.
    pub kill_grace: Duration,
}

impl Limits {
    /// The limits from what the caller said, then the variables, then the defaults.
    pub fn new(options: &LimitOptions, variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |text: String| text.trim().parse().ok().filter(|ms: &f64| ms.is_finite());
        let from_variable = |name| positive(number(variable(name)?));
        let inactivity = positive(options.inactivity_ms).or_else(|| from_variable(INACTIVITY_VARIABLE));
        let grace = |ms: Option<f64>| ms.map_or(Duration::from_secs(2), millis);
        Self {
            first_line: positive(options.first_line_ms)
                .or_else(|| from_variable(FIRST_LINE_VARIABLE))
                .unwrap_or(FIRST_LINE),
            inactivity: inactivity.unwrap_or(INACTIVITY),
            inactivity_said: inactivity.is_some(),
            tool: positive(options.tool_ms),
            exit_grace: grace(options.exit_grace_ms),
            kill_grace: grace(options.kill_grace_ms),
        }
    }

    /// Whether open tool calls have a limit of their own: one that was given, or the default one. Where only an
    /// inactivity limit was said, that is the one that a silent tool breaks.
    #[must_use]
    pub fn has_tool_limit(&self) -> bool {
        self.tool.is_some() || !self.inactivity_said
    }

    /// How long the stream may be silent now.
    ///
    /// While a tool call is open the CLI prints nothing, so the limit is then `toolTimeoutMs` if it was given;
    /// else an inactivity limit that was said; else the largest of that limit's default, 10 minutes, and
    /// the open call's own timeout plus 30 s.
    #[must_use]
    pub fn silence(&self, open: Option<OpenTool>) -> Duration {
        match open {
            None => self.inactivity,
            Some(_) if self.tool.is_some() || !self.has_tool_limit() => self.tool.unwrap_or(self.inactivity),
            Some(OpenTool { own_timeout }) => {
                let own = own_timeout.map_or(Duration::ZERO, |own| own.saturating_add(OVER_OWN_TIMEOUT));
                self.inactivity.max(OPEN_TOOL).max(own).min(NEVER)
            }
        }
    }
}

/// That at least one tool call is open, and the longest timeout that an open call brought along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenTool {
    /// A shell call's own timeout.
    pub own_timeout: Option<Duration>,
}

fn positive(ms: Option<f64>) -> Option<Duration> {
    ms.filter(|ms| *ms > 0.0).map(millis)
}

fn millis(ms: f64) -> Duration {
    // NaN and negatives are zero, and an infinite time is as long as a turn can be.
    Duration::try_from_secs_f64(ms.max(0.0) / 1000.0)
        .unwrap_or(NEVER)
        .min(NEVER)
}

/// What a turn is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No line has come yet.
    FirstLine,
    /// Lines come.
    Streaming,
    /// The result is here, or standard output is closed: the process may leave by itself.
    Leaving {
        /// Since when.
        since: Instant,
    },
    /// The process has ended and what it wrote is being read.
    Draining {
        /// Since when.
        since: Instant,
        /// Whether the result is among what was read.
        answered: bool,
    },
}

/// How long output is read after the process has ended, where somebody else holds the pipe open.
pub const DRAIN: Duration = Duration::from_secs(2);
/// The same where the result was read. All that the process wrote is in the pipe by then and is read without a
/// wait; whoever holds the pipe has nothing to add.
pub const DRAIN_ANSWERED: Duration = Duration::from_millis(50);

/// When the present wait is over.
///
/// `quiet_since` is the last line, or the moment the reading went on after a pause that the consumer made.
#[must_use]
pub fn deadline(
    limits: &Limits,
    phase: Phase,
    started: Instant,
    quiet_since: Instant,
    open: Option<OpenTool>,
) -> Instant {
    match phase {
        Phase::FirstLine => started.max(quiet_since) + limits.first_line,
        Phase::Streaming => quiet_since + limits.silence(open),
        Phase::Leaving { since } => since + limits.exit_grace,
        Phase::Draining { since, answered } => since + if answered { DRAIN_ANSWERED } else { DRAIN },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn limits(options: LimitOptions, inactivity: Option<&str>) -> Limits {
        Limits::new(&options, |name| {
            (name == INACTIVITY_VARIABLE).then(|| inactivity.map(String::from))?
        })
    }

    fn open(own_seconds: Option<u64>) -> OpenTool {
        OpenTool {
            own_timeout: own_seconds.map(Duration::from_secs),
        }
    }

    #[test]
    fn defaults() {
        let limits = limits(LimitOptions::default(), None);
        assert_eq!(limits.first_line, 30 * SECOND);
        assert_eq!(limits.silence(None), 120 * SECOND);
        assert_eq!((limits.exit_grace, limits.kill_grace), (2 * SECOND, 2 * SECOND));
    }

    #[test]
    fn an_option_beats_the_variable_and_nonsense_means_the_default() {
        let said = LimitOptions {
            inactivity_ms: Some(5000.0),
            ..LimitOptions::default()
        };
        assert_eq!(limits(said, Some("7000")).inactivity, 5 * SECOND);
        assert_eq!(
            limits(LimitOptions::default(), Some(" 7000 ")).inactivity,
            7 * SECOND
        );
        for nonsense in [
            "", " ", "x", "7s", "7_000", "0", "-0", "-3", "NaN", "inf", "Infinity", "1e999",
        ] {
            assert_eq!(
                limits(LimitOptions::default(), Some(nonsense)).inactivity,
                120 * SECOND,
                "{nonsense:?}"
            );
        }
        for nonsense in [0.0, -1.0, f64::NAN] {
            let said = LimitOptions {
                inactivity_ms: Some(nonsense),
                ..LimitOptions::default()
            };
            assert_eq!(limits(said, None).inactivity, 120 * SECOND, "{nonsense}");
        }
    }

    #[test]
    fn an_infinite_limit_can_be_added_to_an_instant() {
        let said = LimitOptions {
            inactivity_ms: Some(f64::INFINITY),
            ..LimitOptions::default()
        };
        let now = Instant::now();
        assert!(deadline(&limits(said, None), Phase::Streaming, now, now, None) > now + 3600 * SECOND);
    }

    #[test]
    fn an_open_tool_has_a_longer_limit_unless_one_was_said() {
        let plain = limits(LimitOptions::default(), None);
        assert_eq!(plain.silence(Some(open(None))), 600 * SECOND);
        assert_eq!(
            plain.silence(Some(open(Some(10)))),
            600 * SECOND,
            "a short timeout of its own"
        );
        assert_eq!(plain.silence(Some(open(Some(3600)))), 3630 * SECOND, "a long one");
        assert_eq!(
            limits(LimitOptions::default(), Some("900000")).silence(Some(open(Some(9999)))),
            900 * SECOND
        );
        let tool = LimitOptions {
            tool_ms: Some(1000.0),
            inactivity_ms: Some(2000.0),
            ..LimitOptions::default()
        };
        assert_eq!(limits(tool, None).silence(Some(open(Some(9999)))), SECOND);
        assert_eq!(limits(tool, None).silence(None), 2 * SECOND);
        assert!(plain.has_tool_limit() && limits(tool, None).has_tool_limit());
        assert!(!limits(LimitOptions::default(), Some("900000")).has_tool_limit());
        assert!(limits(LimitOptions::default(), Some("no number")).has_tool_limit());
    }

    #[test]
    fn each_phase_waits_from_its_own_start() {
        let limits = limits(LimitOptions::default(), None);
        let started = Instant::now();
        let later = started + 10 * SECOND;
        let at = |phase| deadline(&limits, phase, started, later, None) - started;
        assert_eq!(at(Phase::FirstLine), 40 * SECOND);
        assert_eq!(at(Phase::Streaming), 130 * SECOND);
        assert_eq!(at(Phase::Leaving { since: started }), 2 * SECOND);
        let draining = |answered| {
            at(Phase::Draining {
                since: started + SECOND,
                answered,
            })
        };
        assert_eq!(draining(false), 3 * SECOND);
        assert_eq!(draining(true), SECOND + DRAIN_ANSWERED);
    }
}
