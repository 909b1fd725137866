//! What can happen in a worktree.

/// A seeded source of choices.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap() % bound
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.next()).unwrap() % (high - low)
    }
}

/// An operation of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Stage,
    Beat,
    Dispose,
    /// By a process without a lease.
    Reconcile,
}

/// What an operator does to the config.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Another text, one of `TEXTS`, with this mode or the one that is there.
    Replace {
        text: usize,
        mode: Option<u32>,
    },
    /// Another number.
    Number(u32),
    /// A comment at the end.
    Comment(u32),
    /// What is no JSON.
    Break,
    /// As it was before.
    Repair,
    Delete,
    Chmod(u32),
    /// Our entries; or the container that we made stays, empty.
    TakeOut {
        container_stays: bool,
    },
    /// An editor reads the file.
    Open,
    /// And writes what it read, or that with another number.
    Save(Option<u32>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Of a session, in a worktree; the process may die at the disk step of this number.
    Do {
        what: Operation,
        tree: usize,
        session: usize,
        dies_at: Option<u64>,
    },
    /// A process dies between two operations.
    Die {
        process: usize,
    },
    /// Time passes, in milliseconds.
    Pass(i64),
    /// One machine's clock is set.
    Jump {
        host: usize,
        by: i64,
    },
    Edit {
        tree: usize,
        edit: Edit,
    },
}

const MINUTE: i64 = 60 * 1000;
const HOUR: i64 = 60 * MINUTE;

impl Step {
    pub(crate) fn any(chance: &mut Chance, sizes: Sizes) -> Self {
        let tree = chance.below(sizes.trees);
        match chance.below(100) {
            0..70 => Self::Do {
                what: match chance.below(20) {
                    0..8 => Operation::Stage,
                    8..12 => Operation::Beat,
                    12..18 => Operation::Dispose,
                    _ => Operation::Reconcile,
                },
                tree,
                session: chance.below(sizes.sessions),
                dies_at: (chance.below(24) == 0).then(|| 1 + chance.next() % 40),
            },
            70..73 => Self::Die {
                process: chance.below(sizes.processes),
            },
            73..76 => Self::Pass([1000, 4 * MINUTE, 16 * MINUTE, 25 * HOUR][chance.below(4)]),
            76..78 => Self::Jump {
                host: chance.below(sizes.hosts),
                by: chance.between(-30 * HOUR, 30 * HOUR),
            },
            _ => Self::Edit {
                tree,
                edit: Edit::any(chance),
            },
        }
    }
}

impl Edit {
    fn any(chance: &mut Chance) -> Self {
        let number = u32::try_from(chance.below(100_000)).unwrap();
        let mode = [0o600, 0o640, 0o644, 0o444][chance.below(4)];
        match chance.below(16) {
            0..4 => Self::Replace {
                text: chance.below(super::texts::TEXTS.len()),
                mode: (chance.below(2) == 0).then_some(mode),
            },
            4 | 5 => Self::Number(number),
            6 => Self::Comment(number),
            7 => Self::Break,
            8 | 9 => Self::Repair,
            10 => Self::Delete,
            11 => Self::Chmod(mode),
            12 => Self::TakeOut {
                container_stays: chance.below(2) == 0,
            },
            13 => Self::Open,
            14 => Self::Save(None),
            _ => Self::Save(Some(number)),
        }
    }
}

/// How many there are of each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) trees: usize,
    pub(crate) sessions: usize,
    pub(crate) processes: usize,
    pub(crate) hosts: usize,
}
