//! Putting a file in the place of another in one step.

use std::fs::File;
use std::io::{self, Write};

use super::failpoint::{self, step};
use super::system::{self, steadily};
use super::{Durability, Entry, Error, Fault, Folder, Kind, Result, sync, temp};

impl Folder {
    /// Replace or make a file in one step: written to a file with a new name in `via` (same file system) with
    /// mode 0600, given `mode` (permission bits), renamed. A link under `name` is refused, not replaced.
    ///
    /// A file that is replaced keeps its owner and its group as far as this process may give them; where it may
    /// not give the group, the group gets no more than everybody has.
    ///
    /// # Errors
    /// [`Fault::Symlink`], [`Fault::NotAFile`], [`Fault::Denied`], [`Fault::Gone`] where one of the folders was
    /// removed, [`Fault::Io`]. The file is as it was then, and the temporary one is removed as far as that goes;
    /// only where the last step fails, which makes it durable, it is the new one.
    pub fn replace(
        &self,
        name: &str,
        bytes: &[u8],
        mode: u32,
        via: &Self,
        durability: Durability,
    ) -> Result<()> {
        self.replace_if(name, bytes, mode, via, durability, || true)
            .map(|_| ())
    }

    /// The same, if `still` says so right before the rename, when all that takes time is done: somebody who knows no
    /// lock may have changed the file since it was read. False where it did not.
    ///
    /// # Errors
    /// As [`Self::replace`].
    pub fn replace_if(
        &self,
        name: &str,
        bytes: &[u8],
        mode: u32,
        via: &Self,
        durability: Durability,
        still: impl FnOnce() -> bool,
    ) -> Result<bool> {
        let failed = |what| Error::new("writing", &self.path.join(name), what);
        let before = self.replaceable(name)?;
        let temp = temp::name();
        let created = steadily(|| {
            step("replace.create", &via.path, &temp, || {
                system::create(&via.handle, &temp)
            })
        });
        let file = created.map_err(|error| failed(error.into()))?;
        let placed = via
            .inherit(&file, &temp, before, mode)
            .and_then(|mode| self.inherit_acl(&file, name, before, mode))
            .and_then(|mode| via.fill(&file, "replace", &temp, bytes, mode))
            .and_then(|()| {
                if durability == Durability::Fleeting {
                    return Ok(());
                }
                steadily(|| step("replace.sync", &via.path, &temp, || sync::file(&file)))
            })
            .map_err(|error| failed(error.into()))
            // Looked at once more: a link may have come since, and a rename would put the file in its place.
            .and_then(|()| self.replaceable(name))
            .and_then(|_| {
                if !still() {
                    return Ok(false);
                }
                steadily(|| {
                    step("replace.rename", &self.path, name, || {
                        system::rename(&via.handle, &temp, &self.handle, name)
                    })
                })
                .map(|()| true)
                .map_err(|error| failed(error.into()))
            });
        if !matches!(placed, Ok(true)) {
            via.discard(&temp);
            return placed;
        }
        if durability == Durability::Durable {
            self.sync("replace.sync-folder")
                .map_err(|error| failed(error.into()))?;
        }
        Ok(true)
    }

    /// What a file would replace.
    fn replaceable(&self, name: &str) -> Result<Option<Entry>> {
        match self.entry(name)? {
            Some(entry) if entry.kind != Kind::File => {
                let fault = Fault::no_file(entry.kind);
                Err(Error::new("writing", &self.path.join(name), fault))
            }
            entry => Ok(entry),
        }
    }

    /// Give a new file to whom the old one belongs; the mode that it may have then.
    fn inherit(&self, file: &File, name: &str, before: Option<Entry>, mode: u32) -> io::Result<u32> {
        let owner = system::opened(file)?.owner;
        let Some(before) = before.filter(|before| before.owner != owner) else {
            return Ok(mode);
        };
        let (user, group) = before.owner;
        let give = |user| {
            steadily(|| {
                step("replace.chown", &self.path, name, || {
                    system::set_owner(file, user, group)
                })
            })
        };
        if give(Some(user)).is_ok() || group == owner.1 || give(None).is_ok() {
            return Ok(mode);
        }
        // Else members of another group could read what they could not before.
        Ok(narrowed(mode))
    }

    /// Give a new file the access control list of the old one, and no other; the mode that it may have then. In the mode
    /// of a file that has such a list, the bits of the group say what any of those that are named may have at most, so
    /// that without the list the group might get more than it had.
    fn inherit_acl(&self, file: &File, name: &str, before: Option<Entry>, mode: u32) -> io::Result<u32> {
        if before.is_none() {
            return Ok(mode);
        }
        // What may not be read may be replaced all the same.
        let Ok(of_old) = steadily(|| system::acl(&system::open_to_read(&self.handle, name)?)) else {
            return Ok(narrowed(mode));
        };
        if of_old == steadily(|| system::acl(file))? {
            return Ok(mode);
        }
        let given = steadily(|| {
            step("replace.acl", &self.path, name, || {
                system::set_acl(file, of_old.as_deref())
            })
        });
        match given {
            Ok(()) => Ok(mode),
            Err(error) => {
                tracing::debug!(%error, name, "a file loses its access control list");
                Ok(narrowed(mode))
            }
        }
    }

    /// The bytes and the mode of a file that was just created in this folder.
    pub(super) fn fill(
        &self,
        mut file: &File,
        what: &'static str,
        name: &str,
        bytes: &[u8],
        mode: u32,
    ) -> io::Result<()> {
        let (write, chmod) = match what {
            "create" => ("create.write", "create.chmod"),
            _ => ("replace.write", "replace.chmod"),
        };
        failpoint::write(write, &self.path, name, bytes, |bytes| file.write_all(bytes))?;
        // After the bytes, which would take away the bits that change whom a program runs as.
        if system::opened(file)?.mode & 0o7777 != mode & 0o7777 {
            steadily(|| step(chmod, &self.path, name, || system::set_mode(file, mode)))?;
        }
        Ok(())
    }
}

/// The group gets no more than everybody has.
fn narrowed(mode: u32) -> u32 {
    mode & (!0o070 | (mode & 0o007) << 3)
}
