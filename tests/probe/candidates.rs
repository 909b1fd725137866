//! Which program is found, and what is told of the others.

use std::os::unix::fs::symlink;

use fusion_cursor_native::cli::verdict::State;

use crate::support::{AGENT, Machine, VERSION, WRAPPER, path_of, reason};

pub(crate) fn logging(machine: &Machine, body: &str) -> String {
    format!("echo \"$0\" \"$@\" >> '{}'\n{body}", machine.text("runs"))
}

#[tokio::test]
async fn the_agent_in_path_wins_with_its_absolute_path_and_later_commands_use_that_path() {
    let machine = Machine::new();
    let body = logging(&machine, AGENT);
    let agent = machine.script("two/cursor-agent", &body);
    let status = machine.probe().await;
    assert_eq!(status.state, State::Ready, "{status:?}");
    assert_eq!(path_of(&status), Some(agent.as_path()));
    assert_eq!(status.version.as_deref(), Some(VERSION));
    assert!(!status.uses_configured());
    assert_eq!(status.diagnostics, Vec::<String>::new());
    let shown = agent.display();
    assert_eq!(
        machine.lines("runs"),
        [
            format!("{shown} --version"),
            format!("{shown} status --format json")
        ]
    );
}

#[tokio::test]
async fn a_program_of_another_vendor_called_agent_is_never_run() {
    let machine = Machine::new();
    let foreign = logging(&machine, "echo 'grok agent 1.2.3'");
    machine.script("one/agent", &foreign);
    assert_eq!(machine.probe().await.state, State::Missing);
    let agent = machine.script("two/cursor-agent", AGENT);
    assert_eq!(path_of(&machine.probe().await), Some(agent.as_path()));
    assert_eq!(machine.lines("runs"), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_of_another_vendor_under_the_agents_name_is_told_and_passed_over() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", "echo 'grok agent 1.2.3'");
    let status = machine.probe().await;
    assert_eq!(status.state, State::Missing);
    assert!(reason(&status).contains("grok agent 1.2.3"), "{status:?}");
    let agent = machine.script("two/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(agent.as_path()))
    );
    assert_eq!(status.diagnostics.len(), 1, "{status:?}");
}

#[tokio::test]
async fn what_is_configured_is_tried_first_and_trimmed() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", "exit 3");
    let odd = machine.script("my prögrams/it's \"the\" agent", AGENT);
    let configured = format!("  {}\t", odd.display());
    let status = machine.probe_configured(&configured).await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(odd.as_path()))
    );
    assert!(status.uses_configured());
    assert_eq!(status.configured.as_deref(), odd.to_str());
    assert_eq!(status.winner.unwrap().name, odd.to_str().unwrap());
    assert_eq!(status.diagnostics, Vec::<String>::new(), "nothing else was run");
}

#[tokio::test]
async fn a_blank_configured_path_counts_as_none() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", AGENT);
    let status = machine.probe_configured(" \t ").await;
    assert_eq!((status.state, status.configured.as_deref()), (State::Ready, None));
}

#[tokio::test]
async fn quotes_around_a_configured_path_are_part_of_it() {
    let machine = Machine::new();
    let agent = machine.script("one/agent", AGENT);
    let (ok, status) = machine.validate(&format!("\"{}\"", agent.display())).await;
    assert!(!ok);
    assert!(status.diagnostics[0].contains("ENOENT"), "{status:?}");
}

#[tokio::test]
async fn shell_characters_in_a_configured_path_reach_no_shell() {
    let machine = Machine::new();
    let name = "a; touch hit; $(touch hit) `touch hit` & | > hit 'x' %PATH% #";
    let agent = machine.script(name, AGENT);
    let status = machine.probe_configured(agent.to_str().unwrap()).await;
    assert_eq!(status.state, State::Ready, "{status:?}");
    let broken = format!("{}; touch {}", agent.display(), machine.text("hit"));
    let status = machine.probe_configured(&broken).await;
    assert_eq!(status.state, State::Missing, "{status:?}");
    assert!(!machine.at("hit").exists() && !std::path::Path::new("/hit").exists());
}

#[tokio::test]
async fn a_configured_default_name_is_tried_once() {
    let machine = Machine::new();
    let body = logging(&machine, "exit 3");
    machine.script("one/cursor-agent", &body);
    let status = machine.probe_configured("cursor-agent").await;
    assert_eq!(status.state, State::NotRunnable);
    assert_eq!(machine.lines("runs").len(), 1);
    assert_eq!(
        status.diagnostics.len(),
        2,
        "the other name's fate too: {status:?}"
    );
}

