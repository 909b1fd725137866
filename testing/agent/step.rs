//! What a scenario is made of, once it is read.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::template::Template;

/// A checked scenario.
#[derive(Debug)]
pub(crate) struct Scenario {
    /// The folder that relative paths start from.
    pub(crate) base: PathBuf,
    /// What is read of stdin before the first step of a turn.
    pub(crate) stdin: Take,
    /// `turn`, `resumed` and the commands, by name.
    pub(crate) lists: BTreeMap<String, Vec<Step>>,
}

/// One step, with its place in the scenario for messages.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) place: String,
    pub(crate) action: Action,
}

/// One verb with its options.
#[derive(Debug)]
pub(crate) enum Action {
    Write(Write),
    Sleep(Duration),
    WaitFile {
        path: Template,
        limit: Duration,
    },
    Touch {
        path: Template,
        content: Option<Template>,
    },
    Stdin {
        take: Take,
        copy_to: Vec<Stream>,
    },
    Close(Vec<Stream>),
    /// To a file, or as a line on stdout.
    Echo(Option<Template>),
    Ignore(Vec<i32>),
    Trap {
        signals: Vec<(i32, String)>,
        report: Option<Template>,
        say: Option<Template>,
        exit: Option<u8>,
    },
    Start(Start),
    CallTools(CallTools),
    Exit(u8),
    Raise(i32),
    Linger,
}

/// Something to write, and how.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) source: Source,
    pub(crate) repeat: u64,
    pub(crate) to: Stream,
    pub(crate) cut: Cut,
    /// The pause before each write.
    pub(crate) delay: Duration,
}

/// Where the bytes come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// JSON, ended with a line feed.
    Line(Template),
    Text(Template),
    Bytes(Vec<u8>),
    File(Template),
}

/// What is one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    Whole,
    Lines,
    Bytes(usize),
}

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdin,
    Stdout,
    Stderr,
}

/// How much of stdin is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take {
    All,
    Bytes(u64),
    Nothing,
}

/// A child that plays steps of its own.
#[derive(Debug)]
pub(crate) struct Start {
    /// The steps as written: the child checks them again.
    pub(crate) steps: String,
    pub(crate) line_delay: Duration,
    pub(crate) bond: Bond,
    pub(crate) hold: Hold,
    pub(crate) args: Vec<Template>,
}

/// Calls of an MCP server that the workspace's config names.
#[derive(Debug)]
pub(crate) struct CallTools {
    pub(crate) calls: Vec<ToolCall>,
    /// `None`: the only one that is Fusion's.
    pub(crate) server: Option<Template>,
    /// The version of the protocol that is asked for.
    pub(crate) protocol: Option<Template>,
    /// All at once, not one after the other.
    pub(crate) parallel: bool,
    /// Where it is written what the server said.
    pub(crate) report: Option<Template>,
    pub(crate) limit: Duration,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct ToolCall {
    pub(crate) tool: Template,
    /// JSON.
    pub(crate) arguments: Option<Template>,
}

/// How a child is tied to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bond {
    /// In the parent's process group.
    Member,
    /// In a process group of its own.
    Group,
    /// In a session of its own.
    Session,
    /// In a session of its own, with its parent gone.
    Daemon,
}

/// Which streams a child inherits; the others are the null device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
}
