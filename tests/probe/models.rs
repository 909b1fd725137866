//! What is made of the answer to `models`.

use fusion_cursor_native::cli::discover::{DiscoverError, discover_provider};
use fusion_cursor_native::cli::failure::FailureClass;
use fusion_cursor_native::cli::models::ModelList;
use fusion_cursor_native::cli::verdict::State;
use serde_json::{Value, json};

use crate::support::{AGENT, Machine, TIGHT, WRAPPER, within};

const TABLE: &str = "Available models\n\nauto - Auto (default)\nm - Foo - Bar (beta) (current)\nn-1[x=1,y=false] - Foo\n\n\
    Tip: use --model <id> (or /model <id> in interactive mode) to switch.\n";

async fn with_models(steps: Value) -> Result<ModelList, DiscoverError> {
    let mut machine = Machine::new();
    machine.limit = TIGHT;
    let agent = machine.stand_in("one/cursor-agent", &json!({ "turn": [], "models": steps }));
    machine.models(agent.to_str().unwrap()).await
}

fn ids(list: &ModelList) -> Vec<&str> {
    list.entries.iter().map(|entry| entry.id.as_str()).collect()
}

#[tokio::test]
async fn the_table_is_read_wherever_it_is_printed() {
    for steps in [
        json!([{ "text": TABLE }]),
        json!([{ "text": TABLE, "to": "stderr" }]),
        json!([{ "text": format!("\u{1b}[2K\u{1b}[GLoading models…\n\u{1b}[2K\u{1b}[1A\u{1b}[2K\u{1b}[G{TABLE}") }]),
        json!([{ "text": "Warning: slow network\n", "to": "stderr" }, { "text": TABLE }]),
    ] {
        let list = with_models(steps.clone()).await.unwrap();
        assert_eq!(ids(&list), ["auto", "m", "n-1[x=1,y=false]"], "for {steps}");
        let marks: Vec<_> = list
            .entries
            .iter()
            .map(|entry| (entry.is_default, entry.is_current))
            .collect();
        assert_eq!(marks, [(true, false), (false, true), (false, false)]);
        assert_eq!(list.entries[1].label, "Foo - Bar (beta)");
    }
}

#[tokio::test]
async fn an_account_without_models_is_an_answer() {
    let list = with_models(json!([{ "text": "No models available for this account.\n" }]))
        .await
        .unwrap();
    assert!(list.entries.is_empty() && list.empty_account);
}

#[tokio::test]
async fn a_refusal_is_told_in_the_clis_own_sentence() {
    let said = "Error: Authentication required. Run 'agent login', pass --api-key/--auth-token, or set CURSOR_API_KEY/CURSOR_AUTH_TOKEN.";
    let refused = with_models(json!([{ "text": format!("{said}\n"), "to": "stderr" }, { "exit": 1 }])).await;
    let error = refused.unwrap_err();
    assert_eq!(error.to_string(), said);
    assert!(matches!(
        error,
        DiscoverError::Refused {
            class: Some(FailureClass::AuthRequired),
            ..
        }
    ));
}

