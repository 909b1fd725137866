//! Who of the processes of a machine belongs to a turn.

use std::collections::{HashMap, HashSet};

use super::{Identity, Process, Seen};

/// What is known before the look.
pub(super) struct Roots<'a> {
    /// A leader that is not reaped: all of the group that has its number belong to it.
    pub(super) leader: Option<i32>,
    /// Those who were seen to belong to it before.
    pub(super) known: &'a HashSet<Identity>,
    /// The session of this host, which its turns are born into.
    pub(super) home: i32,
    pub(super) own: i32,
}

/// Those who belong to it, zombies too.
pub(super) fn kin(seen: &[Seen], roots: &Roots<'_>) -> Vec<Process> {
    let mut ours: HashMap<i32, u64> = HashMap::new();
    // A session is only made by the process whose number it gets, and only inherited by children. So one that has
    // a member of the turn, and is not the one where the turn began, was made within the turn.
    let mut sessions: HashSet<i32> = HashSet::new();
    let mut left: Vec<&Process> = Vec::new();
    let mut found: Vec<Process> = Vec::new();
    let mut take = |process: &Process, ours: &mut HashMap<i32, u64>, sessions: &mut HashSet<i32>| {
        ours.insert(process.id.pid, process.id.started);
        if process.session != 0 && process.session != roots.home {
            sessions.insert(process.session);
        }
        found.push(*process);
    };
    for Seen { process, marked } in seen {
        if process.id.pid <= 1 || process.id.pid == roots.own {
            continue;
        }
        // A leader may leave its own group for another one of its session.
        let led = roots.leader == Some(process.group) || roots.leader == Some(process.id.pid);
        let root = *marked || led || roots.known.contains(&process.id);
        if root {
            take(process, &mut ours, &mut sessions);
        } else {
            left.push(process);
        }
    }
    // Until a round finds nobody: whose parent was found may come before it in the list.
    loop {
        let before = left.len();
        left.retain(|process| {
            // A parent is never younger: else its number was another's when the child was seen.
            let child = ours
                .get(&process.parent)
                .is_some_and(|started| *started <= process.id.started);
            if child || sessions.contains(&process.session) {
                take(process, &mut ours, &mut sessions);
                return false;
            }
            true
        });
        if left.len() == before || ours.is_empty() {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The session of the host in these tests, and the host itself.
    const HOME: i32 = 50;
    const HOST: i32 = 60;

    fn seen(pid: i32, parent: i32, group: i32, session: i32) -> Seen {
        let started = u64::from(pid.cast_unsigned());
        let id = Identity { pid, started };
        let process = Process {
            id,
            parent,
            group,
            session,
            zombie: false,
        };
        Seen {
            process,
            marked: false,
        }
    }

    fn marked(pid: i32, parent: i32, group: i32, session: i32) -> Seen {
        Seen {
            marked: true,
            ..seen(pid, parent, group, session)
        }
    }

    fn found(seen: &[Seen], leader: Option<i32>, known: &[Identity]) -> Vec<i32> {
        let roots = Roots {
            leader,
            known: &known.iter().copied().collect(),
            home: HOME,
            own: HOST,
        };
        let mut pids: Vec<i32> = kin(seen, &roots).iter().map(|process| process.id.pid).collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn marks_group_and_parents_lead_to_all_of_a_turn() {
        let machine = [
            seen(70, HOST, 70, HOME),
            seen(71, 70, 70, HOME),
            marked(72, 1, 72, 72),
            // Without the mark: children of those above, the second seen before its parent.
            seen(73, 71, 73, HOME),
            seen(75, 74, 75, HOME),
            seen(74, 72, 74, 72),
            // Not of the turn.
            seen(80, HOST, 80, HOME),
            seen(81, 80, 80, HOME),
            seen(82, 1, 82, 82),
        ];
        assert_eq!(found(&machine, Some(70), &[]), [70, 71, 72, 73, 74, 75]);
        assert_eq!(found(&machine, None, &[]), [72, 74, 75], "by the mark alone");
    }

    #[test]
    fn neither_init_nor_this_host_is_ever_found() {
        let machine = [
            marked(1, 0, 1, 1),
            marked(0, 0, 0, 0),
            marked(HOST, 1, 70, HOME),
            seen(61, HOST, 61, HOME),
            seen(62, 1, 62, 62),
        ];
        assert!(found(&machine, Some(70), &[]).is_empty());
    }

    #[test]
    fn an_orphan_without_the_mark_is_found_in_a_session_that_the_turn_made() {
        let machine = [marked(72, 1, 72, 72), seen(74, 1, 74, 72), seen(75, 1, 75, 75)];
        assert_eq!(found(&machine, None, &[]), [72, 74]);
        let at_home = [
            marked(72, 1, 72, HOME),
            seen(74, 1, 74, HOME),
            marked(76, 1, 76, 0),
            seen(77, 1, 77, 0),
        ];
        assert_eq!(
            found(&at_home, None, &[]),
            [72, 76],
            "the host's own session, and those that have no number here, tell nothing"
        );
    }

    #[test]
    fn who_was_known_stays_known_and_a_number_in_other_hands_is_not() {
        let machine = [seen(74, 1, 74, 74), seen(75, 74, 75, 75)];
        let known = |started| Identity { pid: 74, started };
        assert_eq!(found(&machine, None, &[known(74)]), [74, 75]);
        assert!(found(&machine, None, &[known(73)]).is_empty());
    }

    #[test]
    fn a_child_older_than_its_parent_is_another_ones() {
        let mut child = seen(79, 72, 79, HOME);
        child.process.id.started = 71;
        assert_eq!(found(&[marked(72, 1, 72, HOME), child], None, &[]), [72]);
    }
}
