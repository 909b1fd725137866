//! What must hold while a disk fails, and after it.

use fusion_cursor_native::mcp::compose::strip;
use fusion_cursor_native::mcp::{Problem, Reason, reconcile};

use super::child::PATIENCE;
use super::place::{CONFIG, Place, Snapshot, difference, git};

/// A worktree as its operator has it.
pub(crate) struct Before {
    snapshot: Snapshot,
    config: Option<String>,
    taken: String,
}

impl Before {
    pub(crate) fn of(place: &Place) -> Self {
        Self {
            snapshot: place.snapshot(),
            config: place.config(),
            taken: place.taken_by_git(),
        }
    }

    /// In the middle of it all: what the operator wrote is whole, and git takes nothing of ours.
    pub(crate) fn is_kept(&self, place: &Place) -> Result<(), String> {
        let now = place.config();
        let had_servers = self
            .config
            .as_ref()
            .is_some_and(|text| text.contains("mcpServers"));
        let operators = now.as_deref().map(|text| strip(text, had_servers));
        match (&self.config, operators) {
            (None, None) => {}
            (None, Some(Ok(ours))) if ours.trim() == "{}" => {}
            (Some(before), Some(Ok(text))) if text == *before => {}
            other => return Err(format!("the config became {other:?}")),
        }
        let taken = place.taken_by_git();
        let ours = |line: &&str| !self.taken.lines().any(|was| was == *line);
        if let Some(line) = taken.lines().find(ours) {
            return Err(format!("git would {line}"));
        }
        let shown = taken.contains(CONFIG) && now.is_some_and(|text| text.contains("fusion-custom-tools-"));
        if shown {
            return Err("git would take a config with a key of ours".to_owned());
        }
        Ok(())
    }

    /// The disk is well again, and the worktree is reconciled: all is as before.
    pub(crate) async fn comes_back(&self, place: &Place) -> Result<(), String> {
        let report = reconcile(place.path(), git(), PATIENCE).await;
        if !report.clean {
            return Err(format!("{report:?}"));
        }
        let different = difference(&self.snapshot, &place.snapshot());
        if different.is_empty() {
            Ok(())
        } else {
            Err(different.join("\n        "))
        }
    }
}

/// It says that the disk is to blame, and where.
pub(crate) fn is_told(problem: &Problem) -> Result<(), String> {
    let disk = matches!(problem.reason, Reason::Io | Reason::ReadOnly);
    if disk && problem.path.is_some() && !problem.message.is_empty() {
        Ok(())
    } else {
        Err(format!("{problem:?}"))
    }
}
