//! The server: it takes connections, and carries each request to a tool and the answer back.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};
use tokio::time::{sleep, timeout};

use crate::cancel::Cancelled;

use super::calls::{Calls, Outcome};
use super::head::{Door, Refusal, TOO_LARGE, judge};
use super::message;
use super::seats::{Phase, Place, Seat, Seats};
use super::socket::{Caller, Clock, split, turned_away};
use super::{BODY_LIMIT, CONNECTIONS};

/// For a head, also for the next one on a connection that is kept; and for a body.
const DEADLINE: Duration = Duration::from_secs(10);
/// How long a connection may wait or be written to. More than the deadlines, which come first.
const STAY: Duration = Duration::from_secs(30);
/// How long a connection stays at least where there are too many, so that its request can come.
const CHANCE: Duration = Duration::from_millis(25);
/// The bytes of a head.
const HEAD_LIMIT: usize = 16 * 1024;
/// What is read ahead of a connection, in bytes.
const READ_AHEAD: usize = 64 * 1024;
/// How long the answers of a bridge that is closed may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long no connection is taken where the system has no descriptor for it.
const NO_ROOM: Duration = Duration::from_millis(50);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Type: application/json\r\n\
    Content-Length: 44\r\n\r\n{\"error\":\"Too many tool calls run already.\"}";

/// What all connections share.
pub(super) struct Shared {
    pub(super) door: Door,
    pub(super) names: HashSet<String>,
    pub(super) calls: Calls,
    pub(super) closed: Cancelled,
}

/// Serve until the bridge is closed, and see all connections to their end.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let seats = Arc::new(Seats::new(CONNECTIONS, CHANCE, STAY));
    // Those that are turned away go in peace, as many as there are seats; any more are cut off.
    let in_peace = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut closed = pin!(shared.closed.wait());
    loop {
        let taken = tokio::select! {
            biased;
            () = &mut closed => break,
            Some(_) = connections.join_next() => continue,
            taken = listener.accept() => taken,
        };
        match taken {
            Ok((stream, peer)) if peer.ip().is_loopback() => {
                let shared = Arc::clone(&shared);
                if let Some(seat) = place(&seats).await {
                    let leaving = Leaving(Arc::clone(&seats), seat);
                    connections.spawn(async move { attend(stream, peer.ip(), &shared, &leaving.1).await });
                } else {
                    tracing::debug!("a connection is turned away: calls run for all others");
                    let caller = turned_away(stream, FULL);
                    if let Ok(in_peace) = Arc::clone(&in_peace).try_acquire_owned() {
                        connections.spawn(async move {
                            let _one_of_them = in_peace;
                            until_gone(&caller, &shared).await;
                        });
                    }
                }
            }
            Ok(_) => {}
            Err(error) if is_of_one(&error) => {}
            Err(error) => {
                tracing::warn!(%error, "a tool bridge cannot take connections at the moment");
                sleep(NO_ROOM).await;
            }
        }
        // A flood of connections must not take the place of one that was not looked at yet.
        yield_now().await;
    }
    drop(listener);
    let last = async { while connections.join_next().await.is_some() {} };
    let _late = timeout(LAST_WORDS, last).await;
    connections.shutdown().await;
}

/// A place for a connection, as soon as there is one; those behind it wait in the queue of the system.
async fn place(seats: &Seats) -> Option<Arc<Seat>> {
    loop {
        match seats.take() {
            Place::Free(seat) => return Some(seat),
            Place::In(left) => sleep(left).await,
            Place::Nowhere => return None,
        }
    }
}

/// Gives the place back, whatever ends the connection.
struct Leaving(Arc<Seats>, Arc<Seat>);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave(&self.1);
    }
}

/// An error of the connection that was to be taken, and not of the listener.
fn is_of_one(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}

/// Let a caller take what it was told last.
async fn until_gone(caller: &Caller, shared: &Shared) {
    tokio::select! {
        () = caller.linger() => {}
        () = shared.closed.wait() => {}
    }
}

