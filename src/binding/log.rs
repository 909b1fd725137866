//! Log records on their way into JavaScript, or to standard error.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use napi::Status;
use napi::bindgen_prelude::{Error, Function, Result};
use napi::threadsafe_function::{ThreadsafeFunctionCallMode, UnknownReturnValue};
use napi_derive::napi;
use serde_json::Value;

#[cfg(unix)]
use crate::diagnostics::unroute_all;
use crate::diagnostics::{Record, Sink, route, unroute};

/// How many records may wait for the event loop.
const QUEUE: usize = 1024;

/// Send this environment's records that pass the filter to a function, as JSON text, or to standard error.
#[napi(catch_unwind)]
#[allow(clippy::needless_pass_by_value, reason = "N-API gives its arguments away")]
pub fn set_log(
    scope: u32,
    filter: String,
    sink: Option<Function<'_, String, UnknownReturnValue>>,
) -> Result<()> {
    let sink = match sink {
        None => to_stderr(),
        Some(sink) => {
            // Weak: a logger keeps no process alive. Bounded: it slows no turn.
            let queue = sink
                .build_threadsafe_function::<String>()
                .weak::<true>()
                .max_queue_size::<QUEUE>()
                .build_callback(|call| Ok(call.value))?;
            let dropped = AtomicU64::new(0);
            let send = move |record: &Record| {
                let missed = dropped.swap(0, Ordering::Relaxed);
                let json = if missed == 0 {
                    record.to_json()
                } else {
                    with_missed(record, missed)
                };
                if queue.call(json, ThreadsafeFunctionCallMode::NonBlocking) != Status::Ok {
                    dropped.fetch_add(missed + 1, Ordering::Relaxed);
                }
            };
            Arc::new(send) as Sink
        }
    };
    route(scope, &filter, sink).map_err(Error::from_reason)
}

/// Nothing of this environment is logged any more.
pub(super) fn forget(scope: u32) {
    unroute(scope);
}

/// Nothing of any environment is logged any more.
#[cfg(unix)]
pub(super) fn forget_all() {
    unroute_all();
}

fn with_missed(record: &Record, missed: u64) -> String {
    let mut record = record.clone();
    record.fields.insert("dropped".into(), Value::from(missed));
    record.to_json()
}

fn to_stderr() -> Sink {
    Arc::new(|record: &Record| {
        let line = format!("{}\n", record.to_line());
        // A closed standard error is no reason to fail a turn.
        let _closed = std::io::stderr().lock().write_all(line.as_bytes());
    })
}
