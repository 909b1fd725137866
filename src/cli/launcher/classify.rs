//! What kind of thing a program's file is, by its name.

use std::path::Path;

/// How a file is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// By the system itself.
    Direct,
    /// By `cmd`.
    Batch,
    /// By PowerShell.
    PowerShell,
    /// In no way that is known here.
    Unsupported,
}

const KINDS: [(&str, Kind); 5] = [
    ("exe", Kind::Direct),
    ("com", Kind::Direct),
    ("cmd", Kind::Batch),
    ("bat", Kind::Batch),
    ("ps1", Kind::PowerShell),
];

/// The kind of this file. The system drops blanks and dots at the end of a name, so such a name is of no kind.
pub(super) fn kind(program: &Path) -> Kind {
    let extension = program.extension().unwrap_or_default();
    let known = KINDS
        .iter()
        .find(|(name, _)| extension.eq_ignore_ascii_case(name));
    known.map_or(Kind::Unsupported, |(_, kind)| *kind)
}

/// That nothing here starts such a file.
pub(in crate::cli) fn unsupported(program: &Path) -> String {
    let what = match program.extension() {
        Some(extension) => format!("a .{} file", extension.display()),
        None => "a file without an extension, as a script for another system is".to_owned(),
    };
    format!(
        "{} is {what}, which cannot be started here: set the path of Cursor's CLI (`binary`, `--binary`, in Fusion \
         `cursorCliBinaryPath`) to its .exe, .com, .cmd, .bat or .ps1 file",
        program.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_alone_decides_in_any_case() {
        for (name, expected) in [
            ("agent.exe", Kind::Direct),
            ("agent.EXE", Kind::Direct),
            ("agent.com", Kind::Direct),
            ("cursor-agent.cmd", Kind::Batch),
            ("cursor-agent.Bat", Kind::Batch),
            ("cursor-agent.ps1", Kind::PowerShell),
            ("cursor-agent", Kind::Unsupported),
            ("index.js", Kind::Unsupported),
            ("agent.exe.txt", Kind::Unsupported),
            ("agent.cmd ", Kind::Unsupported),
            ("agent.cmd.", Kind::Unsupported),
            (".cmd", Kind::Unsupported),
        ] {
            assert_eq!(kind(Path::new(name)), expected, "{name:?}");
        }
    }

    #[test]
    fn the_refusal_names_the_setting() {
        let said = unsupported(Path::new("/x/index.js"));
        assert!(said.contains("/x/index.js") && said.contains("a .js file") && said.contains("`binary`"));
    }
}
