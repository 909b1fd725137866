use proptest::prelude::*;

use super::super::decorated::decorated;
use super::*;

/// As `id|label`, with `D` and `C` for the marks, one model after the other.
fn shown_list(list: &ModelList) -> String {
    let models = list.entries.iter().map(|model| {
        let marks = [(model.is_default, "D"), (model.is_current, "C")];
        let marks: String = marks
            .iter()
            .filter(|(set, _)| *set)
            .map(|(_, mark)| *mark)
            .collect();
        format!("{}|{}|{marks}", model.id, model.label)
    });
    models.collect::<Vec<_>>().join("\n")
}

fn read(text: &str) -> String {
    let list = parse_models(text);
    assert_eq!(
        list.source == Source::None,
        list.entries.is_empty() && !list.empty_account
    );
    shown_list(&list)
}

const LIST: &str = "Available models\n\nauto - Auto (default)\ncomposer-2.5 - Composer 2.5  (current)\n\
                    opus-5-thinking - Opus 5 (Thinking)\n\nTip: use --model <id> (or /model <id> in interactive mode) \
                    to switch.\n";
const LIST_READ: &str = "auto|Auto|D\ncomposer-2.5|Composer 2.5|C\nopus-5-thinking|Opus 5 (Thinking)|";

#[test]
fn a_list_is_read_whatever_is_around_it() {
    let rows = LIST.strip_prefix("Available models\n\n").unwrap();
    for text in [
        LIST.to_owned(),
        LIST.replace('\n', "\r\n"),
        format!("\u{feff}{LIST}"),
        format!("\u{1b}[2K\u{1b}[GLoading models…\n\u{1b}[2K\u{1b}[1A\u{1b}[2K\u{1b}[G{LIST}"),
        format!("Loading models…\rLoading models…\r{LIST}"),
        format!("Loading models…\n{LIST}"),
        format!("Loading models…{LIST}"),
        LIST.replace("auto -", "\u{1b}[1mauto\u{1b}[22m -"),
        LIST.replace("Composer", "\u{200b}Composer\u{200b}"),
        LIST.replace("Available models", "AVAILABLE MODELS:"),
        LIST.replace("Available models", "available models :"),
        LIST.replace("Available models", "Models"),
        LIST.replace("Available models", "Verfügbare Modelle:"),
        LIST.replace("Available models\n", "可用模型"),
        rows.to_owned(),
        rows.lines().take(3).collect::<Vec<_>>().join("\n"),
        format!("warning - old version\nnote - x\n{LIST}"),
        format!("x-1 - before the header\n\n{LIST}"),
        format!("(node:1) Warning: something\n{LIST}Update available\n"),
        format!("{LIST}please - upgrade\nsee - the documentation\n"),
        LIST.replace("Tip:", "Astuce :"),
        LIST.replace("\n\nTip", "\nTip"),
        format!("{LIST}{LIST}"),
        LIST.replace("\nopus", "\n\nopus"),
        LIST.replace("auto - ", "  auto  -  "),
    ] {
        assert_eq!(read(&text), LIST_READ, "for {text:?}");
    }
}

#[test]
fn only_known_marks_are_taken_off_a_label() {
    for (label, read_as) in [
        ("Auto", "Auto|"),
        ("Auto (default)", "Auto|D"),
        ("Auto (current)", "Auto|C"),
        ("Auto  (current, default)", "Auto|DC"),
        ("Auto (default,current)", "Auto|DC"),
        ("Auto ( default ,  current )", "Auto|DC"),
        ("Auto (current) (default)", "Auto|DC"),
        ("Auto (current)(current)", "Auto|C"),
        ("Auto(default)", "Auto|D"),
        ("Foo - Bar (beta) (current)", "Foo - Bar (beta)|C"),
        ("Fable 5 1M Thinking (NO ZDR)", "Fable 5 1M Thinking (NO ZDR)|"),
        ("Opus (default effort)", "Opus (default effort)|"),
        ("Opus (current, fast)", "Opus (current, fast)|"),
        ("Opus (default) Max", "Opus (default) Max|"),
        ("Two  spaces", "Two  spaces|"),
        ("(default)", "x-1|D"),
        ("()", "()|"),
        ("", "x-1|"),
    ] {
        let text = format!("Available models\n\nx-1 - {label}\n");
        assert_eq!(read(&text), format!("x-1|{read_as}"), "for {label:?}");
    }
}

