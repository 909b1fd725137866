//! Paths as git writes them: bytes. And how git is run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The name of its program.
pub(super) const PROGRAM: &str = "git";
/// In front of every command: a file system monitor is a program of the user's choice.
pub(super) const ALWAYS: &[&str] = &["-c", "core.fsmonitor=false"];

/// The path of these bytes.
pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// The bytes of a path.
pub(super) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// Whether a variable of the environment changes what git does or says.
pub(super) fn is_for_git(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"GIT_") || name == "LC_ALL"
}
