//! A bridge with tools that a test can see into, and callers that speak in bytes.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use fusion_cursor_native::bridge::{Bridge, BridgeRequest, Call, HostGone, Start, Tools, Why, open};
use fusion_cursor_native::process::Owner;
use parking_lot::{Condvar, Mutex};
use serde_json::Value;
use tempfile::TempDir;

/// How long any single thing may take before a test gives up on it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Answers at once, with the arguments.
pub(crate) const ECHO: &str = "fn_echo";
/// Answers with as many bytes as its argument `bytes` says.
pub(crate) const LARGE: &str = "fn_large";
/// Answers when the test does it.
pub(crate) const LATER: &str = "fn_later";

static SCOPES: AtomicU32 = AtomicU32::new(1);

#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// How many calls the host was told of.
    pub(crate) told: usize,
    /// By number; those that were taken.
    pub(crate) called: Vec<(u32, Call)>,
    pub(crate) cancelled: Vec<(u32, Why)>,
}

#[derive(Default)]
pub(crate) struct Host {
    bridge: OnceLock<Bridge>,
    seen: Mutex<Seen>,
    changed: Condvar,
    gone: bool,
    blocked: bool,
}

impl Host {
    /// One that cannot be told of calls any more.
    pub(crate) fn gone() -> Self {
        Self {
            gone: true,
            ..Self::default()
        }
    }

    /// One that looks at no call, as an event loop that stands still.
    pub(crate) fn blocked() -> Self {
        Self {
            blocked: true,
            ..Self::default()
        }
    }
}

impl Tools for Host {
    fn called(&self, number: u32) -> Result<(), HostGone> {
        if self.gone {
            return Err(HostGone);
        }
        self.seen.lock().told += 1;
        self.changed.notify_all();
        if self.blocked {
            return Ok(());
        }
        let bridge = self.bridge.get().unwrap();
        let call = bridge.take(number).unwrap();
        // Seen before it is answered, as the caller may look at once; and until it is answered, nobody looks.
        let mut seen = self.seen.lock();
        seen.called.push((number, call.clone()));
        match call.name.as_str() {
            ECHO => bridge.answer(number, format!(r#"{{"echo":{}}}"#, call.arguments)),
            LARGE => {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
                let bytes = usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap();
                bridge.answer(number, "x".repeat(bytes));
            }
            _ => {}
        }
        drop(seen);
        self.changed.notify_all();
        Ok(())
    }

    fn cancelled(&self, number: u32, why: Why) {
        self.seen.lock().cancelled.push((number, why));
        self.changed.notify_all();
    }
}

/// An open bridge.
pub(crate) struct Stage {
    pub(crate) bridge: Bridge,
    pub(crate) host: Arc<Host>,
    pub(crate) folder: TempDir,
    pub(crate) scope: Owner,
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::with(Host::default(), Duration::from_secs(600)).await
    }

    pub(crate) async fn with(host: Host, call_limit: Duration) -> Self {
        let folder = TempDir::new().unwrap();
        let host = Arc::new(host);
        // Its own, as other tests may run in this process.
        let scope = Owner(SCOPES.fetch_add(1, Ordering::Relaxed));
        let bridge = open(BridgeRequest {
            tools: Arc::<Host>::clone(&host),
            names: [ECHO, LARGE, LATER].map(str::to_owned).into(),
            schema: r#"{"tools":[]}"#.into(),
            folder: folder.path().to_owned(),
            call_limit,
            start: Start::of(scope),
        })
        .await
        .unwrap();
        assert!(host.bridge.set(bridge.clone()).is_ok());
        let url = bridge.url();
        let port = url
            .strip_prefix("http://127.0.0.1:")
            .and_then(|rest| rest.strip_suffix("/tool-call"));
        Self {
            port: port.unwrap().parse().unwrap(),
            token: bridge.token().reveal().to_owned(),
            bridge,
            host,
            folder,
            scope,
        }
    }

    /// What lies in the folder that the bridge makes its own in.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    /// Waits until the host has seen something.
    pub(crate) fn until(&self, so: impl Fn(&Seen) -> bool) {
        let mut seen = self.host.seen.lock();
        let late = Instant::now() + PATIENCE;
        while !so(&seen) {
            let waited = self.host.changed.wait_until(&mut seen, late);
            assert!(!waited.timed_out(), "not within {PATIENCE:?}: {seen:?}");
        }
    }

    pub(crate) fn called(&self) -> usize {
        self.host.seen.lock().called.len()
    }

    /// The arguments of all calls that were run.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let seen = self.host.seen.lock();
        seen.called
            .iter()
            .map(|(_, call)| call.arguments.clone())
            .collect()
    }

    pub(crate) fn cancelled(&self) -> Vec<(u32, Why)> {
        self.host.seen.lock().cancelled.clone()
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.port).unwrap()
    }

    /// A request that is right, for this tool.
    pub(crate) fn request(&self, tool: &str, arguments: &str) -> String {
        self.post(&format!(
            r#"{{"name":"{tool}","arguments":{arguments},"callId":"c"}}"#
        ))
    }

    /// A request that is right but for its body, perhaps.
    pub(crate) fn post(&self, body: &str) -> String {
        self.headed("", body)
    }

    /// The same with more header lines.
    pub(crate) fn headed(&self, lines: &str, body: &str) -> String {
        format!(
            "POST /tool-call HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n{lines}\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            self.token,
            body.len()
        )
    }

    /// One call on a connection of its own.
    pub(crate) fn ask(&self, request: &str) -> Response {
        let mut client = self.connect();
        client.send(request.as_bytes());
        client.response().unwrap()
    }

    /// That the bridge still serves.
    pub(crate) fn serves(&self) {
        let response = self.ask(&self.request(ECHO, r#"{"n":1}"#));
        assert_eq!(
            (response.status, response.body.as_str()),
            (200, r#"{"echo":{"n":1}}"#)
        );
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.bridge.close();
    }
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// In small letters.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// One connection.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    rest: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            rest: Vec::new(),
        })
    }

    /// Whoever is refused may find the connection closed in the middle.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let _closed = self.stream.write_all(bytes);
    }

    /// The next response; `None` where the connection ended without one.
    pub(crate) fn response(&mut self) -> Option<Response> {
        let end = loop {
            if let Some(end) = self.rest.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            self.more()?;
        };
        let head = String::from_utf8(self.rest[..end].to_vec())
            .unwrap()
            .to_lowercase();
        let length: usize = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .unwrap_or_else(|| panic!("no length: {head}"))
            .parse()
            .unwrap();
        while self.rest.len() < end + 4 + length {
            self.more()?;
        }
        let body = String::from_utf8(self.rest[end + 4..end + 4 + length].to_vec()).unwrap();
        self.rest.drain(..end + 4 + length);
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some(Response { status, head, body })
    }

    fn more(&mut self) -> Option<()> {
        let mut bytes = vec![0; 64 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => None,
            Ok(count) => {
                self.rest.extend_from_slice(&bytes[..count]);
                Some(())
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no end within {PATIENCE:?}: {error}"),
        }
    }

    /// That the other side closes the connection, whatever it says before.
    pub(crate) fn ends(&mut self) {
        while self.more().is_some() {}
    }
}
