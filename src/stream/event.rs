//! What one record of the stream means: the typed events, borrowed from the line they came in.

use std::borrow::Cow;

/// JSON text that stays as it came until somebody reads it: `args`, `result`, `usage` and the like.
///
/// It is one JSON value as the CLI wrote it, lone surrogate escapes, `1e400`, duplicate keys and any
/// depth included, so that JavaScript's `JSON.parse` of it gives what it would have given on the line.
/// Raw control characters inside its strings, which `JSON.parse` refuses, are escaped. What else it refuses
/// (`NaN`, an escape that JSON does not know) is still in there: a reader must be ready for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw<'a>(pub Cow<'a, str>);

/// Free text, decoded. A lone surrogate in it has become U+FFFD.
pub type Text<'a> = Cow<'a, str>;

/// One typed event of the stream, in the order of the stream.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// `system/init`: the session has begun.
    SystemInit(SystemInit<'a>),
    /// The echo of the prompt.
    User {
        /// The prompt as the CLI understood it.
        text: Text<'a>,
    },
    /// A piece of the model's thinking.
    ThinkingDelta {
        /// New text; pieces join without a separator.
        text: Text<'a>,
    },
    /// A block of thinking has ended.
    ThinkingCompleted,
    /// New text of the answer: never a repeat of what was already given.
    AssistantText {
        /// New text; pieces join without a separator.
        text: Text<'a>,
    },
    /// A tool call has begun.
    ToolCallStarted(ToolCall<'a>),
    /// A tool call has ended.
    ToolCallCompleted(ToolCall<'a>, ToolEnd<'a>),
    /// A question that the CLI asks and, without a terminal, answers by itself.
    InteractionQuery {
        /// `request` or `response`.
        phase: Text<'a>,
        /// For example `webSearchRequestQuery`.
        query_type: Option<Text<'a>>,
        /// The `query` or the `response` object.
        payload: Option<Raw<'a>>,
    },
    /// The link to Cursor's servers broke or came back.
    Connection {
        /// `reconnecting`, `reconnected`, or what a later CLI calls it.
        state: Text<'a>,
        /// Which try this is, from 1.
        attempt: Option<u32>,
    },
    /// The CLI tries a request again.
    Retry {
        /// `starting`, `resuming`, or what a later CLI calls it.
        state: Text<'a>,
        /// Which try this is, from 1.
        attempt: Option<u32>,
    },
    /// The record that ends a turn.
    Result(TurnResult<'a>),
    /// A line that is none of the above. Counted by the turn, never dropped silently.
    Unknown {
        /// Why it is unknown.
        reason: UnknownReason,
        /// The `type` of the record, where it has one.
        record_type: Option<Text<'a>>,
        /// The `subtype` of the record, where it has one.
        record_subtype: Option<Text<'a>>,
        /// The line itself, at most [`UNKNOWN_RAW_LIMIT`] bytes of it, lossy UTF-8.
        raw: Text<'a>,
    },
}

/// How much of an unknown line an event carries, in bytes.
pub const UNKNOWN_RAW_LIMIT: usize = 4096;

/// Fields of `system/init`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SystemInit<'a> {
    /// The id that `--resume` takes.
    pub session_id: Option<Text<'a>>,
    /// The workspace, as the CLI resolved it.
    pub cwd: Option<Text<'a>>,
    /// The display name of the requested model.
    pub model: Option<Text<'a>>,
    /// `login`, `env` or `flag`.
    pub api_key_source: Option<Text<'a>>,
    /// `default` in every recording.
    pub permission_mode: Option<Text<'a>>,
}

/// Which call, and what it was asked.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolCall<'a> {
    /// Opaque; may hold a line break. Absent in records of some builds.
    pub call_id: Option<Text<'a>>,
    /// The name to show: the MCP server's or the function's own tool name, else the same as `kind`.
    pub name: Text<'a>,
    /// The envelope's key without `ToolCall`: `shell`, `read`, `mcp`, `function`, …; `unknown` if there is none.
    pub kind: Text<'a>,
    /// The arguments; on a completed call those remembered from its start where it has none itself.
    pub args: Option<Raw<'a>>,
}

/// A call that has started and not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCall<'a> {
    /// As in [`ToolCall::call_id`].
    pub call_id: Option<&'a str>,
    /// As in [`ToolCall::name`].
    pub name: &'a str,
    /// As in [`ToolCall::kind`].
    pub kind: &'a str,
    /// The time that a shell call gives its command, in milliseconds. A command that takes longer is not
    /// killed by the CLI but moved to the background.
    pub timeout_ms: Option<u64>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolEnd<'a> {
    /// The whole `result` value: a one-key object, sometimes with siblings, sometimes a string.
    pub result: Option<Raw<'a>>,
    /// What its first known key says; a `success` with `isError: true` in it is an [`ToolOutcome::Error`].
    pub outcome: ToolOutcome,
    /// True for every outcome but [`ToolOutcome::Success`].
    pub is_error: bool,
}

/// The discriminator of a completed call's `result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolOutcome {
    /// `success`.
    Success,
    /// `failure`: a shell command that ended with an exit code other than 0.
    Failure,
    /// `rejected`: no approval, a mode or a hook refused it.
    Rejected,
    /// `permissionDenied`: a deny rule of the CLI's configuration.
    PermissionDenied,
    /// `error`, `fileNotFound` and the like: it could not be done; or an MCP server's own `isError`.
    Error,
    /// Anything else, also no `result` at all.
    Unknown,
}

/// Fields of `result`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnResult<'a> {
    /// The id that `--resume` takes.
    pub session_id: Option<Text<'a>>,
    /// `success` in every recording; anything else is no success.
    pub subtype: Option<Text<'a>>,
    /// The whole answer again, segments joined without a separator; an error's text where `is_error`.
    pub text: Option<Text<'a>>,
    /// True where the CLI says so, where there is a `subtype` other than `success`, and where there is a
    /// `status` such as `CANCELED`.
    pub is_error: bool,
    /// Token counts, as the CLI wrote them.
    pub usage: Option<Raw<'a>>,
    /// Cursor's id of the request.
    pub request_id: Option<Text<'a>>,
    /// As the CLI measured it, in milliseconds.
    pub duration_ms: Option<f64>,
}

/// Why a line is [`Event::Unknown`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnknownReason {
    /// Nothing but white space.
    Blank,
    /// No JSON object: a banner, a log line, a truncated record.
    NotJson,
    /// Longer than the limit; it was skipped up to its line end.
    TooLong,
    /// A JSON object of a type or subtype that is not known here.
    NewType,
}

/// Lines that came and could not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Over-long lines and lines that are no JSON object; blank ones do not count.
    pub lines: u64,
    /// Their bytes, line ends not counted.
    pub bytes: u64,
}
