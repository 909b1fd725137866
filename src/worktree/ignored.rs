//! Whether git ignores our paths.

use std::path::Path;

use super::git::{Answer, Git, not_understood, refused};
use super::{GitError, Repository, tracked};
use crate::disk::Folder;
use crate::process::Exit;

/// The user's own list of what to ignore is left out: it may not be that of whoever commits from here. The paths
/// come from standard input, since only then git ends each field with a NUL.
const ASK: [&str; 7] = [
    "-c",
    "core.excludesFile=",
    "check-ignore",
    "-z",
    "--verbose",
    "--non-matching",
    "--stdin",
];
/// What git is asked about: a file in the lock stands for all of them, also while the lock is not there. Of the
/// lock itself git only says which rule takes it back.
const PATHS: [&str; 4] = [
    ".cursor/mcp.json",
    ".cursor/.fusion-mcp-state.json",
    ".cursor/.fusion-mcp.lock/owner.json",
    LOCK,
];
const LOCK: &str = ".cursor/.fusion-mcp.lock";

/// How often git is asked at most, where nothing tells why it does not ignore them.
const TRIES: u32 = 3;

impl Repository {
    /// Ask git whether it ignores our three paths: one process, and a few more where it does not.
    ///
    /// # Errors
    /// [`GitError::NotIgnored`] with the first path that it would show; [`GitError::Tracked`] where it does so since
    /// they were added; [`GitError::Failed`] where it does not say.
    pub async fn verify_ignored(&self, root: &Folder, git: &Git) -> Result<(), GitError> {
        let Some(program) = git.program() else {
            return Err(GitError::Failed(format!(
                "git is not in PATH any more, and {} lies in a repository; install git, or put it in PATH",
                root.path().display()
            )));
        };
        let mut verdict = ask(root, git, &program).await;
        for _ in 1..TRIES {
            if !matches!(verdict, Err(GitError::NotIgnored { rule: None, .. })) {
                break;
            }
            // Of a path that is in the index by now, git says just that, and whoever reads it looks for a rule in vain.
            let paths = tracked::list(git, &program, root).await?;
            if !paths.is_empty() {
                return Err(GitError::Tracked { paths });
            }
            // It may have been there for a moment, where somebody adds and resets.
            verdict = ask(root, git, &program).await;
        }
        verdict
    }
}

/// One look at what git says.
async fn ask(root: &Folder, git: &Git, program: &Path) -> Result<(), GitError> {
    let asked = PATHS.map(|path| format!("{path}\0")).concat();
    let answer = match git.ask(program, root, &ASK, asked.as_bytes()).await? {
        Answer::Yes(answer) => answer,
        // None of them is ignored.
        Answer::No(ran) if ran.exit == Exit::Code(1) => ran.stdout,
        Answer::No(ran) => return Err(refused(&ASK, root, &ran)),
    };
    verdict(&answer).unwrap_or_else(|| Err(not_understood(program, &ASK, &answer)))
}

/// `None` where the answer is not one.
fn verdict(answer: &[u8]) -> Option<Result<(), GitError>> {
    let fields: Vec<&[u8]> = answer.strip_suffix(b"\0")?.split(|byte| *byte == 0).collect();
    let (records, rest) = fields.as_chunks::<4>();
    if !rest.is_empty() || records.len() != PATHS.len() {
        return None;
    }
    let mut shown: Option<(&str, Option<String>)> = None;
    for ([source, line, pattern, path], asked) in records.iter().zip(PATHS) {
        if *path != asked.as_bytes() {
            return None;
        }
        let rule = [*source, line, pattern].map(String::from_utf8_lossy).join(":");
        let taken_back = pattern.starts_with(b"!");
        match &mut shown {
            Some((path, because @ None)) if asked == LOCK && path.starts_with(LOCK) => {
                *because = taken_back.then_some(rule);
            }
            None if asked != LOCK && (pattern.is_empty() || taken_back) => {
                shown = Some((asked, taken_back.then_some(rule)));
            }
            _ => {}
        }
    }
    Some(match shown {
        None => Ok(()),
        Some((path, rule)) => Err(GitError::NotIgnored {
            path: path.into(),
            rule,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(rules: [&str; 4]) -> Vec<u8> {
        let record = |(rule, path): (&str, &str)| {
            let (source, line) = if rule.is_empty() { ("", "") } else { ("s", "7") };
            format!("{source}\0{line}\0{rule}\0{path}\0")
        };
        rules
            .into_iter()
            .zip(PATHS)
            .map(record)
            .collect::<String>()
            .into_bytes()
    }

    #[test]
    fn all_three_have_to_be_ignored() {
        assert!(verdict(&answer(["/a", "b", r"\!c", ""])).unwrap().is_ok());
        let refused = |rules| match verdict(&answer(rules)).unwrap() {
            Err(GitError::NotIgnored { path, rule }) => (path, rule),
            other => panic!("{other:?}"),
        };
        let rule = |rule: &str| Some(format!("s:7:{rule}"));
        assert_eq!(refused(["a", "!b", "", "!c"]), (PATHS[1].into(), rule("!b")));
        assert_eq!(refused(["a", "b", "", ""]), (PATHS[2].into(), None));
        assert_eq!(refused(["a", "b", "", "c"]), (PATHS[2].into(), None));
        assert_eq!(refused(["a", "b", "", "!c"]), (PATHS[2].into(), rule("!c")));
        assert_eq!(refused(["", "b", "c", "!d"]), (PATHS[0].into(), None));
    }

    #[test]
    fn what_is_no_whole_answer_is_none() {
        let whole = answer(["a", "b", "c", "d"]);
        for other in [
            &b""[..],
            b"\0",
            &whole[..whole.len() - 1],
            &whole[8..],
            b"check-ignore\n-z\n",
            &[&whole[..], b"s\x007\0a\0b\0"].concat(),
            &answer(["a", "b", "c", "d"]).to_ascii_uppercase(),
        ] {
            assert!(verdict(other).is_none(), "{}", String::from_utf8_lossy(other));
        }
    }
}
