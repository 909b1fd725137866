//! Which programs may be Cursor's CLI, in which order, and where each lies.

use std::env::{join_paths, split_paths};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use super::environment::value;
use super::launcher::unsupported;
use super::locate::{LocateError, Program};
use super::naming::{Hit, Naming};

/// The names that the CLI has where nobody configured one, in order.
pub const NAMES: [&str; 2] = [AGENT, WRAPPER];
pub(super) const AGENT: &str = "cursor-agent";
/// The editor's launcher, which runs the agent as `cursor agent …`.
pub(super) const WRAPPER: &str = "cursor";

/// The folders that names are looked up in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Places {
    /// The absolute entries of `PATH`, in order. A relative or empty entry means whatever folder the host happens
    /// to be in, which in a worktree is the agent's to write.
    path: Vec<PathBuf>,
    /// Where the installers put the CLI: a host that was started from a desktop has not got them in `PATH`.
    installed: Vec<Installed>,
    /// How a name is written there.
    naming: Naming,
}

/// A folder of the installers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Installed {
    folder: PathBuf,
    /// As a person writes it.
    shown: &'static str,
}

/// The variable that the path starts from, the rest of it, and the whole as a person writes it.
const INSTALLED: &[(&str, &[&str], &str)] = if cfg!(windows) {
    &[
        ("LOCALAPPDATA", &["cursor-agent"], r"%LOCALAPPDATA%\cursor-agent"),
        // A service may have the one variable and not the other.
        (
            "USERPROFILE",
            &["AppData", "Local", "cursor-agent"],
            r"%USERPROFILE%\AppData\Local\cursor-agent",
        ),
    ]
} else {
    &[
        ("HOME", &[".local", "bin"], "~/.local/bin"),
        ("HOME", &[".cursor", "bin"], "~/.cursor/bin"),
    ]
};

impl Places {
    /// From `PATH` and `HOME` (`LOCALAPPDATA` and `USERPROFILE` on Windows) of this environment.
    #[must_use]
    pub fn of(environment: &[(OsString, OsString)]) -> Self {
        let path: Vec<PathBuf> = value(environment, "PATH")
            .map(split_paths)
            .into_iter()
            .flatten()
            .filter(|folder| folder.is_absolute())
            .collect();
        let mut installed: Vec<Installed> = Vec::new();
        for (base, rest, shown) in INSTALLED {
            let Some(base) = value(environment, base).map(PathBuf::from) else {
                continue;
            };
            let folder = rest.iter().fold(base, |path, part| path.join(part));
            let known = path.contains(&folder) || installed.iter().any(|place| place.folder == folder);
            if folder.is_absolute() && !known {
                installed.push(Installed { folder, shown });
            }
        }
        Self {
            installed,
            path,
            naming: Naming::of(environment),
        }
    }

    /// Whether to look there takes so many questions to the disk that it is not done for each turn.
    pub(super) fn are_many(&self) -> bool {
        self.naming != Naming::Exact
    }
}

/// One step on the way to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// This file may be it.
    Try(Attempt),
    /// This stands in the way, or is not there.
    Tell {
        /// The candidate that it is about.
        candidate: Candidate,
        /// What about it.
        obstacle: LocateError,
    },
}

/// A program that may be Cursor's CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// As it was configured, or one of [`NAMES`].
    pub name: String,
    /// Whether somebody configured it.
    pub configured: bool,
}

/// A file that exists and may be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Whose file it is.
    pub candidate: Candidate,
    /// What is run.
    pub program: Program,
}

/// The candidates: what was configured if that is not blank, then [`NAMES`]; each once.
#[must_use]
pub fn candidates(configured: Option<&str>) -> Vec<Candidate> {
    let configured = configured.map(str::trim).filter(|name| !name.is_empty());
    let first = configured.map(|name| Candidate {
        name: name.to_owned(),
        configured: true,
    });
    let rest = NAMES
        .iter()
        .filter(|name| configured != Some(**name))
        .map(|name| Candidate {
            name: (*name).to_owned(),
            configured: false,
        });
    first.into_iter().chain(rest).collect()
}

/// What to try and what to tell, in order: what was configured, each name in `PATH`, and then each in the
/// folders of the installers. Each file is tried once.
#[must_use]
pub fn plan(candidates: Vec<Candidate>, places: &Places) -> Vec<Step> {
    let (mut first, mut last) = (Vec::new(), Vec::new());
    for candidate in candidates {
        if candidate.name.contains(std::path::is_separator) {
            first.push(match configured(Path::new(&candidate.name), &places.naming) {
                Ok(path) => try_file(&candidate, path),
                Err(obstacle) => Step::Tell { candidate, obstacle },
            });
            continue;
        }
        let (found, obstacles) = search(
            &candidate.name,
            places.path.iter().map(PathBuf::as_path),
            &places.naming,
        );
        first.extend(obstacles.into_iter().map(|obstacle| Step::Tell {
            candidate: candidate.clone(),
            obstacle,
        }));
        // Another name in the installers' folders is another program.
        let known = NAMES.contains(&candidate.name.as_str());
        let (installed, obstacles) = if known {
            search(
                &candidate.name,
                places.installed.iter().map(|place| place.folder.as_path()),
                &places.naming,
            )
        } else {
            Default::default()
        };
        if found.is_empty() {
            first.push(Step::Tell {
                candidate: candidate.clone(),
                obstacle: not_in_path(places, known, &installed),
            });
        }
        first.extend(found.into_iter().map(|path| try_file(&candidate, path)));
        let told = obstacles.into_iter().map(|obstacle| Step::Tell {
            candidate: candidate.clone(),
            obstacle,
        });
        last.extend(told);
        last.extend(installed.into_iter().map(|path| try_file(&candidate, path)));
    }
    first.append(&mut last);
    let mut seen = Vec::new();
    first.retain(|step| match step {
        Step::Tell { .. } => true,
        Step::Try(attempt) => {
            let file = same_file(&attempt.program.path);
            let new = !seen.contains(&file);
            seen.push(file);
            new
        }
    });
    first
}

