//! What the host and its guard say to each other: one line for each thing, over one socket.
//!
//! The guard says [`READY`] once. From then on only the host speaks; what the guard acts on is the end.

/// The guard's one byte: it is out of the host's session, deaf to its signals, and listens.
pub(super) const READY: u8 = b'!';

/// A line of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// The processes of these turns, both ends included, stay when the host has gone.
    Keep(u64, u64),
    /// A process is about to be started. Where nothing follows, the host may have died over it, and a process
    /// may come that no look can find yet.
    Starting,
    /// It is there, or it was refused.
    Started,
}

impl Word {
    /// The line, with its line feed.
    pub(super) fn line(self) -> String {
        match self {
            Self::Keep(first, last) => format!("keep {first}-{last}\n"),
            Self::Starting => "starting\n".to_owned(),
            Self::Started => "started\n".to_owned(),
        }
    }

    /// From a line with its line feed. One that was cut off, or that no host says, is nothing.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        match line {
            "starting" => Some(Self::Starting),
            "started" => Some(Self::Started),
            _ => {
                let (first, last) = line.strip_prefix("keep ")?.split_once('-')?;
                let (first, last) = (first.parse().ok()?, last.parse().ok()?);
                (first <= last).then_some(Self::Keep(first, last))
            }
        }
    }
}

/// Numbers of turns, as ranges: a host that keeps the leftovers of every turn for weeks stays small.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Kept(Vec<(u64, u64)>);

impl Kept {
    /// No number at all.
    pub(super) const NONE: Self = Self(Vec::new());

    pub(super) fn add(&mut self, first: u64, last: u64) {
        // What overlaps or touches the new range becomes part of it.
        let apart = |of: &(u64, u64)| of.1.saturating_add(1) < first || last.saturating_add(1) < of.0;
        let (mut first, mut last) = (first, last);
        for (from, to) in self.0.extract_if(.., |of| !apart(of)) {
            (first, last) = (first.min(from), last.max(to));
        }
        let at = self.0.partition_point(|of| of.0 < first);
        self.0.insert(at, (first, last));
    }

    /// Every number.
    pub(super) fn turns(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// What a guard has to hear to know the same.
    pub(super) fn words(&self) -> impl Iterator<Item = Word> + '_ {
        self.0.iter().map(|(first, last)| Word::Keep(*first, *last))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_word_is_understood_as_it_was_said() {
        for word in [
            Word::Keep(0, 0),
            Word::Keep(3, u64::MAX),
            Word::Starting,
            Word::Started,
        ] {
            assert_eq!(Word::parse(word.line().as_bytes()), Some(word));
        }
    }

    #[test]
    fn what_was_cut_off_or_is_no_word_is_nothing() {
        for line in [
            &b""[..],
            b"\n",
            b"keep 12-1",
            b"keep 12\n",
            b"keep 2-1\n",
            b"keep -1-1\n",
            b"keep 1-\n",
            b"starting \n",
            b"started",
            b"\xff\n",
            b"keep 1-18446744073709551616\n",
        ] {
            assert_eq!(Word::parse(line), None, "{line:?}");
        }
    }

    #[test]
    fn neighbours_become_one() {
        let mut kept = Kept::default();
        for turn in [5, 3, 9, 4, 4, u64::MAX] {
            kept.add(turn, turn);
        }
        assert_eq!(kept, Kept(vec![(3, 5), (9, 9), (u64::MAX, u64::MAX)]));
        kept.add(0, u64::MAX);
        assert_eq!(kept, Kept(vec![(0, u64::MAX)]));
    }

    proptest! {
        #[test]
        fn the_ranges_hold_what_was_added_and_another_can_be_told(added in prop::collection::vec((0u64..60, 0u64..6), 0..20)) {
            let mut kept = Kept::default();
            let mut plain = BTreeSet::new();
            for (first, more) in added {
                kept.add(first, first + more);
                plain.extend(first..=first + more);
            }
            prop_assert!(kept.turns().eq(plain));
            let mut told = Kept::default();
            for word in kept.words() {
                let Some(Word::Keep(first, last)) = Word::parse(word.line().as_bytes()) else {
                    return Err(TestCaseError::fail("not understood"));
                };
                told.add(first, last);
            }
            prop_assert_eq!(told, kept);
        }

        #[test]
        fn no_line_panics(line: Vec<u8>) {
            let _ = Word::parse(&line);
        }
    }
}
