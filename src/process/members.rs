//! Who else is in a process group whose leader is a zombie: something that signals alone cannot tell on Linux.

use rustix::process::Pid;

/// Whether a process of this group is alive; zombies are not.
#[cfg(target_os = "linux")]
pub(super) async fn any_alive(group: Pid) -> bool {
    tokio::task::spawn_blocking(move || scan(group))
        .await
        .unwrap_or(false)
}

#[cfg(target_os = "linux")]
fn scan(group: Pid) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    processes.flatten().any(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit)
            && std::fs::read(entry.path().join("stat")).is_ok_and(|stat| alive_in(&stat, group.as_raw_pid()))
    })
}

/// Reads one `/proc/<pid>/stat`: `pid (comm) state ppid pgrp …`, where `comm` may hold anything.
#[cfg(target_os = "linux")]
fn alive_in(stat: &[u8], group: i32) -> bool {
    let Some(end) = memchr::memrchr(b')', stat) else {
        return false;
    };
    let mut fields = stat[end + 1..]
        .split(|byte| *byte == b' ')
        .filter(|field| !field.is_empty());
    let state = fields.next();
    let in_group = fields
        .nth(1)
        .and_then(|field| std::str::from_utf8(field).ok()?.parse::<i32>().ok())
        .is_some_and(|pgrp| pgrp == group);
    in_group && !matches!(state, Some(b"Z" | b"X" | b"x") | None)
}

/// Whether a process of this group is alive; a group of zombies answers EPERM here.
#[cfg(not(target_os = "linux"))]
pub(super) async fn any_alive(group: Pid) -> bool {
    std::future::ready(rustix::process::test_kill_process_group(group).is_ok()).await
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::alive_in;

    #[test]
    fn a_live_member_is_told_from_zombies_and_strangers() {
        assert!(alive_in(b"12 (node) S 1 7 7 0 -1", 7));
        assert!(!alive_in(b"12 (node) Z 1 7 7 0 -1", 7), "a zombie");
        assert!(!alive_in(b"12 (node) S 1 8 7 0 -1", 7), "another group");
        assert!(
            !alive_in(b"12 (node) S 7 8 8 0 -1", 7),
            "a child in another group"
        );
    }

    #[test]
    fn a_name_that_looks_like_fields_fools_nobody() {
        assert!(alive_in(b"12 (a) Z 1 8 (b) R 1 7 7 0", 7));
        assert!(!alive_in(b"12 () S 1 7) Z 1 7 7 0", 7));
        assert!(!alive_in(b"12 (cut", 7));
        assert!(!alive_in(b"", 7));
    }
}
