//! Where the guard's program lies.

use std::ffi::{CStr, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

const NAME: &str = "fusion-cursor-guard";

/// Beside the file that this code was loaded from, be that the addon or a program; or, since cargo puts test
/// programs into `deps`, one folder above.
pub(super) fn find() -> Option<PathBuf> {
    let own = own_file()?;
    let folder = own.parent()?;
    let beside = folder.join(NAME);
    if folder.ends_with("deps") && !beside.exists() {
        return Some(folder.with_file_name(NAME));
    }
    Some(beside)
}

/// The file that this code was loaded from. Not the program that runs: that is Node.
fn own_file() -> Option<PathBuf> {
    let here: fn() -> Option<PathBuf> = own_file;
    let mut about = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: dladdr takes any address, and writes no more than the structure that it is given.
    let known = unsafe { libc::dladdr(here as *const libc::c_void, about.as_mut_ptr()) };
    // SAFETY: all zeroes is a valid Dl_info, and dladdr has at most written to it.
    let about = unsafe { about.assume_init() };
    if known == 0 || about.dli_fname.is_null() {
        return None;
    }
    // SAFETY: dladdr gives a text that ends with a zero and lives as long as the file is loaded, which is at
    // least until this code, a part of it, has returned.
    let name = unsafe { CStr::from_ptr(about.dli_fname) };
    let name = Path::new(OsStr::from_bytes(name.to_bytes()));
    std::path::absolute(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_code_comes_from_the_test_program() {
        let program = std::env::current_exe().unwrap();
        assert_eq!(
            own_file().unwrap().canonicalize().unwrap(),
            program.canonicalize().unwrap()
        );
    }

    #[test]
    fn and_the_guard_lies_where_cargo_puts_programs() {
        let found = find().unwrap();
        assert_eq!(found.file_name(), Some(NAME.as_ref()));
        assert!(!found.parent().unwrap().ends_with("deps"), "{found:?}");
    }
}
