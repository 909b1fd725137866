//! What is started for a program: on Windows it is not always the program itself.
//!
//! - A program (`.exe`, `.com`) is started directly.
//! - A script for `cmd` (`.cmd`, `.bat`), as package managers make them, is run by the system's own `cmd.exe`, which
//!   reads its command line by rules of its own; see `cmd.rs`.
//! - A script for PowerShell (`.ps1`) is run by that.
//! - The scripts that Cursor's installer puts in place only look for the newest version and run `node.exe index.js` of
//!   it. Where they are told by what lies beside them this is done here, and no command line is read twice.
//! - Anything else cannot be started.
//!
//! Elsewhere the system itself does all of it. What is here is the same on every platform, so that it is tested
//! everywhere; `launch` alone asks which one this is.

mod classify;
mod cmd;
mod own;
mod powershell;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::environment::value;
use super::locate::Program;
use crate::process::quote::{has_lost_end, push_word};
use crate::process::{Launch, Owner, Via, system_folder};
pub(super) use classify::unsupported;
use classify::{Kind, kind};

/// Why a program that is there cannot be started with these arguments. Nothing was started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LauncherError {
    /// It is of no kind that can be started here, or what runs its kind is missing.
    #[error("{0}")]
    Unsupported(String),
    /// A word of the command line has a meaning of its own for what would read it.
    #[error("{0}")]
    UnsafeToken(String),
    /// The command line is longer than what would read it takes.
    #[error("{0}")]
    TooLong(String),
}

/// What to run, and for whom.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    pub(crate) program: Program,
    /// Behind the words that the program itself needs.
    pub(crate) args: Vec<OsString>,
    pub(crate) cwd: PathBuf,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) owner: Owner,
}

/// The launch for an order. It looks at the disk.
pub(crate) fn launch(order: Order) -> Result<Launch, LauncherError> {
    let Order {
        program,
        args,
        cwd,
        environment,
        owner,
    } = order;
    let args = program.leading.into_iter().chain(args).collect();
    let direct = Launch {
        program: program.path,
        args,
        cwd,
        env: environment,
        owner,
        via: None,
    };
    if cfg!(windows) {
        arrange(direct, system_folder().as_deref())
    } else {
        Ok(direct)
    }
}

/// Arrange a launch as Windows needs it. `system`: the folder of its own programs.
fn arrange(mut launch: Launch, system: Option<&Path>) -> Result<Launch, LauncherError> {
    check_folder(&launch)?;
    let kind = kind(&launch.program);
    if matches!(kind, Kind::Batch | Kind::PowerShell)
        && let Some(own) = own::find(&launch.program)
    {
        tracing::debug!(program = %own.node.display(), "the launcher of Cursor's installer is passed by");
        launch.args.insert(0, own.index.into());
        launch.program = own.node;
        // What the script would say; the CLI shows it in its usage.
        if value(&launch.env, own::INVOKED_AS).is_none() {
            launch.env.push((own::INVOKED_AS.into(), own.name));
        }
        return direct(launch);
    }
    match kind {
        Kind::Direct => direct(launch),
        Kind::Batch => {
            let interpreter = cmd::interpreter(&launch.env, system)?;
            cmd::check_folder(&launch.program, &launch.cwd)?;
            let line = cmd::line(&interpreter, &launch.program, &launch.args)?;
            if value(&launch.env, cmd::NOT_HERE).is_none() {
                launch.env.push((cmd::NOT_HERE.into(), "1".into()));
            }
            launch.via = Some(Via { interpreter, line });
            Ok(launch)
        }
        Kind::PowerShell => {
            let interpreter = powershell::interpreter(&launch.env, system)?;
            let line = powershell::line(&interpreter, &launch.program, &launch.args)?;
            launch.via = Some(Via { interpreter, line });
            Ok(launch)
        }
        Kind::Unsupported => Err(LauncherError::Unsupported(unsupported(&launch.program))),
    }
}

/// Refuse a folder that only its mark tells from another one: processes are started in that other one.
fn check_folder(launch: &Launch) -> Result<(), LauncherError> {
    let cwd = launch.cwd.to_string_lossy();
    if !cwd.starts_with(r"\\?\") || !has_lost_end(&cwd) {
        return Ok(());
    }
    Err(LauncherError::Unsupported(format!(
        "no program can be started in {cwd}: a name in it ends with a dot or a blank, which the system drops, and so \
         would start {} elsewhere; give the folder another name",
        launch.program.display()
    )))
}

/// The longest command line that Windows takes, in UTF-16 units, the zero at its end included.
const LONGEST: usize = 32_767;

fn direct(launch: Launch) -> Result<Launch, LauncherError> {
    let mut line = Vec::new();
    let words = launch.args.iter().map(OsString::as_os_str);
    for word in std::iter::once(launch.program.as_os_str()).chain(words) {
        // What is no text has as many units in its place.
        push_word(
            &mut line,
            &word.to_string_lossy().encode_utf16().collect::<Vec<_>>(),
        );
    }
    within(&launch.program, line.len(), LONGEST - 1)?;
    Ok(launch)
}

/// Refuse a line that is too long.
fn within(program: &Path, length: usize, limit: usize) -> Result<(), LauncherError> {
    if length <= limit {
        return Ok(());
    }
    Err(LauncherError::TooLong(format!(
        "the command line for {} has {length} characters, and {limit} is the most that can be passed on; shorten the \
         arguments, such as the model's name",
        program.display()
    )))
}

/// A word as a text; what is no text cannot be passed on as it is.
fn as_text<'a>(word: &'a OsStr, program: &Path) -> Result<&'a str, LauncherError> {
    word.to_str().ok_or_else(|| {
        LauncherError::UnsafeToken(format!(
            "{:?} holds half a character, and cannot be passed to {}",
            word.to_string_lossy(),
            program.display()
        ))
    })
}

#[cfg(test)]
mod tests;
