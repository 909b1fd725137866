//! How a path is spelled. The system resolves one to a form (`\\?\C:\x`) that git and many other programs do not
//! understand; where it means the same without that, the usual one is used.

use std::io;
use std::path::{Component, Path, PathBuf, Prefix};

/// Names of devices, whatever follows behind a dot. In the usual spelling they are no files.
const DEVICES: [&str; 22] = [
    "aux", "con", "nul", "prn", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// The path without links, in the usual spelling, with the case of the names as the disk has it.
pub(in crate::disk) fn canonical(path: &Path) -> io::Result<PathBuf> {
    Ok(usual(std::fs::canonicalize(path)?))
}

fn usual(path: PathBuf) -> PathBuf {
    let mut parts = path.components();
    let Some(Component::Prefix(prefix)) = parts.next() else {
        return path;
    };
    let start = match prefix.kind() {
        Prefix::VerbatimDisk(letter) => format!("{}:", char::from(letter)).into(),
        Prefix::VerbatimUNC(server, share) => {
            let mut start = std::ffi::OsString::from(r"\\");
            start.push(server);
            start.push(r"\");
            start.push(share);
            start
        }
        _ => return path,
    };
    let rest = parts.as_path();
    if !rest.components().all(means_the_same) {
        return path;
    }
    let mut usual = start;
    usual.push(rest);
    usual.into()
}

/// Whether this name is the same file in both spellings.
fn means_the_same(part: Component<'_>) -> bool {
    let Component::Normal(name) = part else {
        return true;
    };
    let Some(name) = name.to_str() else {
        return true;
    };
    let stem = name.split(['.', ':']).next().unwrap_or_default().trim_end();
    !name.ends_with(['.', ' '])
        && !name.contains('/')
        && !DEVICES.iter().any(|device| stem.eq_ignore_ascii_case(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_spelling_is_used_where_it_means_the_same() {
        let long = format!(r"\\?\C:\{}", r"a-long-name\".repeat(40));
        for (given, expected) in [
            (r"\\?\C:\", r"C:\"),
            (r"\\?\C:\Users\Jörg\a b", r"C:\Users\Jörg\a b"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            (&*long, &long[4..]),
            (r"\\?\C:\x\con", r"\\?\C:\x\con"),
            (r"\\?\C:\NUL.txt\x", r"\\?\C:\NUL.txt\x"),
            (r"\\?\C:\x.\y", r"\\?\C:\x.\y"),
            (r"\\?\C:\x \y", r"\\?\C:\x \y"),
            (r"\\?\C:\console\.cursor", r"C:\console\.cursor"),
            (r"\\?\Volume{0}\x", r"\\?\Volume{0}\x"),
            (r"C:\x", r"C:\x"),
        ] {
            assert_eq!(usual(given.into()), Path::new(expected), "{given}");
        }
    }
}
