//! A short run of a program whose whole output is wanted: bounded in time, in memory and in what it leaves.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{Exit, Launch, Reach, Refusal, Running, called_off, start};

/// How much of each stream is kept, in bytes. The rest is read and thrown away, so that the program never
/// waits for a reader.
pub const KEPT: usize = 256 * 1024;
/// How long the streams are read after the end, where somebody else holds a pipe open.
const DRAIN: Duration = Duration::from_millis(200);
/// Read at once, in bytes.
const CHUNK: usize = 16 * 1024;
/// Starts that fail for a moment's reason are tried this often in all, this far apart.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(50);

/// What a short run came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended; `SIGKILL` where it was over the limit, or called off.
    pub exit: Exit,
    /// At most [`KEPT`] bytes from the beginning of standard output.
    pub stdout: Vec<u8>,
    /// The same of standard error.
    pub stderr: Vec<u8>,
    /// Whether more was written than is kept.
    pub truncated: bool,
    /// Whether it was over the limit, or called off, and killed for that.
    pub timed_out: bool,
    /// From the call to the end.
    pub duration: Duration,
}

impl Ran {
    /// Whether it ended by itself, with code 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        !self.timed_out && self.exit == Exit::Code(0)
    }

    /// Standard output as text, invalid UTF-8 replaced.
    #[must_use]
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text, invalid UTF-8 replaced.
    #[must_use]
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// How a run ended.
enum End {
    /// It has exited, and both its pipes are at their end.
    Tidy,
    /// It has exited, and somebody else holds a pipe.
    Held,
    TimedOut,
}

/// Run a program to its end, with nothing on its standard input and for at most `limit`.
///
/// At the limit all that came of it is killed, and so it is where its owner is called off. What it leaves behind in
/// its group when it ends by itself is killed too, and a process that holds its pipes open is waited for 200 ms at
/// most. Dropping the future kills all that came of it.
///
/// A program that is just being replaced (`ETXTBSY`), or a system short of processes (`EAGAIN`), is tried again
/// a few times.
///
/// # Errors
/// As [`start`], and `TimedOut` where the system did not start it within `limit`.
pub async fn run(launch: Launch, limit: Duration) -> io::Result<Ran> {
    run_with(launch, &[], limit).await
}

/// The same, with these bytes on its standard input. A program that does not read them is none the worse for it.
///
/// # Errors
/// As [`run`].
pub async fn run_with(launch: Launch, input: &[u8], limit: Duration) -> io::Result<Ran> {
    let began = Instant::now();
    let deadline = began + limit;
    let owner = launch.owner;
    let Running {
        mut stdin,
        mut stdout,
        mut stderr,
        tree,
        ..
    } = timeout_at(deadline, start_patiently(launch, deadline))
        .await
        .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the system did not start it in time"))??;
    let (mut out, mut err) = (Kept::default(), Kept::default());
    let off = called_off(owner).wait();
    let end = {
        let feeding = async {
            let _unread = stdin.write_all(input).await;
            // Closed, so that whoever reads it finds its end.
            drop(stdin);
        };
        let reading = async { tokio::join!(feeding, out.read(&mut stdout), err.read(&mut stderr)) };
        tokio::pin!(reading);
        let ended = async {
            tokio::select! {
                _ = tree.exited() => false,
                _ = &mut reading => { tree.exited().await; true }
            }
        };
        let in_time = async {
            tokio::select! {
                ended = timeout_at(deadline, ended) => ended.ok(),
                () = off => None,
            }
        };
        match in_time.await {
            None => End::TimedOut,
            Some(true) => End::Tidy,
            Some(false) => match timeout(DRAIN, &mut reading).await {
                Ok(_) => End::Tidy,
                Err(_) => End::Held,
            },
        }
    };
    let exit = match end {
        End::Tidy => {
            let exit = tree.exited().await;
            // Nothing has to be waited for.
            tree.dismiss();
            exit
        }
        End::Held => tree.end(Reach::Group, Duration::ZERO, None).await.exit,
        End::TimedOut => tree.end(Reach::All, Duration::ZERO, None).await.exit,
    };
    Ok(Ran {
        exit,
        truncated: out.truncated || err.truncated,
        stdout: out.bytes,
        stderr: err.bytes,
        timed_out: matches!(end, End::TimedOut),
        duration: began.elapsed(),
    })
}

async fn start_patiently(launch: Launch, deadline: Instant) -> io::Result<Running> {
    let mut tries = 1;
    loop {
        match start(launch.clone()).await {
            Err(error)
                if Refusal::of(&launch.program, &error).passes_soon()
                    && tries < TRIES
                    && Instant::now() + PAUSE < deadline =>
            {
                tracing::debug!(%error, tries, "the program cannot be started now");
                tries += 1;
                sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// The beginning of a stream.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    truncated: bool,
}

impl Kept {
    /// Read to the end. What was read so far stays where this is cancelled.
    async fn read(&mut self, stream: &mut (impl AsyncRead + Unpin)) {
        let mut chunk = vec![0; CHUNK];
        // A pipe that cannot be read is at its end for us: the exit tells the rest.
        while let Ok(length @ 1..) = stream.read(&mut chunk).await {
            let room = (KEPT - self.bytes.len()).min(length);
            self.truncated |= room < length;
            self.bytes.extend_from_slice(&chunk[..room]);
        }
    }
}
