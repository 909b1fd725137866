//! The tool bridge: the loopback server by which the child that Cursor starts calls tools of this host.
//!
//! Each bridge has its own port of 127.0.0.1, its own token, and a private folder with the list of its tools. It
//! takes `POST /tool-call` with the token, and nothing else. The tools themselves are behind [`Tools`]: this room
//! does not know what they are.

mod calls;
mod entry;
mod folder;
mod head;
mod message;
mod registry;
mod seats;
mod server;
mod socket;
mod token;

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::cancel::{Cancel, cancel};
use crate::hidden::Length;
use crate::process::Owner;
use crate::runtime::spawn_blocking;
use crate::{disk, runtime};

use calls::Calls;
use folder::SchemaFolder;
use head::Door;
use server::Shared;

pub use entry::{Child, Entry};
pub use registry::{Start, close_all};
pub use token::Token;

/// The one path.
const PATH: &str = "/tool-call";
/// Of a request, in bytes.
const BODY_LIMIT: u64 = 4 << 20;
/// Of a result as JSON, in bytes.
const RESULT_LIMIT: usize = 16 << 20;
/// At the same time.
const CONNECTIONS: usize = 64;

/// What runs the tools. Called on the runtime's threads, and must not block.
pub trait Tools: Send + Sync {
    /// A tool is called. [`Bridge::take`] tells which one, and [`Bridge::answer`] is for its result.
    ///
    /// # Errors
    /// Where there is nobody any more who could run it.
    fn called(&self, number: u32) -> Result<(), HostGone>;
    /// Nobody waits for the result of this call any more. Told once, and never after an answer.
    fn cancelled(&self, number: u32, why: Why);
}

/// There is nobody who could run a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostGone;

/// Why nobody waits for a call any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The caller gave it up, or has ended.
    CallerGone,
    /// It took too long.
    TimedOut,
    /// The bridge was closed.
    Disposed,
}

/// One call of a tool.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// Which tool: one of the names that the bridge was opened with.
    pub name: String,
    /// What the caller calls this call.
    pub call_id: String,
    /// The text of a JSON object, as it came.
    pub arguments: String,
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Call")
            .field("name", &self.name)
            .field("call_id", &self.call_id)
            .field("arguments", &Length::of(Some(&self.arguments)))
            .finish()
    }
}

/// What a bridge is opened with.
pub struct BridgeRequest {
    /// What runs the tools.
    pub tools: Arc<dyn Tools>,
    /// The names of the tools.
    pub names: HashSet<String>,
    /// The text for the child: its server and its tools.
    pub schema: String,
    /// Where the private folder is made.
    pub folder: PathBuf,
    /// How long one call may take.
    pub call_limit: Duration,
    /// Whose it is.
    pub start: Start,
}

/// Why no bridge could be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// No token could be made.
    #[error("the system gave no random numbers for the token of a tool bridge: {0}")]
    NoRandom(getrandom::Error),
    /// There is no port to listen on.
    #[error("a tool bridge cannot listen on 127.0.0.1: {0}; try again when the system has room")]
    NoPort(io::Error),
    /// The list of tools could not be put where the child finds it.
    #[error("the list of tools could not be written, {0}; it lies in the folder that TMPDIR names")]
    NoFolder(#[from] disk::Error),
    /// A fault of this crate.
    #[error("a tool bridge was not opened: {0}")]
    Internal(String),
}

impl From<getrandom::Error> for BridgeError {
    fn from(error: getrandom::Error) -> Self {
        Self::NoRandom(error)
    }
}

/// A bridge that is open. The core knows it too: to forget this is not to close it.
#[derive(Clone)]
pub struct Bridge(Arc<Inner>);

struct Inner {
    number: u64,
    scope: Owner,
    folder: SchemaFolder,
    shared: Arc<Shared>,
    close: Cancel,
    /// True when the last connection is gone.
    ended: watch::Receiver<bool>,
}

