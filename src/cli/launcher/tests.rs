use std::fs::{create_dir_all, write};

use tempfile::TempDir;

use super::*;

fn machine() -> (TempDir, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let system = top.path().join("system 32");
    create_dir_all(system.join("WindowsPowerShell").join("v1.0")).unwrap();
    write(
        system
            .join("WindowsPowerShell")
            .join("v1.0")
            .join("powershell.exe"),
        "",
    )
    .unwrap();
    (top, system)
}

fn order(program: &Path, args: &[&str], environment: &[(&str, &Path)]) -> Launch {
    Launch {
        program: program.to_owned(),
        args: args.iter().map(OsString::from).collect(),
        cwd: "/w".into(),
        env: environment
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
        owner: Owner(0),
        via: None,
    }
}

#[test]
fn a_program_is_started_directly() {
    let launch = arrange(order(Path::new("/x y/agent.exe"), &["a b", "100%"], &[]), None).unwrap();
    assert_eq!(launch.program, Path::new("/x y/agent.exe"));
    assert_eq!(launch.args, ["a b", "100%"], "no sign is refused here");
    assert_eq!(launch.via, None);
}

#[test]
fn a_folder_that_would_be_another_one_is_refused() {
    let in_folder = |cwd: &str| {
        let launch = Launch {
            cwd: cwd.into(),
            ..order(Path::new("agent.exe"), &[], &[])
        };
        arrange(launch, None)
    };
    for cwd in [r"C:\w", r"\\?\C:\w", r"\\?\UNC\server\share", r"C:\x.\..\w"] {
        assert!(in_folder(cwd).is_ok(), "{cwd}");
    }
    for cwd in [r"\\?\C:\w.", r"\\?\C:\w \x", r"\\?\UNC\server\share\w."] {
        let refused = in_folder(cwd);
        assert!(
            matches!(&refused, Err(LauncherError::Unsupported(said)) if said.contains(cwd)),
            "{refused:?}"
        );
    }
}

#[test]
fn a_long_line_is_refused_here_too() {
    // In quotes, with a blank behind them, and a zero at the end.
    let room = 32_767 - r#""agent.exe" "#.len() - 1;
    for (word, passes) in [
        ("x".repeat(room), true),
        ("x".repeat(room + 1), false),
        ("😀".repeat(room / 2 + 1), false),
        // Two for each, and those around the word.
        ("\"".repeat(room / 2 - 1), true),
        ("\"".repeat(room / 2), false),
    ] {
        let arranged = arrange(order(Path::new("agent.exe"), &[&word], &[]), None);
        assert_eq!(arranged.is_ok(), passes, "{} of {:?}", word.len(), &word[..4]);
        assert!(passes || matches!(arranged, Err(LauncherError::TooLong(_))));
    }
}

#[test]
fn a_script_for_cmd_is_run_by_the_systems_own() {
    let (_top, system) = machine();
    let launch = arrange(order(Path::new("/x y/agent.cmd"), &["a b"], &[]), Some(&system)).unwrap();
    assert_eq!(launch.program, Path::new("/x y/agent.cmd"), "what is told of");
    let via = launch.via.unwrap();
    assert_eq!(via.interpreter, system.join("cmd.exe"));
    let shell = system.join("cmd.exe").display().to_string();
    assert_eq!(
        via.line,
        format!(r#""{shell}" /d /s /c ""/x y/agent.cmd" "a b"""#)
    );
    let not_here = "NoDefaultCurrentDirectoryInExePath";
    assert_eq!(launch.env, [(not_here.into(), "1".into())]);
    let said = order(Path::new("/x/agent.cmd"), &[], &[(not_here, Path::new("0"))]);
    assert_eq!(arrange(said, Some(&system)).unwrap().env.len(), 1, "as it is");
    let refused = arrange(order(Path::new("/x/agent.cmd"), &["a&b"], &[]), Some(&system));
    assert!(
        matches!(refused, Err(LauncherError::UnsafeToken(_))),
        "{refused:?}"
    );
}

#[test]
fn a_script_for_powershell_prefers_the_new_one() {
    let (top, system) = machine();
    let new = top.path().join("new");
    create_dir_all(&new).unwrap();
    let run = |path: &Path| {
        let launch = order(Path::new("/x y/agent.ps1"), &["-p", "a b"], &[("PATH", path)]);
        arrange(launch, Some(&system)).unwrap().via.unwrap()
    };
    let old = run(&new);
    assert_eq!(
        old.interpreter,
        system
            .join("WindowsPowerShell")
            .join("v1.0")
            .join("powershell.exe")
    );
    let flags = "-NoProfile -NonInteractive -ExecutionPolicy Bypass -File";
    let line = |shell: &Path| format!(r#""{}" {flags} "/x y/agent.ps1" -p "a b""#, shell.display());
    assert_eq!(old.line, line(&old.interpreter));
    write(new.join("pwsh.exe"), "").unwrap();
    assert_eq!(run(&new).line, line(&new.join("pwsh.exe")));
    assert_eq!(
        run(Path::new("new")).interpreter,
        old.interpreter,
        "a relative entry"
    );
    let none = arrange(order(Path::new("/x/agent.ps1"), &[], &[]), None);
    assert!(matches!(none, Err(LauncherError::Unsupported(_))), "{none:?}");
}

#[test]
fn anything_else_is_refused() {
    for name in ["/x/agent", "/x/index.js", "/x/agent.vbs"] {
        let refused = arrange(order(Path::new(name), &[], &[]), None);
        assert!(
            matches!(refused, Err(LauncherError::Unsupported(_))),
            "{refused:?}"
        );
    }
}

#[test]
fn the_installers_own_script_is_passed_by() {
    let (top, system) = machine();
    let version = top.path().join("versions").join("2026.10.01-e373342");
    create_dir_all(&version).unwrap();
    let script = top.path().join("cursor-agent.cmd");
    for file in [
        script.clone(),
        script.with_extension("ps1"),
        version.join("node.exe"),
        version.join("index.js"),
    ] {
        write(file, "").unwrap();
    }
    let launch = arrange(order(&script, &["models", "100%"], &[]), Some(&system)).unwrap();
    assert_eq!((launch.program, launch.via), (version.join("node.exe"), None));
    let index = version.join("index.js").into_os_string();
    assert_eq!(launch.args, [index, "models".into(), "100%".into()]);
    assert_eq!(launch.env, [("CURSOR_INVOKED_AS".into(), "cursor-agent".into())]);
    let named = order(&script, &[], &[("CURSOR_INVOKED_AS", Path::new("x"))]);
    assert_eq!(arrange(named, Some(&system)).unwrap().env.len(), 1, "as it is");
}
