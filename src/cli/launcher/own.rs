//! The scripts of Cursor's own installer, `cursor-agent` and `agent`, each as a `.cmd` and a `.ps1`.
//!
//! They lie beside a folder `versions` with one folder for each version, look for the newest one, and run its
//! `node.exe` with its `index.js` and all arguments.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// By which name the CLI was called.
pub(super) const INVOKED_AS: &str = "CURSOR_INVOKED_AS";

/// What such a script runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) node: PathBuf,
    pub(super) index: PathBuf,
    /// The script's own name, without its extension.
    pub(super) name: OsString,
}

/// What this script runs, where it is one of them: both of a pair are there, and the newest version has both its files.
pub(super) fn find(script: &Path) -> Option<Own> {
    let folder = script.parent()?;
    let name = script.file_stem()?;
    let known = ["cursor-agent", "agent"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known));
    let pair = || {
        ["cmd", "ps1"]
            .iter()
            .all(|other| script.with_extension(other).is_file())
    };
    if !known || !pair() {
        return None;
    }
    let versions = std::fs::read_dir(folder.join("versions")).ok()?;
    let names = versions
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let (_, newest) = names.filter_map(|name| Some((order(&name)?, name))).max()?;
    let newest = folder.join("versions").join(newest);
    let (node, index) = (newest.join("node.exe"), newest.join("index.js"));
    // Where the newest is being put in place, the script itself knows best.
    (node.is_file() && index.is_file()).then(|| Own {
        node,
        index,
        name: name.to_owned(),
    })
}

/// What a version is ordered by: `YYYY.MM.DD-<hash>`, the date as numbers.
fn order(name: &str) -> Option<[u32; 3]> {
    let (date, hash) = name.split_once('-')?;
    if hash.is_empty() || !hash.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let mut parts = date.split('.').map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| part.parse().ok()).flatten()
    });
    let order = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(order)
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, remove_file, write};

    use super::*;

    #[test]
    fn versions_are_ordered_by_their_dates() {
        assert!(order("2026.10.01-e373342") > order("2026.9.30-fffffff"));
        assert_eq!(order("2026.10.01-e373342"), Some([2026, 10, 1]));
        for no in [
            "",
            "2026.10.01",
            "2026.10-a",
            ".tmp-2026.10.01-e37",
            "2026.10.01.2-a",
            "2026.x.01-a",
            "2026.10.01-a b",
        ] {
            assert_eq!(order(no), None, "{no:?}");
        }
    }

    #[test]
    fn only_the_whole_shape_is_recognised() {
        let top = tempfile::tempdir().unwrap();
        let script = top.path().join("cursor-agent.cmd");
        for name in [
            "cursor-agent.cmd",
            "cursor-agent.ps1",
            "agent.cmd",
            "other.cmd",
            "other.ps1",
        ] {
            write(top.path().join(name), "").unwrap();
        }
        assert_eq!(find(&script), None, "no versions");
        let version = |name: &str, files: &[&str]| {
            let folder = top.path().join("versions").join(name);
            create_dir_all(&folder).unwrap();
            for file in files {
                write(folder.join(file), "").unwrap();
            }
            folder
        };
        version("2026.9.30-aaaaaaa", &["node.exe", "index.js"]);
        let newest = version("2026.10.01-e373342", &["node.exe", "index.js"]);
        version(".tmp-2027.01.01-1", &["node.exe", "index.js"]);
        let own = Own {
            node: newest.join("node.exe"),
            index: newest.join("index.js"),
            name: "cursor-agent".into(),
        };
        assert_eq!(find(&script), Some(own));
        assert!(find(&script.with_extension("ps1")).is_some());
        assert_eq!(
            find(&top.path().join("agent.cmd")),
            None,
            "the other of the pair is missing"
        );
        assert_eq!(find(&top.path().join("other.cmd")), None, "another name");
        remove_file(newest.join("index.js")).unwrap();
        assert_eq!(find(&script), None, "it is being put in place");
    }
}
