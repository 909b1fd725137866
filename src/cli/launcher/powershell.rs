//! A script for PowerShell.

use std::env::split_paths;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::super::environment::value;
use super::{LONGEST, LauncherError, as_text, within};
use crate::process::quote::{push_word, unmarked};

/// Nothing of its user's runs first, nobody is asked, and a script need not be signed. What follows `-File` is passed
/// on as it is.
const FLAGS: [&str; 5] = [
    "-NoProfile",
    "-NonInteractive",
    "-ExecutionPolicy",
    "Bypass",
    "-File",
];

/// The new PowerShell where it is installed, else the one that comes with the system.
pub(super) fn interpreter(
    environment: &[(OsString, OsString)],
    system: Option<&Path>,
) -> Result<PathBuf, LauncherError> {
    let listed = value(environment, "PATH").into_iter().flat_map(split_paths);
    let installed = value(environment, "ProgramFiles").map(|all| Path::new(all).join("PowerShell").join("7"));
    let new = listed
        .chain(installed)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("pwsh.exe"))
        .find(|file| file.is_file());
    let old = || {
        let folder = system?.join("WindowsPowerShell").join("v1.0");
        Some(folder.join("powershell.exe")).filter(|file| file.is_file())
    };
    new.or_else(old).ok_or_else(|| {
        LauncherError::Unsupported(
            "there is no PowerShell to run a .ps1 file with: install it, or set the path of Cursor's CLI (`binary`, \
             `--binary`, in Fusion `cursorCliBinaryPath`) to an .exe or .cmd file"
                .into(),
        )
    })
}

/// The whole command line.
pub(super) fn line(interpreter: &Path, script: &Path, args: &[OsString]) -> Result<String, LauncherError> {
    let mut line = Vec::new();
    let flags = FLAGS.iter().map(|flag| Ok(*flag));
    let words = std::iter::once(as_text(interpreter.as_os_str(), script))
        .chain(flags)
        .chain(std::iter::once(as_text(script.as_os_str(), script).map(unmarked)))
        .chain(args.iter().map(|word| as_text(word, script)));
    for word in words {
        push_word(&mut line, &word?.encode_utf16().collect::<Vec<_>>());
    }
    within(script, line.len(), LONGEST - 1)?;
    Ok(String::from_utf16_lossy(&line))
}
