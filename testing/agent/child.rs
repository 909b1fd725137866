//! Children: the stand-in starts itself again and hands over steps through the child's stdin.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::value::RawValue;

use crate::play::{Context, End, Player};
use crate::step::{Bond, Start};
use crate::{codec, scenario, sys};

/// The environment variable that makes the program a child; its value says which kind.
pub(crate) const MARKER: &str = "FUSION_CURSOR_STAND_IN_CHILD";
const PLAY: &str = "play";
const SESSION: &str = "session";
/// Starts the real child in a session of its own, and leaves.
const LAUNCH: &str = "launch";

/// Starts a child and returns once it has its steps; for a daemon, once its launcher is gone.
pub(crate) fn start(player: &Player<'_>, start: &Start) -> io::Result<()> {
    let kind = match start.bond {
        Bond::Member | Bond::Group => PLAY,
        Bond::Session => SESSION,
        Bond::Daemon => LAUNCH,
    };
    let mut command = Command::new(std::env::current_exe()?);
    command.args(start.args.iter().map(|word| player.text(word)));
    let stdio = |held: bool| if held { Stdio::inherit() } else { Stdio::null() };
    command
        .stdout(stdio(start.hold.stdout))
        .stderr(stdio(start.hold.stderr));
    match start.bond {
        Bond::Member => {}
        Bond::Group => sys::own_group(&mut command),
        Bond::Session | Bond::Daemon => sys::detach(&mut command),
    }
    let mut child = spawn(command, kind, bundle(player, start).as_bytes())?;
    if start.bond == Bond::Daemon {
        child.wait()?;
    } else {
        // Waits in the background, so that a child that ends does not stay as a zombie.
        std::thread::spawn(move || child.wait());
    }
    Ok(())
}

fn spawn(mut command: Command, kind: &str, bundle: &[u8]) -> io::Result<Child> {
    let mut child = command.env(MARKER, kind).stdin(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(bundle)?;
    }
    Ok(child)
}

/// All that a child needs, as JSON: the scenario file may be gone before it starts.
fn bundle(player: &Player<'_>, start: &Start) -> String {
    let context = &player.context;
    let texts = [
        ("base", player.base.to_string_lossy().as_ref()),
        ("words", &context.words),
        ("stdin", &codec::to_base64(&context.stdin)),
        ("session", &context.session),
        ("request", &context.request),
        ("model", &context.model),
    ]
    .map(|(name, text)| format!("\"{name}\":{},", codec::quoted(text)));
    let delay = start.line_delay.as_millis();
    format!(
        "{{{}\"lineDelayMs\":{delay},\"steps\":{}}}",
        texts.concat(),
        start.steps
    )
}

/// The life of a child of the kind that the marker says.
pub(crate) fn live(kind: &OsStr) -> Result<(), End> {
    let failed = |what: &str, why: &dyn std::fmt::Display| End::Failed(format!("child: {what}: {why}"));
    let mut handed = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut handed)
        .map_err(|error| failed("stdin", &error))?;
    if kind != PLAY {
        sys::own_session().map_err(|error| failed("session", &error))?;
    }
    if kind == LAUNCH {
        let program = std::env::current_exe().map_err(|error| failed("start", &error))?;
        let mut command = Command::new(program);
        command.args(std::env::args_os().skip(1));
        sys::detach(&mut command);
        return spawn(command, PLAY, handed.as_bytes())
            .map(drop)
            .map_err(|error| failed("start", &error));
    }
    let bundle: BTreeMap<String, Box<RawValue>> =
        serde_json::from_str(&handed).map_err(|error| failed("steps", &error))?;
    let text = |name: &str| {
        bundle
            .get(name)
            .and_then(|raw| serde_json::from_str::<String>(raw.get()).ok())
            .unwrap_or_default()
    };
    let base = PathBuf::from(text("base"));
    let steps = bundle.get("steps").ok_or_else(|| failed("steps", &"missing"))?;
    let delay = bundle
        .get("lineDelayMs")
        .and_then(|raw| raw.get().parse().ok())
        .unwrap_or(0);
    let steps = scenario::parse_steps("start", steps, &base, Duration::from_millis(delay))
        .map_err(|mistake| failed("steps", &mistake))?;
    let context = Context {
        words: text("words"),
        stdin: codec::from_base64(&text("stdin")).unwrap_or_default(),
        session: text("session"),
        request: text("request"),
        model: text("model"),
    };
    Player { base: &base, context }.play(&steps)
}
