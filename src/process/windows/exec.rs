//! From a launch to a process, on Windows. `exec_unix.rs` is its twin.

use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::AsHandle as _;
use std::sync::Arc;

use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED};

use super::Launch;
use super::leader::{Child, Leader};
use super::platform::create::{Plan, Suspended, create};
use super::platform::job::Job;
use super::quote::push_word;

const NO_SUCH_BEGINNING: [u32; 3] = [ERROR_ACCESS_DENIED, ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED];

/// Start a process in a job of its own, with three pipes. It is in the job before its first instruction. To be called
/// from the spawning thread alone.
pub(super) fn spawn(launch: &Launch) -> io::Result<Child> {
    let (suspended, job) = in_job(&plan(launch)?)?;
    let job = match job {
        Ok(job) => Some(Arc::new(job)),
        Err(error) => {
            tracing::warn!(
                program = %launch.program.display(), %error,
                "no job for the process: what it starts may outlive a host that is killed"
            );
            None
        }
    };
    suspended.resume()?;
    Ok(Child {
        leader: Leader::new(suspended.pid, suspended.process, job),
        stdin: Some(suspended.stdin),
        stdout: Some(suspended.stdout),
        stderr: Some(suspended.stderr),
    })
}

/// A process in a job from its very beginning, so that a host that is killed at any moment leaves nothing.
fn in_job(plan: &Plan<'_>) -> io::Result<(Suspended, io::Result<Job>)> {
    let job = match Job::new() {
        Ok(job) => job,
        Err(error) => return Ok((create(plan, None)?, Err(error))),
    };
    match create(plan, Some(&job)) {
        Ok(suspended) => Ok((suspended, Ok(job))),
        // A system that knows no such beginning, or a job that this host is in and that does not let it: the process
        // joins before it runs, if it may. What else is wrong is so once more.
        Err(error)
            if NO_SUCH_BEGINNING.contains(&error.raw_os_error().unwrap_or_default().cast_unsigned()) =>
        {
            let suspended = create(plan, None)?;
            let taken = job.take(suspended.process.as_handle()).map(|()| job);
            Ok((suspended, taken))
        }
        Err(error) => Err(error),
    }
}

fn plan(launch: &Launch) -> io::Result<Plan<'_>> {
    let (program, line) = if let Some(via) = &launch.via {
        (via.interpreter.as_path(), via.line.encode_utf16().collect())
    } else {
        (launch.program.as_path(), line_of(launch)?)
    };
    Ok(Plan {
        program,
        line,
        cwd: &launch.cwd,
        env: &launch.env,
    })
}

fn line_of(launch: &Launch) -> io::Result<Vec<u16>> {
    let extension = launch.program.extension().unwrap_or_default();
    if ["cmd", "bat"]
        .iter()
        .any(|batch| extension.eq_ignore_ascii_case(batch))
    {
        // The system would hand it to a `cmd`, by rules for words that are not those of this line.
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a script for cmd cannot be started as a program",
        ));
    }
    let mut line = Vec::new();
    let args = launch.args.iter().map(AsRef::as_ref);
    for word in std::iter::once(launch.program.as_os_str()).chain(args) {
        push_word(&mut line, &word.encode_wide().collect::<Vec<_>>());
    }
    Ok(line)
}
