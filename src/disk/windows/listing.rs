//! The names in an open folder.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Foundation::ERROR_NO_MORE_FILES;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ID_BOTH_DIR_INFO, FileIdBothDirectoryInfo, GetFileInformationByHandleEx,
};

use super::nt::{is_one_of, size_u32};

/// So much one call fills, in bytes.
const SIZE: usize = 16 * 1024;

/// What it fills. It lies as the records in it have to.
#[repr(C, align(8))]
struct Buffer([u8; SIZE]);

/// At most so many of them. The folder was opened for this alone.
pub(super) fn names(folder: &File, limit: usize) -> io::Result<Vec<OsString>> {
    let mut buffer = Box::new(Buffer([0; SIZE]));
    let mut names = Vec::new();
    while names.len() < limit {
        // SAFETY: the handle is open, and the buffer is as long as is said.
        let got = unsafe {
            GetFileInformationByHandleEx(
                folder.as_raw_handle(),
                FileIdBothDirectoryInfo,
                (&raw mut buffer.0).cast(),
                size_u32::<Buffer>(),
            )
        };
        if got == 0 {
            let error = io::Error::last_os_error();
            return if is_one_of(&error, &[ERROR_NO_MORE_FILES]) {
                Ok(names)
            } else {
                Err(error)
            };
        }
        let room = limit - names.len();
        names.extend(
            records(&buffer.0)
                .filter(|name| name != "." && name != "..")
                .take(room),
        );
    }
    Ok(names)
}

/// The names of the records that one call gave: each says how far it is to the next.
fn records(bytes: &[u8]) -> impl Iterator<Item = OsString> {
    let mut rest = Some(bytes);
    std::iter::from_fn(move || {
        let record = rest?;
        let next = number(record, offset_of!(FILE_ID_BOTH_DIR_INFO, NextEntryOffset))?;
        let length = number(record, offset_of!(FILE_ID_BOTH_DIR_INFO, FileNameLength))?;
        let name = record
            .get(offset_of!(FILE_ID_BOTH_DIR_INFO, FileName)..)?
            .get(..length)?;
        rest = (next > 0).then(|| record.get(next..)).flatten();
        let (units, _) = name.as_chunks::<2>();
        let units: Vec<u16> = units.iter().map(|unit| u16::from_ne_bytes(*unit)).collect();
        Some(OsString::from_wide(&units))
    })
}

fn number(record: &[u8], at: usize) -> Option<usize> {
    let bytes = record.get(at..)?.first_chunk()?;
    usize::try_from(u32::from_ne_bytes(*bytes)).ok()
}
