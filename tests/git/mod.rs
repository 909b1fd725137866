//! Git, as the tests run it.
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// What git prints; it has to succeed. `settings`: as in `core.excludesFile=`.
pub(crate) fn run(
    program: impl AsRef<OsStr>,
    env: &[(OsString, OsString)],
    settings: &[&str],
    folder: &Path,
    args: &[&str],
) -> String {
    let mut git = Command::new(program);
    git.current_dir(folder).env_clear().envs(env.iter().cloned());
    for setting in ["user.name=t", "user.email=t@t"].iter().chain(settings) {
        git.args(["-c", setting]);
    }
    let ran = git.args(args).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success(),
        "git {args:?} in {}: {said}",
        folder.display()
    );
    String::from_utf8(ran.stdout).unwrap()
}