#[tokio::test]
async fn a_list_of_a_command_that_failed_does_not_count() {
    let cases = [
        (json!([{ "text": TABLE }, { "exit": 1 }]), "Available models"),
        (json!([{ "exit": 3 }]), "exited with 3"),
        (json!([{ "raise": "SIGKILL" }]), "SIGKILL"),
        (
            json!([{ "text": TABLE }, { "linger": true }]),
            "no answer within 2000 ms",
        ),
        (json!([]), "printed nothing"),
        (
            json!([{ "text": "Something else entirely\n" }]),
            "Something else entirely",
        ),
    ];
    for (steps, why) in cases {
        let error = with_models(steps).await.unwrap_err().to_string();
        assert!(error.contains(why), "for {why}: {error}");
        assert!(error.chars().count() <= 180, "{error}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_says_so() {
    let machine = Machine::new();
    for (binary, why) in [("cursor-agent", "ENOENT"), ("/no/such/agent", "ENOENT")] {
        let error = machine.models(binary).await.unwrap_err();
        assert!(matches!(error, DiscoverError::NotLocated(_)), "{error:?}");
        assert!(error.to_string().contains(why), "{error}");
    }
    let long = machine
        .models(&format!("/{}", "a folder/".repeat(200)))
        .await
        .unwrap_err()
        .reason();
    assert!(long.chars().count() <= 180 && long.ends_with(')'), "{long}");
    let broken = machine.file("broken", "#!/no/such/interpreter\n", 0o755);
    let error = machine.models(broken.to_str().unwrap()).await.unwrap_err();
    assert!(matches!(error, DiscoverError::NotAsked(_)), "{error:?}");
}

#[tokio::test]
async fn names_are_looked_up_and_the_wrapper_is_asked_as_cursor_agent() {
    let machine = Machine::new();
    machine.script("one/cursor", WRAPPER);
    assert_eq!(ids(&machine.models(" cursor ").await.unwrap()), ["auto"]);
    machine.script("two/cursor-agent", AGENT);
    assert_eq!(ids(&machine.models("cursor-agent").await.unwrap()), ["auto"]);
}

#[tokio::test]
async fn a_provider_asks_the_program_that_the_probe_found() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", "exit 3");
    machine.script("two/cursor-agent", AGENT);
    let found = within(
        "the models",
        discover_provider(machine.request(Some("/nowhere")), machine.limit),
    )
    .await;
    assert_eq!(found.status.state, State::Ready);
    assert_eq!(ids(&found.models.unwrap().unwrap()), ["auto"]);
}

#[tokio::test]
async fn a_provider_looks_up_once_more_what_vanished_after_the_probe() {
    let machine = Machine::new();
    let leaving = AGENT.replace("echo '{", "/bin/rm -- \"$0\"; echo '{");
    machine.script("one/cursor-agent", &leaving);
    machine.script("home/.local/bin/cursor-agent", AGENT);
    let asked = discover_provider(machine.request(None), machine.limit);
    let found = within("the models", asked).await;
    assert_eq!(found.status.state, State::Ready);
    assert_eq!(ids(&found.models.unwrap().unwrap()), ["auto"]);
    let gone = machine.script("gone/agent", &leaving);
    let asked = discover_provider(machine.request(gone.to_str()), machine.limit);
    let found = within("the models", asked).await;
    assert!(
        matches!(found.models, Some(Err(DiscoverError::NotLocated(_)))),
        "{found:?}"
    );
}

#[tokio::test]
async fn a_provider_asks_nobody_where_the_probe_found_nobody() {
    let machine = Machine::new();
    let found = within(
        "the models",
        discover_provider(machine.request(None), machine.limit),
    )
    .await;
    assert_eq!(found.status.state, State::Missing);
    assert!(found.models.is_none() && found.status.reason.is_some());
}

#[tokio::test]
async fn a_provider_asks_also_where_only_a_key_is_known() {
    let mut machine = Machine::new();
    machine.script("one/cursor-agent", &AGENT.replace("true", "false"));
    machine.set("CURSOR_API_KEY", "k");
    let found = within(
        "the models",
        discover_provider(machine.request(None), machine.limit),
    )
    .await;
    assert_eq!(found.status.state, State::Unauthenticated);
    assert_eq!(ids(&found.models.unwrap().unwrap()), ["auto"]);
}

#[tokio::test]
async fn a_provider_asks_also_where_the_login_is_unknown() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", &AGENT.replace("isAuthenticated", "is"));
    let asked = discover_provider(machine.request(None), machine.limit);
    let found = within("the models", asked).await;
    assert_eq!(found.status.state, State::AuthUnknown);
    assert_eq!(ids(&found.models.unwrap().unwrap()), ["auto"]);
}
