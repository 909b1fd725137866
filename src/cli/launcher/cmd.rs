//! The one boundary where `cmd.exe` reads a command line.
//!
//! `cmd` looks for its own signs in the whole line, and a script that passes its arguments on (`%*`) has them read once
//! more. No quoting holds for both, so what `cmd` has a meaning for is refused, and the rest is put in quotes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::super::environment::value;
use super::{LauncherError, as_text, within};
use crate::process::quote::unmarked;

/// The longest line that is passed on, in UTF-16 units: `cmd` takes 8,191, and a script adds to it.
const LONGEST: usize = 8000;

/// What `cmd` has a meaning for, and what a person calls it.
const SIGNS: [(char, &str); 10] = [
    ('"', "a quote"),
    ('%', "a percent sign"),
    ('!', "an exclamation mark"),
    ('^', "a caret"),
    ('&', "an ampersand"),
    ('|', "a vertical bar"),
    ('<', "a less-than sign"),
    ('>', "a greater-than sign"),
    ('(', "an opening parenthesis"),
    (')', "a closing parenthesis"),
];

/// With this, `cmd` looks for a name in `PATH` alone. Else it looks in the current folder first: where npm's script says
/// `node`, that would be a program that anybody has put into the worktree.
pub(super) const NOT_HERE: &str = "NoDefaultCurrentDirectoryInExePath";

/// How much of a refused word is shown, in characters.
const SHOWN: usize = 60;

/// `cmd.exe` by its absolute path: the one that `ComSpec` names if it is there, else the system's. It is never looked
/// up by name.
pub(super) fn interpreter(
    environment: &[(OsString, OsString)],
    system: Option<&Path>,
) -> Result<PathBuf, LauncherError> {
    // Part by part, so that it has no slash in it: `cmd` looks for its switches in the whole of its line.
    let named = value(environment, "ComSpec").map(|named| Path::new(named).components().collect::<PathBuf>());
    let named = named.filter(|path| {
        let name = path.file_name().unwrap_or_default();
        path.is_absolute() && name.eq_ignore_ascii_case("cmd.exe") && path.is_file()
    });
    let found = named.or_else(|| Some(system?.join("cmd.exe")));
    found.ok_or_else(|| {
        LauncherError::Unsupported(
            "there is no cmd.exe to run a .cmd file with: set ComSpec to the absolute path of cmd.exe, or set the path \
             of Cursor's CLI (`binary`, `--binary`, in Fusion `cursorCliBinaryPath`) to an .exe file"
                .into(),
        )
    })
}

