//! What is refused, and how.

use std::io::Write as _;
use std::sync::Arc;

use fusion_cursor_native::diagnostics::{Record, route, unroute};
use parking_lot::Mutex;

use crate::support::{ECHO, LATER, Response, Stage};

const MIB: usize = 1 << 20;

fn refused(response: &Response, status: u16) {
    assert_eq!(response.status, status, "{response:?}");
    assert!(response.head.contains("\r\nconnection: close"), "{response:?}");
    assert!(!response.head.contains("access-control"), "{response:?}");
    assert!(
        response.json()["error"].as_str().unwrap().ends_with('.'),
        "{response:?}"
    );
}

#[tokio::test]
async fn a_call_that_is_right_is_answered_and_opens_nothing_to_pages() {
    let stage = Stage::new().await;
    let response = stage.ask(&stage.request(ECHO, r#"{"a":[1,"\u00e4"]}"#));
    assert_eq!(
        (response.status, response.body.as_str()),
        (200, r#"{"echo":{"a":[1,"\u00e4"]}}"#)
    );
    assert!(response.head.contains("\r\ncontent-type: application/json"));
    assert!(!response.head.contains("access-control"));
    stage.until(|seen| seen.called[0].1.call_id == "c");
}

#[tokio::test]
async fn each_wrong_part_of_a_head_has_its_status() {
    let stage = Stage::new().await;
    let good = stage.request(ECHO, "{}");
    let host = format!("Host: 127.0.0.1:{}", stage.port);
    let token = format!("Bearer {}", stage.token);
    let with = |part: &str, other: &str| good.replacen(part, other, 1);
    let absolute = format!("POST http://127.0.0.1:{}/tool-call ", stage.port);
    for (request, status) in [
        (with("/tool-call", "/"), 404),
        (with("/tool-call", "/tool-call/"), 404),
        (with("/tool-call", "/tool-call?a=1"), 404),
        (with("/tool-call", "/%74ool-call"), 404),
        (with("POST", "GET"), 405),
        (with("POST", "PUT"), 405),
        (with("POST", "OPTIONS"), 405),
        (with("POST", "DELETE"), 405),
        (with("POST /tool-call ", &absolute), 400),
        (
            with("POST /tool-call ", "POST http://evil.example/tool-call "),
            400,
        ),
        (with("POST /tool-call ", "CONNECT 127.0.0.1:1 "), 400),
        (with(&host, "Host: evil.example"), 403),
        (with(&host, &format!("Host: localhost:{}", stage.port)), 403),
        (with(&host, "Host: 127.0.0.1"), 403),
        (with(&host, &format!("{host}\r\nHost: evil.example")), 403),
        (with(&format!("{host}\r\n"), ""), 403),
        (
            with(
                &host,
                &format!("{host}\r\nOrigin: http://127.0.0.1:{}", stage.port),
            ),
            403,
        ),
        (with(&format!("Authorization: {token}\r\n"), ""), 401),
        (with(&token, "Bearer"), 401),
        (with(&token, &stage.token), 401),
        (with(&token, &format!("Basic {}", stage.token)), 401),
        (with(&token, &format!("{token}\r\nAuthorization: {token}")), 401),
    ] {
        refused(&stage.ask(&request), status);
    }
    let methods = stage.ask(&with("POST", "GET"));
    assert!(methods.head.contains("\r\nallow: post"), "{methods:?}");
    assert!(
        stage
            .ask(&with(&token, "x"))
            .head
            .contains("\r\nwww-authenticate: bearer")
    );
    let head = stage.ask(&with("POST", "GET").replace("Host: 127", "Host: 128"));
    refused(&head, 403);
    assert_eq!(stage.called(), 0);
    stage.serves();
}

#[tokio::test]
async fn wrong_tokens_of_all_lengths_are_refused() {
    let stage = Stage::new().await;
    let good = stage.request(ECHO, "{}");
    let long = stage.token.repeat(4);
    for length in 0..=long.len() {
        if length == stage.token.len() {
            continue;
        }
        refused(&stage.ask(&good.replacen(&stage.token, &long[..length], 1)), 401);
    }
    for place in 0..stage.token.len() {
        let mut wrong = stage.token.clone().into_bytes();
        wrong[place] = if wrong[place] == b'0' { b'1' } else { b'0' };
        let wrong = String::from_utf8(wrong).unwrap();
        refused(&stage.ask(&good.replacen(&stage.token, &wrong, 1)), 401);
    }
    assert_eq!(stage.called(), 0);
    stage.serves();
}

#[tokio::test]
async fn bodies_that_are_no_calls_are_refused() {
    let stage = Stage::new().await;
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "\0",
        r#"{"name":1}"#,
        r#"{"name":"fn_echo","arguments":[]}"#,
    ] {
        refused(&stage.ask(&stage.post(body)), 400);
    }
    let chunked = stage
        .post("")
        .replacen("Content-Length: 0", "Transfer-Encoding: chunked", 1);
    for body in [
        "5\r\n{\"a\": \r\n",
        "zz\r\n",
        "5\r\nab\r\n0\r\n\r\n",
        "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    ] {
        let mut client = stage.connect();
        client.send(format!("{chunked}{body}").as_bytes());
        client.stream.shutdown(std::net::Shutdown::Write).unwrap();
        if let Some(response) = client.response() {
            refused(&response, 400);
        }
    }
    let lengths = stage.headed("Content-Length: 5\r\n", r#"{"name":"fn_echo"}"#);
    assert_eq!(stage.ask(&lengths).status, 400);
    assert_eq!(stage.called(), 0);
    let good = "12\r\n{\"name\":\"fn_echo\"}\r\n0\r\n\r\n";
    assert_eq!(stage.ask(&format!("{chunked}{good}")).status, 200);
}

#[tokio::test]
async fn a_body_has_4_mib_and_no_more() {
    let stage = Stage::new().await;
    let body = |bytes: usize| {
        let frame = r#"{"name":"fn_echo","arguments":{"x":""}}"#;
        frame.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - frame.len())))
    };
    assert_eq!(stage.ask(&stage.post(&body(4 * MIB))).status, 200);
    let over = body(4 * MIB + 1);
    // Refused by what it announces, before any of it is sent.
    let mut client = stage.connect();
    let whole = stage.post(&over);
    client.send(&whole.as_bytes()[..whole.len() - over.len()]);
    refused(&client.response().unwrap(), 413);
    // The answer reaches one who sends all of it first, too.
    refused(&stage.ask(&whole), 413);
    let announced = format!("Content-Length: {}", over.len());
    let chunked = whole[..whole.len() - over.len()].replacen(&announced, "Transfer-Encoding: chunked", 1);
    refused(
        &stage.ask(&format!("{chunked}{:x}\r\n{over}\r\n0\r\n\r\n", over.len())),
        413,
    );
    assert_eq!(stage.called(), 1);
    stage.serves();
}

