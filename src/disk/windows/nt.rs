//! The system calls that take an open directory and a name in it, as `openat` and its kin do elsewhere. The calls of
//! Win32 know whole paths only, of which somebody may change a part meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::mem::{offset_of, size_of};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_DISPOSITION_DELETE, FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE,
    FILE_DISPOSITION_INFORMATION, FILE_DISPOSITION_INFORMATION_EX, FILE_DISPOSITION_POSIX_SEMANTICS,
    FILE_NON_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_REPARSE_POINT, FILE_RENAME_IGNORE_READONLY_ATTRIBUTE,
    FILE_RENAME_INFORMATION, FILE_RENAME_INFORMATION_0, FILE_RENAME_POSIX_SEMANTICS,
    FILE_RENAME_REPLACE_IF_EXISTS, FILE_SYNCHRONOUS_IO_NONALERT, FileDispositionInformation,
    FileDispositionInformationEx, FileRenameInformation, FileRenameInformationEx, NtCreateFile,
    NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_CALL_NOT_IMPLEMENTED, ERROR_DELETE_PENDING, ERROR_DIRECTORY_NOT_SUPPORTED, ERROR_INVALID_FUNCTION,
    ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED, HANDLE, NTSTATUS, OBJ_CASE_INSENSITIVE,
    RtlNtStatusToDosError, STATUS_DELETE_PENDING, STATUS_FILE_IS_A_DIRECTORY, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_NORMAL, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

/// Others may read, write, rename and remove meanwhile what is open here.
pub(super) const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
/// These mean something in a name: a folder of it, or a stream of a file.
const SPECIAL: [u16; 3] = [b'\\' as u16, b'/' as u16, b':' as u16];

/// What an opening is for. No link is followed in any case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Opening {
    access: u32,
    disposition: u32,
    options: u32,
    attributes: u32,
}

impl Opening {
    /// Whatever lies there.
    pub(super) fn of_any(access: u32) -> Self {
        Self {
            access,
            disposition: FILE_OPEN,
            options: 0,
            attributes: FILE_ATTRIBUTE_NORMAL,
        }
    }

    pub(super) fn of_folder(access: u32) -> Self {
        Self {
            options: FILE_DIRECTORY_FILE,
            ..Self::of_any(access)
        }
    }

    pub(super) fn of_file(access: u32) -> Self {
        Self {
            options: FILE_NON_DIRECTORY_FILE,
            ..Self::of_any(access)
        }
    }

    /// One that is not there yet.
    pub(super) fn made_with(self, attributes: u32) -> Self {
        Self {
            disposition: FILE_CREATE,
            attributes,
            ..self
        }
    }
}

