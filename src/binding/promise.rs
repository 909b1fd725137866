//! Promises of what the runtime works out.

use std::future::Future;

use napi::Env;
use napi::bindgen_prelude::{AsyncBlock, AsyncBlockBuilder, Result, ToNapiValue};
use tokio::task::JoinError;

/// A promise for what this future gives. The future must own all that it needs.
///
/// For methods, in place of an `async fn`: its future borrows the object, and an environment that ends frees the
/// object while the future is still waiting. Reading it then crashes the host.
pub(super) fn promise<T: ToNapiValue + Send + 'static>(
    env: Env,
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<AsyncBlock<T>> {
    AsyncBlockBuilder::new(future).build(&env)
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
