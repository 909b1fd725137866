//! From the call to the answer, and every other end of a call.

use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use fusion_cursor_native::bridge::Why;

use crate::support::{ECHO, Host, LARGE, LATER, Stage};

const MIB: usize = 1 << 20;

#[tokio::test]
async fn a_caller_that_goes_calls_its_tool_off_once() {
    let stage = Stage::new().await;
    for (number, way) in (1..).zip(["close", "half", "more"]) {
        let mut client = stage.connect();
        client.send(stage.request(LATER, "{}").as_bytes());
        stage.until(|seen| seen.called.len() == number);
        match way {
            "half" => client.stream.shutdown(Shutdown::Write).unwrap(),
            "more" => {
                client.send(b"POST ");
                drop(client);
            }
            _ => drop(client),
        }
        stage.until(|seen| seen.cancelled.len() == number);
    }
    stage.serves();
    assert_eq!(
        stage.cancelled(),
        [1, 2, 3].map(|number| (number, Why::CallerGone))
    );
    // What comes then is forgotten.
    stage.bridge.answer(1, "{}".into());
}

#[tokio::test]
async fn a_caller_that_goes_behind_a_further_request_is_missed_too() {
    let stage = Stage::new().await;
    let mut client = stage.connect();
    let further = stage.request(ECHO, "{}");
    client.send(format!("{}{further}", stage.request(LATER, "{}")).as_bytes());
    stage.until(|seen| seen.called.len() == 1);
    drop(client);
    stage.until(|seen| seen.cancelled.len() == 1);
    stage.serves();
    assert_eq!(stage.called(), 2, "the further request was not run");
}

#[tokio::test]
async fn a_caller_that_goes_before_the_host_looks_runs_nothing() {
    let stage = Stage::with(Host::blocked(), Duration::from_secs(600)).await;
    let mut client = stage.connect();
    client.send(stage.request(LATER, "{}").as_bytes());
    stage.until(|seen| seen.told == 1);
    client.stream.shutdown(Shutdown::Write).unwrap();
    stage.until(|seen| seen.cancelled.len() == 1);
    assert!(stage.bridge.take(1).is_none());
}

#[tokio::test]
async fn a_deadline_passes_while_the_host_does_nothing() {
    let stage = Stage::with(Host::blocked(), Duration::from_millis(200)).await;
    let began = Instant::now();
    let response = stage.ask(&stage.request(LATER, "{}"));
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert_eq!(
        (response.status, &response.json()["isError"]),
        (200, &true.into())
    );
    assert!(
        response.body.contains("did not answer within 200 ms"),
        "{response:?}"
    );
    stage.until(|seen| seen.cancelled == [(1, Why::TimedOut)]);
    assert!(stage.bridge.take(1).is_none());
}

#[tokio::test]
async fn calls_run_beside_each_other() {
    let stage = Stage::new().await;
    let mut clients: Vec<_> = (0..50).map(|_| stage.connect()).collect();
    for client in &mut clients {
        client.send(stage.request(LATER, "{}").as_bytes());
    }
    stage.until(|seen| seen.called.len() == 50);
    for number in (1..=50).rev() {
        stage.bridge.answer(number, number.to_string());
    }
    let mut answers: Vec<u32> = clients
        .iter_mut()
        .map(|client| client.response().unwrap().body.parse().unwrap())
        .collect();
    answers.sort_unstable();
    assert!(answers.into_iter().eq(1..=50));
    assert_eq!(stage.cancelled(), []);
}

#[tokio::test]
async fn a_result_has_16_mib_and_no_more() {
    let stage = Stage::new().await;
    let large = |bytes: usize| stage.ask(&stage.request(LARGE, &format!(r#"{{"bytes":{bytes}}}"#)));
    let most = large(16 * MIB);
    assert_eq!((most.status, most.body.len()), (200, 16 * MIB));
    let over = large(16 * MIB + 1);
    assert_eq!(over.json()["isError"], true);
    assert!(over.body.contains("over the limit of 16 MiB"), "{over:?}");
}

#[tokio::test]
async fn a_large_answer_that_nobody_reads_holds_up_nobody() {
    let stage = Stage::new().await;
    let mut lazy = stage.connect();
    lazy.send(
        stage
            .request(LARGE, &format!(r#"{{"bytes":{}}}"#, 16 * MIB))
            .as_bytes(),
    );
    stage.until(|seen| seen.called.len() == 1);
    for _ in 0..10 {
        stage.serves();
    }
    assert_eq!(lazy.response().unwrap().body.len(), 16 * MIB);
}

#[tokio::test]
async fn a_large_answer_is_not_cut_off_by_one_who_has_no_place() {
    let stage = Stage::new().await;
    let _calling: Vec<_> = (0..63)
        .map(|_| {
            let mut client = stage.connect();
            client.send(stage.request(LATER, "{}").as_bytes());
            client
        })
        .collect();
    stage.until(|seen| seen.called.len() == 63);
    let mut slow = stage.connect();
    slow.send(
        stage
            .request(LARGE, &format!(r#"{{"bytes":{}}}"#, 16 * MIB))
            .as_bytes(),
    );
    stage.until(|seen| seen.called.len() == 64);
    // Told that there is no place: so the bridge has decided who has to go.
    let mut one_more = stage.connect();
    one_more.send(stage.request(ECHO, "{}").as_bytes());
    assert_eq!(one_more.response().unwrap().status, 503);
    assert_eq!(slow.response().unwrap().body.len(), 16 * MIB);
    stage.serves();
}

#[tokio::test]
async fn an_unknown_tool_is_told_as_one() {
    let stage = Stage::new().await;
    for name in ["fn_none", "", "FN_ECHO", "fn_echo "] {
        let response = stage.ask(&stage.request(name, "{}"));
        let json = response.json();
        assert_eq!(
            (response.status, &json["unknownTool"]),
            (200, &true.into()),
            "{name}"
        );
        assert_eq!(json["isError"], true);
    }
    assert_eq!(stage.called(), 0);
}

#[tokio::test]
async fn a_host_that_is_gone_is_told() {
    let stage = Stage::with(Host::gone(), Duration::from_secs(600)).await;
    assert_eq!(stage.ask(&stage.request(ECHO, "{}")).status, 503);
}

const MEASURED: usize = 300;

/// Printed, and held to a bound that only a fault passes: what a machine makes of it depends on what else it does.
#[tokio::test]
async fn what_a_call_costs() {
    let stage = Stage::new().await;
    let request = stage.request(ECHO, "{}");
    let mut took = thread::scope(|scope| {
        let calls = scope.spawn(|| {
            let mut client = stage.connect();
            let one = |client: &mut crate::support::Client| {
                let began = Instant::now();
                client.send(request.as_bytes());
                assert_eq!(client.response().unwrap().status, 200);
                began.elapsed()
            };
            (0..MEASURED).map(|_| one(&mut client)).collect::<Vec<_>>()
        });
        calls.join().unwrap()
    });
    took.sort_unstable();
    println!(
        "a call: {:?} (median), {:?} (p99)",
        took[MEASURED / 2],
        took[MEASURED * 99 / 100]
    );
    assert!(
        took[MEASURED / 2] < Duration::from_millis(150),
        "{:?}",
        took[MEASURED / 2]
    );
}