#[tokio::test]
async fn what_is_no_http_is_refused_or_closed() {
    let stage = Stage::new().await;
    let many = "X-Any: thing\r\n".repeat(5000);
    let good = stage.request(ECHO, "{}");
    for (bytes, status) in [
        ("\0\0\0\0\r\n\r\n".to_owned(), 400),
        ("GET\r\n\r\n".into(), 400),
        ("\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\u{1}".repeat(10) + "\r\n\r\n", 400),
        (good.replacen("HTTP/1.1", "HTTP/9.9", 1), 400),
        (good.replacen("Content-Type", "Content\0Type", 1), 400),
        (good.replacen("application/json", "a\0b", 1), 400),
        (stage.headed(&many, "{}"), 431),
        (
            stage.headed(&format!("X: {}\r\n", "x".repeat(100_000)), "{}"),
            431,
        ),
        (
            good.replacen("/tool-call", &format!("/{}", "x".repeat(100_000)), 1),
            431,
        ),
    ] {
        let mut client = stage.connect();
        client.send(bytes.as_bytes());
        if let Some(response) = client.response() {
            assert!(
                response.status == status || (status == 431 && response.status == 414),
                "{status}: {response:?}"
            );
            assert!(!response.head.contains("access-control"));
        }
        client.ends();
    }
    assert_eq!(stage.called(), 0);
    stage.serves();
}

