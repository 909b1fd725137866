//! Which processes are no more than the way to the agent: a launcher, and what it has launched.
//!
//! On Windows an agent is often started by a shell, which waits for it. There is no group to tell the two from what
//! the agent has started in its turn, so the shells are told by the names of their programs.

use std::collections::HashSet;

/// One process: its number, its parent's, and the name of its program's file.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) image: String,
}

/// Those that wait for what they start, and do nothing else here.
const SHELLS: [&str; 3] = ["cmd.exe", "powershell.exe", "pwsh.exe"];

/// The leader, and what it or a shell below it has launched while all of them up to the leader are shells.
pub(super) fn chain(leader: i32, members: &[Link]) -> HashSet<i32> {
    let is_shell = |pid: i32| {
        members
            .iter()
            .any(|link| link.pid == pid && SHELLS.iter().any(|shell| link.image.eq_ignore_ascii_case(shell)))
    };
    let mut chain = HashSet::from([leader]);
    let mut shells: Vec<i32> = Some(leader).filter(|pid| is_shell(*pid)).into_iter().collect();
    while let Some(shell) = shells.pop() {
        for link in members.iter().filter(|link| link.parent == shell) {
            if chain.insert(link.pid) && is_shell(link.pid) {
                shells.push(link.pid);
            }
        }
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(members: &[(i32, i32, &str)]) -> Vec<i32> {
        let members: Vec<Link> = members
            .iter()
            .map(|(pid, parent, image)| Link {
                pid: *pid,
                parent: *parent,
                image: (*image).to_owned(),
            })
            .collect();
        let mut found: Vec<i32> = chain(8, &members).into_iter().collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn an_agent_that_was_started_directly_is_alone() {
        assert_eq!(
            found(&[(8, 4, "node.exe"), (12, 8, "node.exe"), (16, 8, "cmd.exe")]),
            [8]
        );
        assert_eq!(found(&[(12, 8, "node.exe")]), [8], "it has gone");
    }

    #[test]
    fn a_shell_has_its_agent_with_it_and_not_what_that_has_started() {
        assert_eq!(
            found(&[
                (8, 4, "CMD.EXE"),
                (12, 8, "node.exe"),
                (16, 12, "cmd.exe"),
                (20, 16, "node.exe")
            ]),
            [8, 12]
        );
        assert_eq!(
            found(&[
                (16, 12, "node.exe"),
                (12, 8, "powershell.exe"),
                (8, 4, "cmd.exe"),
                (20, 16, "node.exe")
            ]),
            [8, 12, 16]
        );
    }

    #[test]
    fn numbers_that_lead_in_a_circle_do_no_harm() {
        assert_eq!(found(&[(8, 12, "cmd.exe"), (12, 8, "cmd.exe")]), [8, 12]);
    }
}
