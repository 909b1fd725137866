//! What a worktree may be like before somebody works in it.
#![allow(dead_code, reason = "each test program uses its own part")]

use std::fs;

use super::child::{Edit, Plan, Work, go};
use super::place::{CONFIG, Place};

/// A state, and with it what an operator does meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    NoFile,
    NoFileInFolder,
    Plain,
    Bare,
    Commented,
    EditedBefore,
    EditedMeanwhile,
    Broken,
    Quarantined,
    Peer,
    Linked,
    Subfolder,
    NoInfo,
    NoGit,
}

/// What is done, and killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Stage,
    Heartbeat,
    Dispose,
    /// What a host does that ends in order.
    Exit,
    Reconcile,
}

impl Operation {
    pub(crate) const ALL: [Self; 5] = [
        Self::Stage,
        Self::Heartbeat,
        Self::Dispose,
        Self::Exit,
        Self::Reconcile,
    ];
}

pub(crate) const PLAIN: &str =
    "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\"\n    }\n  }\n}\n";
const BARE: &str = "{ \"a\": 1 }";
const COMMENTED: &str = "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"files\": { \"command\": \"npx\", \
    \"args\": [\"-y\", \"http://x//y\",], /* why */ \"n\": 1.0e+2 },\r\n\t},\r\n\t\"other\": [ 1,2 ,3 ]\r\n}";
/// What an operator leaves in the middle of typing.
const BROKEN: &str = "{ \"mcpServers\": { \"files\": ";
const MENDED: &str = "{ \"mended\": true }\n";

impl State {
    pub(crate) const ALL: [Self; 14] = [
        Self::NoFile,
        Self::NoFileInFolder,
        Self::Plain,
        Self::Bare,
        Self::Commented,
        Self::EditedBefore,
        Self::EditedMeanwhile,
        Self::Broken,
        Self::Quarantined,
        Self::Peer,
        Self::Linked,
        Self::Subfolder,
        Self::NoInfo,
        Self::NoGit,
    ];

    /// As in "the config is …".
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::NoFile => "no file and no `.cursor`",
            Self::NoFileInFolder => "no file, `.cursor` with other things in it",
            Self::Plain => "a file, mode 0644",
            Self::Bare => "a file without `mcpServers`, mode 0600",
            Self::Commented => "comments, BOM, CRLF, trailing commas, mode 0640; the exclude file likewise",
            Self::EditedBefore => "edited by the operator while a session had it",
            Self::EditedMeanwhile => "edited by the operator in the middle of the operation",
            Self::Broken => "broken by the operator while a session had it",
            Self::Quarantined => "quarantined",
            Self::Peer => "another session of a living process has it too",
            Self::Linked => "in a linked worktree",
            Self::Subfolder => "in a subfolder of the repository",
            Self::NoInfo => "the git directory has no exclude file, and no folder for it",
            Self::NoGit => "in no repository",
        }
    }

    /// As the operator has it, before the first session.
    pub(crate) fn make(self) -> Place {
        let place = match self {
            Self::NoGit => Place::new(false),
            Self::Linked => Place::new(true).linked(),
            Self::Subfolder => Place::new(true).below("apps/[web]"),
            _ => Place::new(true),
        };
        match self {
            Self::NoFile => {}
            Self::NoFileInFolder => place.write(".cursor/rules", "be kind\n", 0o644),
            Self::Bare => place.write(CONFIG, BARE, 0o600),
            Self::Commented => {
                place.write(CONFIG, COMMENTED, 0o640);
                fs::write(place.common().unwrap().join("info/exclude"), "*.o\r\n# mine").unwrap();
            }
            _ => place.write(CONFIG, PLAIN, 0o644),
        }
        if self == Self::NoInfo {
            fs::remove_dir_all(place.common().unwrap().join("info")).unwrap();
        }
        place
    }

    /// What the operator does after a session has staged, and before the operation.
    pub(crate) fn before(self) -> Option<Edit> {
        match self {
            Self::EditedBefore => Some(Edit::Replace("npx", "bunx")),
            Self::Broken | Self::Quarantined => Some(Edit::Write(BROKEN)),
            _ => None,
        }
    }

    /// What the operator does in the middle of it.
    pub(crate) fn meanwhile(self) -> Option<Edit> {
        (self == Self::EditedMeanwhile).then_some(Edit::Replace("npx", "bunx"))
    }

    /// Whether the record of it must stand already.
    pub(crate) fn is_recorded(self) -> bool {
        self == Self::Quarantined
    }

    /// Whether what is left can only be cleaned once the operator has mended it.
    pub(crate) fn is_broken(self) -> bool {
        matches!(self, Self::Broken | Self::Quarantined)
    }

    /// The config that the operator expects, where he has done what he does.
    pub(crate) fn expected(self, edited: bool) -> Option<String> {
        match self {
            Self::NoFile | Self::NoFileInFolder => None,
            Self::Bare => Some(BARE.into()),
            Self::Commented => Some(COMMENTED.into()),
            Self::EditedBefore | Self::EditedMeanwhile if edited => Some(PLAIN.replace("npx", "bunx")),
            Self::Broken | Self::Quarantined if edited => Some(BROKEN.into()),
            _ => Some(PLAIN.into()),
        }
    }

    pub(crate) fn mended() -> &'static str {
        MENDED
    }

    /// As it is found by an operation: for some there was a session before, which has died.
    pub(crate) async fn found_by(self, operation: Operation) -> Place {
        let place = self.make();
        let left =
            operation == Operation::Reconcile || (operation == Operation::Stage && self.before().is_some());
        if left && self != Self::Peer {
            leave(self, &place).await;
        }
        place
    }
}

/// A session that stages, sees what the operator does, and dies.
pub(crate) async fn leave(state: State, place: &Place) {
    let plan = Plan {
        work: Work::Leave,
        before: state.before(),
        recorded: state.is_recorded(),
        ..Plan::new(place)
    };
    let ended = go(&plan).await;
    assert!(ended.killed, "{}", ended.said);
}