#[tokio::test]
async fn a_connection_is_kept_and_requests_in_a_row_are_answered_in_a_row() {
    let stage = Stage::new().await;
    let mut client = stage.connect();
    for n in 0..3 {
        client.send(stage.request(ECHO, &format!(r#"{{"n":{n}}}"#)).as_bytes());
        assert_eq!(
            client.response().unwrap().body,
            format!(r#"{{"echo":{{"n":{n}}}}}"#)
        );
    }
    let row: String = (0..20)
        .map(|n| stage.request(ECHO, &format!(r#"{{"n":{n}}}"#)))
        .collect();
    client.send(row.as_bytes());
    for n in 0..20 {
        assert_eq!(
            client.response().unwrap().body,
            format!(r#"{{"echo":{{"n":{n}}}}}"#)
        );
    }
    // Behind one that is refused, nothing is done.
    let wrong = stage.request(ECHO, "{}").replacen(&stage.token, "x", 1);
    let called = stage.called();
    client.send(format!("{wrong}{}", stage.request(ECHO, "{}")).as_bytes());
    refused(&client.response().unwrap(), 401);
    client.ends();
    assert_eq!(stage.called(), called);
}

#[tokio::test]
async fn those_who_only_wait_keep_nobody_out() {
    let stage = Stage::new().await;
    let mut waiting: Vec<_> = (0..200).map(|_| stage.connect()).collect();
    stage.serves();
    // The first ones had to make room.
    waiting[0].ends();
    let calling: Vec<_> = (0..64)
        .map(|_| {
            let mut client = stage.connect();
            client.send(stage.request(LATER, "{}").as_bytes());
            client
        })
        .collect();
    stage.until(|seen| seen.called.len() == 65);
    let mut one_more = stage.connect();
    one_more.send(stage.request(ECHO, "{}").as_bytes());
    refused(&one_more.response().unwrap(), 503);
    // It may send its whole body, as many a caller looks for no answer before.
    let mut one_more = stage.connect();
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(3 << 20));
    let large = stage.request(ECHO, &large);
    one_more.stream.write_all(large.as_bytes()).unwrap();
    refused(&one_more.response().unwrap(), 503);
    assert_eq!(stage.called(), 65);
    for number in 2..=65 {
        stage.bridge.answer(number, format!(r#"{{"n":{number}}}"#));
    }
    for mut client in calling {
        assert_eq!(client.response().unwrap().status, 200);
    }
    stage.serves();
}

#[tokio::test]
async fn the_token_is_in_no_record_and_no_debug() {
    let records = Arc::new(Mutex::new(Vec::<String>::new()));
    let sink = Arc::clone(&records);
    let keep = move |record: &Record| sink.lock().push(record.to_json());
    route(9, "trace", Arc::new(keep)).unwrap();
    let stage = Stage::new().await;
    stage.serves();
    let good = stage.request(ECHO, r#"{"secret":"s3cr3t"}"#);
    stage.ask(&good);
    stage.ask(&good.replacen("/tool-call", "/", 1));
    stage.ask(&good.replacen(&stage.token, "wr0ng-t0ken", 1));
    stage.ask(&stage.post("{"));
    stage.bridge.dispose().await;
    unroute(9);
    let said = records.lock().join("\n");
    assert!(
        said.contains("a tool is called") && said.contains("refused"),
        "{said}"
    );
    for secret in [stage.token.as_str(), "s3cr3t", "wr0ng-t0ken"] {
        assert!(!said.contains(secret), "{said}");
        assert!(!format!("{:?} {:?}", stage.bridge, stage.bridge.token()).contains(secret));
    }
}
