//! The names of temporary files: who made one can be read off it.

use std::ffi::OsStr;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

const PREFIX: &str = ".fusion-tmp-";

/// One that no other has: the pid keeps apart processes, the random digits two that had the same pid.
pub(super) fn name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let random = RandomState::new().hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
    format!("{PREFIX}{}-{random:016x}", std::process::id())
}

/// Whether this is the name of a temporary file of this crate, in whichever process.
#[must_use]
pub fn is_temp(name: &OsStr) -> bool {
    temp_owner(name).is_some()
}

/// The process that made the temporary file of this name; `None` for any other name.
#[must_use]
pub fn temp_owner(name: &OsStr) -> Option<u32> {
    let (pid, random) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    let whole = random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    whole.then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_made_a_temporary_file_can_be_read_off_its_name() {
        let (one, two) = (name(), name());
        assert_ne!(one, two);
        assert_eq!(temp_owner(OsStr::new(&one)), Some(std::process::id()));
        for other in [
            "mcp.json",
            ".fusion-tmp-",
            ".fusion-tmp-12-",
            ".fusion-tmp-x-0123456789abcdef",
            ".fusion-tmp-12-0123456789abcdeg",
            ".fusion-tmp-12-0123456789abcdef.bak",
        ] {
            assert!(!is_temp(OsStr::new(other)), "{other}");
        }
    }
}
