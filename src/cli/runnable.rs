//! Why a program that was found does not run: the loader, a policy or an interpreter refused it.
//!
//! The words are those of Linux, macOS, Windows, their shells and Node. None of them is the CLI's own; what
//! the CLI itself says is classified beside it.

use std::fmt;

use super::said::plain;

/// Why a program was found but not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotRunnable {
    /// It is made for another system or processor, or is no program at all (ENOEXEC).
    WrongFormat,
    /// The interpreter of a script, or the loader of a program, is missing.
    InterpreterMissing,
    /// A library that it needs is missing or does not fit.
    LibraryMissing,
    /// A signature or a policy of the system forbids it.
    Blocked,
    /// It may not be executed (EACCES).
    NotPermitted,
    /// The shell between did not find it, or something it starts.
    NotFound,
}

impl fmt::Display for NotRunnable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::WrongFormat => "it is no program for this system (ENOEXEC)",
            Self::InterpreterMissing => "its interpreter or loader is missing",
            Self::LibraryMissing => "a library that it needs is missing or does not fit",
            Self::Blocked => "a signature or a policy of the system forbids it",
            Self::NotPermitted => "it may not be executed (EACCES)",
            Self::NotFound => "the shell did not find it or something it starts",
        })
    }
}

/// Each row: all of these words, in any case, on one line make this reason. The first row that fits any line
/// counts, so the narrow ones come first.
const TABLE: &[(&[&str], NotRunnable)] = &[
    // macOS: what dlopen and dyld say of a quarantined or badly signed file.
    (&["code signature", "not valid"], NotRunnable::Blocked),
    (&["disallowed by system policy"], NotRunnable::Blocked),
    (&["library validation"], NotRunnable::Blocked),
    (&["different team ids"], NotRunnable::Blocked),
    (&["code signature invalid"], NotRunnable::Blocked),
    (&["cannot be opened because the developer"], NotRunnable::Blocked),
    // Windows: AppLocker, SmartScreen, and PowerShell's policy for scripts.
    (&["blocked by group policy"], NotRunnable::Blocked),
    (
        &["running scripts is disabled on this system"],
        NotRunnable::Blocked,
    ),
    (&["application control policy"], NotRunnable::Blocked),
    (&["is not digitally signed"], NotRunnable::Blocked),
    (&["bad interpreter"], NotRunnable::InterpreterMissing),
    (
        &["cannot execute: required file not found"],
        NotRunnable::InterpreterMissing,
    ),
    (
        &["env:", "no such file or directory"],
        NotRunnable::InterpreterMissing,
    ),
    (&["env:", "can't execute"], NotRunnable::InterpreterMissing),
    (&["ld-linux", "no such file"], NotRunnable::InterpreterMissing),
    (&["ld-musl", "no such file"], NotRunnable::InterpreterMissing),
    (&["qemu", "could not open '/lib"], NotRunnable::InterpreterMissing),
    (&["exec format error"], NotRunnable::WrongFormat),
    (&["cannot execute binary file"], NotRunnable::WrongFormat),
    (&["bad cpu type in executable"], NotRunnable::WrongFormat),
    (&["incompatible architecture"], NotRunnable::WrongFormat),
    (&["not a valid win32 application"], NotRunnable::WrongFormat),
    (
        &["not compatible with the version of windows"],
        NotRunnable::WrongFormat,
    ),
    (&["invalid elf header"], NotRunnable::WrongFormat),
    (&["wrong elf class"], NotRunnable::WrongFormat),
    (
        &["error while loading shared libraries"],
        NotRunnable::LibraryMissing,
    ),
    (&["error loading shared library"], NotRunnable::LibraryMissing),
    (&["error relocating"], NotRunnable::LibraryMissing),
    (&["version `glib", "not found"], NotRunnable::LibraryMissing),
    (&["symbol lookup error"], NotRunnable::LibraryMissing),
    (&["library not loaded"], NotRunnable::LibraryMissing),
    (&["cannot open shared object file"], NotRunnable::LibraryMissing),
    (&["err_dlopen_failed"], NotRunnable::LibraryMissing),
    (&["dlopen("], NotRunnable::LibraryMissing),
    (&["is not recognized as"], NotRunnable::NotFound),
];

/// Words that say nothing by themselves and much behind the exit code of a shell.
const SHELL_TABLE: &[(&str, NotRunnable)] = &[
    ("permission denied", NotRunnable::NotPermitted),
    ("operation not permitted", NotRunnable::Blocked),
    ("is a directory", NotRunnable::NotPermitted),
    ("command not found", NotRunnable::NotFound),
    ("not found", NotRunnable::NotFound),
    ("no such file or directory", NotRunnable::NotFound),
];