/// One file has many paths where folders are links; its name stays part of it, since that decides what it is.
fn same_file(program: &Path) -> (PathBuf, Option<OsString>) {
    let path = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    (path, program.file_name().map(OsString::from))
}

fn try_file(candidate: &Candidate, path: PathBuf) -> Step {
    Step::Try(Attempt {
        candidate: candidate.clone(),
        program: Program::new(path),
    })
}

fn not_in_path(places: &Places, known: bool, installed: &[PathBuf]) -> LocateError {
    let said = if let Some(path) = installed.first() {
        format!("not found in PATH (ENOENT), but at {}", path.display())
    } else if known && !places.installed.is_empty() {
        let folders: Vec<_> = places.installed.iter().map(|place| place.shown).collect();
        format!("not found in PATH nor in {} (ENOENT)", folders.join(", "))
    } else {
        "not found in PATH (ENOENT)".into()
    };
    LocateError::NotFound(said)
}

/// What words come before the arguments of this program: the wrapper `cursor` runs the agent as `cursor agent`.
pub(super) fn leading(program: &Path) -> Vec<OsString> {
    // A link of that name to the agent itself is the agent, to which `agent` is the beginning of a prompt.
    let links_to_agent = || {
        program
            .canonicalize()
            .is_ok_and(|target| is_called(&target, AGENT))
    };
    if is_called(program, WRAPPER) && !links_to_agent() {
        vec!["agent".into()]
    } else {
        Vec::new()
    }
}

fn is_called(program: &Path, name: &str) -> bool {
    let own = if cfg!(windows) {
        program.file_stem()
    } else {
        program.file_name()
    };
    own.is_some_and(|own| own.eq_ignore_ascii_case(name))
}

/// Every file of that name that may be executed, and why others of that name are not among them.
fn search<'a>(
    name: &str,
    folders: impl Iterator<Item = &'a Path>,
    naming: &Naming,
) -> (Vec<PathBuf>, Vec<LocateError>) {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut obstacles = Vec::new();
    for folder in folders {
        match first_in(name, folder, naming) {
            Some(Hit::Program(hit)) if !found.contains(&hit) => found.push(hit),
            Some(Hit::Program(_)) => {}
            Some(Hit::Bare(path)) => obstacles.push(LocateError::Unsupported(unsupported(&path))),
            None => obstacles.extend(in_the_way(&folder.join(name), naming)),
        }
    }
    (found, obstacles)
}

fn first_in(name: &str, folder: &Path, naming: &Naming) -> Option<Hit> {
    if *naming != Naming::Exact {
        return naming.find(folder, name);
    }
    // One folder at a time: one with a colon in its name cannot be joined with others.
    let one = join_paths([folder]).ok()?;
    which::which_in_global(name, Some(one))
        .ok()?
        .next()
        .map(Hit::Program)
}

/// The absolute path of a program that somebody wrote down.
fn configured(file: &Path, naming: &Naming) -> Result<PathBuf, LocateError> {
    if *naming == Naming::Exact {
        return runnable(file, naming);
    }
    let (folder, name) = (file.parent(), file.file_name().and_then(OsStr::to_str));
    match folder
        .zip(name)
        .and_then(|(folder, name)| naming.find(folder, name))
    {
        Some(Hit::Program(path)) => runnable(&path, naming),
        _ => runnable(file, naming).and_then(|path| Err(LocateError::Unsupported(unsupported(&path)))),
    }
}

/// Why this path, which is no program, is not simply missing.
fn in_the_way(path: &Path, naming: &Naming) -> Option<LocateError> {
    match std::fs::symlink_metadata(path) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            None
        }
        Err(error) => Some(LocateError::NotFound(format!(
            "{} cannot be looked at: {error}",
            path.display()
        ))),
        Ok(about) if about.is_symlink() && !path.exists() => Some(LocateError::NotFound(format!(
            "{} is a link to nothing (ENOENT)",
            path.display()
        ))),
        // A folder of that name is no broken program.
        Ok(_) if path.is_dir() => Some(LocateError::NotFound(format!("{} is a folder", path.display()))),
        Ok(_) => runnable(path, naming).err(),
    }
}

/// The absolute path of a file that may be executed.
fn runnable(file: &Path, naming: &Naming) -> Result<PathBuf, LocateError> {
    let shown = file.display();
    let path = std::path::absolute(file)
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
    if !about.is_file() {
        return Err(LocateError::NotRunnable(format!("{shown} is no regular file")));
    }
    // Where names have extensions, those tell what may be executed.
    if *naming == Naming::Exact && which::which_global(&path).is_err() {
        return Err(LocateError::NotRunnable(format!(
            "{shown} may not be executed (EACCES)"
        )));
    }
    Ok(path)
}
