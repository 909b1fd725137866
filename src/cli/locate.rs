//! From what the caller said to the program that is run.

use std::env::{join_paths, split_paths};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// The program of a turn, and the words that come before the turn's own arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// An absolute path.
    pub path: PathBuf,
    /// `agent` where the program is the wrapper `cursor`.
    pub leading: Vec<OsString>,
}

/// Why there is no program to run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocateError {
    /// No file of that name.
    #[error("{0}")]
    NotFound(String),
    /// There is one, and it cannot be run: a folder, or a file without the permission.
    #[error("{0}")]
    NotRunnable(String),
}

/// The names that are looked up where the caller gave none, with what each takes before its arguments.
const DEFAULTS: [(&str, &[&str]); 2] = [("cursor-agent", &[]), ("cursor", &["agent"])];

/// Find the program. `path` is the `PATH` that counts, the one the program itself will get.
///
/// A name is looked up in the absolute folders of `PATH` alone: a relative or empty entry means whatever
/// folder the host happens to be in, which in a worktree is the agent's to write.
///
/// # Errors
/// [`LocateError`], with a sentence that names the program and what to do.
pub fn locate(binary: Option<&str>, path: Option<&OsStr>) -> Result<Program, LocateError> {
    let folders = absolute_folders(path);
    if let Some(binary) = binary {
        let path = if binary.contains(std::path::is_separator) {
            runnable(Path::new(binary))?
        } else {
            in_folders(binary, &folders)
                .ok_or_else(|| LocateError::NotFound(format!("no program {binary:?} in PATH (ENOENT)")))?
        };
        return Ok(Program {
            path,
            leading: Vec::new(),
        });
    }
    DEFAULTS
        .iter()
        .find_map(|(name, leading)| {
            let path = in_folders(name, &folders)?;
            Some(Program { path, leading: leading.iter().map(OsString::from).collect() })
        })
        .ok_or_else(|| {
            LocateError::NotFound(
                "neither cursor-agent nor cursor is in PATH (ENOENT); install Cursor's CLI or name its program"
                    .into(),
            )
        })
}

fn absolute_folders(path: Option<&OsStr>) -> OsString {
    let folders = path
        .map(split_paths)
        .into_iter()
        .flatten()
        .filter(|folder| folder.is_absolute());
    // Joining what was just split cannot fail; were it to, nothing would be found.
    join_paths(folders).unwrap_or_default()
}

/// The first file of that name that may be executed; folders, broken links and plain files are passed over.
fn in_folders(name: &str, folders: &OsStr) -> Option<PathBuf> {
    which::which_in_global(name, Some(folders)).ok()?.next()
}

fn runnable(binary: &Path) -> Result<PathBuf, LocateError> {
    let shown = binary.display();
    let path = std::path::absolute(binary)
        .map_err(|error| LocateError::NotFound(format!("{shown} is no usable path: {error}")))?;
    let about = std::fs::metadata(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => LocateError::NotFound(format!("{shown} does not exist (ENOENT)")),
        io::ErrorKind::NotADirectory => LocateError::NotFound(format!(
            "{shown} does not exist: a part of it is no folder (ENOTDIR)"
        )),
        _ => LocateError::NotRunnable(format!("{shown} cannot be looked at: {error}")),
    })?;
    if about.is_dir() {
        return Err(LocateError::NotRunnable(format!(
            "{shown} is a folder; name the program inside it"
        )));
    }
    if which::which_global(&path).is_err() {
        return Err(LocateError::NotRunnable(format!(
            "{shown} may not be executed (EACCES)"
        )));
    }
    Ok(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs::{create_dir, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let file = folder.join(name);
        write(&file, "#!/bin/sh\n").unwrap();
        set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    fn two_folders() -> (TempDir, PathBuf, PathBuf, OsString) {
        let top = tempfile::tempdir().unwrap();
        let (first, second) = (top.path().join("größer & a"), top.path().join("b"));
        create_dir(&first).unwrap();
        create_dir(&second).unwrap();
        let path = join_paths([&first, &second]).unwrap();
        (top, first, second, path)
    }

    #[test]
    fn the_agent_is_preferred_to_the_wrapper_which_gets_a_leading_word() {
        let (_top, first, second, path) = two_folders();
        let wrapper = program(&first, "cursor", 0o755);
        let found = locate(None, Some(&path)).unwrap();
        assert_eq!(
            found,
            Program {
                path: wrapper,
                leading: vec!["agent".into()]
            }
        );
        let agent = program(&second, "cursor-agent", 0o755);
        assert_eq!(
            locate(None, Some(&path)).unwrap(),
            Program {
                path: agent,
                leading: vec![]
            }
        );
    }

    #[test]
    fn what_cannot_run_is_passed_over() {
        let (_top, first, second, path) = two_folders();
        let good = program(&second, "cursor-agent", 0o755);
        let place = first.join("cursor-agent");
        create_dir(&place).unwrap();
        assert_eq!(locate(None, Some(&path)).unwrap().path, good, "a folder");
        std::fs::remove_dir(&place).unwrap();
        symlink("nowhere", &place).unwrap();
        assert_eq!(locate(None, Some(&path)).unwrap().path, good, "a broken link");
        std::fs::remove_file(&place).unwrap();
        program(&first, "cursor-agent", 0o644);
        assert_eq!(locate(None, Some(&path)).unwrap().path, good, "no permission");
    }

    #[test]
    fn relative_and_empty_entries_of_path_find_nothing() {
        let here = std::env::current_dir().unwrap();
        let (top, first, _second, _path) = two_folders();
        program(&first, "cursor-agent", 0o755);
        let up: PathBuf = here.components().skip(1).map(|_| "..").collect();
        let relative = up.join(first.strip_prefix("/").unwrap());
        assert!(
            relative.join("cursor-agent").exists(),
            "the relative path is right"
        );
        let path = join_paths([Path::new(""), Path::new("."), &relative]).unwrap();
        assert!(matches!(locate(None, Some(&path)), Err(LocateError::NotFound(_))));
        assert!(matches!(locate(None, None), Err(LocateError::NotFound(_))));
        drop(top);
    }

    #[test]
    fn a_named_path_is_taken_as_it_is_or_refused_with_its_reason() {
        let (_top, first, second, path) = two_folders();
        let good = program(&first, "agent \"x\"", 0o755);
        assert_eq!(locate(good.to_str(), None).unwrap().path, good);
        let refused = |binary: &Path| locate(binary.to_str(), Some(&path)).unwrap_err().to_string();
        assert!(refused(&second).contains("is a folder"));
        assert!(refused(&program(&second, "plain", 0o644)).contains("EACCES"));
        assert!(refused(&second.join("nothing")).contains("ENOENT"));
        assert!(matches!(
            locate(good.join("nothing").to_str(), None),
            Err(LocateError::NotFound(_))
        ));
        assert!(
            locate(Some("nothing"), Some(&path))
                .unwrap_err()
                .to_string()
                .contains("\"nothing\"")
        );
    }
}
