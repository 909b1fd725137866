//! Promises of what the runtime works out.
//!
//! On this crate's own runtime. N-API's is made while the addon is loaded, and ends the host where the system has no
//! thread for it.

use std::future::Future;
use std::io;

use napi::bindgen_prelude::{Error, Object, Result, ToNapiValue};
use napi::{Env, Status};
use tokio::task::JoinError;

use crate::runtime;
use crate::turn::Cause;

/// A promise for what this future gives; its panic is a rejection. The future must own all that it needs.
///
/// For methods, in place of an `async fn`: its future borrows the object, and an environment that ends frees the
/// object while the future is still waiting. Reading it then crashes the host.
pub(super) fn promise<T: ToNapiValue + Send + 'static>(
    env: &Env,
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<Object<'_>> {
    let (deferred, promise) = env.create_deferred()?;
    let task = runtime::spawn(future).map_err(no_room)?;
    let settle = async move {
        match task.await {
            Ok(Ok(value)) => deferred.resolve(move |_| Ok(value)),
            Ok(Err(error)) => deferred.reject(error),
            // Dropped in a panic, the promise would never settle.
            Err(ended) => deferred.reject(Error::from_reason(panic_text(ended))),
        }
    };
    runtime::spawn(settle).map_err(no_room)?;
    Ok(promise)
}

/// The same for what always has an answer; its panic is told as a fault of this package.
pub(super) fn answer<T: ToNapiValue + Send + 'static>(
    env: &Env,
    future: impl Future<Output = T> + Send + 'static,
) -> Result<Object<'_>> {
    let task = runtime::spawn(future).map_err(no_room)?;
    promise(env, async move {
        task.await
            .map_err(|ended| Error::from_reason(Cause::Internal(panic_text(ended)).to_string()))
    })
}

/// The system has no thread or no descriptor to run anything on. `lib/` knows it by this status, which nothing else
/// has.
#[allow(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(super) fn no_room(error: io::Error) -> Error {
    Error::new(Status::QueueFull, error.to_string())
}

/// What a task that ended without an answer panicked with.
pub(super) fn panic_text(ended: JoinError) -> String {
    match ended.try_into_panic() {
        Ok(panic) => panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic".into()),
        Err(_) => "the task was cancelled".into(),
    }
}
