//! Paths as git writes them: UTF-8, with slashes, which the system understands as well. And how git is run.

use std::ffi::OsStr;
use std::path::Path;

/// The name of its program. A script of that name is not looked for: it would have to be run by a shell.
pub(super) const PROGRAM: &str = "git.exe";
/// In front of every command: a file system monitor is a program of the user's choice; and without the other, git
/// knows no path of more than 260 characters.
pub(super) const ALWAYS: &[&str] = &["-c", "core.fsmonitor=false", "-c", "core.longpaths=true"];
/// No file has such a name here.
const NOTHING: &str = "?";

/// The path of these bytes. What is no UTF-8 is none that git wrote, and means nothing that exists.
pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(bytes).unwrap_or(NOTHING))
}

/// The bytes of a path.
pub(super) fn bytes_of(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

/// Whether a variable of the environment changes what git does or says. Their names have no case.
pub(super) fn is_for_git(name: &OsStr) -> bool {
    let name = name.to_ascii_uppercase();
    name.as_encoded_bytes().starts_with(b"GIT_") || name == "LC_ALL"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_git_are_paths_of_the_system() {
        let top = Path::new(r"C:\repo");
        assert_eq!(top.join(path_of(b"apps/web/")), Path::new(r"C:\repo\apps\web"));
        assert_eq!(top.join(path_of(b"C:/other/.git")), Path::new(r"C:\other\.git"));
        assert_eq!(path_of("J\u{f6}rg/".as_bytes()), Path::new("J\u{f6}rg"));
        assert!(!top.join(path_of(b"\xff")).exists());
        assert_eq!(
            path_of(bytes_of(Path::new(r"C:\J\u{f6}rg"))),
            Path::new(r"C:\J\u{f6}rg")
        );
    }

    #[test]
    fn what_is_for_git_is_known_in_any_case() {
        for name in ["GIT_DIR", "git_dir", "Git_Work_Tree", "LC_ALL", "lc_all"] {
            assert!(is_for_git(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "GITHUB_TOKEN", "LC_CTYPE"] {
            assert!(!is_for_git(OsStr::new(name)), "{name}");
        }
    }
}
