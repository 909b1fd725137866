//! One record, read once: the members that events are made of, as slices of the line.

use super::json::{Scan, Scanner};
use super::tools::Tool;
use super::unescape::Piece;
use super::value::{Str, Value};

/// The members of a record, whatever its type; of one that is there twice, the last.
#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) record_type: Option<Value<'a>>,
    pub(super) subtype: Option<Value<'a>>,
    pub(super) session_id: Option<Value<'a>>,
    pub(super) message: Option<Message<'a>>,
    pub(super) text: Option<Value<'a>>,
    pub(super) timestamp_ms: Option<Value<'a>>,
    pub(super) model_call_id: Option<Value<'a>>,
    pub(super) call_id: Option<Value<'a>>,
    pub(super) tool_call: Tool<'a>,
    pub(super) query_type: Option<Value<'a>>,
    pub(super) query: Option<Value<'a>>,
    pub(super) response: Option<Value<'a>>,
    pub(super) attempt: Option<Value<'a>>,
    pub(super) is_error: Option<Value<'a>>,
    pub(super) status: Option<Value<'a>>,
    pub(super) result: Option<Value<'a>>,
    pub(super) usage: Option<Value<'a>>,
    pub(super) request_id: Option<Value<'a>>,
    pub(super) duration_ms: Option<Value<'a>>,
    pub(super) cwd: Option<Value<'a>>,
    pub(super) model: Option<Value<'a>>,
    pub(super) api_key_source: Option<Value<'a>>,
    pub(super) permission_mode: Option<Value<'a>>,
}

impl<'a> Envelope<'a> {
    /// Reads the object at the scanner. Into an envelope that is there already: they are large.
    pub(super) fn read(&mut self, scanner: &mut Scanner<'a>) -> Scan<()> {
        scanner.object(|scanner, key| {
            let slot = match &**key {
                "type" => &mut self.record_type,
                "subtype" => &mut self.subtype,
                "session_id" => &mut self.session_id,
                "text" => &mut self.text,
                "timestamp_ms" => &mut self.timestamp_ms,
                "model_call_id" => &mut self.model_call_id,
                "call_id" => &mut self.call_id,
                "message" => {
                    self.message = Message::read(scanner)?;
                    return Ok(());
                }
                "tool_call" => {
                    self.tool_call = Tool::default();
                    if scanner.peek() == Some(b'{') {
                        self.tool_call = Tool::read(scanner)?;
                    } else {
                        scanner.value()?;
                    }
                    return Ok(());
                }
                "query_type" => &mut self.query_type,
                "query" => &mut self.query,
                "response" => &mut self.response,
                "attempt" => &mut self.attempt,
                "is_error" => &mut self.is_error,
                "status" => &mut self.status,
                "result" => &mut self.result,
                "usage" => &mut self.usage,
                "request_id" => &mut self.request_id,
                "duration_ms" => &mut self.duration_ms,
                "cwd" => &mut self.cwd,
                "model" => &mut self.model,
                "apiKeySource" => &mut self.api_key_source,
                "permissionMode" => &mut self.permission_mode,
                _ => {
                    scanner.value()?;
                    return Ok(());
                }
            };
            let value = scanner.value()?;
            *slot = (!value.is_null()).then_some(value);
            Ok(())
        })?;
        Ok(())
    }
}

/// The texts of a message, in order.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    first: Option<Str<'a>>,
    more: Vec<Str<'a>>,
}

impl<'a> Message<'a> {
    /// Reads the value at the scanner; `None` where it holds no text at all.
    fn read(scanner: &mut Scanner<'a>) -> Scan<Option<Self>> {
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            return Ok(None);
        }
        let mut message = None;
        scanner.object(|scanner, key| {
            if key == "content" {
                message = Self::read_content(scanner)?;
            } else {
                scanner.value()?;
            }
            Ok(())
        })?;
        Ok(message)
    }

    fn read_content(scanner: &mut Scanner<'a>) -> Scan<Option<Self>> {
        let mut message = Self::default();
        let mut others = false;
        if scanner.peek() == Some(b'[') {
            scanner.array(|scanner| {
                let text = read_item(scanner)?;
                others |= text.is_none();
                message.push(text);
                Ok(())
            })?;
        } else {
            let text = scanner.value()?.string();
            others = text.is_none();
            message.push(text);
        }
        Ok((message.first.is_some() || !others).then_some(message))
    }

    fn push(&mut self, text: Option<Str<'a>>) {
        if self.first.is_none() {
            self.first = text;
        } else {
            self.more.extend(text);
        }
    }

    /// The texts, decoded and joined.
    pub(super) fn piece(&self) -> Piece<'a> {
        match (&self.first, self.more.as_slice()) {
            (None, _) => Piece::default(),
            (Some(only), []) => only.piece(),
            (Some(first), more) => Piece::decode(std::iter::once(first).chain(more).map(|text| text.raw)),
        }
    }
}

/// One item of a message's content: its text, where it is one of text.
fn read_item<'a>(scanner: &mut Scanner<'a>) -> Scan<Option<Str<'a>>> {
    if scanner.peek() != Some(b'{') {
        return Ok(scanner.value()?.string());
    }
    let (mut text, mut is_text) = (None, true);
    scanner.object(|scanner, key| {
        let value = scanner.value()?;
        match &**key {
            "type" => is_text = value.string().is_some_and(|kind| kind.text() == "text"),
            "text" => text = value.string(),
            _ => {}
        }
        Ok(())
    })?;
    Ok(text.filter(|_| is_text))
}
