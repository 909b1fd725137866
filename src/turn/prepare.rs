//! From a request to a process: what must hold before one is started, and what a refusal means.

use std::io;
use std::path::Path;

use crate::cli::args::turn_args;
use crate::cli::candidates::Places;
use crate::cli::locate::{LocateError, Program, locate};
use crate::process::Launch;

use super::{Cause, TurnRequest};

/// The launch of a request, or why there can be none. Nothing is started yet.
pub(super) fn launch(request: &TurnRequest) -> Result<Launch, Cause> {
    let target = request.binary.as_deref().unwrap_or("cursor-agent");
    check_workspace(&request.cwd, target)?;
    let places = Places::of(&request.environment);
    let Program {
        path: program,
        leading,
    } = locate(request.binary.as_deref(), &places).map_err(|error| match error {
        LocateError::NotFound(reason) => Cause::NotFound {
            target: target.into(),
            reason,
        },
        LocateError::NotRunnable(reason) => Cause::NotRunnable {
            target: target.into(),
            reason,
        },
    })?;
    let args = leading
        .into_iter()
        .chain(turn_args(&request.flags, &request.cwd))
        .collect();
    Ok(Launch {
        program,
        args,
        cwd: request.cwd.clone(),
        env: request.environment.clone(),
        owner: request.owner,
    })
}

fn check_workspace(cwd: &Path, target: &str) -> Result<(), Cause> {
    let missing = |reason: String| Cause::CwdMissing {
        target: target.into(),
        reason,
    };
    match std::fs::metadata(cwd) {
        Ok(about) if about.is_dir() => Ok(()),
        Ok(_) => Err(missing(format!(
            "the workspace {} is not a folder",
            cwd.display()
        ))),
        Err(error) => Err(missing(format!(
            "the workspace {} cannot be used: {error}",
            cwd.display()
        ))),
    }
}

/// What a failed start means. The system says "not found" of the folder, the program and its interpreter
/// alike, so each is looked at again.
pub(super) fn refused(launch: &Launch, error: &io::Error) -> Cause {
    let target = launch.program.display().to_string();
    if let Err(missing) = check_workspace(&launch.cwd, &target) {
        return missing;
    }
    match error.kind() {
        io::ErrorKind::NotFound if !launch.program.exists() => Cause::NotFound {
            target,
            reason: "it was there a moment ago (ENOENT)".into(),
        },
        io::ErrorKind::NotFound => Cause::NotRunnable {
            target,
            reason: "its interpreter or loader does not exist (ENOENT)".into(),
        },
        io::ErrorKind::PermissionDenied if std::fs::read_dir(&launch.cwd).is_err() => {
            let reason = format!(
                "the workspace {} may not be entered (EACCES)",
                launch.cwd.display()
            );
            Cause::CwdMissing { target, reason }
        }
        io::ErrorKind::PermissionDenied => Cause::NotRunnable {
            target,
            reason: "it may not be executed (EACCES)".into(),
        },
        _ if error.raw_os_error() == Some(rustix::io::Errno::NOEXEC.raw_os_error()) => Cause::NotRunnable {
            target,
            reason: "it is no program for this system (ENOEXEC)".into(),
        },
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => Cause::SpawnFailed {
            target,
            reason: error.to_string(),
            transient: false,
        },
        _ => Cause::SpawnFailed {
            target,
            reason: error.to_string(),
            transient: is_transient(error),
        },
    }
}

/// Short of processes, memory or descriptors, or the program's file is just being replaced.
fn is_transient(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let transient = [
        Errno::AGAIN,
        Errno::NOMEM,
        Errno::MFILE,
        Errno::NFILE,
        Errno::TXTBSY,
    ];
    error
        .raw_os_error()
        .is_some_and(|raw| transient.iter().any(|known| known.raw_os_error() == raw))
}