#[tokio::test]
async fn a_configured_cursor_is_the_wrapper_and_comes_before_the_agent() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", AGENT);
    machine.script("one/cursor", WRAPPER);
    let status = machine.probe_configured("cursor").await;
    assert!(status.uses_configured());
    assert_eq!(status.program.unwrap().leading, ["agent"]);
}

#[tokio::test]
async fn a_configured_name_that_is_nowhere_is_told_by_its_name() {
    let machine = Machine::new();
    let (ok, status) = machine.validate("my-agent").await;
    assert!(!ok);
    assert_eq!(
        status.diagnostics,
        ["configured binary my-agent: not found in PATH (ENOENT)"]
    );
}

#[tokio::test]
async fn a_path_that_looks_like_a_key_is_told_as_it_is_and_a_key_in_its_place_is_not() {
    let machine = Machine::new();
    let program = machine.script("b7Xq9ZkP2mW4vT8sLd3NcR6yHj/agent\n2", "exit 7");
    let (_, status) = machine.validate(program.to_str().unwrap()).await;
    assert!(
        status.diagnostics[0].contains("b7Xq9ZkP2mW4vT8sLd3NcR6yHj/agent 2"),
        "{status:?}"
    );
    let (_, status) = machine.validate("key_0123456789abcdef0123456789abcdef").await;
    assert!(!status.diagnostics[0].contains("0123456789"), "{status:?}");
}

#[tokio::test]
async fn a_broken_configured_program_is_told_and_path_stands_in_for_it() {
    let machine = Machine::new();
    let agent = machine.script("two/cursor-agent", AGENT);
    let broken = machine.script("broken", "echo 'dlopen: image not found' >&2; exit 1");
    let status = machine.probe_configured(broken.to_str().unwrap()).await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(agent.as_path()))
    );
    assert!(!status.uses_configured());
    assert_eq!(status.configured.as_deref(), broken.to_str());
    assert!(status.diagnostics[0].contains("image not found"), "{status:?}");
}

#[tokio::test]
async fn a_validation_is_not_satisfied_by_another_program() {
    let machine = Machine::new();
    let agent = machine.script("two/cursor-agent", AGENT);
    let broken = machine.script("broken", "exit 7");
    let (ok, status) = machine.validate(broken.to_str().unwrap()).await;
    assert!(!ok);
    assert_eq!(status.state, State::NotRunnable);
    assert!(status.diagnostics[0].contains("exited with 7"), "{status:?}");
    let (ok, status) = machine.validate(agent.to_str().unwrap()).await;
    assert!(ok && status.uses_configured());
}

#[tokio::test]
async fn a_validation_does_not_ask_for_a_login() {
    let machine = Machine::new();
    let out = AGENT.replace("true", "false");
    let agent = machine.script("agent", &out);
    let (ok, status) = machine.validate(agent.to_str().unwrap()).await;
    assert!(ok);
    assert_eq!(status.state, State::Unauthenticated);
}

#[tokio::test]
async fn folders_broken_links_and_plain_files_before_the_agent_are_told_and_passed_over() {
    let mut machine = Machine::new();
    machine.path_is(&["folder", "link", "plain", "two"]);
    std::fs::create_dir_all(machine.at("folder/cursor-agent")).unwrap();
    std::fs::create_dir(machine.at("link")).unwrap();
    symlink("nowhere", machine.at("link/cursor-agent")).unwrap();
    machine.file("plain/cursor-agent", "#!/bin/sh\n", 0o644);
    let agent = machine.script("two/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(agent.as_path()))
    );
    for (line, word) in status
        .diagnostics
        .iter()
        .zip(["is a folder", "link to nothing", "EACCES"])
    {
        assert!(line.contains(word), "{line}");
    }
    assert_eq!(status.diagnostics.len(), 3);
}

