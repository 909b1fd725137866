//! The end of a bridge.

use std::net::TcpStream;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fusion_cursor_native::bridge::{Start, Why, close_all};
use fusion_cursor_native::process::{Owner, Whose};

use crate::support::{LATER, PATIENCE, Stage};

#[tokio::test]
async fn calls_are_answered_and_called_off_and_nothing_is_left() {
    let stage = Stage::new().await;
    let mut clients: Vec<_> = (0..5).map(|_| stage.connect()).collect();
    for client in &mut clients {
        client.send(stage.request(LATER, "{}").as_bytes());
    }
    let mut idle = stage.connect();
    stage.until(|seen| seen.called.len() == 5);
    assert_eq!(stage.left().len(), 1);
    let began = Instant::now();
    tokio::join!(stage.bridge.dispose(), stage.bridge.dispose());
    stage.bridge.dispose().await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    for client in &mut clients {
        let response = client.response().unwrap();
        assert_eq!(response.json()["isError"], true);
        assert!(response.body.contains("has ended"), "{response:?}");
        client.ends();
    }
    idle.ends();
    let mut cancelled = stage.cancelled();
    cancelled.sort_by_key(|(number, _)| *number);
    assert_eq!(cancelled, [1, 2, 3, 4, 5].map(|number| (number, Why::Disposed)));
    assert!(TcpStream::connect(("127.0.0.1", stage.port)).is_err());
    assert_eq!(stage.left().len(), 0);
}

#[tokio::test]
async fn a_caller_that_reads_nothing_does_not_hold_it_up() {
    let stage = Stage::new().await;
    let mut lazy = stage.connect();
    lazy.send(stage.request("fn_large", r#"{"bytes":16000000}"#).as_bytes());
    stage.until(|seen| seen.called.len() == 1);
    let began = Instant::now();
    stage.bridge.dispose().await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[tokio::test]
async fn it_ends_with_whoever_opened_it() {
    let stage = Stage::new().await;
    close_all(Whose::Of(Owner(0)));
    stage.serves();
    close_all(Whose::Of(stage.scope));
    assert_eq!(stage.left().len(), 0);
    // The port is given back behind it.
    stage.bridge.dispose().await;
    assert!(TcpStream::connect(("127.0.0.1", stage.port)).is_err());
}

/// Whatever opens when the end has come has to be seen by it.
#[test]
fn an_end_waits_for_what_is_about_to_open() {
    let owner = Owner(3);
    let start = Start::of(owner);
    let (said, heard) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            close_all(Whose::Of(Owner(4)));
            said.send("of another").unwrap();
            close_all(Whose::Of(owner));
            said.send("of the same").unwrap();
        });
        assert_eq!(heard.recv_timeout(PATIENCE), Ok("of another"));
        assert!(heard.recv_timeout(Duration::from_millis(50)).is_err());
        drop(start);
        assert_eq!(heard.recv_timeout(PATIENCE), Ok("of the same"));
    });
    // One that never comes to its end holds nobody up for long.
    let _stuck = Start::of(owner);
    let began = Instant::now();
    close_all(Whose::Of(owner));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn bridges_share_nothing() {
    let (one, other) = (Stage::new().await, Stage::new().await);
    assert_ne!(one.token, other.token);
    let foreign = one.request("fn_echo", "{}").replacen(&one.token, &other.token, 1);
    assert_eq!(one.ask(&foreign).status, 401);
    one.bridge.dispose().await;
    other.serves();
}
