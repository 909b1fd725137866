//! Tool bridges as JavaScript sees them: calls come by a function, and answers go back by the handle.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use napi::bindgen_prelude::{Object, Result};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode, UnknownReturnValue};
use napi::{Env, Status};
use napi_derive::napi;

use crate::bridge::{self, Bridge, BridgeRequest, Child, HostGone, Start, Tools, Why};
use crate::process::Owner;
use crate::session::told;

use super::lease::StagingProblem;
use super::promise::answer;
use super::turn::pairs;

/// What `lib/` has checked and passes on.
#[napi(object, object_to_js = false)]
pub struct BridgeOptions {
    pub names: Vec<String>,
    /// JSON text for the child.
    pub schema: String,
    /// Where the private folder is made.
    pub folder: String,
    pub call_timeout_ms: f64,
    /// Tools that were passed and are not published.
    pub left_out: u32,
}

/// The child that serves the tools to Cursor.
#[napi(object, object_to_js = false)]
pub struct BridgeChild {
    pub command: String,
    /// What that program is told before the name of a script.
    pub flags: Vec<String>,
    pub script: String,
    /// Names and values of what that program needs to run it, one after the other.
    pub env: Vec<String>,
}

impl From<BridgeChild> for Child {
    fn from(child: BridgeChild) -> Self {
        Self {
            command: child.command,
            flags: child.flags,
            script: child.script,
            env: pairs(child.env),
        }
    }
}

/// How that child is started.
#[napi(object, object_from_js = false)]
pub struct BridgeEntry {
    pub command: String,
    pub args: Vec<String>,
    /// Names and values, one after the other.
    pub env: Vec<String>,
}

/// What happens to a call.
#[napi(object, object_from_js = false)]
pub struct BridgeEvent {
    pub number: u32,
    /// Absent: the tool is called. Else nobody waits for it any more: `caller`, `timeout` or `disposed`.
    pub cancelled: Option<&'static str>,
}

/// One call.
#[napi(object, object_from_js = false)]
pub struct BridgeCall {
    pub name: String,
    pub call_id: String,
    /// JSON text.
    pub arguments: String,
}

/// A bridge, or why there is none.
#[napi(object, object_from_js = false)]
pub struct BridgeAnswer {
    pub bridge: Option<BridgeHandle>,
    pub problem: Option<StagingProblem>,
}

/// Weak: a bridge keeps no process alive. Its queue has no limit, and needs none: calls are bounded by connections.
pub(super) type OnEvent =
    ThreadsafeFunction<BridgeEvent, UnknownReturnValue, BridgeEvent, Status, false, true>;

/// The tools of the JavaScript thread that opened the bridge.
pub(super) struct JavaScript {
    pub(super) on_event: OnEvent,
}

impl JavaScript {
    fn tell(&self, number: u32, cancelled: Option<&'static str>) -> Status {
        let event = BridgeEvent { number, cancelled };
        self.on_event.call(event, ThreadsafeFunctionCallMode::NonBlocking)
    }
}

impl Tools for JavaScript {
    fn called(&self, number: u32) -> std::result::Result<(), HostGone> {
        match self.tell(number, None) {
            Status::Ok => Ok(()),
            _ => Err(HostGone),
        }
    }

    fn cancelled(&self, number: u32, why: Why) {
        let why = match why {
            Why::CallerGone => "caller",
            Why::TimedOut => "timeout",
            Why::Disposed => "disposed",
        };
        // Where nobody hears of it, there is nobody whose work could be called off.
        let _gone = self.tell(number, Some(why));
    }
}

/// A bridge that is open.
#[napi]
pub struct BridgeHandle {
    pub(super) bridge: Bridge,
}

/// Open a bridge. `onEvent` is told of calls and of their ends.
#[napi(catch_unwind, ts_return_type = "Promise<BridgeAnswer>")]
pub fn open_bridge(
    env: &Env,
    scope: u32,
    options: BridgeOptions,
    #[napi(ts_arg_type = "(event: BridgeEvent) => void")] on_event: OnEvent,
) -> Result<Object<'_>> {
    let request = BridgeRequest {
        tools: Arc::new(JavaScript { on_event }),
        names: options.names.into_iter().collect(),
        schema: options.schema,
        folder: super::turn::absolute(options.folder).into(),
        call_limit: limit(options.call_timeout_ms),
        start: Start::of(Owner(scope)),
    };
    let left_out = options.left_out;
    answer(env, async move {
        log_left_out(left_out);
        match bridge::open(request).await {
            Ok(bridge) => BridgeAnswer {
                bridge: Some(BridgeHandle { bridge }),
                problem: None,
            },
            Err(error) => BridgeAnswer {
                bridge: None,
                problem: Some(StagingProblem::told(&told(&error), Path::new(""))),
            },
        }
    })
}

#[napi]
impl BridgeHandle {
    /// What Cursor is to start.
    #[napi(catch_unwind)]
    pub fn entry(&self, child: BridgeChild) -> BridgeEntry {
        let entry = self.bridge.entry(&child.into());
        BridgeEntry {
            command: entry.command,
            args: entry.args,
            env: entry
                .env
                .into_iter()
                .flat_map(|(name, value)| [name, value])
                .collect(),
        }
    }

    /// What a caller has to show.
    #[napi(catch_unwind)]
    pub fn token(&self) -> String {
        self.bridge.token().reveal().to_owned()
    }

    /// What a call asks for; nothing where nobody waits for it any more.
    #[napi(catch_unwind)]
    pub fn take(&self, number: u32) -> Option<BridgeCall> {
        let call = self.bridge.take(number)?;
        Some(BridgeCall {
            name: call.name,
            call_id: call.call_id,
            arguments: call.arguments,
        })
    }

    /// The result of a call: the JSON text that the caller gets.
    #[napi(catch_unwind)]
    pub fn answer(&self, number: u32, json: String) {
        self.bridge.answer(number, json);
    }

    /// Close it, and wait until all of it is gone.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn dispose<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let bridge = self.bridge.clone();
        answer(env, async move { bridge.dispose().await })
    }
}

impl Drop for BridgeHandle {
    /// JavaScript's own function holds it as long as calls can come. So this is the end of the environment, or there
    /// was nobody left to give it to.
    fn drop(&mut self) {
        self.bridge.close();
    }
}

pub(super) fn log_left_out(count: u32) {
    if count > 0 {
        tracing::debug!(
            count,
            "tools are not published: no fn_* name, or nothing to execute"
        );
    }
}

/// A day at most, which keeps sums in range.
pub(super) fn limit(ms: f64) -> Duration {
    const LONGEST_MS: f64 = 86_400_000.0;
    Duration::try_from_secs_f64(ms.clamp(1.0, LONGEST_MS) / 1000.0).unwrap_or(Duration::from_secs(600))
}
