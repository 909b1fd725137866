//! `fusion-cursor-stand-in`: an executable that takes the place of `cursor-agent` in tests.
//!
//! It plays a scenario, a JSON file of steps that `testing/README.md` describes. The way through it: `args`
//! reads the command line, `scenario` (with `read`) checks the file into the types of `step`, `play` plays
//! them, `child`, `echo` and `host` serve one verb each, and `unix` and `windows` are the twins that know the system.
#![allow(
    clippy::disallowed_methods,
    reason = "the stand-in is a program of its own, on one thread"
)]
#![forbid(unsafe_code)]

mod args;
mod child;
mod codec;
mod echo;
mod host;
mod play;
mod read;
mod scenario;
mod step;
mod template;

#[cfg(unix)]
#[path = "unix.rs"]
mod sys;
#[cfg(windows)]
#[path = "windows.rs"]
mod sys;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::{Request, Turn};
use crate::play::{Context, End, Player, emit};
use crate::step::{Scenario, Stream};
use crate::template::Template;

const DEMO: &str = include_str!("../scenarios/demo.json");
const COMMANDS: &str = include_str!("commands.json");
const SCENARIO_VARIABLE: &str = "FUSION_CURSOR_SCENARIO";
const ECHO_VARIABLE: &str = "FUSION_CURSOR_ECHO";

/// The scenario has a mistake.
const EXIT_SCENARIO: u8 = 64;
/// A step could not be done.
const EXIT_FAILED: u8 = 70;
/// Nobody reads the output: what a shell reports for a process that SIGPIPE killed.
const EXIT_PIPE: u8 = 141;

const HELP: &str = "\
fusion-cursor-stand-in takes the place of Cursor's CLI in tests: no account, no network, no model.

It takes the options of `cursor-agent` and plays a scenario: the JSON file that FUSION_CURSOR_SCENARIO names,
else a built-in demo. The verbs of a scenario are described in testing/README.md of fusion-cursor-native.
";

fn main() -> ExitCode {
    sys::hold_streams();
    let result = match std::env::var_os(child::MARKER) {
        Some(kind) => child::live(&kind),
        None => run(),
    };
    ExitCode::from(match result {
        Ok(()) => 0,
        Err(End::Exit(code)) => code,
        Err(End::PipeGone) => EXIT_PIPE,
        Err(End::Failed(what)) => {
            complain(&what);
            EXIT_FAILED
        }
    })
}

/// Says on stderr what went wrong; that nobody may listen changes nothing.
fn complain(what: &str) {
    let _ = emit(
        Stream::Stderr,
        format!("fusion-cursor-stand-in: {what}\n").as_bytes(),
    );
}

fn run() -> Result<(), End> {
    let scenario = load()?;
    let words: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    match args::parse(&words) {
        Request::Turn(turn) => play_turn(&scenario, turn),
        Request::Command { name, json } => play_command(&scenario, name, json),
        Request::Help => emit(Stream::Stdout, HELP.as_bytes()),
        Request::Refused(text) => {
            emit(Stream::Stderr, format!("{text}\n").as_bytes())?;
            Err(End::Exit(1))
        }
    }
}

fn mistaken(what: &str) -> End {
    complain(what);
    End::Exit(EXIT_SCENARIO)
}

fn load() -> Result<Scenario, End> {
    let named = std::env::var_os(SCENARIO_VARIABLE)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from);
    let Some(path) = named else {
        return scenario::parse(DEMO, Path::new("")).map_err(|mistake| mistaken(&mistake.to_string()));
    };
    let shown = path.display();
    let source = std::fs::read_to_string(&path)
        .map_err(|error| mistaken(&format!("{SCENARIO_VARIABLE}: cannot read '{shown}': {error}")))?;
    let base = std::path::absolute(&path).unwrap_or(path.clone());
    scenario::parse(&source, base.parent().unwrap_or(Path::new("")))
        .map_err(|mistake| mistaken(&format!("{shown}: {mistake}")))
}

fn play_turn(scenario: &Scenario, turn: Turn) -> Result<(), End> {
    let resumed = scenario.lists.get("resumed").filter(|_| turn.resume.is_some());
    let Some(steps) = resumed.or_else(|| scenario.lists.get("turn")) else {
        return Err(mistaken("the scenario has no 'turn'"));
    };
    let mut player = Player {
        base: &scenario.base,
        context: Context {
            words: turn.prompt,
            stdin: Vec::new(),
            session: turn.resume.or(turn.new_session).unwrap_or_else(codec::uuid),
            request: codec::uuid(),
            model: turn
                .model
                .filter(|id| id != "auto")
                .unwrap_or_else(|| "Auto".to_owned()),
        },
    };
    player.take(scenario.stdin, &[])?;
    if let Some(path) = std::env::var_os(ECHO_VARIABLE).map(OsString::into_string) {
        let path = path.unwrap_or_else(|odd| odd.to_string_lossy().into_owned());
        let path = Template::text(&path).map_err(|what| mistaken(&format!("{ECHO_VARIABLE}: {what}")))?;
        player.echo_to(&path)?;
    }
    player.play(steps)
}

fn play_command(scenario: &Scenario, name: &str, json: bool) -> Result<(), End> {
    let mut player = Player {
        base: &scenario.base,
        context: Context::default(),
    };
    if let Some(steps) = scenario.lists.get(name) {
        return player.play(steps);
    }
    let built_in = scenario::parse_commands(COMMANDS)
        .map_err(|mistake| End::Failed(format!("commands.json: {mistake}")))?;
    let form = if json {
        format!("{name} json")
    } else {
        name.to_owned()
    };
    match built_in.lists.get(&form) {
        Some(steps) => player.play(steps),
        None => Err(mistaken(&format!("the scenario has no '{name}'"))),
    }
}
