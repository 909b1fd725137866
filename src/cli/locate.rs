//! From what the caller said to the program that is run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Instant;

use parking_lot::Mutex;

use super::candidates::{AGENT, Candidate, Places, Step, WRAPPER, candidates, leading, plan};
use super::found::Found;

/// The program of a turn, and the words that come before the turn's own arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// An absolute path.
    pub path: PathBuf,
    /// `agent` where the program is the wrapper `cursor`.
    pub leading: Vec<OsString>,
}

impl Program {
    /// The program at this absolute path; its name says whether it is the wrapper.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            leading: leading(&path),
            path,
        }
    }
}

/// Why there is no program to run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocateError {
    /// No file of that name.
    #[error("{0}")]
    NotFound(String),
    /// There is one, and it cannot be run: a folder, or a file without the permission.
    #[error("{0}")]
    NotRunnable(String),
    /// There is one, and nothing here starts such a file.
    #[error("{0}")]
    Unsupported(String),
}

/// Find the program: the one that the caller names, or the first of the default ones that may be executed.
///
/// # Errors
/// [`LocateError`], with a sentence that names the program and what to do.
pub fn locate(binary: Option<&str>, places: &Places) -> Result<Program, LocateError> {
    static FOUND: LazyLock<Mutex<Found>> = LazyLock::new(Mutex::default);
    if !places.are_many() {
        return look_up(binary, places);
    }
    let now = Instant::now();
    let known = FOUND.lock().get(binary, places, now);
    known.map_or_else(
        || {
            let found = look_up(binary, places)?;
            FOUND.lock().put(binary, places, &found, now);
            Ok(found)
        },
        Ok,
    )
}

