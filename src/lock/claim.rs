//! What lies in a lock directory.

use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::owner::Owner;
use super::who::epoch_ms;
use crate::disk::{self, Fault, Folder, Identity, temp_owner};

/// Who has it.
pub(super) const OWNER: &str = "owner.json";
/// No owner says more.
const LIMIT: u64 = 64 * 1024;
/// More than that many names in a lock directory are not looked at.
pub(super) const NAMES: usize = 4096;
/// The file by which somebody takes it over. Each number is made once: whoever makes the highest has the lock.
pub(super) fn name(number: u64) -> String {
    format!("takeover.{number}")
}

/// The number of a takeover, where this is the name of one.
pub(super) fn number(name: &OsStr) -> Option<u64> {
    name.to_str()?.strip_prefix("takeover.")?.parse().ok()
}

/// A lock directory as one look shows it.
#[derive(Debug)]
pub(super) struct Sight {
    pub(super) identity: Identity,
    pub(super) modified_ms: i64,
    /// Somebody of this crate made it, or is about to take it over.
    pub(super) marked: bool,
    /// The bytes of `owner.json`, where they can be read.
    pub(super) owner: Option<Vec<u8>>,
    /// The highest number of a takeover, 0 for none.
    pub(super) claims: u64,
    /// Who is about to take it over and has not said so in `owner.json`.
    claimant: Option<Vec<u8>>,
    pub(super) writers: Vec<u32>,
}

impl Sight {
    pub(super) fn of(folder: &Folder) -> disk::Result<Self> {
        let itself = folder.itself()?;
        let names = folder.names(NAMES)?;
        let owner = text(folder, OWNER)?;
        let claims = names.iter().filter_map(|name| number(name)).max().unwrap_or(0);
        let said = owner.as_deref().and_then(Owner::parse);
        let claimant = if claims > said.map_or(0, |owner| owner.claim) {
            Some(text(folder, &name(claims))?.unwrap_or_default())
        } else {
            None
        };
        Ok(Self {
            identity: itself.identity,
            modified_ms: epoch_ms(itself.modified),
            marked: itself.is_unclaimed() || claims > 0,
            owner,
            claims,
            claimant,
            writers: names.iter().filter_map(|name| temp_owner(name)).collect(),
        })
    }

    /// Who has it, or is about to.
    pub(super) fn who(&self) -> Option<Owner> {
        Owner::parse(self.claimant.as_ref().or(self.owner.as_ref())?)
    }

    /// A number for all that a holder changes.
    pub(super) fn looks(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.owner, self.claims, &self.claimant, self.modified_ms).hash(&mut hasher);
        hasher.finish()
    }
}

/// What a file in a lock directory says; `None` for what is no file, or may not be read: that names nobody.
pub(super) fn text(folder: &Folder, name: &str) -> disk::Result<Option<Vec<u8>>> {
    match folder.read(name, LIMIT) {
        Ok(contents) => Ok(contents.map(|contents| contents.bytes)),
        Err(error) => match error.what {
            Fault::Symlink | Fault::NotAFile(_) | Fault::TooLarge(_) | Fault::Denied(_) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Remove all that lies in it, `owner.json` last; what `keep` says stays.
pub(super) fn clear(folder: &Folder, keep: impl Fn(&OsStr) -> bool) -> disk::Result<()> {
    let mut names: Vec<OsString> = folder.names(NAMES)?;
    names.sort_by_key(|name| name == OWNER);
    for name in names.iter().filter(|name| !keep(name)) {
        folder.remove_any(name)?;
    }
    Ok(())
}