#[test]
fn ids_are_exact_and_come_once() {
    let text = "Available models\nbase[context=1m,effort=high,fast=false] - Base\nbase - Base\nb_1.0-X - B\n\
                base - Other (current)\nbase[] - E\n";
    assert_eq!(
        read(text),
        "base[context=1m,effort=high,fast=false]|Base|\nbase|Base|C\nb_1.0-X|B|\nbase[]|E|"
    );
    for row in [
        "a b - X",
        "-x - X",
        "--model - X",
        "ä - X",
        "a/b - X",
        "a[x - X",
        "a[b c] - X",
        "a[x]y - X",
        "<id> - X",
        "1 - X",
    ] {
        assert_eq!(read(&format!("Available models\n{row}\n")), "", "for {row:?}");
    }
}

#[test]
fn columns_of_older_builds_are_read() {
    let read_as = "auto|Auto|D\nx-1|X 1 - new|C";
    for text in [
        "Available models\n\nauto\tAuto (default)\nx-1\tX 1 - new (current)\n",
        "Available models:\nauto  Auto  (default)\nx-1   X 1 - new  (current)\n\nTip: more\n",
        "auto\tAuto\t(default)\nx-1\tX 1 - new\t(current)\n",
        "ID    Name\n----  ----\nauto  Auto (default)\nx-1   X 1 - new (current)\n",
        "Model\tDescription\nauto\tAuto (default)\t200k\nx-1\tX 1 - new (current)\t1m\n",
        "Modèles\n\nauto\tAuto (default)\nx-1\tX 1 - new (current)\n\nAstuce : --model\n",
    ] {
        assert_eq!(read(text), read_as, "for {text:?}");
    }
}

#[test]
fn lone_ids_are_read_where_nothing_else_is() {
    for text in [
        "Available models\n\nauto\nx-1 (current)\n",
        "auto\nx-1 (current)\n",
        "Modelle:\n\nauto\nx-1 (current)\n",
    ] {
        assert_eq!(read(text), "auto|auto|\nx-1|x-1|C", "for {text:?}");
    }
    assert_eq!(read("Available models\nsonnet\n"), "sonnet|sonnet|");
    assert_eq!(
        read("Available models\nauto - Auto\nx-1\ndone\n"),
        "auto|Auto|\nx-1|x-1|"
    );
}

#[test]
fn prose_is_never_an_id() {
    for text in [
        "",
        "\n \n",
        "Loading models…",
        "ok",
        "done\nbye\n",
        "Error: Authentication required. Run 'agent login', pass --api-key/--auth-token, or set CURSOR_API_KEY.",
        "Cannot use this model: x-1. Available models: auto, x-1, y-2",
        "error: unknown option '--json'",
        "error - something failed\nwarning - and more",
        "Note - a remark\nHint - another",
        "agent - command failed",
        "2026-01-01 - started\n2026-01-02 - stopped",
        "Usage: agent [options] [command]\n\nOptions:\n  -p, --print  Print\n  --model <id>  Model\n\nCommands:\n  login    \
         Authenticate\n  logout   Leave\n  status|whoami  Status\n",
        "Available models\n\nTip: use --model <id> (or /model <id> in interactive mode) to switch.\n",
        "Available models\n\nCould not load them\nretry\nlater  please\n",
        "[dotenv@17] injecting env\n[1, 2]\n",
        "key  value\nother  thing\n",
        "About Cursor CLI\n\nCLI Version         2026.08.11-e8db854\nModel               Composer 2.5\nOS                  linux\n",
    ] {
        let list = parse_models(text);
        assert_eq!(list, ModelList::default(), "for {text:?}");
    }
}

