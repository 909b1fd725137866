//! Probing and model discovery as JavaScript sees them.

use std::future::Future;
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::{Error, Object, Result, ToNapiValue};
use napi_derive::napi;

use crate::cancel::{Cancel, cancel};
use crate::cli::auth::parse_auth_status;
use crate::cli::discover::{self, DiscoverError, ModelsRequest, discover, discover_provider};
use crate::cli::environment::compose;
use crate::cli::models::{Model, ModelList, Source, parse_models};
use crate::cli::probe::{self, ProbeRequest, probe, validate};
use crate::cli::verdict::BinaryStatus;
use crate::process::Owner;
use crate::runtime;
use crate::turn::Cause;

use super::promise::{no_room, panic_text, promise};
use super::turn::pairs;

/// What `lib/` has checked and passes on.
#[napi(object, object_to_js = false)]
pub struct InquiryOptions {
    /// A path or a name.
    pub binary: Option<String>,
    pub timeout_ms: Option<f64>,
    /// Names and values of the host's environment, one after the other.
    pub host_env: Vec<String>,
    /// The same of what the caller adds.
    pub added_env: Vec<String>,
}

#[napi(object, object_from_js = false)]
pub struct ProbeAnswer {
    pub available: bool,
    pub authenticated: bool,
    pub state: &'static str,
    pub binary_name: Option<String>,
    pub binary_path: Option<String>,
    pub launch_args: Vec<String>,
    pub configured_binary_path: Option<String>,
    pub using_configured_binary_path: bool,
    pub version: Option<String>,
    pub reason: Option<String>,
    pub diagnostics: Vec<String>,
    pub probe_duration_ms: f64,
}

#[napi(object, object_from_js = false)]
pub struct Validation {
    pub ok: bool,
    pub status: ProbeAnswer,
}

#[napi(object, object_from_js = false)]
pub struct ModelEntry {
    pub id: String,
    pub label: String,
    pub is_default: bool,
    pub is_current: bool,
    pub reasoning: Option<bool>,
    pub context_window: Option<f64>,
}

#[napi(object, object_from_js = false)]
pub struct ModelsAnswer {
    pub entries: Vec<ModelEntry>,
    pub source: &'static str,
    pub fallback_used: bool,
    pub reason: Option<String>,
}

#[napi(object, object_from_js = false)]
pub struct AuthAnswer {
    pub is_authenticated: Option<bool>,
    pub status: Option<String>,
    pub email: Option<String>,
}

/// One question to the CLI that can be given up.
#[napi]
pub struct Inquiry {
    owner: Owner,
    given_up: Cancel,
}

#[napi]
impl Inquiry {
    #[napi(constructor, catch_unwind)]
    pub fn new(scope: u32) -> Self {
        Self {
            owner: Owner(scope),
            given_up: cancel().0,
        }
    }

    /// Kill what runs for it, at once. Its promise rejects.
    #[napi(catch_unwind)]
    pub fn give_up(&self) {
        self.given_up.cancel();
    }

    /// Find the CLI; its version and its login.
    #[napi(catch_unwind, ts_return_type = "Promise<ProbeAnswer>")]
    pub fn probe<'env>(&self, env: &'env Env, options: InquiryOptions) -> Result<Object<'env>> {
        let owner = self.owner;
        self.ask(env, async move {
            ProbeAnswer::from(probe(request(owner, options)).await)
        })
    }

    /// Whether the named program itself is Cursor's agent.
    #[napi(catch_unwind, ts_return_type = "Promise<Validation>")]
    pub fn validate<'env>(&self, env: &'env Env, options: InquiryOptions) -> Result<Object<'env>> {
        let owner = self.owner;
        self.ask(env, async move {
            let (ok, status) = validate(request(owner, options)).await;
            Validation {
                ok,
                status: status.into(),
            }
        })
    }

    /// The models of the named program.
    #[napi(catch_unwind, ts_return_type = "Promise<ModelsAnswer>")]
    pub fn models<'env>(&self, env: &'env Env, options: InquiryOptions) -> Result<Object<'env>> {
        let owner = self.owner;
        self.ask(env, async move {
            let limit = limit(options.timeout_ms, discover::LIMIT);
            let request = request(owner, options);
            let request = ModelsRequest {
                binary: request.configured.unwrap_or_default(),
                environment: request.environment,
                limit,
                owner,
            };
            ModelsAnswer::from(discover(request).await)
        })
    }

    /// The models of the program that a probe finds.
    #[napi(catch_unwind, ts_return_type = "Promise<ModelsAnswer>")]
    pub fn provider_models<'env>(&self, env: &'env Env, options: InquiryOptions) -> Result<Object<'env>> {
        let owner = self.owner;
        self.ask(env, async move {
            let limit = limit(options.timeout_ms, discover::LIMIT);
            let found = discover_provider(request(owner, options), limit).await;
            found.models.map_or_else(
                || ModelsAnswer::none("probe", found.status.reason),
                ModelsAnswer::from,
            )
        })
    }
}