/// Exit codes of Windows for a program that its loader refused, and of `cmd` for a command that it does not
/// know.
const WINDOWS: [(u32, NotRunnable); 5] = [
    (0xC000_0135, NotRunnable::LibraryMissing),
    (0xC000_0139, NotRunnable::LibraryMissing),
    (0xC000_007B, NotRunnable::WrongFormat),
    (0xC000_0428, NotRunnable::Blocked),
    (9009, NotRunnable::NotFound),
];

/// Why a program did not run, from what stood on its standard error and how it ended; `None` where nothing
/// tells. `exit_code` is absent where a signal ended it. A program that ended with 0 did run.
///
/// Ask [`classify`](super::failure::classify) first: what the CLI says for itself goes before. The words are
/// those that Linux, macOS, Windows, their shells and Node are known for; a few were tried on Linux.
#[must_use]
pub fn not_runnable(stderr: &str, exit_code: Option<i32>) -> Option<NotRunnable> {
    if exit_code == Some(0) {
        return None;
    }
    let said = plain(stderr).to_lowercase();
    let by_words = TABLE.iter().find(|(words, _)| {
        let mut lines = said.lines();
        lines.any(|line| words.iter().all(|word| line.contains(word)))
    });
    if let Some((_, reason)) = by_words {
        return Some(*reason);
    }
    let code = exit_code?;
    if let Some((_, reason)) = WINDOWS.iter().find(|(known, _)| *known == code.cast_unsigned()) {
        return Some(*reason);
    }
    // A shell, such as that of a wrapper, takes a file whose format the system does not know for a script, and
    // stumbles over its bytes: `/x/cursor-agent: 1: Syntax error: "(" unexpected`, code 2.
    if matches!(code, 2 | 126 | 127) && said.lines().any(stumbled) {
        return Some(NotRunnable::WrongFormat);
    }
    let by_shell = SHELL_TABLE
        .iter()
        .find(|(words, _)| said.contains(words))
        .map(|(_, reason)| *reason);
    match code {
        126 => Some(by_shell.unwrap_or(NotRunnable::NotPermitted)),
        127 => Some(by_shell.unwrap_or(NotRunnable::NotFound)),
        _ => None,
    }
}

