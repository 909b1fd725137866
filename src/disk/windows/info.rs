//! What an open file or folder is.

use std::fs::{File, Metadata};
use std::io;
use std::os::windows::fs::MetadataExt;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_SYSTEM, FILE_BASIC_INFO, FILE_ID_INFO,
    FILE_INFO_BY_HANDLE_CLASS, FILE_STANDARD_INFO, FileBasicInfo, FileIdInfo, FileStandardInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, SetFileInformationByHandle,
};

use super::nt::size_u32;
use crate::disk::{Entry, Identity, Kind};

/// Users and groups have no numbers here.
pub(super) const OWNER: (u32, u32) = (0, 0);
/// The types and the permissions, as Node tells them of files; of a folder as the other systems have it.
const FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;
const READABLE: u32 = 0o444;
const WRITABLE: u32 = 0o222;
const PRIVATE: u32 = 0o700;
const STICKY: u32 = 0o1000;

pub(in crate::disk) fn opened(file: &File) -> io::Result<Entry> {
    let found = file.metadata()?;
    let kind = kind(&found);
    Ok(Entry {
        kind,
        mode: mode(kind, &found),
        size: found.file_size(),
        modified: found.modified()?,
        identity: identity(file)?,
        owner: OWNER,
    })
}

/// Not by std's word alone, to which some reparse points are no links.
pub(super) fn kind(found: &Metadata) -> Kind {
    kind_of(found.file_attributes())
}

fn kind_of(attributes: u32) -> Kind {
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        Kind::Symlink
    } else if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 {
        Kind::Folder
    } else {
        Kind::File
    }
}

fn mode(kind: Kind, found: &Metadata) -> u32 {
    let attributes = found.file_attributes();
    match kind {
        Kind::Folder if attributes & FILE_ATTRIBUTE_SYSTEM != 0 => FOLDER | PRIVATE | STICKY,
        Kind::Folder => FOLDER | PRIVATE,
        Kind::Symlink => LINK | READABLE,
        _ if found.permissions().readonly() => FILE | READABLE,
        _ => FILE | READABLE | WRITABLE,
    }
}

/// By the number that all file systems of today have room for; where there is none, by the older one.
fn identity(file: &File) -> io::Result<Identity> {
    let mut long = FILE_ID_INFO::default();
    if get(file, FileIdInfo, &mut long).is_ok() {
        let (halves, _) = long.FileId.Identifier.as_chunks();
        let number = |half: usize| halves.get(half).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        return Ok(Identity {
            device: long.VolumeSerialNumber,
            // The upper half is of one file system only, whose folders have a number there that grows slowly.
            inode: number(0) ^ number(1).rotate_left(32),
        });
    }
    let mut short = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure is the one that this call fills.
    let got = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut short) };
    if got == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Identity {
        device: u64::from(short.dwVolumeSerialNumber),
        inode: u64::from(short.nFileIndexHigh) << 32 | u64::from(short.nFileIndexLow),
    })
}

/// Whether it is removed, and only there for those who have it open.
pub(super) fn is_removed(file: &File) -> bool {
    let mut standard = FILE_STANDARD_INFO::default();
    get(file, FileStandardInfo, &mut standard).is_ok() && standard.DeletePending
}

/// Give a folder the attribute "system", or take it away.
pub(super) fn set_system(folder: &File, on: bool) -> io::Result<()> {
    let before = folder.metadata()?.file_attributes();
    let after = if on {
        before | FILE_ATTRIBUTE_SYSTEM
    } else {
        before & !FILE_ATTRIBUTE_SYSTEM
    };
    if after == before {
        return Ok(());
    }
    let basic = FILE_BASIC_INFO {
        // Nought would mean that they stay as they are; so it does of the times.
        FileAttributes: if after == 0 { FILE_ATTRIBUTE_NORMAL } else { after },
        ..FILE_BASIC_INFO::default()
    };
    // SAFETY: the handle is open, and the structure is the one of this class, as long as is said.
    let set = unsafe {
        SetFileInformationByHandle(
            folder.as_raw_handle(),
            FileBasicInfo,
            (&raw const basic).cast(),
            size_u32::<FILE_BASIC_INFO>(),
        )
    };
    if set == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// `T` is the structure of this class.
fn get<T>(file: &File, class: FILE_INFO_BY_HANDLE_CLASS, into: &mut T) -> io::Result<()> {
    // SAFETY: the handle is open, and what is filled is as long as is said. All callers are in this file.
    let got = unsafe {
        GetFileInformationByHandleEx(
            file.as_raw_handle(),
            class,
            (&raw mut *into).cast(),
            size_u32::<T>(),
        )
    };
    if got == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_reparse_point_is_a_link() {
        let (folder, point) = (FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT);
        for (attributes, kind) in [
            (point, Kind::Symlink),
            (folder | point, Kind::Symlink),
            (folder | FILE_ATTRIBUTE_SYSTEM, Kind::Folder),
            (FILE_ATTRIBUTE_NORMAL, Kind::File),
            (0, Kind::File),
        ] {
            assert_eq!(kind_of(attributes), kind, "{attributes:#x}");
        }
    }
}
