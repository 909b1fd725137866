//! From a request to a process: what must hold before one is started, and what a refusal means.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::cli::args::turn_args;
use crate::cli::candidates::Places;
use crate::cli::launcher::{self, LauncherError, Order};
use crate::cli::locate::{LocateError, locate};
use crate::process::{self, Launch, Presence, Refusal, Running};

use super::workspace::Stay;
use super::{Cause, TurnRequest};

/// Start the process of a request, in a workspace where the turn is counted from before that. What is started goes
/// with the presence.
pub(super) async fn start(request: &TurnRequest, presence: Presence) -> Result<(Running, Stay), Cause> {
    let request = Arc::new(request.clone());
    let cwd = request.cwd.clone();
    let stay = crate::runtime::spawn_blocking(move || Stay::begin(&cwd));
    let stay = stay.await.map_err(|ended| Cause::Internal(ended.to_string()))?;
    let running = start_from(presence, move || {
        let request = Arc::clone(&request);
        // Folders may lie on a network, and a look at them may take as long as it likes.
        let looked = crate::runtime::spawn_blocking(move || launch(&request));
        async {
            looked
                .await
                .unwrap_or_else(|ended| Err(Cause::Internal(ended.to_string())))
        }
    });
    Ok((running.await?, stay))
}

/// Start what `look_up` finds. The CLI replaces its files when it updates itself, so what has gone between the
/// look and the start is looked up once more.
async fn start_from<L: Future<Output = Result<Launch, Cause>>>(
    presence: Presence,
    look_up: impl Fn() -> L,
) -> Result<Running, Cause> {
    let first = look_up().await?;
    let launch = match attempt(&first, &presence).await {
        Err(error) if Refusal::of(&first.program, &error) == Refusal::Gone => {
            tracing::debug!(program = %first.program.display(), "the program has gone, and is looked up again");
            look_up().await?
        }
        Err(error) => return Err(refused(&first, &error)),
        Ok(running) => return Ok(running),
    };
    attempt(&launch, &presence)
        .await
        .map_err(|error| refused(&launch, &error))
}

async fn attempt(launch: &Launch, presence: &Presence) -> io::Result<Running> {
    let running = process::start_under(launch.clone(), presence.clone()).await?;
    tracing::debug!(pid = running.tree.pid(), program = %launch.program.display(), "process started");
    Ok(running)
}

/// The launch of a request, or why there can be none. Nothing is started yet.
fn launch(request: &TurnRequest) -> Result<Launch, Cause> {
    let target = request.binary.as_deref().unwrap_or("cursor-agent");
    check_workspace(&request.cwd, target)?;
    let places = Places::of(&request.environment);
    let program = locate(request.binary.as_deref(), &places).map_err(|error| match error {
        LocateError::NotFound(reason) => Cause::NotFound {
            target: target.into(),
            reason,
        },
        LocateError::NotRunnable(reason) => Cause::NotRunnable {
            target: target.into(),
            reason,
        },
        LocateError::Unsupported(reason) => Cause::LauncherUnsupported {
            target: target.into(),
            reason,
        },
    })?;
    let target = program.path.display().to_string();
    let order = Order {
        program,
        args: turn_args(&request.flags, &request.cwd),
        cwd: request.cwd.clone(),
        environment: request.environment.clone(),
        owner: request.owner,
    };
    launcher::launch(order).map_err(|error| match error {
        LauncherError::Unsupported(reason) => Cause::LauncherUnsupported { target, reason },
        LauncherError::UnsafeToken(reason) => Cause::UnsafeToken { target, reason },
        LauncherError::TooLong(reason) => Cause::CommandTooLong { target, reason },
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

/// What a failed start means. The system says "not found" and "permission denied" of the folder too, so that is
/// looked at again.
fn refused(launch: &Launch, error: &io::Error) -> Cause {
    let target = launch.program.display().to_string();
    if let Err(missing) = check_workspace(&launch.cwd, &target) {
        return missing;
    }
    let not_runnable = |target, reason: &str| Cause::NotRunnable {
        target,
        reason: reason.to_owned(),
    };
    match Refusal::of(&launch.program, error) {
        Refusal::Gone => Cause::NotFound {
            target,
            reason: "it was there a moment ago (ENOENT)".into(),
        },
        Refusal::NoInterpreter => not_runnable(target, "its interpreter or loader does not exist (ENOENT)"),
        Refusal::NotPermitted if std::fs::read_dir(&launch.cwd).is_err() => {
            let reason = format!(
                "the workspace {} may not be entered (EACCES)",
                launch.cwd.display()
            );
            Cause::CwdMissing { target, reason }
        }
        Refusal::NotPermitted => not_runnable(target, "it may not be executed (EACCES)"),
        Refusal::WrongFormat => not_runnable(target, "it is no program for this system (ENOEXEC)"),
        other => Cause::SpawnFailed {
            target,
            reason: error.to_string(),
            transient: other.is_transient(),
        },
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use rustix::io::Errno;

    use super::*;
    use crate::process::{Owner, Reach};

    fn of(program: &str) -> Launch {
        Launch {
            program: program.into(),
            args: Vec::new(),
            cwd: "/".into(),
            env: Vec::new(),
            owner: Owner(0),
            via: None,
        }
    }

    #[tokio::test]
    async fn a_program_that_has_gone_is_looked_up_once_more() {
        let looks = AtomicUsize::new(0);
        let running = start_from(process::presence().0, || {
            let found = ["/none/old/agent", "/bin/true"][looks.fetch_add(1, Ordering::Relaxed)];
            std::future::ready(Ok(of(found)))
        });
        let tree = running.await.unwrap().tree;
        tree.end(Reach::All, Duration::from_secs(5), None).await;
        assert_eq!(looks.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn but_not_a_third_time_and_not_for_another_reason() {
        let looks = AtomicUsize::new(0);
        let look = |found: &'static str| {
            looks.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Ok(of(found)))
        };
        let gone = start_from(process::presence().0, || look("/none/agent"))
            .await
            .unwrap_err();
        assert!(matches!(gone, Cause::NotFound { .. }), "{gone:?}");
        assert_eq!(looks.swap(0, Ordering::Relaxed), 2);
        let refused = start_from(process::presence().0, || look("/")).await.unwrap_err();
        assert!(matches!(refused, Cause::NotRunnable { .. }), "{refused:?}");
        assert_eq!(looks.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_refused_start_says_whether_it_passes() {
        let agent = of("/bin/true");
        for (errno, transient) in [
            (Errno::AGAIN, true),
            (Errno::NOMEM, true),
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::TXTBSY, true),
            (Errno::TOOBIG, false),
            (Errno::IO, false),
        ] {
            let cause = refused(&agent, &errno.into());
            assert!(matches!(cause, Cause::SpawnFailed { .. }), "{cause:?}");
            assert_eq!(cause.retryable(), transient, "{cause:?}");
            assert!(
                cause
                    .to_string()
                    .starts_with("Cursor CLI spawn failed for /bin/true: ")
            );
        }
        for errno in [Errno::ACCESS, Errno::NOEXEC, Errno::NOENT] {
            let cause = refused(&agent, &errno.into());
            assert!(
                matches!(cause, Cause::NotRunnable { .. }) && !cause.retryable(),
                "{cause:?}"
            );
        }
        let nowhere = Launch {
            cwd: "/none".into(),
            ..agent
        };
        let cause = refused(&nowhere, &Errno::NOENT.into());
        assert!(
            matches!(cause, Cause::CwdMissing { .. }) && !cause.retryable(),
            "{cause:?}"
        );
    }
}
