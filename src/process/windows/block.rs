//! An environment as the system wants it: `NAME=value` one after the other, each ended by a zero, in the order of the
//! names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStrExt as _;

/// Without it half of the system's libraries do not load.
const ROOT: &str = "SystemRoot";

/// The block for these variables. Of several of one name, whatever its case, the last one counts. `root` is the
/// system's own folder, for an environment that does not name it.
pub(super) fn block(environment: &[(OsString, OsString)], root: Option<&OsStr>) -> io::Result<Vec<u16>> {
    let mut all: BTreeMap<Vec<u16>, (&OsStr, &OsStr)> = BTreeMap::new();
    if let Some(root) = root {
        all.insert(folded(OsStr::new(ROOT)), (OsStr::new(ROOT), root));
    }
    for (name, value) in environment {
        // A name that begins with `=` is the system's own note of a drive's folder.
        let named = name.encode_wide().skip(1).all(|unit| unit != u16::from(b'='));
        if name.is_empty() || !named || has_zero(name) || has_zero(value) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a variable of the environment has a name or a value that the system cannot hold",
            ));
        }
        all.insert(folded(name), (name, value));
    }
    let mut block = Vec::new();
    for (name, value) in all.values() {
        block.extend(name.encode_wide());
        block.push(u16::from(b'='));
        block.extend(value.encode_wide());
        block.push(0);
    }
    if block.is_empty() {
        block.push(0);
    }
    block.push(0);
    Ok(block)
}

pub(super) fn has_zero(text: &OsStr) -> bool {
    text.encode_wide().any(|unit| unit == 0)
}

/// A name as the system compares it: letter by letter in capitals, where a letter has one capital.
fn folded(name: &OsStr) -> Vec<u16> {
    let capital = |unit: u16| {
        let mut upper = char::from_u32(u32::from(unit))?.to_uppercase();
        let one = upper.next().filter(|_| upper.next().is_none())?;
        u16::try_from(u32::from(one)).ok()
    };
    name.encode_wide()
        .map(|unit| capital(unit).unwrap_or(unit))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pairs: &[(&str, &str)], root: Option<&str>) -> String {
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)))
            .collect();
        String::from_utf16(&block(&pairs, root.map(OsStr::new)).unwrap()).unwrap()
    }

    #[test]
    fn names_are_in_order_and_their_case_does_not_count() {
        assert_eq!(
            text(
                &[
                    ("b", "1"),
                    ("A_", "2"),
                    ("PATH", "x"),
                    ("AB", "3"),
                    ("Path", "é=y")
                ],
                None
            ),
            "AB=3\0A_=2\0b=1\0Path=é=y\0\0"
        );
        assert_eq!(text(&[], None), "\0\0");
    }

    #[test]
    fn the_system_is_always_found() {
        assert_eq!(text(&[("A", "1")], Some(r"C:\W")), "A=1\0SystemRoot=C:\\W\0\0");
        assert_eq!(
            text(&[("SYSTEMROOT", "D:\\")], Some(r"C:\W")),
            "SYSTEMROOT=D:\\\0\0"
        );
    }

    #[test]
    fn what_no_block_can_hold_is_refused() {
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0y")] {
            assert!(block(&[(name.into(), value.into())], None).is_err(), "{name:?}");
        }
        assert_eq!(text(&[("=C:", r"C:\x")], None), "=C:=C:\\x\0\0");
    }
}
