//! The `tool_call` object: which tool, what it was asked, how it ended.

use std::borrow::Cow;

use super::calls::Started;
use super::event::{Raw, ToolCall, ToolEnd, ToolOutcome};
use super::json::{Scan, Scanner};
use super::value::{Str, Value};

/// How the names of our own server's tools begin.
const OWN_TOOL: &str = "fn_";

/// The name and kind of a call whose record has no tool in it.
const UNKNOWN: &str = "unknown";

/// The keys that tell how a call ended.
const OUTCOMES: [(&str, ToolOutcome); 9] = [
    ("success", ToolOutcome::Success),
    ("failure", ToolOutcome::Failure),
    ("rejected", ToolOutcome::Rejected),
    ("permissionDenied", ToolOutcome::PermissionDenied),
    ("error", ToolOutcome::Error),
    ("fileNotFound", ToolOutcome::Error),
    ("invalidFile", ToolOutcome::Error),
    ("spawnError", ToolOutcome::Error),
    ("timeout", ToolOutcome::Error),
];

/// What one `tool_call` object says, as slices of its line.
#[derive(Debug, Clone, Default)]
pub(super) struct Tool<'a> {
    key: Option<Cow<'a, str>>,
    /// `toolCallId`, beside the tool.
    call_id: Option<Value<'a>>,
    body: Body<'a>,
}

/// What stands under the tool's key.
#[derive(Debug, Clone, Default)]
struct Body<'a> {
    args: Option<Value<'a>>,
    result: Option<Value<'a>>,
    outcome: Option<ToolOutcome>,
    name: Option<Value<'a>>,
    arguments: Option<Value<'a>>,
    known_args: KnownArgs<'a>,
}

/// The arguments that are looked into.
#[derive(Debug, Clone, Default)]
struct KnownArgs<'a> {
    name: Option<Value<'a>>,
    provider: Option<Value<'a>>,
    server: Option<Value<'a>>,
    tool: Option<Value<'a>>,
    timeout: Option<Value<'a>>,
}

impl<'a> Tool<'a> {
    /// Reads the object at the scanner. Its tool is the key that ends in `ToolCall`, or `function`, and
    /// holds an object, wherever it stands among its siblings.
    pub(super) fn read(scanner: &mut Scanner<'a>) -> Scan<Self> {
        let mut tool = Self::default();
        scanner.object(|scanner, key| {
            let is_tool = kind_of(key).is_some() && scanner.peek() == Some(b'{');
            if is_tool && tool.key.as_ref().is_none_or(|known| known == key) {
                tool.key = Some(key.clone());
                tool.body = Body::read(scanner, key)?;
                return Ok(());
            }
            let value = scanner.value()?;
            if key == "toolCallId" {
                tool.call_id = Some(value);
            }
            Ok(())
        })?;
        Ok(tool)
    }

