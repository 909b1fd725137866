//! Giving the locks up, as far as that needs no wait.

use std::path::PathBuf;

use crate::worktree::{Exclusion, GitError};

use super::error::StagingError;
use super::site::{Held, Site};

/// What giving up the locks took away with them.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// From the exclude file.
    pub(super) withdrawn: Withdrawn,
    /// `.cursor`.
    pub(super) folder: bool,
}

/// What was taken away with the exclude file's lock in hand.
#[derive(Debug, Default)]
pub(super) struct Withdrawn {
    /// Lines that nobody needs.
    pub(super) lines: bool,
    /// Lock folders that somebody had left behind.
    pub(super) locks: Vec<PathBuf>,
}

/// What one try at giving up all locks comes to.
pub(super) enum Wound {
    Up(Result<Ended, StagingError>),
    /// Somebody has the exclude file; and whether the lock directory was emptied.
    Busy(Box<Held>, Result<(), StagingError>),
}

impl Held {
    /// Give the locks up; where nothing is in use any more, the exclusion goes too, if its lock is free now. True
    /// where `.cursor` went as well.
    ///
    /// # Errors
    /// What the disk says; as much as possible was given up.
    pub fn wind_up_now(self, site: &Site) -> Result<bool, StagingError> {
        let ended = match self.try_wind_up(site) {
            Wound::Up(ended) => ended,
            Wound::Busy(held, vacated) => ended(vacated.map(|()| Withdrawn::default()), held.release(site)),
        };
        ended.map(|ended| ended.folder)
    }

    pub(super) fn try_wind_up(mut self, site: &Site) -> Wound {
        let vacated = match self.is_in_use() {
            Ok(true) => return Wound::Up(ended(Ok(Withdrawn::default()), self.release(site))),
            Ok(false) => self.main.vacate().map_err(StagingError::from),
            Err(error) => Err(error),
        };
        // Also where somebody has removed `.cursor` with all that was in it: who needs the lines is looked up there.
        let withdrawn = match site.repository().map(|git| git.try_lock_exclusion(site.world)) {
            None => Ok(Withdrawn::default()),
            Some(Ok(None)) => return Wound::Busy(Box::new(self), vacated),
            Some(Ok(Some(exclusion))) => Withdrawn::from(exclusion).map_err(Into::into),
            Some(Err(error)) => Err(error.into()),
        };
        Wound::Up(ended(vacated.and(withdrawn), self.release(site)))
    }
}

pub(super) fn ended(
    withdrawn: Result<Withdrawn, StagingError>,
    folder: Result<bool, StagingError>,
) -> Result<Ended, StagingError> {
    Ok(Ended {
        withdrawn: withdrawn?,
        folder: folder?,
    })
}

impl Withdrawn {
    pub(super) fn from(exclusion: Exclusion) -> Result<Self, GitError> {
        let locks = exclusion.took_over();
        let lines = exclusion.withdraw()?;
        exclusion.release()?;
        Ok(Self { lines, locks })
    }
}