impl Inquiry {
    /// Let the runtime answer; given up, the answer is dropped there, and what runs for it with it.
    fn ask<'env, T: ToNapiValue + Send + 'static>(
        &self,
        env: &'env Env,
        answer: impl Future<Output = T> + Send + 'static,
    ) -> Result<Object<'env>> {
        let given_up = self.given_up.token().wait();
        let task = runtime::spawn(async move {
            #[cfg(feature = "panic-hooks")]
            super::panics::trip("inquiry");
            tokio::select! {
                answer = answer => Some(answer),
                () = given_up => None,
            }
        })
        .map_err(no_room)?;
        promise(env, async move {
            match task.await {
                Ok(Some(answer)) => Ok(answer),
                Ok(None) => Err(Error::from_reason("given up")),
                Err(ended) => Err(Error::from_reason(Cause::Internal(panic_text(ended)).to_string())),
            }
        })
    }
}

/// Not on the JavaScript thread: a large environment takes a while.
fn request(owner: Owner, options: InquiryOptions) -> ProbeRequest {
    ProbeRequest {
        configured: options.binary,
        environment: compose(pairs(options.host_env), pairs(options.added_env)),
        limit: limit(options.timeout_ms, probe::LIMIT),
        owner,
    }
}

/// Read the output of `models`.
#[napi(catch_unwind)]
#[allow(clippy::needless_pass_by_value, reason = "N-API gives a string away")]
pub fn parse_models_text(text: String) -> Vec<ModelEntry> {
    parse_models(&text)
        .entries
        .into_iter()
        .map(ModelEntry::from)
        .collect()
}

/// Read the output of `status`.
#[napi(catch_unwind)]
#[allow(clippy::needless_pass_by_value, reason = "N-API gives a string away")]
pub fn parse_auth_text(stdout: String) -> AuthAnswer {
    let auth = parse_auth_status(&stdout);
    AuthAnswer {
        is_authenticated: auth.is_authenticated,
        status: auth.status,
        email: auth.email,
    }
}

/// Zero, less, or no number: the default. A day at most, which keeps sums in range.
fn limit(ms: Option<f64>, default: Duration) -> Duration {
    const LONGEST_MS: f64 = 86_400_000.0;
    match ms {
        Some(ms) if ms > 0.0 => Duration::try_from_secs_f64(ms.min(LONGEST_MS) / 1000.0).unwrap_or(default),
        _ => default,
    }
}

impl From<BinaryStatus> for ProbeAnswer {
    fn from(status: BinaryStatus) -> Self {
        Self {
            available: status.state.available(),
            authenticated: status.state == crate::cli::verdict::State::Ready,
            state: status.state.name(),
            using_configured_binary_path: status.uses_configured(),
            binary_name: status.winner.map(|winner| winner.name),
            launch_args: status
                .program
                .iter()
                .flat_map(|program| &program.leading)
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            binary_path: status
                .program
                .map(|program| program.path.to_string_lossy().into_owned()),
            configured_binary_path: status.configured,
            version: status.version,
            reason: status.reason,
            diagnostics: status.diagnostics,
            probe_duration_ms: status.duration.as_secs_f64() * 1000.0,
        }
    }
}

impl ModelsAnswer {
    fn none(source: &'static str, reason: Option<String>) -> Self {
        Self {
            entries: Vec::new(),
            source,
            fallback_used: true,
            reason,
        }
    }
}

impl From<std::result::Result<ModelList, DiscoverError>> for ModelsAnswer {
    fn from(answer: std::result::Result<ModelList, DiscoverError>) -> Self {
        match answer {
            Ok(list) => Self {
                source: match list.source {
                    Source::Json => "models-json",
                    _ => "models-text",
                },
                fallback_used: false,
                reason: list
                    .entries
                    .is_empty()
                    .then(|| "no models available for this account".into()),
                entries: list.entries.into_iter().map(ModelEntry::from).collect(),
            },
            Err(error) => Self::none("none", Some(error.reason())),
        }
    }
}

impl From<Model> for ModelEntry {
    #[allow(
        clippy::cast_precision_loss,
        reason = "a number of tokens stays far below 2^53"
    )]
    fn from(model: Model) -> Self {
        Self {
            id: model.id,
            label: model.label,
            is_default: model.is_default,
            is_current: model.is_current,
            reasoning: model.reasoning,
            context_window: model.context_window.map(|window| window as f64),
        }
    }
}