#[tokio::test]
async fn a_folder_of_path_that_cannot_be_looked_into_is_told_and_passed_over() {
    let mut machine = Machine::new();
    machine.path_is(&["loop", "nothing", "two"]);
    symlink("loop", machine.at("loop")).unwrap();
    let agent = machine.script("two/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(path_of(&status), Some(agent.as_path()));
    assert_eq!(
        status.diagnostics.len(),
        1,
        "a folder that is not there is normal: {status:?}"
    );
}

#[tokio::test]
async fn a_hit_that_does_not_run_is_told_and_the_next_one_is_tried() {
    let machine = Machine::new();
    machine.script(
        "one/cursor-agent",
        "echo 'Error loading shared library' >&2; exit 127",
    );
    let agent = machine.script("two/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(agent.as_path()))
    );
    assert!(status.diagnostics[0].contains("shared library"), "{status:?}");
}

#[tokio::test]
async fn a_windows_program_first_in_path_is_passed_over_for_one_that_runs() {
    let mut machine = Machine::new();
    machine.path_is(&["mnt/c/Users/A User/AppData/Local/cursor-agent", "two"]);
    machine.file(
        "mnt/c/Users/A User/AppData/Local/cursor-agent/cursor-agent",
        b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0",
        0o755,
    );
    let alone = machine.probe().await;
    assert_eq!(alone.state, State::NotRunnable);
    assert!(reason(&alone).contains("ENOEXEC"), "{alone:?}");
    let agent = machine.script("two/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(agent.as_path()))
    );
}

#[tokio::test]
async fn one_file_in_two_folders_of_path_is_tried_once() {
    let mut machine = Machine::new();
    let body = logging(&machine, "exit 3");
    machine.script("one/cursor-agent", &body);
    symlink("one", machine.at("linked")).unwrap();
    machine.path_is(&["one", "linked", "one"]);
    machine.probe().await;
    assert_eq!(machine.lines("runs").len(), 1);
}

#[tokio::test]
async fn with_a_bare_path_the_folders_of_the_installers_are_tried_and_told() {
    for place in ["home/.local/bin/cursor-agent", "home/.cursor/bin/cursor-agent"] {
        let machine = Machine::new();
        let body = format!("echo \"$PATH\" > '{}'\n{AGENT}", machine.text("path"));
        let agent = machine.script(place, &body);
        let status = machine.probe().await;
        assert_eq!(
            (status.state, path_of(&status)),
            (State::Ready, Some(agent.as_path()))
        );
        assert!(status.diagnostics[0].contains("not found in PATH"), "{status:?}");
        assert!(status.diagnostics.len() <= 2, "{status:?}");
        let path = format!("{}:{}", machine.text("one"), machine.text("two"));
        assert_eq!(machine.lines("path"), [path], "PATH is passed on as it is");
    }
}

#[tokio::test]
async fn path_comes_before_the_folders_of_the_installers() {
    let machine = Machine::new();
    machine.script("home/.local/bin/cursor-agent", "exit 3");
    let wrapper = machine.script("two/cursor", WRAPPER);
    assert_eq!(path_of(&machine.probe().await), Some(wrapper.as_path()));
}

#[tokio::test]
async fn relative_and_empty_entries_of_path_lead_nowhere() {
    let mut machine = Machine::new();
    machine.script("one/cursor-agent", AGENT);
    let up = "../".repeat(40);
    let relative = format!("{up}{}", &machine.text("one")[1..]);
    assert!(std::path::Path::new(&relative).exists());
    machine.set("PATH", &format!(":.:{relative}:"));
    machine.set("HOME", "home");
    assert_eq!(machine.probe().await.state, State::Missing);
}

#[tokio::test]
async fn when_nothing_is_there_every_candidates_fate_is_told_and_path_is_not() {
    let mut machine = Machine::new();
    machine.set("CURSOR_API_KEY", "key_0123456789abcdef0123456789abcdef");
    let status = machine.probe_configured("/nowhere/at/all").await;
    assert_eq!(status.state, State::Missing);
    assert_eq!(status.diagnostics.len(), 3);
    let reason = reason(&status);
    assert!(
        reason.starts_with("cursor-agent/cursor not found on PATH"),
        "{reason}"
    );
    assert_eq!(reason.matches("ENOENT").count(), 3, "{reason}");
    assert!(
        !reason.contains(&machine.text("one")) && !reason.contains("0123456789"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_program_that_vanishes_between_two_commands_is_looked_up_once_more() {
    let machine = Machine::new();
    let leaving = format!("/bin/rm -- \"$0\"\n{AGENT}");
    machine.script("one/cursor-agent", &leaving);
    let stays = machine.script("two/cursor-agent", AGENT);
    let status = machine.probe().await;
    assert_eq!(
        (status.state, path_of(&status)),
        (State::Ready, Some(stays.as_path()))
    );
}

#[tokio::test]
async fn a_program_that_vanishes_for_good_leaves_the_login_unknown() {
    let machine = Machine::new();
    machine.script("one/cursor-agent", &format!("/bin/rm -- \"$0\"\n{AGENT}"));
    let status = machine.probe().await;
    assert_eq!(status.state, State::AuthUnknown);
    assert!(reason(&status).contains("ENOENT"), "{status:?}");
}

#[tokio::test]
async fn a_change_of_path_after_the_probe_changes_nothing() {
    let mut machine = Machine::new();
    let agent = machine.script("one/cursor-agent", AGENT);
    let found = path_of(&machine.probe().await)
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    machine.script("two/cursor-agent", "exit 3");
    machine.path_is(&["two"]);
    assert_eq!(found, agent.to_str().unwrap());
    assert_eq!(machine.models(&found).await.unwrap().entries[0].id, "auto");
}
