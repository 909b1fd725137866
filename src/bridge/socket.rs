//! hyper's doors to the sockets and the clock of the runtime.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use hyper::rt::{Read, ReadBufCursor, Sleep, Timer, Write};
use tokio::io::{AsyncWrite, Interest, Ready};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{sleep, timeout};

use super::seats::Seat;

/// How much is read at once.
const CHUNK: usize = 16 * 1024;
/// How long, and how much, a caller may go on sending after its answer.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES: usize = 64 << 20;
/// How often a caller is looked after that sent more than it may.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A connection as hyper takes it. Dropped, it sends no more.
pub(super) struct Socket {
    read: Arc<OwnedReadHalf>,
    write: OwnedWriteHalf,
    seat: Arc<Seat>,
}

/// The reading side of a connection, which may be watched beside hyper, and outlives it.
#[derive(Clone)]
pub(super) struct Caller(Arc<OwnedReadHalf>);

/// `seat` hears of it when all is written.
pub(super) fn split(stream: TcpStream, seat: Arc<Seat>) -> (Socket, Caller) {
    let (read, write) = stream.into_split();
    let read = Arc::new(read);
    let caller = Caller(Arc::clone(&read));
    (Socket { read, write, seat }, caller)
}

/// Only to be told something, and to go.
pub(super) fn turned_away(stream: TcpStream, told: &[u8]) -> Caller {
    // As much as the socket takes at once: whoever is turned away is not waited for.
    let _told = stream.try_write(told);
    let (read, write) = stream.into_split();
    drop(write);
    Caller(Arc::new(read))
}

impl Caller {
    /// Resolves when the caller has gone. hyper sees it too, but not behind bytes of a further request.
    pub(super) async fn gone(&self) {
        loop {
            match self.stream().peek(&mut [0]).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            sleep(LOOK_EVERY).await;
            let state = self.stream().ready(Interest::READABLE).await;
            if state.is_ok_and(Ready::is_read_closed) {
                return;
            }
        }
    }

    /// Read and forget what a caller still sends: closed over unread bytes, the connection would be reset, and the
    /// answer lost with it.
    pub(super) async fn linger(&self) {
        let forget = async {
            let (mut bytes, mut left) = (vec![0; CHUNK], LINGER_BYTES);
            while left > 0 && self.stream().readable().await.is_ok() {
                match self.stream().try_read(&mut bytes) {
                    Ok(0) => return,
                    Ok(count) => left = left.saturating_sub(count),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => return,
                }
            }
        };
        let _late = timeout(LINGER, forget).await;
    }

    fn stream(&self) -> &TcpStream {
        (*self.0).as_ref()
    }
}

impl Read for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let stream: &TcpStream = (*self.read).as_ref();
        let mut bytes = [0; CHUNK];
        let room = buffer.remaining().min(CHUNK);
        loop {
            ready!(stream.poll_read_ready(context))?;
            match stream.try_read(&mut bytes[..room]) {
                Ok(count) => {
                    buffer.put_slice(&bytes[..count]);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl Write for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.write).poll_write(context, bytes)
    }

    /// hyper asks for it when it has nothing left of its own to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.write).poll_flush(context))?;
        self.seat.has_written();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.write.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.write).poll_write_vectored(context, slices)
    }
}

/// The runtime's clock.
#[derive(Clone, Copy)]
pub(super) struct Clock;

struct Nap(Pin<Box<tokio::time::Sleep>>);

impl Timer for Clock {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(Nap(Box::pin(sleep(duration))))
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Nap(Box::pin(tokio::time::sleep_until(deadline.into()))))
    }
}

impl Future for Nap {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Sleep for Nap {}
