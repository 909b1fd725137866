//! Tool calls that have started and not ended.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::event::OpenCall;

/// A stream that only ever starts calls would grow without end: past either of these the oldest are forgotten.
const MOST_CALLS: usize = 10_000;
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// What a started call said, for the record that completes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Started {
    pub(super) call_id: Option<Box<str>>,
    pub(super) name: Box<str>,
    pub(super) kind: Box<str>,
    pub(super) args: Option<Box<str>>,
    pub(super) timeout_ms: Option<u64>,
}

impl Started {
    fn size(&self) -> usize {
        let id = self.call_id.as_deref().map_or(0, str::len);
        id + self.name.len() + self.kind.len() + self.args.as_deref().map_or(0, str::len)
    }
}

/// The open calls, oldest first.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<u64, Started>,
    by_id: HashMap<Box<str>, u64>,
    /// Those that came without an id, by kind.
    nameless: HashMap<Box<str>, VecDeque<u64>>,
    next: u64,
    bytes: usize,
}

impl Calls {
    /// A call with the id of an open one takes its place.
    pub(super) fn start(&mut self, call: Started) {
        let number = self.next;
        self.next += 1;
        if let Some(id) = &call.call_id {
            if let Some(old) = self.by_id.insert(id.clone(), number) {
                self.remove(old);
            }
        } else {
            self.nameless
                .entry(call.kind.clone())
                .or_default()
                .push_back(number);
        }
        self.bytes += call.size();
        self.open.insert(number, call);
        while self.open.len() > MOST_CALLS || self.bytes > MOST_BYTES {
            let Some((_, oldest)) = self.open.first_key_value() else {
                break;
            };
            let (id, kind) = (oldest.call_id.clone(), oldest.kind.clone());
            self.end(id.as_deref(), &kind);
        }
    }

    /// Takes out the call with this id, or, where the CLI gave none, the oldest of its kind.
    pub(super) fn end(&mut self, call_id: Option<&str>, kind: &str) -> Option<Started> {
        let number = if let Some(id) = call_id {
            self.by_id.remove(id)?
        } else {
            let waiting = self.nameless.get_mut(kind)?;
            let number = waiting.pop_front()?;
            if waiting.is_empty() {
                self.nameless.remove(kind);
            }
            number
        };
        self.remove(number)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = OpenCall<'_>> {
        self.open.values().map(|call| OpenCall {
            call_id: call.call_id.as_deref(),
            name: &call.name,
            kind: &call.kind,
            timeout_ms: call.timeout_ms,
        })
    }

    fn remove(&mut self, number: u64) -> Option<Started> {
        let call = self.open.remove(&number)?;
        self.bytes = self.bytes.saturating_sub(call.size());
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, MOST_CALLS, Started};

    fn call(id: Option<&str>, kind: &str, args: &str) -> Started {
        Started {
            call_id: id.map(Into::into),
            name: kind.into(),
            kind: kind.into(),
            args: Some(args.into()),
            timeout_ms: None,
        }
    }

    fn args(call: Option<Started>) -> Option<Box<str>> {
        call.and_then(|call| call.args)
    }

    #[test]
    fn a_call_is_found_by_its_id_once() {
        let mut calls = Calls::default();
        calls.start(call(Some("a"), "read", "1"));
        calls.start(call(Some("b"), "read", "2"));
        assert_eq!(args(calls.end(Some("b"), "read")).as_deref(), Some("2"));
        assert_eq!(calls.end(Some("b"), "read"), None);
        assert_eq!(calls.iter().count(), 1);
    }

    #[test]
    fn calls_without_ids_pair_by_kind_oldest_first() {
        let mut calls = Calls::default();
        calls.start(call(None, "mcp", "1"));
        calls.start(call(None, "shell", "2"));
        calls.start(call(None, "mcp", "3"));
        assert_eq!(args(calls.end(None, "mcp")).as_deref(), Some("1"));
        assert_eq!(args(calls.end(None, "mcp")).as_deref(), Some("3"));
        assert_eq!(calls.end(None, "mcp"), None);
        assert_eq!(args(calls.end(None, "shell")).as_deref(), Some("2"));
        assert_eq!(calls.bytes, 0);
    }

    #[test]
    fn a_second_start_with_the_same_id_replaces_the_first() {
        let mut calls = Calls::default();
        calls.start(call(Some("a"), "read", "1"));
        calls.start(call(Some("a"), "read", "2"));
        assert_eq!(calls.iter().count(), 1);
        assert_eq!(args(calls.end(Some("a"), "read")).as_deref(), Some("2"));
        assert_eq!(calls.bytes, 0);
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_are_too_many() {
        let mut calls = Calls::default();
        for number in 0..MOST_CALLS + 5 {
            calls.start(call(Some(&number.to_string()), "read", ""));
            calls.start(call(None, "shell", ""));
        }
        assert_eq!(calls.open.len(), MOST_CALLS);
        assert_eq!(calls.end(Some("0"), "read"), None);
        assert!(calls.end(Some(&(MOST_CALLS + 4).to_string()), "read").is_some());
    }
}
