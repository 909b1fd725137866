//! The command `cursor`: the editor's launcher, which is not the agent but may lead to it.

use std::os::unix::fs::symlink;

use fusion_cursor_native::cli::verdict::State;

use crate::candidates::logging;
use crate::support::{AGENT, Machine, VERSION, WRAPPER, path_of, reason};

#[tokio::test]
async fn the_wrapper_is_asked_as_cursor_agent() {
    let machine = Machine::new();
    let body = logging(&machine, WRAPPER);
    let wrapper = machine.script("one/cursor", &body);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(wrapper.as_path()))
    );
    assert_eq!(status.version.as_deref(), Some(VERSION));
    assert_eq!(status.program.as_ref().unwrap().leading, ["agent"]);
    assert!(
        machine
            .lines("runs")
            .iter()
            .all(|run| run.contains("/cursor agent "))
    );
    assert!(
        status.diagnostics[0].starts_with("cursor-agent: not found"),
        "{status:?}"
    );
}

#[tokio::test]
async fn a_link_called_cursor_to_the_agent_itself_is_the_agent() {
    let machine = Machine::new();
    machine.script("versions/1/cursor-agent", AGENT);
    symlink(machine.at("versions/1/cursor-agent"), machine.at("one/cursor")).unwrap();
    let status = machine.probe().await;
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert_eq!(status.program.unwrap().leading, Vec::<std::ffi::OsString>::new());
}

#[tokio::test]
async fn the_editor_without_an_agent_is_not_the_agent() {
    let machine = Machine::new();
    machine.script(
        "one/cursor",
        "printf '1.7.44\\n9d178a4149c8c6f84dca1ba8a4e0f8b3a4a1d2c3\\nx64\\n'",
    );
    let status = machine.probe().await;
    assert_eq!((status.state, status.version.as_deref()), (State::Missing, None));
    assert!(reason(&status).contains("editor"), "{status:?}");
}

const SHIM: &str = "echo \"Error: No Cursor IDE installation found. Use 'cursor agent' or 'agent' to run the agent.\" >&2; exit 1";

#[tokio::test]
async fn the_wrapper_with_nothing_behind_it_is_a_state_of_its_own() {
    let machine = Machine::new();
    let shim = machine.script("one/cursor", SHIM);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::IdeMissing, Some(shim.as_path()))
    );
    assert!(status.state.available());
    assert!(reason(&status).contains("installation not found"), "{status:?}");
    let (ok, _) = machine.validate(shim.to_str().unwrap()).await;
    assert!(!ok);
    let agent = machine.script("home/.local/bin/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(agent.as_path()))
    );
}

#[tokio::test]
async fn the_shim_that_knows_the_agent_is_ready_though_its_editor_is_missing() {
    let machine = Machine::new();
    let body = WRAPPER.replace(
        "{ printf '1.7.44\\n9d178a4149c8c6f84dca1ba8a4e0f8b3a4a1d2c3\\nx64\\n'; exit 0; }",
        &format!("{{ {SHIM}; }}"),
    );
    assert!(body.contains("No Cursor IDE"));
    machine.script("one/cursor", &body);
    assert_eq!(machine.probe().await.state, State::Ready);
}
