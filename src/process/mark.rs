//! The mark that every process of a turn carries in its environment, and by which it is found again wherever it
//! went: into a session of its own, to another parent, into the background.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(any(unix, test))]
use memchr::memmem;

/// The variable that holds the mark. Its value is a list, joined by `:`, of `<host>.<number>`: a host that runs
/// inside another host's turn adds its own behind the outer one's, so that both find what is theirs.
pub const VARIABLE: &str = "FUSION_CURSOR_TURN";

/// What all marks of this host begin with: its process id and 16 random hexadecimal digits, `-` between them.
#[must_use]
pub fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let pid = std::process::id();
        // The keys of the hasher come from the system's randomness; they keep apart two hosts that had one pid.
        format!("{pid}-{:016x}", RandomState::new().hash_one(pid))
    })
}

/// The mark of one started process and all that comes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark(u64);

impl Mark {
    /// One that no other start of this host has.
    pub(super) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// Its number within this host.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }

    /// Add it to the environment of what is about to start.
    pub(super) fn put_into(self, environment: &mut Vec<(OsString, OsString)>) {
        let mut value = OsString::new();
        // The last one of a name counts.
        environment.retain(|(name, outer)| {
            let other = name != VARIABLE;
            if !other {
                value.clone_from(outer);
            }
            other
        });
        if !value.is_empty() {
            value.push(":");
        }
        value.push(self.to_string());
        environment.push((OsStr::new(VARIABLE).to_owned(), value));
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", host(), self.0)
    }
}

/// The value of [`VARIABLE`] in an environment as the system keeps it: `NAME=value`, each ended by a NUL.
#[cfg(any(unix, test))]
pub(super) fn value_in(environment: &[u8]) -> Option<&[u8]> {
    static NAME: OnceLock<memmem::Finder<'static>> = OnceLock::new();
    let name = NAME.get_or_init(|| memmem::Finder::new(&format!("{VARIABLE}=")).into_owned());
    let starts = |at: &usize| *at == 0 || environment[*at - 1] == 0;
    let at = name.find_iter(environment).find(starts)?;
    let value = &environment[at + name.needle().len()..];
    Some(&value[..memchr::memchr(0, value).unwrap_or(value.len())])
}

/// The number of a mark of this host in the value of [`VARIABLE`].
#[cfg(any(unix, test))]
pub(super) fn number_in(value: &[u8], host: &str) -> Option<u64> {
    value.split(|byte| *byte == b':').find_map(|one| {
        let number = one.strip_prefix(host.as_bytes())?.strip_prefix(b".")?;
        std::str::from_utf8(number).ok()?.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_is_told_by_its_number_and_chance() {
        let (pid, chance) = host().split_once('-').unwrap();
        assert_eq!(pid, std::process::id().to_string());
        assert!(
            chance.len() == 16 && chance.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{chance}"
        );
        assert_eq!(host(), host());
        assert_ne!(Mark::next(), Mark::next());
    }

    #[test]
    fn only_whole_marks_of_the_very_host_match() {
        for (value, number) in [
            ("12-ab.1", Some(1)),
            ("12-ab.10", Some(10)),
            ("7-cd.3:12-ab.1", Some(1)),
            ("12-ab.4:7-cd.3", Some(4)),
            ("7-cd.3", None),
            ("12-abc.1", None),
            ("112-ab.1", None),
            ("x12-ab.1", None),
            ("12-ab", None),
            ("12-ab.", None),
            ("12-ab.x", None),
            ("12-ab.1.2", None),
            ("12-ab.99999999999999999999", None),
            ("", None),
        ] {
            assert_eq!(number_in(value.as_bytes(), "12-ab"), number, "{value:?}");
        }
    }

    #[test]
    fn the_variable_is_found_in_any_place_and_only_by_its_whole_name() {
        for (environment, value) in [
            ("FUSION_CURSOR_TURN=a\0B=1\0", Some("a")),
            ("B=1\0FUSION_CURSOR_TURN=a\0", Some("a")),
            ("B=1\0FUSION_CURSOR_TURN=a", Some("a")),
            ("B=1\0FUSION_CURSOR_TURN=\0", Some("")),
            ("MY_FUSION_CURSOR_TURN=b\0FUSION_CURSOR_TURN=a\0", Some("a")),
            ("B=FUSION_CURSOR_TURN=a\0", None),
            ("FUSION_CURSOR_TURNS=a\0", None),
            ("", None),
        ] {
            assert_eq!(
                value_in(environment.as_bytes()),
                value.map(str::as_bytes),
                "{environment:?}"
            );
        }
    }

    #[test]
    fn a_host_inside_another_hosts_turn_leaves_the_outer_mark_in_place() {
        let mark = Mark::next();
        for (given, becomes) in [
            (vec![], mark.to_string()),
            (vec![""], mark.to_string()),
            (vec!["1-a.1"], format!("1-a.1:{mark}")),
            (vec!["1-a.1", "1-a.2:2-b.1"], format!("1-a.2:2-b.1:{mark}")),
        ] {
            let mut environment: Vec<(OsString, OsString)> = vec![("A".into(), "1".into())];
            environment.extend(given.iter().map(|value| (VARIABLE.into(), (*value).into())));
            mark.put_into(&mut environment);
            let expected: Vec<(OsString, OsString)> =
                vec![("A".into(), "1".into()), (VARIABLE.into(), becomes.into())];
            assert_eq!(environment, expected, "for {given:?}");
        }
    }
}
