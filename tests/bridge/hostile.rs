//! A client that does everything wrong, thousands of times.

use std::fs::read_to_string;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::aside::{passed, test};
use crate::support::{Client, ECHO, PATIENCE, Stage};

const REQUESTS: usize = 10_000;
const THREADS: usize = 4;
/// Connections that a thread leaves open behind it, with half a request in them.
const HANGING: usize = 50;

/// Resident memory in bytes; where the system does not tell, none.
fn memory() -> usize {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<usize>().ok())
        .unwrap_or_default()
        * 1024
}

const RIGHT: &str = r#"{"right":1}"#;
const WRONG: &str = r#"{"wrong":1}"#;

/// A call that is right. Where too many only hold connections, one may be closed before its request was read, and is
/// made again, as every HTTP client does; says how often.
fn insist(stage: &Stage) -> usize {
    let right = stage.request(ECHO, RIGHT);
    for again in 0..1000 {
        // The system may have no room for one more connection.
        let Ok(mut client) = Client::connect(stage.port) else {
            thread::park_timeout(Duration::from_millis(5));
            continue;
        };
        client.send(right.as_bytes());
        if let Some(response) = client.response() {
            assert_eq!(
                (response.status, response.body.as_str()),
                (200, r#"{"echo":{"right":1}}"#)
            );
            return again;
        }
    }
    panic!("a call that was right got no answer");
}

/// A request that is wrong in one way or another.
fn wrong(stage: &Stage, number: usize) -> Vec<u8> {
    let good = stage.request(ECHO, WRONG);
    let host = format!("127.0.0.1:{}", stage.port);
    let wrong = |part: &str, other: &str| good.replacen(part, other, 1).into_bytes();
    match number / 2 % 16 {
        0 => good.as_bytes()[..number % good.len()].to_vec(),
        1 => good.as_bytes()[..good.len() - 1].to_vec(),
        2 => stage.post(&"[".repeat(100_000)).into_bytes(),
        3 => wrong(&stage.token, &"a".repeat(number % 300)),
        4 => wrong("/tool-call", &format!("http://{host}/tool-call")),
        5 => wrong(&host, "evil.example"),
        6 => wrong("Content-Type: application/json", "Transfer-Encoding: chunked, x"),
        7 => wrong("POST /tool-call", "\0\u{1}\u{2}"),
        8 => stage.headed(&"X: x\r\n".repeat(3000), "{}").into_bytes(),
        9 => wrong("Content-Length: ", "Content-Length: 99999999999"),
        10 => wrong("Content-Length: ", "Content-Length: -"),
        11 => {
            let body = "ffffffff\r\n{\"name\"";
            let head = stage
                .post("")
                .replacen("Content-Length: 0", "Transfer-Encoding: chunked", 1);
            format!("{head}{body}").into_bytes()
        }
        12 => wrong("POST", "PRI"),
        13 => wrong(&stage.token, "").repeat(20),
        14 => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(50),
        _ => good
            .replace("\r\n", "\n")
            .replacen("POST", "\nPO ST", 1)
            .into_bytes(),
    }
}

fn attack(stage: &Stage, next: &AtomicUsize, again: &AtomicUsize) {
    let mut hanging = Vec::new();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= REQUESTS {
            return;
        }
        if number.is_multiple_of(2) {
            again.fetch_add(insist(stage), Ordering::Relaxed);
            continue;
        }
        let Ok(mut client) = Client::connect(stage.port) else {
            continue;
        };
        client.send(&wrong(stage, number));
        if number % 32 < 6 {
            hanging.push(client);
            if hanging.len() > HANGING {
                hanging.remove(0);
            }
        } else {
            let _closed = client.stream.shutdown(Shutdown::Write);
            client.ends();
        }
    }
}

/// In a process of its own, as its memory is looked at.
#[test]
fn ten_thousand_requests_half_of_them_wrong() {
    let done = test("hostile::attacked").output().unwrap();
    passed(&done);
    let said = String::from_utf8_lossy(&done.stdout);
    println!(
        "{}",
        said.lines().find(|line| line.contains(" requests in ")).unwrap()
    );
}

/// What the way there and back costs by itself, on this machine with all that it does now: for one byte to a thread
/// that sends it back.
fn way(stream: &mut TcpStream) -> Duration {
    let began = Instant::now();
    stream.write_all(b"x").unwrap();
    stream.read_exact(&mut [0]).unwrap();
    began.elapsed()
}

fn echo() -> TcpStream {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut server, _) = listener.accept().unwrap();
    thread::spawn(move || {
        let mut byte = [0];
        while server.read_exact(&mut byte).is_ok() && server.write_all(&byte).is_ok() {}
    });
    client
}

#[tokio::test]
#[ignore = "it is run by another test"]
async fn attacked() {
    let stage = Stage::new().await;
    stage.serves();
    let (next, again, over) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    let began = Instant::now();
    let (mut took, mut ways, first) = thread::scope(|scope| {
        let good = scope.spawn(|| {
            let mut took = Vec::new();
            let mut first = 0;
            let (mut echo, mut ways) = (echo(), Vec::new());
            while !over.load(Ordering::Relaxed) {
                let began = Instant::now();
                again.fetch_add(insist(&stage), Ordering::Relaxed);
                took.push(began.elapsed());
                ways.push(way(&mut echo));
                if next.load(Ordering::Relaxed) > REQUESTS / 5 && first == 0 {
                    first = memory();
                }
                thread::park_timeout(Duration::from_millis(2));
            }
            (took, ways, first)
        });
        let attackers: Vec<_> = (0..THREADS)
            .map(|_| scope.spawn(|| attack(&stage, &next, &again)))
            .collect();
        for attacker in attackers {
            attacker.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        good.join().unwrap()
    });
    let last = memory();
    took.sort_unstable();
    ways.sort_unstable();
    let (median, p99) = (took[took.len() / 2], took[took.len() * 99 / 100]);
    let way = ways[ways.len() / 2];
    println!(
        "{REQUESTS} requests in {:?}; {} good calls in between: {median:?} (median), {p99:?} (p99), {} made again; \
         {} MiB, {} MiB in the end",
        began.elapsed(),
        took.len(),
        again.load(Ordering::Relaxed),
        first >> 20,
        last >> 20,
    );
    let ran = stage.arguments();
    assert!(
        !ran.iter().any(|arguments| arguments == WRONG),
        "a tool ran for a request that was wrong"
    );
    assert!(ran.len() > REQUESTS / 2 + took.len());
    // A call takes some turns of the threads; where the machine has no time for them, each takes as long as the way.
    assert!(
        median < Duration::from_millis(50) + 10 * way,
        "{median:?}, {way:?}"
    );
    assert!(p99 < PATIENCE, "{p99:?}");
    assert!(last.saturating_sub(first) < 32 << 20, "{first} to {last} bytes");
    stage.serves();
}
