//! Who holds a kernel lock: Linux tells in `/proc/locks`.

use crate::disk::Identity;

/// The process that holds the lock on a directory; `None` where it cannot be seen from here.
pub(super) fn of(folder: Identity) -> Option<u32> {
    find(&std::fs::read_to_string("/proc/locks").ok()?, folder)
}

/// In lines as `1: FLOCK  ADVISORY  WRITE 812 fe:01:53 0 EOF`, the device and the inode as the sixth word.
fn find(locks: &str, folder: Identity) -> Option<u32> {
    let mut found = None;
    for line in locks.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let &[_, "FLOCK", _, "WRITE", pid, place, ..] = words.as_slice() else {
            continue;
        };
        let mut parts = place.split(':');
        let (Some(major), Some(minor), Some(inode)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        // 0 and -1 are processes that have no number here.
        let pid: Option<u32> = pid.parse().ok().filter(|pid| *pid > 0);
        if inode.parse() != Ok(folder.inode) || pid.is_none() {
            continue;
        }
        let number = |hex| u32::from_str_radix(hex, 16).ok();
        let device = (number(major), number(minor));
        let (own_major, own_minor) = (rustix::fs::major(folder.device), rustix::fs::minor(folder.device));
        if device == (Some(own_major), Some(own_minor)) {
            return pid;
        }
        // Some file systems give their folders other devices than the lock table knows.
        found = found.or(pid);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_writer_on_the_same_inode_is_found() {
        let locks = "1: POSIX  ADVISORY  WRITE 811 08:01:53 0 EOF\n\
                     2: FLOCK  ADVISORY  READ  812 08:01:53 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 813 08:01:53 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 0 08:01:53 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 814 00:1f:53 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE 815 08:01:53 0 EOF\n\
                     6: FLOCK  ADVISORY  WRITE\n";
        let on = |major, inode| {
            let device = rustix::fs::makedev(major, 1);
            find(locks, Identity { device, inode })
        };
        assert_eq!(on(8, 53), Some(815));
        assert_eq!(
            on(9, 53),
            Some(814),
            "of another device, for want of a better one"
        );
        assert_eq!(on(8, 54), None);
    }
}
