//! Which of our paths git tracks.

use std::path::Path;

use super::GitError;
use super::git::{Answer, Git, not_understood, refused};
use super::names::OURS;
use crate::disk::Folder;

/// The command that lists them, run in the worktree: also those that are only intended to be added, and those that
/// a sparse checkout leaves out. A path is no pattern; and where the system finds a file under any case of its
/// name, a commit of it under another takes ours.
const LIST: [&str; 6] = if cfg!(any(target_os = "macos", windows)) {
    [
        "ls-files",
        "-z",
        "--",
        ":(literal,icase).cursor/mcp.json",
        ":(literal,icase).cursor/.fusion-mcp-state.json",
        ":(literal,icase).cursor/.fusion-mcp.lock",
    ]
} else {
    ["ls-files", "-z", "--", OURS[0], OURS[1], OURS[2]]
};

/// Ask git for them.
pub(super) async fn list(git: &Git, program: &Path, root: &Folder) -> Result<Vec<String>, GitError> {
    match git.ask(program, root, &LIST, &[]).await? {
        Answer::Yes(answer) => read(&answer).ok_or_else(|| not_understood(program, &LIST, &answer)),
        Answer::No(ran) => Err(refused(&LIST, root, &ran)),
    }
}

/// The paths in its answer; `None` where there are others than ours.
fn read(answer: &[u8]) -> Option<Vec<String>> {
    answer
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| {
            let ours = |ours: &&str| {
                path.len() >= ours.len() && {
                    let (start, rest) = path.split_at(ours.len());
                    start.eq_ignore_ascii_case(ours.as_bytes()) && matches!(rest, [] | [b'/', ..])
                }
            };
            OURS.iter()
                .any(ours)
                .then(|| String::from_utf8_lossy(path).into_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_paths_are_an_answer() {
        assert_eq!(read(b""), Some(vec![]));
        assert_eq!(
            read(b".cursor/mcp.json\0.cursor/.fusion-mcp.lock/owner.json\0"),
            Some(vec![
                ".cursor/mcp.json".into(),
                ".cursor/.fusion-mcp.lock/owner.json".into()
            ])
        );
        assert_eq!(read(b".Cursor/MCP.json\0"), Some(vec![".Cursor/MCP.json".into()]));
        for other in [
            &b"-z\n--\n"[..],
            b".cursor/mcp.json2\0",
            b".cursor\0",
            b"a/.cursor/mcp.json\0",
        ] {
            assert_eq!(read(other), None);
        }
    }
}
