//! Scripts without a first line that names their interpreter.
//!
//! The kernel knows no format for them (`ENOEXEC`), and by an old custom `execvp` of the C library then hands
//! them to the shell, while `posix_spawn` does not. Node's own `spawn` starts them so, and so does this.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// What takes such a script.
pub(super) const SHELL: &str = "/bin/sh";
/// How much of a file shells look at to tell a script from a program, in bytes.
const LOOKED_AT: u64 = 512;

/// Whether a file that the kernel knows no format for is a shell's. A program of another system is not: a shell
/// would stumble over its bytes, and hide the reason.
pub(super) fn is_for_the_shell(program: &Path) -> bool {
    let mut head = Vec::new();
    let looked = File::open(program).and_then(|file| file.take(LOOKED_AT).read_to_end(&mut head));
    looked.is_ok() && is_text(&head)
}

fn is_text(head: &[u8]) -> bool {
    memchr::memchr(0, head).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_tells_a_program_from_a_script() {
        for (head, text) in [
            (&b"echo hi\n"[..], true),
            (b"", true),
            (b"\xff\xfe not for any shell, but none of ours to say", true),
            (b"\x7fELF\x02\x01\x01\0", false),
            (b"MZ\x90\0", false),
        ] {
            assert_eq!(is_text(head), text, "{head:?}");
        }
    }

    #[test]
    fn only_the_beginning_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        std::fs::write(&file, [&[b'#'; 512][..], b"\0"].concat()).unwrap();
        assert!(is_for_the_shell(&file), "as with an archive behind a script");
        std::fs::write(&file, [&[b'#'; 511][..], b"\0"].concat()).unwrap();
        assert!(!is_for_the_shell(&file));
        assert!(!is_for_the_shell(folder.path()), "what cannot be read");
    }
}
