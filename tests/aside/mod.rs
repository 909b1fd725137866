//! Ignored tests of a test program, run in processes of their own: as another user, or to be ended in the middle.
#![allow(dead_code, reason = "each test program uses its own part")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

use std::process::{Child, Command, Output, Stdio};

/// One ignored test of this program, to be started.
pub(crate) fn test(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture"]);
    command
}

/// Start one with a word that it reads from its standard input by [`told`].
pub(crate) fn start(name: &str, word: &str) -> Child {
    let mut command = test(name);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), format!("{word}\n").as_bytes()).unwrap();
    child
}

/// The word that this process was started with.
pub(crate) fn told() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end_matches(['\r', '\n']).to_owned()
}

/// It passed, and was run at all.
pub(crate) fn passed(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let also = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{also}"
    );
}

/// Run one without the rights of root, whoever this is.
#[cfg(unix)]
pub(crate) fn as_ordinary_user(name: &str) {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;

    /// The user and the group that nobody is, by the numbers they have everywhere.
    const NOBODY: u32 = 65_534;

    let mut command = test(name);
    let room = tempfile::tempdir().unwrap();
    if rustix::process::geteuid().is_root() {
        // Its own place may be one that only root gets to.
        let program = room.path().join("test");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(room.path(), Permissions::from_mode(0o777)).unwrap();
        command = Command::new(program);
        command.args(["--exact", name, "--ignored", "--nocapture"]);
        command.uid(NOBODY).gid(NOBODY);
    }
    command.env("TMPDIR", room.path()).current_dir(room.path());
    passed(&command.output().unwrap());
}