async fn attend(stream: TcpStream, peer: IpAddr, shared: &Arc<Shared>, seat: &Arc<Seat>) {
    let _slower = stream.set_nodelay(true);
    let (socket, caller) = split(stream, Arc::clone(seat));
    let service = {
        let caller = caller.clone();
        service_fn(move |request| {
            let (shared, seat, caller) = (Arc::clone(shared), Arc::clone(seat), caller.clone());
            async move { Ok::<_, Infallible>(respond(peer, request, &shared, &seat, &caller).await) }
        })
    };
    let connection = http1::Builder::new()
        .timer(Clock)
        .header_read_timeout(DEADLINE)
        .max_header_size(HEAD_LIMIT)
        .max_buf_size(READ_AHEAD)
        .serve_connection(socket, service);
    {
        let mut connection = pin!(connection);
        let mut closing = false;
        loop {
            tokio::select! {
                // An error here is the caller's: bad HTTP, a deadline, a connection that broke.
                _ended = connection.as_mut() => break,
                () = seat.lost() => return,
                () = shared.closed.wait(), if !closing => {
                    closing = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
    tokio::select! {
        () = until_gone(&caller, shared) => {}
        () = seat.lost() => {}
    }
}

async fn respond(
    peer: IpAddr,
    request: Request<Incoming>,
    shared: &Shared,
    seat: &Seat,
    caller: &Caller,
) -> Response<Whole> {
    let (head, body) = request.into_parts();
    if let Err(refusal) = judge(peer, &head, &shared.door) {
        return refused(refusal);
    }
    seat.is_at(Phase::Reading);
    let response = call(body, shared, seat, caller).await;
    seat.is_at(Phase::Answering);
    response
}

async fn call(body: Incoming, shared: &Shared, seat: &Seat, caller: &Caller) -> Response<Whole> {
    let body = match timeout(DEADLINE, collect(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(refusal)) => return refused(refusal),
        Err(_) => {
            return refused(Refusal::new(
                StatusCode::REQUEST_TIMEOUT,
                "The body did not come within 10 seconds.",
            ));
        }
    };
    let asked = match message::read(&body) {
        Ok(asked) => asked,
        Err(sentence) => return refused(Refusal::new(StatusCode::BAD_REQUEST, sentence)),
    };
    drop(body);
    if !shared.names.contains(&asked.name) {
        return answered(message::unknown_tool(&asked.name));
    }
    seat.is_at(Phase::Calling);
    match shared.calls.run(asked, &shared.closed, caller.gone()).await {
        Outcome::Answered(answer) => answered(answer),
        // Nobody reads it, and the connection ends by it.
        Outcome::Vanished => refused(Refusal::new(StatusCode::BAD_REQUEST, "The caller has gone.")),
        Outcome::HostGone => refused(Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "The program that this tool belongs to has ended.",
        )),
    }
}

/// The body, up to its limit.
async fn collect(mut body: Incoming) -> Result<Vec<u8>, Refusal> {
    let limit = usize::try_from(BODY_LIMIT).unwrap_or(usize::MAX);
    let mut whole = Vec::new();
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let broken = Refusal::new(StatusCode::BAD_REQUEST, "The body is not whole.");
        let Ok(data) = frame.map_err(|_| broken)?.into_data() else {
            continue;
        };
        if data.len() > limit - whole.len() {
            return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, TOO_LARGE));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole)
}

fn answered(json: String) -> Response<Whole> {
    let mut response = Response::new(Whole(Some(json.into())));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

fn refused(Refusal { status, sentence }: Refusal) -> Response<Whole> {
    tracing::debug!(
        status = status.as_u16(),
        sentence,
        "a tool bridge refused a request"
    );
    let mut response = answered(message::refused(sentence));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(ALLOW, HeaderValue::from_static("POST"));
        }
        StatusCode::UNAUTHORIZED => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        _ => {}
    }
    response
}

/// A body that is there.
struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        let length = self.0.as_ref().map_or(0, Bytes::len);
        SizeHint::with_exact(length.try_into().unwrap_or(u64::MAX))
    }
}
