//! Log records: off until somebody asks, filtered by target, and handed to any number of sinks.
//!
//! Nothing that is logged in this crate holds prompt text, answers, tokens or values of the environment.

use std::fmt::Write as _;
use std::sync::{Arc, Once};
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::RwLock;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record as SpanRecord};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Scope};

/// The variable that sets the level at load, as a level or as a list like `warn,fusion_cursor_native::turn=debug`.
pub const LEVEL_VARIABLE: &str = "FUSION_CURSOR_LOG";

/// One log record.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: &'static str,
    /// The module.
    pub target: String,
    /// What happened.
    pub message: String,
    /// Of the record, and of the spans around it from the outside in; the inner one of a name counts.
    pub fields: Map<String, Value>,
    /// Milliseconds since 1970.
    pub time: f64,
}

impl Record {
    /// As a JSON object.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::json!({
            "level": self.level,
            "target": self.target,
            "message": self.message,
            "fields": self.fields,
            "time": self.time,
        })
        .to_string()
    }

    /// As one line for a person.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut line = format!("{:5} {}: {}", self.level, self.target, self.message);
        for (name, value) in &self.fields {
            // Writing to a string cannot fail.
            let _always = write!(line, " {name}={value}");
        }
        line
    }
}

/// Takes records. Called from any thread, and must not block.
pub type Sink = Arc<dyn Fn(&Record) + Send + Sync>;

struct Route {
    key: u32,
    targets: Targets,
    sink: Sink,
}

static ROUTES: RwLock<Vec<Route>> = RwLock::new(Vec::new());

/// Send records that pass `filter` to `sink`, in place of what this key had before.
///
/// # Errors
/// Where the filter is neither a level nor a list of targets; nothing is changed then.
pub fn route(key: u32, filter: &str, sink: Sink) -> Result<(), String> {
    let targets = parse(filter).ok_or_else(|| {
        format!(
            "{filter:?} is neither a level (off, error, warn, info, debug, trace) nor a list of them and modules"
        )
    })?;
    install();
    let mut routes = ROUTES.write();
    routes.retain(|route| route.key != key);
    routes.push(Route { key, targets, sink });
    drop(routes);
    tracing::callsite::rebuild_interest_cache();
    Ok(())
}

/// Send this key's records nowhere.
pub fn unroute(key: u32) {
    ROUTES.write().retain(|route| route.key != key);
    tracing::callsite::rebuild_interest_cache();
}

/// Send no records anywhere any more.
pub fn unroute_all() {
    ROUTES.write().clear();
    tracing::callsite::rebuild_interest_cache();
}

/// A word of its own is a level or one of our modules; anything else is a slip, and would select nothing.
fn parse(filter: &str) -> Option<Targets> {
    let mut words = filter
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty() && !word.contains('='));
    let known =
        |word: &str| word.parse::<LevelFilter>().is_ok() || word.starts_with(env!("CARGO_CRATE_NAME"));
    if words.all(known) {
        filter.parse().ok()
    } else {
        None
    }
}

fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Fails only where this library's own copy of tracing has a subscriber, and it has none but this.
        let _second = tracing::subscriber::set_global_default(Registry::default().with(Routes));
    });
}

/// The layer that looks at [`ROUTES`] for each record.
struct Routes;

/// A span's fields, kept with the span.
struct SpanFields(Map<String, Value>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Routes {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if wanted(metadata) {
            Interest::always()
        } else {
            Interest::never()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        wanted(metadata)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let routes = ROUTES.read();
        let levels = routes.iter().map(|route| most_verbose(&route.targets));
        Some(levels.max().unwrap_or(LevelFilter::OFF))
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(SpanFields(fields.map));
        }
    }

    fn on_record(&self, id: &Id, values: &SpanRecord<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        if let Some(span) = context.span(id)
            && let Some(known) = span.extensions_mut().get_mut::<SpanFields>()
        {
            known.0.extend(fields.map);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let sinks: Vec<Sink> = {
            let routes = ROUTES.read();
            let wanted = routes.iter().filter(|route| passes(&route.targets, metadata));
            wanted.map(|route| Arc::clone(&route.sink)).collect()
        };
        if sinks.is_empty() {
            return;
        }
        let mut fields = Map::new();
        for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
            if let Some(known) = span.extensions().get::<SpanFields>() {
                fields.extend(known.0.clone());
            }
        }
        let mut own = Fields::default();
        event.record(&mut own);
        fields.extend(own.map);
        let record = Record {
            level: level_name(*metadata.level()),
            target: metadata.target().to_owned(),
            message: own.message,
            fields,
            time: now(),
        };
        for sink in sinks {
            sink(&record);
        }
    }
}

