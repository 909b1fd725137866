//! Those who take their time. Each test waits for a deadline of 10 s.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{ECHO, Stage};

/// The deadlines are 10 s; some of that may have passed before the test looks at its clock.
const EARLY: Duration = Duration::from_secs(9);
/// Later than that is not in time.
const LATE: Duration = Duration::from_secs(18);

#[tokio::test]
async fn a_slow_head_a_slow_body_and_an_idle_connection_are_given_up() {
    let stage = Stage::new().await;
    let good = stage.request(ECHO, "{}");
    let [mut head, mut body, mut idle] = [(); 3].map(|()| stage.connect());
    idle.send(good.as_bytes());
    assert_eq!(idle.response().unwrap().status, 200);
    let mut silent = stage.connect();
    let began = Instant::now();
    body.send(&good.as_bytes()[..good.len() - 2]);
    let dribble = {
        let mut stream = head.stream.try_clone().unwrap();
        let bytes = good.clone().into_bytes();
        thread::spawn(move || {
            for byte in bytes {
                if stream.write_all(&[byte]).is_err() || began.elapsed() > LATE {
                    return;
                }
                thread::park_timeout(Duration::from_millis(100));
            }
        })
    };
    let response = body.response().unwrap();
    assert_eq!(response.status, 408, "{response:?}");
    for client in [&mut head, &mut body, &mut idle, &mut silent] {
        client.ends();
    }
    let took = began.elapsed();
    assert!(took >= EARLY && took < LATE, "{took:?}");
    dribble.join().unwrap();
    assert_eq!(stage.called(), 1);
    stage.serves();
}
