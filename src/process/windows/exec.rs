//! From a launch to a process, on Windows. `exec_unix.rs` is its twin.

use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::AsHandle as _;
use std::sync::Arc;

use super::Launch;
use super::leader::{Child, Leader};
use super::platform::create::{Plan, create};
use super::platform::job::Job;
use super::quote::push_word;

/// Start a process in a job of its own, with three pipes. It is in the job before its first instruction. To be called
/// from the spawning thread alone.
pub(super) fn spawn(launch: &Launch) -> io::Result<Child> {
    let suspended = create(plan(launch)?)?;
    let job = Job::new().and_then(|job| job.take(suspended.process.as_handle()).map(|()| job));
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
