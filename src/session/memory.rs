//! Which of Cursor's sessions the next prompt goes on with.

/// Of an id, in bytes. It becomes a word of a command line, and all that the CLI gives are far shorter.
const LONGEST: usize = 512;

/// The id that is held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Memory(Option<String>);

impl Memory {
    /// Of a session to go on with, perhaps.
    pub(super) fn of(id: Option<String>) -> Self {
        Self(id)
    }

    /// What the next turn resumes.
    pub(super) fn held(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// What it is while a turn runs that has named a session, or none so far.
    pub(super) fn during<'a>(&'a self, named: Option<&'a str>) -> Option<&'a str> {
        named.filter(|id| is_usable(id)).or(self.held())
    }

    /// A turn has ended that named this session. After a bad one it is what it was before.
    pub(super) fn settle(&mut self, well: bool, named: Option<&str>) {
        if well {
            self.0 = self.during(named).map(str::to_owned);
        }
    }
}

/// Whether the CLI would take it for an id when it is said back: not for an option, and in one piece.
fn is_usable(id: &str) -> bool {
    let word = id.trim();
    !word.is_empty() && !word.starts_with('-') && !id.contains(char::is_control) && id.len() <= LONGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_turn_changes_it_and_a_bad_one_does_not() {
        let mut memory = Memory::default();
        assert_eq!(memory.during(None), None);
        assert_eq!(memory.during(Some("a")), Some("a"));
        memory.settle(false, Some("a"));
        assert_eq!(memory.held(), None, "put back");
        memory.settle(true, Some("a"));
        assert_eq!(memory.held(), Some("a"));
        assert_eq!(memory.during(None), Some("a"));
        assert_eq!(memory.during(Some("b")), Some("b"));
        memory.settle(false, Some("b"));
        assert_eq!(memory.held(), Some("a"), "put back");
        memory.settle(true, None);
        assert_eq!(memory.held(), Some("a"), "a turn that names none goes on with it");
        memory.settle(true, Some("b"));
        assert_eq!(memory.held(), Some("b"));
    }

    #[test]
    fn what_would_be_an_option_or_no_word_is_not_kept() {
        let long = "x".repeat(LONGEST + 1);
        for bad in [
            "", "  ", "-f", "--force", " -f", "a\nb", "a\0b", "\u{7f}", "\u{85}", &long,
        ] {
            let mut memory = Memory::of(Some("a".into()));
            assert_eq!(memory.during(Some(bad)), Some("a"), "{bad:?}");
            memory.settle(true, Some(bad));
            assert_eq!(memory.held(), Some("a"), "{bad:?}");
        }
        let mut memory = Memory::default();
        for good in ["a-b", "2d1f…", &long[1..]] {
            memory.settle(true, Some(good));
            assert_eq!(memory.held(), Some(good));
        }
    }
}
