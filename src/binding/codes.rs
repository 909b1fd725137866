//! The one table from the core's causes to the codes that JavaScript sees.

use crate::cli::failure::FailureClass;
use crate::mcp::Reason;
use crate::turn::Cause;

/// The stable code of a failed turn.
pub(super) fn code(cause: &Cause) -> &'static str {
    match cause {
        Cause::CwdMissing { .. } => "CURSOR_CWD_MISSING",
        Cause::NotFound { .. } => "CURSOR_NOT_FOUND",
        Cause::NotRunnable { .. } => "CURSOR_NOT_RUNNABLE",
        Cause::SpawnFailed { .. } => "CURSOR_SPAWN_FAILED",
        Cause::LauncherUnsupported { .. } => "CURSOR_LAUNCHER_UNSUPPORTED",
        Cause::UnsafeToken { .. } => "CURSOR_UNSAFE_TOKEN",
        Cause::CommandTooLong { .. } => "CURSOR_COMMAND_TOO_LONG",
        Cause::FirstLineTimeout => "CURSOR_FIRST_LINE_TIMEOUT",
        Cause::InactivityTimeout => "CURSOR_INACTIVITY_TIMEOUT",
        Cause::ToolTimeout { .. } => "CURSOR_TOOL_TIMEOUT",
        // Where a callback ended the turn, the caller gets the callback's own error.
        Cause::Aborted | Cause::ConsumerStopped => "CURSOR_ABORTED",
        Cause::Reported { class, .. } => class.map_or("CURSOR_REPORTED_ERROR", class_code),
        Cause::Exited { class, .. } => class.map_or("CURSOR_EXITED", class_code),
        Cause::NoResult => "CURSOR_NO_RESULT",
        Cause::Disposed => "CURSOR_SESSION_DISPOSED",
        Cause::Internal(_) => "CURSOR_INTERNAL",
    }
}

fn class_code(class: FailureClass) -> &'static str {
    match class {
        FailureClass::AuthRequired => "CURSOR_AUTH_REQUIRED",
        FailureClass::KeychainLocked => "CURSOR_KEYCHAIN_LOCKED",
        FailureClass::IdeMissing => "CURSOR_IDE_MISSING",
        FailureClass::UsageLimit => "CURSOR_USAGE_LIMIT",
        FailureClass::PlanRestricted => "CURSOR_PLAN_RESTRICTED",
        FailureClass::Capacity => "CURSOR_CAPACITY",
        FailureClass::Network => "CURSOR_NETWORK",
        FailureClass::ModelUnavailable => "CURSOR_MODEL_UNAVAILABLE",
        FailureClass::WorkspaceMissing => "CURSOR_CWD_MISSING",
        FailureClass::WorkspaceUntrusted => "CURSOR_WORKSPACE_UNTRUSTED",
        FailureClass::ConfigInvalid { .. } => "CURSOR_CONFIG_INVALID",
    }
}

/// The stable code of a server that could not be staged; `reason` says why.
pub(super) fn staging_code(reason: Reason) -> &'static str {
    match reason {
        Reason::Tracked
        | Reason::Quarantined
        | Reason::Unparsable
        | Reason::NotIgnored
        | Reason::LockTimeout
        | Reason::Symlink
        | Reason::NotAFile
        | Reason::TooLarge
        | Reason::NotUtf8
        | Reason::DuplicateKeys
        | Reason::UnexpectedShape
        | Reason::ReadOnly
        | Reason::GitFailed
        | Reason::Io => "bridge-start-failed",
    }
}
