//! A batch of events on its way into JavaScript.

use napi::bindgen_prelude::{ObjectFinalize, Uint32Array};
use napi::{Env, Error, JsString, Result};
use napi_derive::napi;

use crate::stream::batch::Batch;
use crate::stream::payloads::Payload;

/// One batch. Its strings and its table are taken once; its payloads can be read as long as it lives.
#[napi(custom_finalize)]
pub struct EventBatch {
    batch: Batch,
    /// What the garbage collector was told of, in bytes: it sees a small object, and would let hundreds of
    /// megabytes of payloads wait.
    told: i64,
}

impl From<Batch> for EventBatch {
    fn from(batch: Batch) -> Self {
        Self { batch, told: 0 }
    }
}

impl ObjectFinalize for EventBatch {
    fn finalize(self, env: Env) -> Result<()> {
        env.adjust_external_memory(-self.told).map(|_| ())
    }
}

#[napi]
impl EventBatch {
    /// The string of all Latin-1 text.
    #[napi(catch_unwind)]
    pub fn narrow<'env>(&mut self, env: &'env Env) -> Result<JsString<'env>> {
        #[cfg(feature = "panic-hooks")]
        super::panics::trip("callback");
        if self.told == 0 {
            self.told = i64::try_from(self.batch.payloads.size()).unwrap_or(0);
            env.adjust_external_memory(self.told)?;
        }
        env.create_string_latin1(std::mem::take(&mut self.batch.narrow))
    }

    /// The string of all other text.
    #[napi(catch_unwind)]
    pub fn wide<'env>(&mut self, env: &'env Env) -> Result<JsString<'env>> {
        env.create_string_utf16(std::mem::take(&mut self.batch.wide))
    }

    /// Kinds and fields, see `stream::batch`.
    #[napi(catch_unwind)]
    pub fn table(&mut self) -> Uint32Array {
        Uint32Array::new(std::mem::take(&mut self.batch.table))
    }

    /// Give the memory back now, and not when this object is collected, which may be much later: it looks small.
    #[napi(catch_unwind)]
    pub fn release(&mut self, env: Env) -> Result<()> {
        self.batch = Batch::default();
        env.adjust_external_memory(-std::mem::take(&mut self.told))
            .map(|_| ())
    }

    /// The JSON text of one payload.
    #[napi(catch_unwind)]
    pub fn payload<'env>(&self, env: &'env Env, number: u32) -> Result<JsString<'env>> {
        let payload = self.batch.payloads.get(number);
        match payload.ok_or_else(|| Error::from_reason(format!("the batch has no payload {number}")))? {
            // ASCII, the usual, is Latin-1 as it stands, and V8 need not look for anything else in it.
            Payload::Utf8(json) if json.is_ascii() => env.create_string_latin1(json),
            Payload::Utf8(json) => env.create_string(json),
            Payload::Utf16(json) => env.create_string_utf16(json),
        }
    }
}