    /// The id beside the tool, for records that have none of their own.
    pub(super) fn call_id(&self) -> Option<Str<'a>> {
        self.call_id.and_then(|id| id.string())
    }

    /// The key without `ToolCall`.
    pub(super) fn kind(&self) -> Option<&str> {
        self.key.as_ref().and_then(|key| kind_of(key))
    }

    /// The time that a shell call gives its command, in milliseconds.
    pub(super) fn timeout_ms(&self) -> Option<u64> {
        let timeout = self.body.known_args.timeout?;
        let ms: f64 = timeout.raw.parse().ok()?;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast of a float stops at the ends of the range"
        )]
        let whole = ms as u64;
        Some(whole)
    }

    /// The call as an event has it, with what its start said where this record does not say it again. A tool of
    /// the server `own` has its bare name.
    pub(super) fn call<'s>(
        &'s self,
        call_id: Option<Cow<'s, str>>,
        started: Option<&'s Started>,
        own: Option<&str>,
    ) -> ToolCall<'s> {
        let kind = self
            .kind()
            .or(started.map(|started| &*started.kind))
            .unwrap_or(UNKNOWN);
        let remembered = started.filter(|started| *started.kind == *kind);
        let name = own
            .and_then(|server| self.bare_name(server))
            .or_else(|| self.own_name())
            .or(remembered.map(|started| Cow::Borrowed(&*started.name)));
        let args = self
            .own_args()
            .or(started.and_then(|started| started.args.as_deref().map(Cow::Borrowed)));
        ToolCall {
            call_id,
            name: name.unwrap_or(Cow::Borrowed(kind)),
            kind: Cow::Borrowed(kind),
            args: args.map(Raw),
        }
    }

    pub(super) fn end(&self) -> ToolEnd<'a> {
        let outcome = self.body.outcome.unwrap_or(ToolOutcome::Unknown);
        ToolEnd {
            result: self.body.result.map(|result| Raw(result.payload())),
            outcome,
            is_error: outcome != ToolOutcome::Success,
        }
    }

    /// The name that an MCP server or a function gives the tool.
    fn own_name(&self) -> Option<Cow<'a, str>> {
        let args = &self.body.known_args;
        match self.kind()? {
            "function" => text(self.body.name),
            "mcp" => text(args.name).or_else(|| match (text(args.provider), text(args.tool)) {
                (Some(provider), Some(tool)) => Some(Cow::Owned([&*provider, "-", &*tool].concat())),
                (None, tool) => tool,
                (Some(_), None) => None,
            }),
            _ => None,
        }
    }

    /// The name of a tool of our own server without the server's; `None` for every other tool.
    ///
    /// Where the record says which server it is, that decides: the name alone cannot, as that of another server may
    /// begin like ours.
    fn bare_name(&self, server: &str) -> Option<Cow<'a, str>> {
        if self.kind()? != "mcp" {
            return None;
        }
        let args = &self.body.known_args;
        let said: Vec<_> = [args.provider, args.server]
            .into_iter()
            .filter_map(text)
            .collect();
        if !said.is_empty() && !said.iter().any(|said| said == server) {
            return None;
        }
        let prefixed = || {
            let name = text(args.name)?;
            let tool = name.strip_prefix(server)?.strip_prefix('-')?;
            Some(Cow::Owned(tool.to_owned()))
        };
        let named = || text(args.tool).filter(|_| !said.is_empty());
        prefixed()
            .or_else(named)
            .filter(|tool| tool.starts_with(OWN_TOOL))
    }

    fn own_args(&self) -> Option<Cow<'a, str>> {
        let Some(arguments) = self.body.arguments.filter(|_| self.body.args.is_none()) else {
            return self.body.args.map(|args| args.payload());
        };
        Some(
            arguments
                .string()
                .and_then(object_in)
                .unwrap_or_else(|| arguments.payload()),
        )
    }
}

impl<'a> Body<'a> {
    fn read(scanner: &mut Scanner<'a>, tool: &str) -> Scan<Self> {
        let mut body = Self::default();
        scanner.object(|scanner, key| {
            match &**key {
                "args" => {
                    body.known_args = KnownArgs::default();
                    let looked_into = matches!(tool, "shellToolCall" | "mcpToolCall");
                    let args = if looked_into && scanner.peek() == Some(b'{') {
                        body.known_args.read(scanner)?
                    } else {
                        scanner.value()?
                    };
                    body.args = Some(args).filter(|args| !args.is_null());
                }
                "result" => {
                    let (result, outcome) = read_result(scanner)?;
                    body.result = Some(result).filter(|result| !result.is_null());
                    body.outcome = outcome;
                }
                "name" => body.name = Some(scanner.value()?),
                "arguments" if tool == "function" => {
                    body.arguments = Some(scanner.value()?).filter(|arguments| !arguments.is_null());
                }
                _ => {
                    scanner.value()?;
                }
            }
            Ok(())
        })?;
        Ok(body)
    }
}

