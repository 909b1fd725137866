use super::*;

fn refusal(source: &str) -> String {
    parse(source, Path::new("/nowhere")).unwrap_err().to_string()
}

fn step(source: &str) -> Action {
    let scenario = parse(&format!("{{\"turn\":[{source}]}}"), Path::new("/nowhere")).unwrap();
    let mut steps = scenario.lists.into_values().next().unwrap();
    assert_eq!(steps.len(), 1);
    steps.remove(0).action
}

#[test]
fn an_unknown_verb_names_its_place_and_the_verbs() {
    let text = refusal(r#"{"turn":[{"sleep":1},{"start":[{"lnie":{}}]}]}"#);
    assert!(
        text.starts_with("turn[1].start[0]: unknown verb 'lnie'. Allowed verbs: line, text, "),
        "{text}"
    );
    assert!(text.ends_with("raise, linger"), "{text}");
}

/// What is wrong, and a part of what is said of it.
const MISTAKES: &[(&str, &str)] = &[
    ("[]", "not a JSON object"),
    ("{", "not a JSON object"),
    (r#"{"turns":[]}"#, "unknown key 'turns'. Allowed: turn, resumed, "),
    (r#"{"turn":{}}"#, "turn: must be an array"),
    (r#"{"turn":[1]}"#, "turn[0]: must be an object"),
    (r#"{"turn":[{}]}"#, "turn[0]: no verb in the step"),
    (
        r#"{"turn":[{"line":1,"sleep":1}]}"#,
        "turn[0]: more than one verb in a step: line, sleep",
    ),
    (
        r#"{"turn":[{"sleep":1,"to":"stdout"}]}"#,
        "turn[0]: 'sleep' has no option 'to'. Allowed options: none",
    ),
    (
        r#"{"turn":[{"line":1,"too":"stdout"}]}"#,
        "'line' has no option 'too'. Allowed options: to, write, ",
    ),
    (
        r#"{"turn":[{"sleep":"1"}]}"#,
        "turn[0].sleep: must be a whole number",
    ),
    (
        r#"{"turn":[{"sleep":-1}]}"#,
        "turn[0].sleep: must be a whole number",
    ),
    (r#"{"turn":[{"exit":256}]}"#, "turn[0].exit: must be an exit code"),
    (r#"{"turn":[{"linger":false}]}"#, "turn[0].linger: must be true"),
    (r#"{"turn":[{"text":1}]}"#, "turn[0].text: must be a string"),
    (
        r#"{"turn":[{"text":"${nope}"}]}"#,
        "turn[0].text: unknown placeholder '${nope}'",
    ),
    (
        r#"{"turn":[{"line":{"a":"${nope}"}}]}"#,
        "turn[0].line: unknown placeholder '${nope}'",
    ),
    (
        r#"{"turn":[{"line":1,"to":"stdin"}]}"#,
        "turn[0].to: must be \"stdout\" or \"stderr\"",
    ),
    (
        r#"{"turn":[{"line":1,"write":0}]}"#,
        "turn[0].write: must be \"whole\", \"lines\" or a number",
    ),
    (r#"{"turn":[{"bytes":"ff"}]}"#, "turn[0].bytes: must be an object"),
    (
        r#"{"turn":[{"bytes":{"hex":"f"}}]}"#,
        "turn[0].bytes: cannot be decoded",
    ),
    (
        r#"{"turn":[{"bytes":{"oct":"f"}}]}"#,
        "turn[0].bytes: must be {\"hex\"",
    ),
    (
        r#"{"turn":[{"file":"gone.jsonl"}]}"#,
        "turn[0].file: cannot read 'gone.jsonl'",
    ),
    (
        r#"{"turn":[{"stdin":"some"}]}"#,
        "turn[0].stdin: must be \"all\", \"never\" or a number of bytes",
    ),
    (
        r#"{"turn":[{"stdin":"all","copyTo":"stdin"}]}"#,
        "turn[0].copyTo: must be \"stdout\" or \"stderr\"",
    ),
    (
        r#"{"turn":[{"start":[],"hold":"all"}]}"#,
        "turn[0].hold: must be \"both\"",
    ),
    (
        r#"{"turn":[{"start":[],"args":["a",1]}]}"#,
        "turn[0].args[1]: must be a string",
    ),
    (
        r#"{"turn":[{"start":[],"as":"orphan"}]}"#,
        "turn[0].as: must be \"member\"",
    ),
    (r#"{"turn":[{"start":{}}]}"#, "turn[0].start: must be an array"),
    (
        r#"{"turn":[{"callTools":{}}]}"#,
        "turn[0].callTools: must be an array",
    ),
    (
        r#"{"turn":[{"callTools":[{"name":"fn_a"}]}]}"#,
        "turn[0].callTools[0]: unknown key 'name'. Allowed: tool, arguments",
    ),
    (
        r#"{"turn":[{"callTools":[{}]}]}"#,
        "turn[0].callTools[0]: 'tool' is missing",
    ),
    (
        r#"{"turn":[{"callTools":[{"tool":"fn_a","arguments":[]}]}]}"#,
        "turn[0].callTools[0].arguments: must be an object",
    ),
    (
        r#"{"turn":[{"callTools":[],"parallel":1}]}"#,
        "turn[0].parallel: must be true or false",
    ),
    (r#"{"stdin":true}"#, "stdin: must be \"all\""),
    (r#"{"lineDelayMs":"1"}"#, "lineDelayMs: must be a whole number"),
    (
        r#"{"turn":[{"sleep":1,"note":2}]}"#,
        "turn[0].note: must be a string",
    ),
];

#[test]
fn every_kind_of_mistake_is_named() {
    for (source, part) in MISTAKES {
        let text = refusal(source);
        assert!(text.contains(part), "{source}: {text}");
    }
}

#[cfg(unix)]
#[test]
fn signals_are_checked() {
    for (source, part) in [
        (
            r#"{"turn":[{"ignore":["TERM"]}]}"#,
            "turn[0].ignore: unknown signal 'TERM'. Allowed: SIGHUP, SIGINT",
        ),
        (
            r#"{"turn":[{"ignore":["SIGKILL"]}]}"#,
            "turn[0].ignore: SIGKILL cannot be caught",
        ),
        (
            r#"{"turn":[{"trap":["SIGSTOP"]}]}"#,
            "turn[0].trap: SIGSTOP cannot be caught",
        ),
        (
            r#"{"turn":[{"ignore":"SIGTERM"}]}"#,
            "turn[0].ignore: must be an array",
        ),
    ] {
        let text = refusal(source);
        assert!(text.contains(part), "{source}: {text}");
    }
    assert!(matches!(step(r#"{"raise":"SIGKILL"}"#), Action::Raise(9)));
}

#[cfg(windows)]
#[test]
fn what_only_unix_can_do_is_refused() {
    for source in [
        r#"{"turn":[{"ignore":["SIGTERM"]}]}"#,
        r#"{"turn":[{"raise":"SIGKILL"}]}"#,
        r#"{"turn":[{"close":"stdout"}]}"#,
    ] {
        assert!(refusal(source).contains("is for Unix only"), "{source}");
    }
    assert!(matches!(step(r#"{"start":[],"as":"session"}"#), Action::Start(_)));
}

#[test]
fn a_delay_makes_lines_unless_the_step_says_otherwise() {
    let cut = |source: &str| match step(source) {
        Action::Write(write) => (write.cut, write.delay.as_millis()),
        other => panic!("{other:?}"),
    };
    assert_eq!(cut(r#"{"line":1,"repeat":3}"#), (Cut::Whole, 0));
    assert_eq!(cut(r#"{"line":1,"repeat":3,"delayMs":5}"#), (Cut::Lines, 5));
    assert_eq!(
        cut(r#"{"line":1,"repeat":3,"delayMs":5,"write":"whole"}"#),
        (Cut::Whole, 5)
    );
    assert_eq!(cut(r#"{"text":"abc","write":1}"#), (Cut::Bytes(1), 0));
}

#[test]
fn the_line_delay_of_a_scenario_is_for_lines_and_files() {
    let source = r#"{"lineDelayMs":7,"turn":[{"line":1},{"line":1,"delayMs":0},{"text":"x"}]}"#;
    let scenario = parse(source, Path::new("/nowhere")).unwrap();
    let delays: Vec<_> = scenario.lists["turn"]
        .iter()
        .map(|step| match &step.action {
            Action::Write(write) => write.delay.as_millis(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(delays, [7, 0, 0]);
}

#[test]
fn deep_lines_are_read() {
    let deep = "[".repeat(5000) + &"]".repeat(5000);
    assert!(matches!(step(&format!("{{\"line\":{deep}}}")), Action::Write(_)));
}

#[test]
fn the_built_in_answers_are_sound() {
    let commands = parse_commands(include_str!("commands.json")).unwrap();
    for name in [
        "version",
        "status",
        "status json",
        "models",
        "about",
        "about json",
        "mcp",
    ] {
        assert!(commands.lists.contains_key(name), "{name}");
    }
}
