//! Writing: the journal first, then the config, then that it is done.
//!
//! Syncs of a session that is alone: two for the first manifest (file and folder), two for the config, one for the
//! manifest that confirms it (either version of it tells the truth, so its folder need not be synced); at the end
//! two for the journal, two for the config, one for the removal of the manifest. To remove a config takes one
//! instead of two.

use crate::disk::{Durability, Fault};
use crate::worktree::names;

use super::compose::{self, Refusal};
use super::config::Config;
use super::desk::{Desk, LIMIT, Origin};
use super::error::{Problem, Reason, StagingError};
use super::manifest::{Pending, PendingKind, Unknown};
use super::problems::reason_of_refusal;
use super::report::ActionKind;

/// So often is begun again, where somebody who knows no lock changes the config just before we do.
const TRIES: usize = 5;
/// The last number of a journal that every program can count to; after it they begin again.
const LAST: u64 = (1 << 53) - 1;
/// Of files that are ours alone.
const PRIVATE: u32 = 0o600;

/// What became of the config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Settled {
    /// It holds the entries of all leases; without [`Desk::adds`], of those that it had.
    InForce,
    /// It cannot be edited; what may be ours in it is recorded.
    Quarantined(Problem),
    /// It cannot be edited, and nothing of ours is in it; there are leases.
    Refused(Problem),
    /// There is no lease, and nothing of ours any more.
    Finished,
}

/// What the config is to become.
struct Wanted {
    kind: PendingKind,
    /// `None`: no file.
    text: Option<String>,
    mode: u32,
    action: (ActionKind, &'static str),
}

impl Desk<'_> {
    /// Bring config and manifest in line with the leases.
    ///
    /// # Errors
    /// What the disk says. The manifest then tells what was to be done, and the next one does it.
    pub(super) fn settle(&mut self) -> Result<Settled, StagingError> {
        for _ in 0..TRIES {
            if self.judge_quarantine() {
                self.save_if_new(Durability::Durable)?;
                let problem = match &self.config {
                    Config::Refused(refused) => refused.problem.clone(),
                    _ => self.keys_left(),
                };
                return Ok(Settled::Quarantined(problem));
            }
            let alone = self.manifest.leases.is_empty();
            let wanted = if alone { self.last() } else { self.composed() };
            let wanted = match wanted {
                Ok(wanted) => wanted,
                Err(problem) => {
                    self.save_if_new(Durability::Atomic)?;
                    return Ok(Settled::Refused(problem));
                }
            };
            if let Some(wanted) = wanted
                && !self.write(wanted)?
            {
                self.look_again();
                continue;
            }
            if !alone {
                self.manifest.config_unwritable = false;
                self.confirm();
                return Ok(Settled::InForce);
            }
            self.remove_manifest()?;
            return Ok(Settled::Finished);
        }
        Err(StagingError::Failed(Problem::at(
            Reason::Io,
            &self.held.cursor.path().join(names::CONFIG),
            "another program changes it all the time",
        )))
    }

    /// The config with the entries of all leases, where it is not that already.
    fn composed(&self) -> Result<Option<Wanted>, Problem> {
        if let Config::Refused(refused) = &self.config {
            return Err(refused.problem.clone());
        }
        let mut entries = self.manifest.entries();
        if !self.adds {
            entries.retain(|(key, _)| self.has_entry(key));
            if matches!(self.config, Config::Absent) {
                return Ok(None);
            }
        }
        let text = compose::compose(self.config.text(), &entries, self.memo.had_servers)
            .map_err(|error| self.refusal(&error))?;
        Ok(self.unless_there(Wanted {
            kind: PendingKind::Write,
            text: Some(text),
            mode: self.mode(),
            action: (ActionKind::ConfigWritten, "it has the entries of the live leases"),
        }))
    }

    /// The config as the operator wants it, where it is not that already.
    fn last(&self) -> Result<Option<Wanted>, Problem> {
        let baseline = &self.manifest.baseline;
        let edited = self.manifest.operator_edit_observed;
        let remove = Wanted {
            kind: PendingKind::Delete,
            text: None,
            mode: PRIVATE,
            action: (ActionKind::ConfigRemoved, "there was none before"),
        };
        let wanted = match (&self.config, &baseline.raw) {
            // Gone, or none of ours: left to whoever did that.
            (Config::Absent | Config::Refused(_), _) if edited => return Ok(None),
            (_, Some(raw)) if !edited && baseline.existed => Wanted {
                kind: PendingKind::Restore,
                text: Some(compose::strip(raw, true).unwrap_or_else(|_| raw.clone())),
                mode: self.mode(),
                action: (ActionKind::ConfigRestored, "it is as it was"),
            },
            (_, _) if !edited && !baseline.existed => remove,
            (_, _) if !self.memo.existed => remove,
            (Config::Text(text), _) => Wanted {
                kind: PendingKind::Write,
                text: Some(
                    compose::strip(&text.raw, self.memo.had_servers).map_err(|error| self.refusal(&error))?,
                ),
                mode: self.mode(),
                action: (ActionKind::KeysRemoved, "all else in it stays"),
            },
            _ => return Ok(None),
        };
        Ok(self.unless_there(wanted))
    }

    fn unless_there(&self, wanted: Wanted) -> Option<Wanted> {
        let mode = self.config.mode().unwrap_or(wanted.mode);
        let there = self.config.is(wanted.text.as_deref()) && mode == wanted.mode;
        (!there).then_some(wanted)
    }

