//! An open directory.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::failpoint::{self, step};
use super::system::{self, steadily};
use super::{Contents, Durability, Entry, Error, Fault, Identity, Kind, Result, sync};

/// So often something is looked at again that was there and is not, or the other way round.
const TRIES: u32 = 16;

/// An open directory. What it does is done in the directory that was opened, wherever that is moved.
#[derive(Debug)]
pub struct Folder {
    pub(super) handle: File,
    pub(super) path: PathBuf,
}

impl Folder {
    /// Open a folder by its path, links on the way followed. The path it has from then on is the canonical one.
    ///
    /// # Errors
    /// [`Fault::Gone`] where there is none, [`Fault::NotAFolder`], [`Fault::Denied`].
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |what| Error::new("opening", path, what);
        let canonical = steadily(|| system::canonical(path)).map_err(|error| failed(error.into()))?;
        let handle = steadily(|| system::open(&canonical)).map_err(|error| {
            let refused = error.kind() == io::ErrorKind::NotADirectory;
            let kind = system::kind(&canonical).ok().filter(|_| refused);
            failed(kind.map_or_else(|| error.into(), Fault::no_folder))
        })?;
        Ok(Self {
            handle,
            path: canonical,
        })
    }

    /// The same directory, opened again: nothing is shared with this one, as a lock on it would be.
    ///
    /// # Errors
    /// What the system said.
    pub fn reopen(&self) -> Result<Self> {
        let handle = steadily(|| system::reopen(&self.handle))
            .map_err(|error| Error::new("opening", &self.path, error.into()))?;
        Ok(Self {
            handle,
            path: self.path.clone(),
        })
    }

    /// One more handle of the same opening.
    ///
    /// # Errors
    /// What the system said, for want of descriptors.
    pub fn share(&self) -> Result<Self> {
        let handle = self.handle.try_clone();
        Ok(Self {
            handle: handle.map_err(|error| Error::new("opening", &self.path, error.into()))?,
            path: self.path.clone(),
        })
    }

    /// The canonical path it was opened by: for messages, and for programs that take a path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which directory it is.
    ///
    /// # Errors
    /// What the system said.
    pub fn identity(&self) -> Result<Identity> {
        Ok(self.itself()?.identity)
    }

    /// The directory itself, as [`Self::entry`] tells of what is in it.
    ///
    /// # Errors
    /// What the system said.
    pub fn itself(&self) -> Result<Entry> {
        steadily(|| system::opened(&self.handle))
            .map_err(|error| Error::new("looking at", &self.path, error.into()))
    }

    /// A folder in it; `None` where there is nothing under the name. A link is refused.
    ///
    /// # Errors
    /// [`Fault::Symlink`], [`Fault::NotAFolder`], [`Fault::Denied`].
    pub fn child(&self, name: &str) -> Result<Option<Self>> {
        let path = self.path.join(name);
        for _ in 0..TRIES {
            let error = match steadily(|| system::open_child(&self.handle, name)) {
                Ok(handle) => return Ok(Some(Self { handle, path })),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => error,
            };
            let refused = error.kind() == io::ErrorKind::NotADirectory || system::is_link_refused(&error);
            if !refused {
                return Err(Error::new("opening", &path, error.into()));
            }
            match self.entry(name)? {
                Some(entry) if entry.kind == Kind::Folder => {}
                Some(entry) => return Err(Error::new("opening", &path, Fault::no_folder(entry.kind))),
                None => return Ok(None),
            }
        }
        Err(Error::new(
            "opening",
            &path,
            Fault::NotAFolder("something that changes"),
        ))
    }

    /// Make a folder in it unless it is there; whether it was made. `Gone` where this folder itself was removed.
    ///
    /// # Errors
    /// As [`Self::child`] and [`Self::try_make`].
    pub fn make_child(&self, name: &str, mode: u32) -> Result<(Self, bool)> {
        for _ in 0..TRIES {
            let new = self.try_make(name, mode)?;
            if let Some(child) = self.child(name)? {
                return Ok((child, new));
            }
        }
        Err(Error::new("making", &self.path.join(name), Fault::Gone))
    }

    /// Make a folder; false where the name is taken, by whatever. The umask may narrow the mode.
    ///
    /// # Errors
    /// [`Fault::Gone`] where this folder itself was removed, [`Fault::Denied`], [`Fault::Io`].
    pub fn try_make(&self, name: &str, mode: u32) -> Result<bool> {
        match steadily(|| {
            step("make", &self.path, name, || {
                system::make(&self.handle, name, mode)
            })
        }) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::new("making", &self.path.join(name), error.into())),
        }
    }

    /// What lies under a name; `None` for nothing.
    ///
    /// # Errors
    /// What the system said.
    pub fn entry(&self, name: &str) -> Result<Option<Entry>> {
        match steadily(|| system::entry(&self.handle, name)) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::new("looking at", &self.path.join(name), error.into())),
        }
    }

    /// Read a regular file of at most `limit` bytes; `None` where there is nothing under the name. Returns at once
    /// whatever lies there.
    ///
    /// # Errors
    /// [`Fault::Symlink`], [`Fault::NotAFile`], [`Fault::TooLarge`], [`Fault::Denied`], [`Fault::Io`].
    pub fn read(&self, name: &str, limit: u64) -> Result<Option<Contents>> {
        match steadily(|| self.read_once(name, limit)) {
            Ok(Ok(contents)) => Ok(Some(contents)),
            Ok(Err(fault)) => Err(Error::new("reading", &self.path.join(name), fault)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::new("reading", &self.path.join(name), error.into())),
        }
    }

    fn read_once(&self, name: &str, limit: u64) -> io::Result<std::result::Result<Contents, Fault>> {
        // Looked at before it is opened, as opening a device may do something; and after, as it may have changed.
        let lies = system::entry(&self.handle, name)?;
        if lies.kind != Kind::File {
            return Ok(Err(Fault::no_file(lies.kind)));
        }
        let file = match system::open_to_read(&self.handle, name) {
            Err(error) if system::is_no_file(&error) => return Ok(Err(Fault::NotAFile("something else"))),
            opened => opened?,
        };
        let entry = system::opened(&file)?;
        if entry.kind != Kind::File {
            return Ok(Err(Fault::no_file(entry.kind)));
        }
        if entry.size > limit {
            return Ok(Err(Fault::TooLarge(limit)));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(entry.size).unwrap_or_default() + 1);
        // One more, to see that it has grown over the limit since.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
            return Ok(Err(Fault::TooLarge(limit)));
        }
        Ok(Ok(Contents {
            bytes,
            mode: entry.mode,
            identity: entry.identity,
        }))
    }

    /// Make a file with these bytes; false where the name is taken. Others may see it before all of them are in it.
    ///
    /// # Errors
    /// As [`Self::replace`]; the file is removed again then.
    pub fn create(&self, name: &str, bytes: &[u8], mode: u32) -> Result<bool> {
        let failed = |error: io::Error| Error::new("writing", &self.path.join(name), error.into());
        let created = steadily(|| step("create", &self.path, name, || system::create(&self.handle, name)));
        let file = match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
            created => created.map_err(failed)?,
        };
        let filled = self.fill(&file, "create", name, bytes, mode);
        filled.map(|()| true).map_err(|error| {
            self.discard(name);
            failed(error)
        })
    }

    /// Remove a file or link; false where there was none.
    ///
    /// # Errors
    /// [`Fault::NotAFile`] for a folder, [`Fault::Denied`], [`Fault::Io`].
    pub fn remove(&self, name: &str, durability: Durability) -> Result<bool> {
        let path = self.path.join(name);
        let failed = |error: io::Error| Error::new("removing", &path, error.into());
        let removed = steadily(|| {
            step("remove", &self.path, name, || {
                system::remove_file(&self.handle, OsStr::new(name))
            })
        });
        match removed {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => {
                // A folder is refused with an error that differs between systems.
                return Err(match self.entry(name) {
                    Ok(Some(Entry {
                        kind: Kind::Folder, ..
                    })) => Error::new("removing", &path, Fault::NotAFile(Kind::Folder.name())),
                    _ => failed(error),
                });
            }
        }
        if durability == Durability::Durable {
            self.sync("remove.sync-folder").map_err(failed)?;
        }
        Ok(true)
    }

    /// Remove an empty folder: one rmdir. False where it is not there or not empty.
    ///
    /// # Errors
    /// [`Fault::NotAFolder`], [`Fault::Symlink`], [`Fault::Denied`], [`Fault::Io`].
    pub fn remove_child(&self, name: &str) -> Result<bool> {
        let path = self.path.join(name);
        let removed = steadily(|| {
            step("remove-folder", &self.path, name, || {
                system::remove_folder(&self.handle, OsStr::new(name))
            })
        });
        match removed {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                // Some systems say of a folder with something in it that it exists.
                io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                    Ok(false)
                }
                io::ErrorKind::NotADirectory => {
                    let kind = self.entry(name)?.map(|entry| entry.kind);
                    let fault = kind.map_or(Fault::Gone, Fault::no_folder);
                    Err(Error::new("removing", &path, fault))
                }
                _ => Err(Error::new("removing", &path, error.into())),
            },
        }
    }

    /// Remove whatever lies under a name, but for a folder that is not empty, which stays.
    ///
    /// # Errors
    /// As [`Self::remove`].
    pub fn remove_any(&self, name: &OsStr) -> Result<()> {
        let path = self.path.join(name);
        let shown = name.to_string_lossy();
        let removed = steadily(|| {
            step("remove", &self.path, &shown, || {
                system::remove_file(&self.handle, name)
            })
        });
        let Err(error) = removed else { return Ok(()) };
        if error.kind() == io::ErrorKind::NotFound {
            return Ok(());
        }
        // What a system says of a folder here differs; if it is none, this fails as well.
        let removed = steadily(|| {
            step("remove-folder", &self.path, &shown, || {
                system::remove_folder(&self.handle, name)
            })
        });
        match removed {
            Err(other) if other.kind() == io::ErrorKind::NotADirectory => {
                Err(Error::new("removing", &path, error.into()))
            }
            Err(other)
                if !matches!(
                    other.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
                ) =>
            {
                Err(Error::new("removing", &path, other.into()))
            }
            _ => Ok(()),
        }
    }

    /// The names in it, at most `limit` of them, in no order.
    ///
    /// # Errors
    /// What the system said.
    pub fn names(&self, limit: usize) -> Result<Vec<OsString>> {
        steadily(|| system::names(&self.handle, limit))
            .map_err(|error| Error::new("listing", &self.path, error.into()))
    }

    /// Set its modification time to now.
    ///
    /// # Errors
    /// What the system said.
    pub fn touch(&self) -> Result<()> {
        steadily(|| step("touch", &self.path, "", || system::touch(&self.handle)))
            .map_err(|error| Error::new("touching", &self.path, error.into()))
    }

    /// Bring the names in it onto the disk.
    ///
    /// # Errors
    /// What the system said.
    pub fn sync_names(&self) -> Result<()> {
        self.sync("sync-folder")
            .map_err(|error| Error::new("writing", &self.path, error.into()))
    }

    /// Set its permission bits.
    ///
    /// # Errors
    /// What the system said.
    pub fn set_mode(&self, mode: u32) -> Result<()> {
        steadily(|| step("chmod", &self.path, "", || system::set_mode(&self.handle, mode)))
            .map_err(|error| Error::new("changing the mode of", &self.path, error.into()))
    }

    /// What failed is told elsewhere already; what stays is found by its name.
    pub(super) fn discard(&self, name: &str) {
        let removed = steadily(|| {
            step("discard", &self.path, name, || {
                system::remove_file(&self.handle, OsStr::new(name))
            })
        });
        if let Err(error) = removed {
            tracing::debug!(%error, name, folder = %self.path.display(), "an unfinished file stays");
        }
    }

    pub(super) fn sync(&self, what: &'static str) -> io::Result<()> {
        steadily(|| failpoint::step(what, &self.path, "", || sync::folder(&self.handle)))
    }
}