/// Refuse a folder that `cmd` would leave for the system's without failing.
pub(super) fn check_folder(program: &Path, cwd: &Path) -> Result<(), LauncherError> {
    let shown = cwd.to_string_lossy().replace('/', r"\");
    if !unmarked(&shown).starts_with(r"\\") {
        return Ok(());
    }
    Err(LauncherError::Unsupported(format!(
        "{} is run by cmd.exe, which can work in no folder of a network and in none without a drive letter, as {shown} \
         is: give it one, or set the path of Cursor's CLI (`binary`, `--binary`, in Fusion `cursorCliBinaryPath`) to an \
         .exe file",
        program.display()
    )))
}

/// The whole command line: `"…\cmd.exe" /d /s /c ""…\script.cmd" "word" …"`. With `/s` the outermost quotes go, and
/// nothing else; with `/d` no command of the registry runs first.
pub(super) fn line(interpreter: &Path, script: &Path, args: &[OsString]) -> Result<String, LauncherError> {
    let shell = as_text(interpreter.as_os_str(), script)?;
    let name = unmarked(as_text(script.as_os_str(), script)?);
    // Parentheses are part of `Program Files (x86)`. They mean something only where a script is in the middle of a
    // block and has an argument unquoted, and a script knows its own name in quotes.
    check(name, script, |sign| !matches!(sign, '(' | ')'))?;
    let mut line = format!("\"{shell}\" /d /s /c \"");
    push(&mut line, name);
    for word in args {
        let word = as_text(word, script)?;
        check(word, script, |_| true)?;
        line.push(' ');
        push(&mut line, word);
    }
    line.push('"');
    within(script, line.encode_utf16().count(), LONGEST)?;
    Ok(line)
}

/// Put a checked word in quotes. Backslashes at its end are doubled: the program that gets the word from the script at
/// last would take the last one for the sign of a quote that belongs to the word.
fn push(line: &mut String, word: &str) {
    line.push('"');
    line.push_str(word);
    let backslashes = word.len() - word.trim_end_matches('\\').len();
    line.extend(std::iter::repeat_n('\\', backslashes));
    line.push('"');
}

fn check(word: &str, script: &Path, counts: impl Fn(char) -> bool) -> Result<(), LauncherError> {
    let sign = |character: char| {
        if character.is_control() {
            return Some(format!("the control character U+{:04X}", u32::from(character)));
        }
        let known = SIGNS.iter().find(|(sign, _)| *sign == character && counts(*sign));
        known.map(|(sign, name)| format!("{name} ({sign})"))
    };
    let Some(found) = word.chars().find_map(sign) else {
        return Ok(());
    };
    let shown: String = word.chars().take(SHOWN).collect();
    Err(LauncherError::UnsafeToken(format!(
        "{shown:?} holds {found}, to which cmd.exe gives a meaning of its own, and {} is run by that: leave the sign \
         out, or set the path of Cursor's CLI (`binary`, `--binary`, in Fusion `cursorCliBinaryPath`) to an .exe file",
        script.display()
    )))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(args: &[&str]) -> Result<String, LauncherError> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        line(
            Path::new(r"C:\W\cmd.exe"),
            Path::new(r"C:\a (x86) ü\agent.cmd"),
            &args,
        )
    }

    #[test]
    fn every_word_is_in_quotes() {
        assert_eq!(
            of(&["--model", "gpt-5[context=1m,fast=false]", "", "C:\\w t\\", "é ü"]).unwrap(),
            r#""C:\W\cmd.exe" /d /s /c ""C:\a (x86) ü\agent.cmd" "--model" "gpt-5[context=1m,fast=false]" "" "C:\w t\\" "é ü"""#
        );
    }

    #[test]
    fn each_sign_is_refused_by_its_name() {
        for (sign, name) in SIGNS {
            let word = format!("a{sign}b");
            let Err(LauncherError::UnsafeToken(said)) = of(&["--model", &word]) else {
                panic!("{sign} passes");
            };
            assert!(said.contains(name) && said.contains("agent.cmd"), "{said}");
        }
        for control in (0..0x20).chain(0x7F..0xA0).filter_map(char::from_u32) {
            let refused = of(&[&format!("a{control}")]);
            assert!(
                matches!(&refused, Err(LauncherError::UnsafeToken(said)) if said.contains("U+00")),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn the_scripts_own_path_is_checked_too() {
        for (path, passes) in [
            (r"C:\Program Files (x86)\agent.cmd", true),
            (r"C:\A & B\agent.cmd", false),
            (r"C:\100%\agent.cmd", false),
            (r"C:\a^b\agent.cmd", false),
        ] {
            let line = line(Path::new(r"C:\W\cmd.exe"), Path::new(path), &[]);
            assert_eq!(line.is_ok(), passes, "{path}: {line:?}");
        }
    }

    #[test]
    fn the_scripts_path_is_written_as_cmd_understands_it() {
        let line = line(Path::new("cmd.exe"), Path::new(r"\\?\C:\a b\agent.cmd"), &[]);
        assert_eq!(line.unwrap(), r#""cmd.exe" /d /s /c ""C:\a b\agent.cmd"""#);
    }

    #[test]
    fn a_long_line_is_refused_and_told_its_length() {
        let room = LONGEST - of(&[""]).unwrap().encode_utf16().count();
        assert!(of(&[&"x".repeat(room)]).is_ok());
        let refused = of(&[&"x".repeat(room + 1)]);
        assert!(
            matches!(&refused, Err(LauncherError::TooLong(said)) if said.contains("8001") && said.contains("8000")),
            "{refused:?}"
        );
        assert!(of(&[&"😀".repeat(room / 2 + 1)]).is_err(), "two units each");
    }

    #[test]
    fn only_an_absolute_cmd_exe_that_is_there_is_taken_from_the_environment() {
        let top = tempfile::tempdir().unwrap();
        let absolute = |name: &str| top.path().join(name);
        let system = absolute("system");
        std::fs::create_dir(absolute("other")).unwrap();
        for name in ["other/CMD.EXE", "other/bash.exe"] {
            std::fs::write(absolute(name), "").unwrap();
        }
        for (named, expected) in [
            (Some(absolute("gone/cmd.exe")), system.join("cmd.exe")),
            (Some(absolute("other/CMD.EXE")), absolute("other/CMD.EXE")),
            (Some(absolute("other/bash.exe")), system.join("cmd.exe")),
            (Some("cmd.exe".into()), system.join("cmd.exe")),
            (Some("".into()), system.join("cmd.exe")),
            (None, system.join("cmd.exe")),
        ] {
            let environment: Vec<(OsString, OsString)> = named
                .iter()
                .map(|path| ("ComSpec".into(), path.clone().into()))
                .collect();
            assert_eq!(
                interpreter(&environment, Some(&system)).unwrap(),
                expected,
                "{named:?}"
            );
        }
        assert!(matches!(
            interpreter(&[], None),
            Err(LauncherError::Unsupported(_))
        ));
    }

    #[test]
    fn a_folder_that_cmd_cannot_work_in_is_refused() {
        let script = Path::new("agent.cmd");
        for (cwd, passes) in [
            (r"C:\w", true),
            (r"\\?\C:\w", true),
            ("/w", true),
            (r"\\server\share\w", false),
            ("//server/share/w", false),
            (r"\\?\UNC\server\share", false),
            (r"\\?\Volume{0}\w", false),
            (r"\\?\C:\w.", false),
            (r"\\.\C:\w", false),
        ] {
            assert_eq!(check_folder(script, Path::new(cwd)).is_ok(), passes, "{cwd}");
        }
    }

    proptest! {
        #[test]
        fn a_line_that_passes_has_no_sign_outside_its_quotes(words in prop::collection::vec("[ -~é😀\\t]{0,20}", 0..5)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let signs = |word: &&str| word.contains(|c: char| c.is_control() || SIGNS.iter().any(|(sign, _)| *sign == c));
            match of(&words) {
                Ok(line) => {
                    prop_assert!(!words.iter().any(signs));
                    prop_assert_eq!(line.matches('"').count(), 2 + 2 + 2 * (words.len() + 1));
                }
                Err(error) => prop_assert!(words.iter().any(signs), "{error}"),
            }
        }
    }
}