/// Open a bridge.
///
/// # Errors
/// Nothing is left behind then.
pub async fn open(request: BridgeRequest) -> Result<Bridge, BridgeError> {
    // On this crate's runtime, whoever asks: the port belongs to the runtime that it was opened on.
    let opening = runtime::spawn(open_here(request)).map_err(BridgeError::NoPort)?;
    opening
        .await
        .map_err(|ended| BridgeError::Internal(ended.to_string()))?
}

async fn open_here(request: BridgeRequest) -> Result<Bridge, BridgeError> {
    let BridgeRequest {
        tools,
        names,
        schema,
        folder,
        call_limit,
        start,
    } = request;
    if start.is_too_late() {
        return Err(BridgeError::Internal("the process is about to end".into()));
    }
    let token = Token::random()?;
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.map_err(BridgeError::NoPort)?;
    let port = listener.local_addr().map_err(BridgeError::NoPort)?.port();
    let random = u64::from_le_bytes(random);
    let folder = spawn_blocking(move || SchemaFolder::make(&folder, &schema, random));
    let folder = folder
        .await
        .map_err(|ended| BridgeError::Internal(ended.to_string()))??;
    let (close, closed) = cancel();
    let count = names.len();
    let shared = Arc::new(Shared {
        door: Door {
            host: format!("{}:{port}", Ipv4Addr::LOCALHOST),
            token,
        },
        names,
        calls: Calls::new(tools, call_limit),
        closed,
    });
    let (over, ended) = watch::channel(false);
    let serving = Arc::clone(&shared);
    let bridge = Bridge(Arc::new(Inner {
        number: registry::number(),
        scope: start.owner(),
        folder,
        shared,
        close,
        ended,
    }));
    let begun = runtime::spawn(async move {
        server::serve(listener, serving).await;
        over.send_replace(true);
    });
    if let Err(error) = begun {
        bridge.0.folder.remove();
        return Err(BridgeError::NoPort(error));
    }
    registry::add(&bridge);
    drop(start);
    tracing::debug!(port, tools = count, "a tool bridge is open");
    Ok(bridge)
}

impl Bridge {
    /// Where calls go.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.0.shared.door.host)
    }

    /// What a caller has to show.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.0.shared.door.token
    }

    /// The file with the text for the child.
    #[must_use]
    pub fn schema_file(&self) -> PathBuf {
        self.0.folder.schema()
    }

    /// What a call asks for; once, and only as long as somebody waits for its answer.
    #[must_use]
    pub fn take(&self, number: u32) -> Option<Call> {
        self.0.shared.calls.take(number)
    }

    /// The result of a call, as the JSON text that goes to the caller. Over 16 MiB it becomes an error that says so;
    /// too late it is forgotten.
    pub fn answer(&self, number: u32, json: String) {
        self.0.shared.calls.answer(number, json);
    }

    /// Close it: calls that run are answered with an error and called off, and the folder goes. Resolves when all of
    /// that is done, within about 1 s; again and at the same time is as good as once.
    pub async fn dispose(&self) {
        self.0.close.cancel();
        let inner = Arc::clone(&self.0);
        let removed = spawn_blocking(move || {
            inner.folder.remove();
            // Last: a host that ends in between removes the folder itself, and does not leave it to this thread.
            registry::remove(inner.number);
        });
        let mut ended = self.0.ended.clone();
        // An error is a server that panicked: it is gone as well.
        let _over = ended.wait_for(|ended| *ended).await.is_ok();
        let _removed = removed.await;
    }

    /// The same without any wait: the answers go out behind it. *Sync*, for a host that ends.
    pub fn close(&self) {
        self.0.close.cancel();
        self.0.folder.remove();
        registry::remove(self.0.number);
    }
}

impl fmt::Debug for Bridge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Bridge")
            .field("url", &self.url())
            .field("schema_file", &Path::new(&self.schema_file()))
            .finish_non_exhaustive()
    }
}
