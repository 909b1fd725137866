//! How fast the core reads the stream, on one core and without Node: `cargo bench --no-default-features`.
//!
//! `linear` reads one stream of 10 to 160 MB; where the time is linear in the input, the throughput of all is
//! the same. `FUSION_CURSOR_BENCH_GIGABYTE=1` adds one of 1 GB.
#![allow(missing_docs, reason = "the macros of criterion write functions without")]
#![allow(clippy::disallowed_methods, reason = "a measurement is its own host")]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fusion_cursor_native::stream::batch::Batch;
use fusion_cursor_native::stream::{ParserOptions, StreamParser};
use serde_json::{Value, json};

const MB: usize = 1_000_000;
/// As in a turn: what is read at once, in bytes.
const CHUNK: usize = 256 * 1024;
/// The thinking between two tool calls, in records.
const THOUGHTS: usize = 40;

/// At least so many bytes of a session as the CLI writes them: about 58,000 lines in 20 MB, most of them
/// thinking, most of the bytes in the results of tools; a part of it is not ASCII.
fn transcript(size: usize) -> Vec<u8> {
    let mut lines = vec![
        record(&[
            ("type", json!("system")),
            ("subtype", json!("init")),
            ("apiKeySource", json!("login")),
            ("cwd", json!("/srv/boat")),
            ("session_id", json!(SESSION)),
            ("model", json!("Auto")),
            ("permissionMode", json!("default")),
        ]),
        record(&[
            ("type", json!("user")),
            ("message", message("user", "Mend the lamp.")),
            ("session_id", json!(SESSION)),
        ]),
    ];
    let mut stream = Vec::with_capacity(size + 16_384);
    let mut round = 0;
    while stream.len() < size {
        for line in lines.drain(..) {
            stream.extend_from_slice(line.as_bytes());
            stream.push(b'\n');
        }
        lines = a_round(round);
        round += 1;
    }
    let usage =
        json!({"inputTokens": 18_432, "outputTokens": 902, "cacheReadTokens": 9_120, "cacheWriteTokens": 0});
    let end = record(&[
        ("type", json!("result")),
        ("subtype", json!("success")),
        ("duration_ms", json!(61_234)),
        ("is_error", json!(false)),
        ("result", json!("Done.")),
        ("session_id", json!(SESSION)),
        ("request_id", json!(SESSION)),
        ("usage", usage),
    ]);
    stream.extend_from_slice(end.as_bytes());
    stream.push(b'\n');
    stream
}

/// A record with its members in the order in which the CLI writes them; a value of `serde_json` would sort them.
fn record(members: &[(&str, Value)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("\"{name}\":{value}"))
        .collect();
    format!("{{{}}}", members.join(","))
}

fn message(role: &str, text: &str) -> Value {
    json!({"role": role, "content": [{"type": "text", "text": text}]})
}

const SESSION: &str = "3f0c1d52-8a77-4c7b-9a34-0d6b1c2e9f10";

/// Some thinking, a message, and a tool call.
fn a_round(number: usize) -> Vec<String> {
    let words = [
        "the lamp ",
        "is not lit; ",
        "grün über ",
        "we look 灯台 ",
        "into it ",
        "and 😀 see. ",
    ];
    let time = 1_790_000_000_000_usize + number;
    let thoughts = (0..THOUGHTS).map(|at| {
        let text = words[(number + at) % words.len()].repeat(2);
        record(&[
            ("type", json!("thinking")),
            ("subtype", json!("delta")),
            ("text", json!(text)),
            ("session_id", json!(SESSION)),
            ("timestamp_ms", json!(time + at)),
        ])
    });
    let id = format!("call-{number}-0\nfc_{number}_0");
    let args = json!({"path": format!("/srv/boat/src/lamp_{number}.rs"), "offset": 1, "limit": 200});
    // Most source code is ASCII.
    let remark = if number.is_multiple_of(4) {
        "größere 灯 für später"
    } else {
        "brighter than the one before"
    };
    let content = (0..112)
        .map(|row| format!("{row:>4}\tlet flame_{row} = lamp.wick({number}); // \"{remark}\"\n"))
        .collect::<Vec<_>>()
        .concat();
    let words = format!("Round {number}: I read the file now, and then I mend what is broken in it.");
    let started = json!({"readToolCall": {"args": &args}});
    let tool = json!({"args": args, "result": {"success": {"content": content, "isEmpty": false, "totalLines": 112, "path": "/srv/boat"}}});
    let ended = json!({"readToolCall": tool, "toolCallId": id});
    let call = |subtype: &str, call: Value| {
        record(&[
            ("type", json!("tool_call")),
            ("subtype", json!(subtype)),
            ("call_id", json!(id)),
            ("tool_call", call),
            ("session_id", json!(SESSION)),
            ("timestamp_ms", json!(time)),
        ])
    };
    thoughts
        .chain([
            record(&[
                ("type", json!("thinking")),
                ("subtype", json!("completed")),
                ("session_id", json!(SESSION)),
                ("timestamp_ms", json!(time)),
            ]),
            record(&[
                ("type", json!("assistant")),
                ("message", message("assistant", &words)),
                ("session_id", json!(SESSION)),
                ("model_call_id", json!("m")),
                ("timestamp_ms", json!(time)),
            ]),
            call("started", started),
            call("completed", ended),
        ])
        .collect()
}

/// Read a stream that is the block so many times, and count the events.
fn count(block: &[u8], times: usize) -> usize {
    let mut parser = StreamParser::new(ParserOptions::default());
    let mut events = 0;
    for _ in 0..times {
        for chunk in block.chunks(CHUNK) {
            parser.push(chunk, &mut |event| {
                black_box(event);
                events += 1;
            });
        }
    }
    parser.finish(&mut |_| events += 1);
    events
}

/// As a turn does: a batch for each chunk.
fn pack(stream: &[u8]) -> usize {
    let mut parser = StreamParser::new(ParserOptions::default());
    let mut last = Batch::default();
    stream
        .chunks(CHUNK)
        .map(|chunk| {
            let mut batch = Batch::like(&last);
            parser.push(chunk, &mut |event| batch.push(&event));
            last = black_box(batch);
            last.len()
        })
        .sum()
}

fn core(criterion: &mut Criterion) {
    let stream = transcript(20 * MB);
    let lines = memchr::memchr_iter(b'\n', &stream).count();
    assert!((55_000..61_000).contains(&lines), "{lines} lines");
    let mut group = criterion.benchmark_group("core");
    group
        .throughput(Throughput::BytesDecimal(stream.len() as u64))
        .sample_size(20)
        .measurement_time(Duration::from_secs(4));
    group.bench_function("events", |bencher| bencher.iter(|| count(&stream, 1)));
    group.bench_function("packed", |bencher| bencher.iter(|| pack(&stream)));
    group.finish();
}

fn linear(criterion: &mut Criterion) {
    let block = transcript(10 * MB);
    let mut group = criterion.benchmark_group("linear");
    group.sample_size(10).warm_up_time(Duration::from_millis(500));
    let gigabyte = std::env::var_os("FUSION_CURSOR_BENCH_GIGABYTE").map(|_| 100);
    for times in [1, 2, 4, 8, 16].into_iter().chain(gigabyte) {
        group.throughput(Throughput::BytesDecimal((block.len() * times) as u64));
        group.bench_function(
            BenchmarkId::from_parameter(format!("{} MB", times * 10)),
            |bencher| {
                bencher.iter(|| count(&block, times));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, core, linear);
criterion_main!(benches);