impl<'a> KnownArgs<'a> {
    fn read(&mut self, scanner: &mut Scanner<'a>) -> Scan<Value<'a>> {
        scanner.object(|scanner, key| {
            let value = scanner.value()?;
            match &**key {
                "name" => self.name = Some(value),
                "providerIdentifier" => self.provider = Some(value),
                "serverIdentifier" => self.server = Some(value),
                "toolName" => self.tool = Some(value),
                "timeout" => self.timeout = Some(value),
                _ => {}
            }
            Ok(())
        })
    }
}

/// The text of a value that is a string with something in it.
fn text(value: Option<Value<'_>>) -> Option<Cow<'_, str>> {
    let text = value?.string()?.text();
    Some(text).filter(|text| !text.is_empty())
}

fn kind_of(key: &str) -> Option<&str> {
    if key == "function" {
        return Some(key);
    }
    key.strip_suffix("ToolCall").filter(|kind| !kind.is_empty())
}

/// Reads the `result` of a call: mostly an object whose first known key is the outcome, sometimes a string
/// that is the outcome, or that holds such an object once more.
fn read_result<'a>(scanner: &mut Scanner<'a>) -> Scan<(Value<'a>, Option<ToolOutcome>)> {
    if scanner.peek() == Some(b'{') {
        return read_result_object(scanner);
    }
    let result = scanner.value()?;
    let outcome = result.string().and_then(|string| {
        let inner = string.json_text();
        let inner_object = || read_result_object(&mut Scanner::new(&inner)).ok()?.1;
        known_outcome(&inner).or_else(inner_object)
    });
    Ok((result, outcome))
}

fn read_result_object<'a>(scanner: &mut Scanner<'a>) -> Scan<(Value<'a>, Option<ToolOutcome>)> {
    // Which known keys came, in which order, and what each said last: as in an object of JavaScript, where a key
    // that comes twice has its first place and its last value.
    let mut said = [None; OUTCOMES.len()];
    let mut keys = 0;
    let result = scanner.object(|scanner, key| {
        let known = OUTCOMES.iter().position(|(name, _)| name == key);
        let outcome = if key == "success" && scanner.peek() == Some(b'{') {
            Some(if success_is_error(scanner)? {
                ToolOutcome::Error
            } else {
                ToolOutcome::Success
            })
        } else {
            let null = scanner.value()?.is_null();
            known_outcome(key).filter(|_| !null)
        };
        if let Some(said) = known.and_then(|at| said.get_mut(at)) {
            let place = said.map_or(keys, |(place, _)| place);
            *said = Some((place, outcome));
            keys += 1;
        }
        Ok(())
    })?;
    let counted = said
        .into_iter()
        .flatten()
        .filter(|(_, outcome)| outcome.is_some());
    let first = counted.min_by_key(|(place, _)| *place);
    Ok((result, first.and_then(|(_, outcome)| outcome)))
}

/// Reads what stands under `success`: an MCP server reports its own errors in there.
fn success_is_error(scanner: &mut Scanner<'_>) -> Scan<bool> {
    let mut is_error = false;
    scanner.object(|scanner, key| {
        let value = scanner.value()?;
        if key == "isError" {
            is_error = value.is_true();
        }
        Ok(())
    })?;
    Ok(is_error)
}

fn known_outcome(key: &str) -> Option<ToolOutcome> {
    let known = OUTCOMES.into_iter().find(|(name, _)| *name == key);
    known.map(|(_, outcome)| outcome)
}

/// The JSON object that a string holds.
fn object_in(string: Str<'_>) -> Option<Cow<'_, str>> {
    let text = string.json_text();
    let mut scanner = Scanner::new(&text);
    if scanner.peek() != Some(b'{') {
        return None;
    }
    let payload = scanner.value().ok()?.payload().into_owned();
    scanner.peek().is_none().then_some(Cow::Owned(payload))
}