fn look_up(binary: Option<&str>, places: &Places) -> Result<Program, LocateError> {
    let asked = match binary {
        // Taken as it is: a turn that names a program gets this one or none.
        Some(name) => vec![Candidate {
            name: name.to_owned(),
            configured: true,
        }],
        None => candidates(None),
    };
    let mut refused = None;
    // Only for an agent that is missing, not for one that may not be run, the wrapper stands in.
    let mut agent_refused = false;
    for step in plan(asked, places) {
        match step {
            Step::Try(attempt) if agent_refused && attempt.candidate.name == WRAPPER => {}
            Step::Try(attempt) => return Ok(attempt.program),
            Step::Tell {
                obstacle: LocateError::NotFound(_),
                ..
            } if binary.is_none() => {}
            Step::Tell { candidate, obstacle } => {
                agent_refused |= binary.is_none() && candidate.name == AGENT;
                refused.get_or_insert((candidate, obstacle));
            }
        }
    }
    Err(match refused {
        Some((candidate, LocateError::NotFound(reason)))
            if !candidate.name.contains(std::path::is_separator) =>
        {
            LocateError::NotFound(format!("{:?}: {reason}", candidate.name))
        }
        Some((_, obstacle)) => obstacle,
        None => LocateError::NotFound(
            "neither cursor-agent nor cursor is in PATH or where their installers put them (ENOENT); \
             install Cursor's CLI or name its program"
                .into(),
        ),
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::env::join_paths;
    use std::ffi::OsStr;
    use std::fs::{create_dir, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use tempfile::TempDir;

    use super::*;

    fn program(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let file = folder.join(name);
        write(&file, "#!/bin/sh\n").unwrap();
        set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    fn places(path: &OsStr) -> Places {
        Places::of(&[("PATH".into(), path.to_owned())])
    }

    fn two_folders() -> (TempDir, PathBuf, PathBuf, Places) {
        let top = tempfile::tempdir().unwrap();
        let (first, second) = (top.path().join("größer & a"), top.path().join("b"));
        create_dir(&first).unwrap();
        create_dir(&second).unwrap();
        let path = places(&join_paths([&first, &second]).unwrap());
        (top, first, second, path)
    }

    #[test]
    fn the_agent_is_preferred_to_the_wrapper_which_gets_a_leading_word() {
        let (_top, first, second, path) = two_folders();
        let wrapper = program(&first, "cursor", 0o755);
        let found = locate(None, &path).unwrap();
        assert_eq!(
            found,
            Program {
                path: wrapper,
                leading: vec!["agent".into()]
            }
        );
        let agent = program(&second, "cursor-agent", 0o755);
        assert_eq!(
            locate(None, &path).unwrap(),
            Program {
                path: agent,
                leading: vec![]
            }
        );
    }

    #[test]
    fn the_wrapper_stands_in_only_for_an_agent_that_is_missing() {
        let (top, first, second, path) = two_folders();
        let agent = program(&first, "cursor-agent", 0o644);
        let wrapper = program(&second, "cursor", 0o755);
        let refused = locate(None, &path).unwrap_err();
        assert!(matches!(&refused, LocateError::NotRunnable(why) if why.contains("EACCES")));
        // The installers' agent is still the agent.
        let home = top.path().join("home");
        std::fs::create_dir_all(home.join(".local/bin")).unwrap();
        let installed = program(&home.join(".local/bin"), "cursor-agent", 0o755);
        let with_home = Places::of(&[
            ("PATH".into(), join_paths([&first, &second]).unwrap()),
            ("HOME".into(), home.into()),
        ]);
        assert_eq!(locate(None, &with_home).unwrap().path, installed);
        std::fs::remove_file(agent).unwrap();
        assert_eq!(locate(None, &path).unwrap().path, wrapper);
        // One wrapper that may not be run does not stand in the way of another.
        program(&first, "cursor", 0o644);
        assert_eq!(locate(None, &path).unwrap().path, wrapper);
        assert_eq!(locate(Some("cursor"), &path).unwrap().path, wrapper);
    }

    #[test]
    fn what_is_named_has_no_stand_in() {
        let (_top, first, _second, path) = two_folders();
        program(&first, "cursor", 0o755);
        for named in ["cursor-agent", "agent"] {
            assert!(
                matches!(locate(Some(named), &path), Err(LocateError::NotFound(_))),
                "{named}"
            );
        }
    }

    #[test]
    fn what_cannot_run_is_passed_over() {
        let (_top, first, second, path) = two_folders();
        let good = program(&second, "cursor-agent", 0o755);
        let place = first.join("cursor-agent");
        create_dir(&place).unwrap();
        assert_eq!(locate(None, &path).unwrap().path, good, "a folder");
        std::fs::remove_dir(&place).unwrap();
        symlink("nowhere", &place).unwrap();
        assert_eq!(locate(None, &path).unwrap().path, good, "a broken link");
        std::fs::remove_file(&place).unwrap();
        program(&first, "cursor-agent", 0o644);
        assert_eq!(locate(None, &path).unwrap().path, good, "no permission");
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
        let path = places(&join_paths([Path::new(""), Path::new("."), &relative]).unwrap());
        assert!(matches!(locate(None, &path), Err(LocateError::NotFound(_))));
        assert!(matches!(
            locate(None, &Places::default()),
            Err(LocateError::NotFound(_))
        ));
        drop(top);
    }

    #[test]
    fn a_named_path_is_taken_as_it_is_or_refused_with_its_reason() {
        let (_top, first, second, path) = two_folders();
        let good = program(&first, "agent \"x\"", 0o755);
        assert_eq!(locate(good.to_str(), &Places::default()).unwrap().path, good);
        let refused = |binary: &Path| locate(binary.to_str(), &path).unwrap_err().to_string();
        assert!(refused(&second).contains("is a folder"));
        assert!(refused(&program(&second, "plain", 0o644)).contains("EACCES"));
        assert!(refused(&second.join("nothing")).contains("ENOENT"));
        assert!(matches!(
            locate(good.join("nothing").to_str(), &Places::default()),
            Err(LocateError::NotFound(_))
        ));
        assert!(
            locate(Some("nothing"), &path)
                .unwrap_err()
                .to_string()
                .contains("\"nothing\"")
        );
    }
}