    /// The permission bits that the config is to have: those that it has. The plugin does not keep them, so that
    /// after it those from before count.
    fn mode(&self) -> u32 {
        let before = self.manifest.baseline.mode.map(|mode| mode & 0o7777);
        match self.config.mode() {
            None => PRIVATE,
            Some(mode) if !self.of_the_plugin => mode,
            Some(mode) => before.unwrap_or(mode & PRIVATE),
        }
    }

    /// Journal and config. False where somebody changed the config in between: then nothing was.
    fn write(&mut self, wanted: Wanted) -> Result<bool, StagingError> {
        let Wanted {
            kind,
            text,
            mode,
            action,
        } = wanted;
        self.seq = if self.seq < LAST { self.seq + 1 } else { 1 };
        self.manifest.pending = Some(Pending {
            kind,
            raw: text.clone(),
            seq: self.seq,
            unknown: Unknown::new(),
        });
        let memo = self.memo.clone();
        let last_lies_there = self.config.is(self.manifest.confirmed());
        memo.put(&mut self.manifest, text.as_deref(), last_lies_there);
        match self.save(Durability::Durable) {
            // A full disk must not keep a token in place: to remove a file takes no room, and a config that is gone
            // is no riddle to whoever comes next.
            Err(StagingError::Failed(problem)) if text.is_none() && problem.reason == Reason::Io => {}
            saved => saved?,
        }
        self.held.check(self.site)?;
        let done = match &text {
            Some(text) => self.held.cursor.replace_if(
                names::CONFIG,
                text.as_bytes(),
                mode,
                self.held.main.folder(),
                Durability::Durable,
                || {
                    self.config.is_still_there(&self.held.cursor)
                        && self.held.is_in_place(self.site).unwrap_or(false)
                },
            ),
            None if !self.config.is_still_there(&self.held.cursor) => Ok(false),
            None => self
                .held
                .cursor
                .remove(names::CONFIG, Durability::Durable)
                .map(|_| true),
        };
        match done {
            Ok(false) => return Ok(false),
            Ok(true) => {}
            // All but the last step was done, and the journal is on the disk: whatever a power cut makes of it, the
            // next session knows.
            Err(error) if Config::read(&self.held.cursor).is(text.as_deref()) => {
                tracing::warn!(%error, "a config was written, and may not survive a power cut");
            }
            Err(error) => {
                if matches!(error.what, Fault::Denied(_) | Fault::Io(_)) {
                    self.manifest.config_unwritable = true;
                    self.confirm();
                }
                return Err(error.into());
            }
        }
        self.manifest.last_written = text;
        self.manifest.pending = None;
        self.of_the_plugin = false;
        self.config = Config::read(&self.held.cursor);
        self.note(action.0, names::CONFIG, action.1);
        Ok(true)
    }

    /// Write the manifest, unless it is on the disk as it is.
    pub(super) fn save_if_new(&mut self, durability: Durability) -> Result<(), StagingError> {
        if self.stored.as_deref() == Some(self.manifest.to_json().as_bytes()) {
            return Ok(());
        }
        self.save(durability)
    }

    fn save(&mut self, durability: Durability) -> Result<(), StagingError> {
        let bytes = self.manifest.to_json().into_bytes();
        if bytes.len() as u64 > LIMIT {
            return Err(StagingError::Failed(Problem::at(
                Reason::TooLarge,
                &self.held.cursor.path().join(names::CONFIG),
                "the record of it would be larger than 64 MiB",
            )));
        }
        self.held.check(self.site)?;
        self.held.cursor.replace(
            names::MANIFEST,
            &bytes,
            PRIVATE,
            self.held.main.folder(),
            durability,
        )?;
        self.stored = Some(bytes);
        if self.origin == Origin::Torn {
            self.note(
                ActionKind::ManifestReplaced,
                names::MANIFEST,
                "what was there was no JSON",
            );
        }
        self.origin = Origin::Stored;
        Ok(())
    }

    /// Write down what has come to pass. Where that fails, the journal still says it, and whoever comes next will.
    fn confirm(&mut self) {
        if let Err(error) = self.save_if_new(Durability::Atomic) {
            let path = self.held.cursor.path().display();
            tracing::warn!(%path, %error, "the manifest was not brought up to date");
        }
    }

    fn remove_manifest(&mut self) -> Result<(), StagingError> {
        let baseline = &self.manifest.baseline;
        self.held
            .made_cursor
            .set(self.held.made_cursor.get() || baseline.created_dir);
        if self.stored.is_none() {
            return Ok(());
        }
        self.held.check(self.site)?;
        self.held.disclaim_cursor();
        // Before the exclusion goes, and with it what keeps git from showing it.
        self.held.cursor.remove(names::MANIFEST, Durability::Durable)?;
        self.stored = None;
        self.note(ActionKind::ManifestRemoved, names::MANIFEST, "there is no lease");
        Ok(())
    }

    fn refusal(&self, refusal: &Refusal) -> Problem {
        Problem::at(
            reason_of_refusal(refusal),
            &self.held.cursor.path().join(names::CONFIG),
            refusal,
        )
    }

    /// Of a config that was mended, but still has keys from before.
    fn keys_left(&self) -> Problem {
        Problem {
            reason: Reason::Quarantined,
            path: Some(self.held.cursor.path().join(names::CONFIG)),
            message: cure(&self.held.cursor.path().join(names::CONFIG), self.config.keys()),
        }
    }
}

/// What to do about a quarantine.
pub(super) fn cure(config: &std::path::Path, keys: &[String]) -> String {
    let keys = if keys.is_empty() {
        String::new()
    } else {
        format!(" and take out {}", keys.join(", "))
    };
    format!(
        "{} was no valid JSON while sessions used it, and is left as it is: mend it{keys}, or remove it",
        config.display()
    )
}
