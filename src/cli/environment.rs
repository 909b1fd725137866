//! The environment that the CLI gets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Never inherited: they would turn the CLI's own Node or git into something else than it expects.
pub const NOT_INHERITED: [&str; 8] = [
    "NODE_OPTIONS",
    "NODE_CHANNEL_FD",
    "ELECTRON_RUN_AS_NODE",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
];

/// The CLI takes an empty key for a wrong one, and refuses to run.
const API_KEY: &str = "CURSOR_API_KEY";

/// Where a key or a token for Cursor may stand.
pub(super) const KEYS: [&str; 2] = [API_KEY, "CURSOR_AUTH_TOKEN"];

/// The host's environment without [`NOT_INHERITED`], over it what the caller added, and no empty key of either:
/// a caller that empties the key wants none.
///
/// Else what the caller adds is taken as it is, an empty value and a name of [`NOT_INHERITED`] too; the last one
/// of a name counts.
#[must_use]
pub fn compose(host: Vec<(String, String)>, added: Vec<(String, String)>) -> Vec<(OsString, OsString)> {
    if cfg!(windows) {
        compose_by(host, added, str::to_uppercase)
    } else {
        compose_by(host, added, str::to_owned)
    }
}

/// `key`: what two names have in common that are one.
fn compose_by(
    host: Vec<(String, String)>,
    added: Vec<(String, String)>,
    key: impl Fn(&str) -> String,
) -> Vec<(OsString, OsString)> {
    let not_inherited = NOT_INHERITED.map(&key);
    let inherited = host
        .into_iter()
        .filter(|(name, _)| !not_inherited.contains(&key(name)));
    // By name, since the event loop waits for this and a caller may add thousands.
    let mut all: BTreeMap<String, (String, String)> = BTreeMap::new();
    for (name, value) in inherited.chain(added) {
        all.insert(key(&name), (name, value));
    }
    if all.get(&key(API_KEY)).is_some_and(|(_, key)| key.is_empty()) {
        all.remove(&key(API_KEY));
    }
    let all = all.into_values();
    all.map(|(name, value)| (name.into(), value.into())).collect()
}

/// The same environment for a command whose words are read by a program: without colours or cursor movements.
#[must_use]
pub fn without_colours(mut environment: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    // `TERM=dumb` too: spinners look at it, and not at `NO_COLOR`.
    let plain = [("NO_COLOR", "1"), ("TERM", "dumb")];
    let forced = ["FORCE_COLOR", "CLICOLOR_FORCE"];
    environment.retain(|(name, _)| {
        !forced.iter().any(|known| is_called(name, known))
            && !plain.iter().any(|(known, _)| is_called(name, known))
    });
    environment.extend(plain.map(|(name, value)| (name.into(), value.into())));
    environment
}

/// The value of a variable in a composed environment.
#[must_use]
pub fn value<'a>(environment: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsString> {
    environment
        .iter()
        .find(|(known, _)| is_called(known, name))
        .map(|(_, value)| value)
}

/// Whether a variable has this name. On Windows a name is one name in any case, and the one of `PATH` is `Path`.
fn is_called(known: &OsStr, name: &str) -> bool {
    if cfg!(windows) {
        known.eq_ignore_ascii_case(name)
    } else {
        known == name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn shown(composed: &[(OsString, OsString)]) -> String {
        let shown = composed
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()));
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_would_change_the_clis_node_or_git_is_left_out() {
        let host: Vec<_> = NOT_INHERITED
            .iter()
            .map(|name| (*name, "x"))
            .chain([("PATH", "/bin")])
            .collect();
        assert_eq!(shown(&compose(pairs(&host), vec![])), "PATH=/bin");
    }

    #[test]
    fn an_empty_key_is_left_out_and_a_real_one_stays() {
        assert_eq!(shown(&compose(pairs(&[("CURSOR_API_KEY", "")]), vec![])), "");
        assert_eq!(
            shown(&compose(pairs(&[("CURSOR_API_KEY", "k")]), vec![])),
            "CURSOR_API_KEY=k"
        );
        let (with, without) = (
            pairs(&[("CURSOR_API_KEY", "k")]),
            pairs(&[("CURSOR_API_KEY", "")]),
        );
        assert_eq!(
            shown(&compose(with.clone(), without.clone())),
            "",
            "the caller takes it away"
        );
        assert_eq!(shown(&compose(without, with)), "CURSOR_API_KEY=k");
    }

    #[test]
    fn a_command_that_is_read_gets_no_colours() {
        let host = pairs(&[
            ("FORCE_COLOR", "1"),
            ("TERM", "xterm"),
            ("A", "1"),
            ("CLICOLOR_FORCE", "1"),
        ]);
        assert_eq!(
            shown(&without_colours(compose(host, vec![]))),
            "A=1 NO_COLOR=1 TERM=dumb"
        );
    }

    #[test]
    fn where_case_does_not_count_a_name_is_there_once() {
        let host = pairs(&[("Path", "a"), ("node_Options", "x"), ("Cursor_Api_Key", "k")]);
        let added = pairs(&[("PATH", "b"), ("cursor_api_key", "")]);
        let composed = compose_by(host.clone(), added.clone(), str::to_uppercase);
        assert_eq!(shown(&composed), "PATH=b");
        assert_eq!(
            shown(&compose_by(host, added, str::to_owned)),
            "Cursor_Api_Key=k PATH=b Path=a cursor_api_key= node_Options=x"
        );
    }

    #[test]
    fn what_the_caller_adds_wins() {
        let host = pairs(&[("A", "1"), ("B", "2")]);
        let added = pairs(&[("B", ""), ("C", "3"), ("NODE_OPTIONS", "--x"), ("C", "4")]);
        assert_eq!(shown(&compose(host, added)), "A=1 B= C=4 NODE_OPTIONS=--x");
    }
}