#[test]
fn an_empty_account_is_told_from_nothing_recognised() {
    for text in [
        "No models available for this account.\n",
        "\u{1b}[2K\u{1b}[GLoading models…\n\u{1b}[2K\u{1b}[1A\u{1b}[2K\u{1b}[GNo models available for this account.\r\n",
        "Available models\n\n⚠ no models available for this account\n",
        "[]",
        "{\"models\": []}\n",
    ] {
        let list = parse_models(text);
        assert!(list.empty_account && list.entries.is_empty(), "for {text:?}");
        assert_ne!(list.source, Source::None, "for {text:?}");
    }
    let list = parse_models("No models available for this account.\nAvailable models\nauto - Auto\n");
    assert!(!list.empty_account && list.entries.len() == 1);
}

#[test]
fn json_is_passed_through() {
    let text = r#"notice
[
  "auto",
  {"id": "x-1", "label": "X 1 (current)", "reasoning": true, "contextWindow": 200000, "isDefault": true},
  {"name": "y/2", "displayName": "Y\u001b[1m\n2", "reasoning": "yes", "contextWindow": -1},
  {"name": "Z 3", "model": "z:3", "contextWindow": 1.5, "current": true},
  "auto"
]
trailer"#;
    let list = parse_models(text);
    assert_eq!(shown_list(&list), "auto|auto|\nx-1|X 1|DC\ny/2|Y 2|\nz:3|Z 3|C");
    assert_eq!(list.source, Source::Json);
    let told: Vec<_> = list
        .entries
        .iter()
        .map(|model| (model.reasoning, model.context_window))
        .collect();
    assert_eq!(
        told,
        [
            (None, None),
            (Some(true), Some(200_000)),
            (None, None),
            (None, None)
        ]
    );
    for text in [
        r#"{"models":["auto"],"x":1}"#,
        "{\"level\":\"warn\"}\n{\"models\":[{\"id\":\"auto\"}]}",
        "[\"not a list of models\"]\n[\"auto\"]",
    ] {
        assert_eq!(shown_list(&parse_models(text)), "auto|auto|", "for {text:?}");
    }
    for text in [
        r#"["a b"]"#,
        r#"["-x"]"#,
        r#"[{"x":1}]"#,
        r#"{"models":{}}"#,
        r#"["auto""#,
        r#"[["auto"]]"#,
        r#"["auto"] and more"#,
    ] {
        assert_eq!(parse_models(text), ModelList::default(), "for {text:?}");
    }
}

#[test]
fn a_long_text_takes_no_time() {
    for unit in [
        "\n",
        " ",
        "[\n",
        "[",
        "{\"a\":\n",
        "a - b\n",
        "x-1\n",
        "a  b\n",
        "(default)",
    ] {
        let _ = parse_models(&unit.repeat(20_000));
        let _ = parse_models(&format!("x-1 - {}", unit.repeat(20_000)));
    }
}

proptest! {
    #[test]
    fn no_text_panics(text: String, rows in "(Available models\n)?([a-z]{1,3}|x-1|[\\[\\](),:…-]|( - )|  |\t|\n|\\(default\\)){0,40}") {
        for text in [text, rows] {
            let list = parse_models(&text);
            prop_assert!(list.entries.iter().all(|model| is_json_id(&model.id) && !model.label.contains('\n')));
            prop_assert!(!list.empty_account || list.entries.is_empty());
        }
    }

    #[test]
    fn decoration_changes_nothing(text in decorated(LIST), json in decorated("[\"auto\", {\"id\": \"x-1\"}]\n")) {
        prop_assert_eq!(read(&text), LIST_READ);
        prop_assert_eq!(read(&json), "auto|auto|\nx-1|x-1|");
    }
}
