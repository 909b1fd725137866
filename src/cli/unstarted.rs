//! What a launcher says where the system refused to start what it launches: the CLI itself never ran.
//!
//! Launchers are the shell script that the installers put in place, `cmd` with a shim for it, and Node.

use super::said::plain;

/// Why the CLI was not started by its launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unstarted {
    /// For people.
    pub reason: &'static str,
    /// Whether a later try may succeed without anybody changing anything.
    pub transient: bool,
}

const TOO_LONG: Unstarted = Unstarted {
    reason: "the command line is too long for its launcher",
    transient: false,
};
const SHORTAGE: Unstarted = Unstarted {
    reason: "the system is short of processes, memory or descriptors",
    transient: true,
};
const REPLACED: Unstarted = Unstarted {
    reason: "a file of it is being replaced",
    transient: true,
};

/// Each row: these words, in any case, make this reason.
const TABLE: &[(&str, Unstarted)] = &[
    ("command line is too long", TOO_LONG),
    ("argument list too long", TOO_LONG),
    ("spawn e2big", TOO_LONG),
    ("filename or extension is too long", TOO_LONG),
    ("resource temporarily unavailable", SHORTAGE),
    ("cannot allocate memory", SHORTAGE),
    ("not enough memory resources are available", SHORTAGE),
    ("too many open files", SHORTAGE),
    ("spawn eagain", SHORTAGE),
    ("spawn enomem", SHORTAGE),
    ("spawn emfile", SHORTAGE),
    ("text file busy", REPLACED),
    ("spawn etxtbsy", REPLACED),
];

/// Why the CLI was not started, from what stood where its own words would; `None` where nothing tells.
/// `exit_code` is absent where a signal ended the launcher. One that ended with 0 did start it.
///
/// Only to be asked where no record of the stream came: tools of a running agent say the same of themselves.
#[must_use]
pub fn unstarted(said: &str, exit_code: Option<i32>) -> Option<Unstarted> {
    if exit_code == Some(0) {
        return None;
    }
    let said = plain(said).to_lowercase();
    let row = TABLE.iter().find(|(words, _)| said.contains(words))?;
    Some(row.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_text_has_its_reason() {
        for (said, expected) in [
            ("The command line is too long.\r\n", TOO_LONG),
            (
                "/usr/local/bin/cursor-agent: line 9: /x/node: Argument list too long",
                TOO_LONG,
            ),
            ("Error: spawn E2BIG", TOO_LONG),
            (
                "cursor-agent: fork: retry: Resource temporarily unavailable",
                SHORTAGE,
            ),
            ("cursor-agent: fork: Cannot allocate memory", SHORTAGE),
            ("Error: spawn EAGAIN", SHORTAGE),
            ("/x/cursor-agent: 3: /x/node: Text file busy", REPLACED),
        ] {
            assert_eq!(unstarted(said, Some(1)), Some(expected), "for {said:?}");
            assert_eq!(unstarted(said, None), Some(expected), "for {said:?}");
            assert_eq!(unstarted(said, Some(0)), None, "it ran: {said:?}");
        }
    }

    #[test]
    fn other_words_have_none() {
        for said in ["", "boom", "Error: read EAGAIN", "cursor-agent: not found"] {
            assert_eq!(unstarted(said, Some(1)), None, "for {said:?}");
        }
    }
}