/// Open what lies under a name in a folder, or with no name the folder itself.
pub(super) fn open(folder: &File, name: &OsStr, opening: Opening) -> io::Result<File> {
    let mut name = wide(name)?;
    let length =
        u16::try_from(name.len() * 2).map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let text = UNICODE_STRING {
        Length: length,
        MaximumLength: length,
        Buffer: name.as_mut_ptr(),
    };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_u32::<OBJECT_ATTRIBUTES>(),
        RootDirectory: folder.as_raw_handle(),
        ObjectName: &raw const text,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: ptr::null(),
        SecurityQualityOfService: ptr::null(),
    };
    let mut handle: HANDLE = ptr::null_mut();
    let mut done = IO_STATUS_BLOCK::default();
    // SAFETY: all that is pointed to lives until the call returns, and the handle of the folder is open.
    let status = unsafe {
        NtCreateFile(
            &raw mut handle,
            opening.access | SYNCHRONIZE,
            &raw const attributes,
            &raw mut done,
            ptr::null(),
            opening.attributes,
            SHARED,
            opening.disposition,
            opening.options | FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT,
            ptr::null(),
            0,
        )
    };
    checked(status)?;
    // SAFETY: the call gave this handle to us alone.
    Ok(File::from(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

/// Give an open file another place, and whatever has that goes. It was opened with the right to remove it.
pub(super) fn rename(file: &File, folder: &File, name: &OsStr) -> io::Result<()> {
    // As elsewhere: at once, also where others have the replaced file open.
    let flags =
        FILE_RENAME_REPLACE_IF_EXISTS | FILE_RENAME_POSIX_SEMANTICS | FILE_RENAME_IGNORE_READONLY_ATTRIBUTE;
    let renamed = rename_as(
        file,
        folder,
        name,
        FileRenameInformationEx,
        FILE_RENAME_INFORMATION_0 { Flags: flags },
    );
    match renamed {
        Err(error) if is_unknown(&error) => {
            let replacing = FILE_RENAME_INFORMATION_0 {
                ReplaceIfExists: true,
            };
            rename_as(file, folder, name, FileRenameInformation, replacing)
        }
        renamed => renamed,
    }
}

fn rename_as(
    file: &File,
    folder: &File,
    name: &OsStr,
    class: i32,
    how: FILE_RENAME_INFORMATION_0,
) -> io::Result<()> {
    let name = wide(name)?;
    let at = offset_of!(FILE_RENAME_INFORMATION, FileName);
    let length = size_of::<FILE_RENAME_INFORMATION>().max(at + name.len() * 2);
    // Of words, as it has to lie as a structure does.
    let mut buffer = vec![0_u64; length.div_ceil(size_of::<u64>())];
    let header = buffer.as_mut_ptr().cast::<FILE_RENAME_INFORMATION>();
    let filled = FILE_RENAME_INFORMATION {
        Anonymous: how,
        RootDirectory: folder.as_raw_handle(),
        FileNameLength: u32::try_from(name.len() * 2).unwrap_or(u32::MAX),
        FileName: [0],
    };
    // SAFETY: the buffer is at least as long as that, and begins at an address for a u64, as the structure has to.
    unsafe { header.write(filled) };
    // SAFETY: it is within the buffer.
    let tail = unsafe { header.byte_add(at) }.cast::<u16>();
    // SAFETY: the buffer has room for all of the name from there on, and the two do not overlap.
    unsafe { ptr::copy_nonoverlapping(name.as_ptr(), tail, name.len()) };
    set(
        file,
        class,
        header.cast(),
        u32::try_from(length).unwrap_or(u32::MAX),
    )
}

/// Remove what is open, at once where the file system can: else when nobody has it open any more.
pub(super) fn remove(file: &File) -> io::Result<()> {
    let at_once = FILE_DISPOSITION_INFORMATION_EX {
        Flags: FILE_DISPOSITION_DELETE
            | FILE_DISPOSITION_POSIX_SEMANTICS
            | FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE,
    };
    let removed = set(
        file,
        FileDispositionInformationEx,
        (&raw const at_once).cast(),
        size_u32::<FILE_DISPOSITION_INFORMATION_EX>(),
    );
    match removed {
        Err(error) if is_unknown(&error) => {
            let later = FILE_DISPOSITION_INFORMATION { DeleteFile: true };
            set(
                file,
                FileDispositionInformation,
                (&raw const later).cast(),
                size_u32::<FILE_DISPOSITION_INFORMATION>(),
            )
        }
        removed => removed,
    }
}

fn set(file: &File, class: i32, information: *const core::ffi::c_void, length: u32) -> io::Result<()> {
    let mut done = IO_STATUS_BLOCK::default();
    // SAFETY: the information is as long as is said, and of the structure that goes with the class.
    let status =
        unsafe { NtSetInformationFile(file.as_raw_handle(), &raw mut done, information, length, class) };
    checked(status)
}

fn checked(status: NTSTATUS) -> io::Result<()> {
    let code = match status {
        0.. => return Ok(()),
        // Of these two, no more would be left than that access is denied.
        STATUS_DELETE_PENDING => ERROR_DELETE_PENDING,
        STATUS_FILE_IS_A_DIRECTORY => ERROR_DIRECTORY_NOT_SUPPORTED,
        // SAFETY: it only looks into a table.
        status => unsafe { RtlNtStatusToDosError(status) },
    };
    Err(error(code))
}

/// An error by its number.
pub(super) fn error(code: u32) -> io::Error {
    io::Error::from_raw_os_error(code.cast_signed())
}

/// Whether an error has one of these numbers.
pub(super) fn is_one_of(error: &io::Error, codes: &[u32]) -> bool {
    error
        .raw_os_error()
        .is_some_and(|code| codes.contains(&code.cast_unsigned()))
}

/// The system, or the file system, is too old for it.
fn is_unknown(error: &io::Error) -> bool {
    let codes = [
        ERROR_CALL_NOT_IMPLEMENTED,
        ERROR_INVALID_FUNCTION,
        ERROR_INVALID_PARAMETER,
        ERROR_NOT_SUPPORTED,
    ];
    is_one_of(error, &codes)
}

/// One name, without what would lead elsewhere.
fn wide(name: &OsStr) -> io::Result<Vec<u16>> {
    let name: Vec<u16> = name.encode_wide().collect();
    if name.iter().any(|unit| SPECIAL.contains(unit)) {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    Ok(name)
}

/// How long a structure is, as the system wants it said.
pub(super) fn size_u32<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}
