//! How the name of a program becomes that of a file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::environment::value;

/// What a system does with a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) enum Naming {
    /// The file has that very name.
    #[default]
    Exact,
    /// Windows: one of these is put to it, in this order. Each begins with a dot, and is in small letters.
    Extended(Vec<String>),
}

/// What a folder has of a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hit {
    /// A file that is a program by its name.
    Program(PathBuf),
    /// A file without an extension, as package managers put it beside the others for the shells of other systems.
    Bare(PathBuf),
}

/// What Windows has where `PATHEXT` says nothing.
const COMMON: &str = ".com;.exe;.bat;.cmd";
/// Whoever writes one of these down means it, whatever `PATHEXT` has; a script for PowerShell is in none.
const WRITTEN: [&str; 5] = [".com", ".exe", ".bat", ".cmd", ".ps1"];

impl Naming {
    /// That of this system, with `PATHEXT` of this environment.
    pub(super) fn of(environment: &[(OsString, OsString)]) -> Self {
        if cfg!(windows) {
            let listed = value(environment, "PATHEXT").and_then(|list| list.to_str());
            Self::extended(listed.unwrap_or_default())
        } else {
            Self::Exact
        }
    }

    /// From a list of extensions as in `.COM;.EXE`.
    pub(super) fn extended(list: &str) -> Self {
        let read = |list: &str| {
            let mut all: Vec<String> = Vec::new();
            for one in list.split(';').map(|one| one.trim().to_lowercase()) {
                let usable = one.len() > 1 && one.starts_with('.') && !one.contains(['/', '\\', ':']);
                if usable && !all.contains(&one) {
                    all.push(one);
                }
            }
            all
        };
        let mut all = read(list);
        if all.is_empty() {
            all = read(COMMON);
        }
        Self::Extended(all)
    }

    /// What of this name is in this folder: where extensions are put to names, the first one of the list decides, and
    /// the bare name is the last.
    pub(super) fn find(&self, folder: &Path, name: &str) -> Option<Hit> {
        let Self::Extended(extensions) = self else {
            return Some(Hit::Program(folder.join(name))).filter(|_| folder.join(name).is_file());
        };
        // A colon would make it a path of a drive, or name a stream of a file.
        if name.is_empty() || name.contains(['/', '\\', ':']) {
            return None;
        }
        let lower = name.to_lowercase();
        let mut known = extensions.iter().map(String::as_str).chain(WRITTEN);
        let whole = known.any(|known| lower.ends_with(known));
        let exact = whole.then(|| folder.join(name));
        let extended = extensions
            .iter()
            .map(|extension| folder.join(format!("{name}{extension}")));
        let program = exact.into_iter().chain(extended).find(|file| file.is_file());
        let bare = || Some(folder.join(name)).filter(|file| file.is_file());
        program.map(Hit::Program).or_else(|| bare().map(Hit::Bare))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir, write};

    use super::*;

    fn folder(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            write(folder.path().join(file), "").unwrap();
        }
        folder
    }

    fn found(list: &str, files: &[&str], name: &str) -> Option<(bool, String)> {
        let folder = folder(files);
        let hit = Naming::extended(list).find(folder.path(), name)?;
        let (program, path) = match hit {
            Hit::Program(path) => (true, path),
            Hit::Bare(path) => (false, path),
        };
        assert_eq!(path.parent().unwrap(), folder.path());
        Some((program, path.file_name().unwrap().to_str().unwrap().to_owned()))
    }

    #[test]
    fn the_order_of_the_list_decides_and_the_bare_name_is_the_last() {
        let npm = ["agent", "agent.cmd", "agent.ps1"];
        let of = |list, files: &[&str]| found(list, files, "agent");
        let program = |name: &str| Some((true, name.to_owned()));
        assert_eq!(of(".COM;.EXE;.BAT;.CMD", &npm), program("agent.cmd"));
        assert_eq!(of("", &npm), program("agent.cmd"));
        assert_eq!(of(".COM;.EXE", &npm), Some((false, "agent".into())));
        let both = ["agent.exe", "agent.cmd", "agent.js"];
        assert_eq!(of(".EXE;.CMD", &both), program("agent.exe"));
        assert_eq!(of(" .cmd ;.EXE", &both), program("agent.cmd"));
        assert_eq!(
            of("EXE;;.;.JS", &both),
            program("agent.js"),
            "what is no extension"
        );
        assert_eq!(of("", &["agents.exe"]), None);
    }

    #[test]
    fn a_name_with_its_extension_is_taken_as_it_is() {
        let files = [
            "agent.cmd",
            "agent.ps1",
            "agent.v2",
            "agent.v2.exe",
            "agent.exe.cmd",
        ];
        for (name, expected) in [
            ("agent.cmd", Some((true, "agent.cmd"))),
            ("agent.ps1", Some((true, "agent.ps1"))),
            ("agent.v2", Some((true, "agent.v2.exe"))),
            ("agent.exe", Some((true, "agent.exe.cmd"))),
            ("agent.js", None),
            ("../agent.cmd", None),
            ("C:agent.cmd", None),
            ("agent.cmd:stream", None),
            ("", None),
        ] {
            let expected = expected.map(|(program, name)| (program, name.to_owned()));
            assert_eq!(found("", &files, name), expected, "{name}");
        }
        let other = found(".x", &files, "agent.cmd");
        assert_eq!(other, Some((true, "agent.cmd".into())), "in no list");
    }

    #[test]
    fn a_folder_of_that_name_is_none() {
        let top = tempfile::tempdir().unwrap();
        create_dir(top.path().join("agent.exe")).unwrap();
        create_dir(top.path().join("agent")).unwrap();
        assert_eq!(Naming::extended("").find(top.path(), "agent"), None);
    }

    #[test]
    fn elsewhere_a_name_is_a_name() {
        let folder = folder(&["agent", "other.exe"]);
        let find = |name| Naming::Exact.find(folder.path(), name);
        assert_eq!(find("agent"), Some(Hit::Program(folder.path().join("agent"))));
        assert_eq!(find("other"), None);
    }
}