fn wanted(metadata: &Metadata<'_>) -> bool {
    ROUTES.read().iter().any(|route| passes(&route.targets, metadata))
}

fn passes(targets: &Targets, metadata: &Metadata<'_>) -> bool {
    targets.would_enable(metadata.target(), metadata.level())
}

fn most_verbose(targets: &Targets) -> LevelFilter {
    let named = targets.iter().map(|(_, level)| level);
    named
        .chain(targets.default_level())
        .max()
        .unwrap_or(LevelFilter::OFF)
}

/// Milliseconds since 1970.
#[allow(
    clippy::disallowed_methods,
    reason = "a record says when it was by the clock on the wall"
)]
fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |now| now.as_secs_f64() * 1000.0)
}

fn level_name(level: tracing::Level) -> &'static str {
    match level {
        tracing::Level::ERROR => "error",
        tracing::Level::WARN => "warn",
        tracing::Level::INFO => "info",
        tracing::Level::DEBUG => "debug",
        tracing::Level::TRACE => "trace",
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    map: Map<String, Value>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: Value) {
        self.map.insert(field.name().to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        } else {
            self.put(field, format!("{value:?}").into());
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            value.clone_into(&mut self.message);
        } else {
            self.put(field, value.into());
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;

    fn collector() -> (Sink, Arc<Mutex<Vec<Record>>>) {
        let records = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&records);
        (
            Arc::new(move |record: &Record| kept.lock().push(record.clone())),
            records,
        )
    }

    // One test, since the routes are the process's.
    #[test]
    fn records_reach_the_sinks_that_want_them_with_the_fields_of_their_spans() {
        let (all, seen_by_all) = collector();
        let (few, seen_by_few) = collector();
        tracing::error!("before anybody listens");
        route(1, "debug", all).unwrap();
        route(2, "off,fusion_cursor_native::elsewhere=warn", few).unwrap();

        let span = tracing::info_span!("turn", turn = 7, pid = tracing::field::Empty);
        span.record("pid", 42);
        span.in_scope(|| {
            tracing::debug!(lines = 3_u64, ok = true, "streaming {}", "now");
            tracing::warn!(target: "fusion_cursor_native::elsewhere", turn = 8, "odd");
            tracing::trace!("too quiet");
        });
        let records = seen_by_all.lock().clone();
        assert_eq!(records.len(), 2, "{records:?}");
        assert_eq!(
            (records[0].level, records[0].message.as_str()),
            ("debug", "streaming now")
        );
        let fields = serde_json::json!({ "turn": 7, "pid": 42, "lines": 3, "ok": true });
        assert_eq!(Value::Object(records[0].fields.clone()), fields);
        assert_eq!(records[1].fields["turn"], 8, "the inner field counts");
        assert!(records[0].time > 1.7e12);
        assert_eq!(seen_by_few.lock().len(), 1);
        assert!(
            records[1]
                .to_line()
                .starts_with("warn  fusion_cursor_native::elsewhere: odd")
        );

        unroute(1);
        tracing::error!("nobody listens");
        assert_eq!(seen_by_all.lock().len(), 2);
        for slip in ["loud", "warn,loud", "fusion_cursor_native=loud", "a=b=c"] {
            let (sink, _) = collector();
            assert!(route(1, slip, sink).is_err(), "{slip}");
        }
    }
}