/// What dash, bash and busybox say of the bytes of a program, in small letters. The first lines of a file
/// only: a syntax error further down is that of a script.
fn stumbled(line: &str) -> bool {
    let syntax =
        line.contains("syntax error") && (line.contains("unexpected") || line.contains("unterminated"));
    let binary = line.contains('\u{fffd}') || line.contains("elf") && line.contains("not found");
    let early = (1..=3).any(|number| {
        line.contains(&format!(": {number}: ")) || line.contains(&format!(": line {number}: "))
    });
    early && (syntax || binary)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::decorated::decorated;
    use super::super::failure::classify;
    use super::*;

    type Table = [(&'static str, Option<i32>, NotRunnable)];

    fn check(table: &Table) {
        for (stderr, code, reason) in table {
            assert_eq!(not_runnable(stderr, *code), Some(*reason), "for {stderr:?}");
            assert_eq!(
                classify(stderr),
                None,
                "nor is it a failure of the CLI: {stderr:?}"
            );
            assert_eq!(not_runnable(stderr, Some(0)), None, "it ran: {stderr:?}");
        }
    }

    #[test]
    fn libraries_and_interpreters() {
        use NotRunnable as N;
        check(&[
            (
                "node:internal/modules/cjs/loader:1\nError: dlopen(/opt/x/merkle.node, 0x0001): tried: '/opt/x/merkle.node' \
                 (code signature in <1F> '/opt/x/merkle.node' not valid for use in process: library load disallowed by \
                 system policy)",
                Some(1),
                N::Blocked,
            ),
            (
                "Error: dlopen(/opt/x/a.node, 1): no suitable image found.",
                Some(1),
                N::LibraryMissing,
            ),
            (
                "dlopen(a.node): incompatible architecture (have 'arm64', need 'x86_64')",
                Some(1),
                N::WrongFormat,
            ),
            (
                "dyld[384]: Library not loaded: '@rpath/libx.dylib'",
                None,
                N::LibraryMissing,
            ),
            ("  code: 'ERR_DLOPEN_FAILED'", Some(1), N::LibraryMissing),
            ("Error: /x/a.node: invalid ELF header", Some(1), N::WrongFormat),
            (
                "/x/node: error while loading shared libraries: libatomic.so.1: cannot open shared object file",
                Some(127),
                N::LibraryMissing,
            ),
            (
                "/x/node: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /x/node)",
                Some(1),
                N::LibraryMissing,
            ),
            (
                "Error loading shared library libstdc++.so.6: No such file or directory (needed by /x/node)",
                Some(127),
                N::LibraryMissing,
            ),
            (
                "/lib64/ld-linux-x86-64.so.2: No such file or directory",
                Some(127),
                N::InterpreterMissing,
            ),
            (
                "/usr/bin/env: ‘node’: No such file or directory",
                Some(127),
                N::InterpreterMissing,
            ),
            (
                "env: node: No such file or directory",
                Some(127),
                N::InterpreterMissing,
            ),
            (
                "env: can't execute 'node': No such file or directory",
                Some(127),
                N::InterpreterMissing,
            ),
            (
                "bash: ./x: /nope/node: bad interpreter: No such file or directory",
                Some(126),
                N::InterpreterMissing,
            ),
            (
                "bash: ./x: cannot execute: required file not found",
                Some(127),
                N::InterpreterMissing,
            ),
        ]);
    }

    #[test]
    fn a_foreign_format_however_it_shows() {
        use NotRunnable as N;
        check(&[
            (
                "bash: /x/agent: cannot execute binary file: Exec format error",
                Some(126),
                N::WrongFormat,
            ),
            (
                "/x/agent: /x/agent: cannot execute binary file",
                Some(126),
                N::WrongFormat,
            ),
            ("sh: 1: ./x: Exec format error", Some(126), N::WrongFormat),
            ("zsh: bad CPU type in executable: ./x", Some(126), N::WrongFormat),
            (
                "./aarch64: 1: Syntax error: \"(\" unexpected",
                Some(2),
                N::WrongFormat,
            ),
            (
                "./macho: 2: Syntax error: Unterminated quoted string",
                Some(2),
                N::WrongFormat,
            ),
            (
                "/x/agent: line 1: syntax error: unexpected \"(\"",
                Some(2),
                N::WrongFormat,
            ),
            (
                "/x/agent: 1: \u{7f}ELF\u{2}\u{1}: not found",
                Some(127),
                N::WrongFormat,
            ),
            (
                "/x/agent: 1: \u{fffd}\u{fffd}: not found",
                Some(127),
                N::WrongFormat,
            ),
        ]);
    }

    #[test]
    fn what_shells_say_and_exit_codes() {
        use NotRunnable as N;
        check(&[
            ("sh: 1: exec: /x: Permission denied", Some(126), N::NotPermitted),
            ("bash: /tmp: Is a directory", Some(126), N::NotPermitted),
            ("bash: /x/agent: Operation not permitted", Some(126), N::Blocked),
            ("", Some(126), N::NotPermitted),
            ("sh: 1: node: not found", Some(127), N::NotFound),
            ("", Some(127), N::NotFound),
            (
                "'C:\\Users\\A' is not recognized as an internal or external command,\r\noperable program or batch file.",
                Some(1),
                N::NotFound,
            ),
            (
                "The term 'node' is not recognized as a name of a cmdlet",
                Some(1),
                N::NotFound,
            ),
            (
                "File x.ps1 cannot be loaded because running scripts is disabled on this system.",
                Some(1),
                N::Blocked,
            ),
            ("This program is blocked by group policy.", Some(1), N::Blocked),
            (
                "node.exe is not a valid Win32 application.",
                Some(1),
                N::WrongFormat,
            ),
            ("", Some(0xC000_0135_u32.cast_signed()), N::LibraryMissing),
            ("", Some(0xC000_007B_u32.cast_signed()), N::WrongFormat),
            ("", Some(9009), N::NotFound),
        ]);
    }

    #[test]
    fn what_the_cli_says_for_itself_is_no_such_reason() {
        for (stderr, code) in [
            ("", None),
            ("", Some(1)),
            ("Error: Authentication required. Run 'agent login'.", Some(1)),
            ("Error: Your macOS login keychain is locked.", Some(1)),
            (
                "Error: No Cursor IDE installation found. Use 'cursor agent'.",
                Some(1),
            ),
            ("error: unknown option '--json'", Some(1)),
            ("SyntaxError: Unexpected token", Some(1)),
            ("script.sh: 120: Syntax error: \"(\" unexpected", Some(2)),
            (
                "Error: EACCES: permission denied, open '/h/.cursor/cli-config.json'",
                Some(1),
            ),
            ("Cannot find module 'x': not found", Some(1)),
        ] {
            assert_eq!(not_runnable(stderr, code), None, "for {stderr:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text: String, code: Option<i32>) {
            let _ = not_runnable(&text, code);
        }

        #[test]
        fn decoration_changes_nothing(text in decorated("Debugger attached.\n/usr/bin/env: ‘node’: No such file or directory\n")) {
            prop_assert_eq!(not_runnable(&text, Some(127)), Some(NotRunnable::InterpreterMissing));
        }
    }
}
