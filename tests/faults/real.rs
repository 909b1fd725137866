//! Disks that are really full, and folders that really may not be written.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fusion_cursor_native::mcp::{Reason, StagingError};

use super::aside;
use super::child::{KEY, try_stage};
use super::place::{CONFIG, Place};
use super::state::State;
use super::whole::{Before, is_told};

/// Runs a test of this file where it may mount something, and nobody else sees it.
#[cfg(target_os = "linux")]
fn apart(name: &str) {
    use std::process::{Command, Stdio};
    let namespace: &[&str] = if rustix::process::geteuid().is_root() {
        &["--mount"]
    } else {
        &["--user", "--map-root-user", "--mount"]
    };
    let mut try_it = Command::new("unshare");
    let mount = "exec mount -t tmpfs tmpfs /mnt";
    let permitted = try_it
        .args(namespace)
        .args(["sh", "-c", mount])
        .stderr(Stdio::null())
        .status();
    if !permitted.is_ok_and(|status| status.success()) {
        return;
    }
    let mut run = Command::new("unshare");
    run.args(namespace).arg(std::env::current_exe().unwrap());
    let ran = run
        .args(["--exact", name, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    aside::passed(&ran);
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_is_full() {
    apart("real::inside::full");
}

#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_becomes_read_only() {
    apart("real::inside::read_only");
}

#[test]
fn folders_that_may_not_be_written() {
    aside::as_ordinary_user("real::inside::forbidden");
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// It was refused for that, and says so.
fn read_only<T: std::fmt::Debug>(done: Result<T, StagingError>) {
    match done {
        Err(StagingError::Failed(problem)) if problem.reason == Reason::ReadOnly => {
            is_told(&problem).unwrap();
        }
        other => panic!("{other:?}"),
    }
}

mod inside {
    use super::*;

    /// A disk of its own for a worktree, gone with the process.
    struct Disk {
        place: Place,
        before: Before,
    }

    impl Disk {
        fn new(state: State) -> Self {
            let mounted = Path::new("/mnt");
            mount(&["-t", "tmpfs", "-o", "size=512k", "tmpfs", "/mnt"]);
            let room = tempfile::tempdir_in(mounted).unwrap();
            let place = state.make().copy_into(room);
            let before = Before::of(&place);
            Self { place, before }
        }

        /// Fill it, but for so many bytes.
        fn fill(&self, but: u64) {
            let mut file = fs::File::create(self.filler()).unwrap();
            while file.write_all(&[0; 1024]).is_ok() {}
            let full = file.metadata().unwrap().len();
            file.set_len(full.saturating_sub(but)).unwrap();
        }

        fn make_room(&self) {
            fs::remove_file(self.filler()).unwrap();
        }

        fn filler(&self) -> std::path::PathBuf {
            self.place.room().with_extension("filler")
        }
    }

    fn mount(args: &[&str]) {
        let mounted = std::process::Command::new("mount").args(args).status().unwrap();
        assert!(mounted.success());
    }

    fn on_a_full_disk<T>(done: Result<T, StagingError>) -> Option<T> {
        match done {
            Ok(done) => Some(done),
            Err(StagingError::Failed(problem)) => {
                is_told(&problem).unwrap();
                None
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "it mounts a disk, and is run apart by another test"]
    async fn full() {
        let disk = Disk::new(State::Commented);
        let place = &disk.place;
        let (mut refused, mut staged) = (0, 0);
        for pages in 0..16 {
            disk.fill(pages * 4096);
            let lease = on_a_full_disk(try_stage(place.path(), KEY).await);
            disk.before.is_kept(place).unwrap();
            disk.make_room();
            if let Some(lease) = lease {
                staged += 1;
                disk.fill(0);
                lease.heartbeat().await;
                disk.before.is_kept(place).unwrap();
                let disposed = on_a_full_disk(lease.dispose().await);
                disk.before.is_kept(place).unwrap();
                disk.make_room();
                if disposed.is_none() {
                    lease.dispose().await.unwrap();
                }
            } else {
                refused += 1;
            }
            disk.before.comes_back(place).await.unwrap();
        }
        assert!(refused > 0 && staged > 0, "{refused} refused, {staged} staged");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "it mounts a disk, and is run apart by another test"]
    async fn read_only() {
        let disk = Disk::new(State::Plain);
        let place = &disk.place;
        let remount = |how: &str| mount(&["-o", &format!("remount,bind,{how}"), "/mnt"]);
        let before = place.snapshot();
        remount("ro");
        super::read_only(try_stage(place.path(), KEY).await);
        remount("rw");
        assert_eq!(place.snapshot(), before, "nothing was written");
        let lease = try_stage(place.path(), KEY).await.unwrap();
        let staged = place.snapshot();
        remount("ro");
        assert!(!lease.heartbeat().await);
        super::read_only(lease.dispose().await);
        remount("rw");
        assert_eq!(place.snapshot(), staged);
        lease.dispose().await.unwrap();
        disk.before.comes_back(place).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    #[ignore = "it is run as an ordinary user by another test"]
    async fn forbidden() {
        for (state, folder) in [
            (State::Plain, ".cursor"),
            (State::Plain, ".git/info"),
            (State::Plain, ".git"),
            (State::NoFile, ""),
        ] {
            let place = state.make();
            let (before, whole) = (place.snapshot(), Before::of(&place));
            let folder = place.file(folder);
            chmod(&folder, 0o555);
            super::read_only(try_stage(place.path(), KEY).await);
            chmod(&folder, 0o755);
            assert_eq!(
                place.snapshot(),
                before,
                "{}: nothing was written",
                folder.display()
            );
            whole.comes_back(&place).await.unwrap();
        }
        let place = State::Plain.make();
        let before = Before::of(&place);
        let lease = try_stage(place.path(), KEY).await.unwrap();
        let config = place.config();
        chmod(&place.file(".cursor"), 0o555);
        assert!(!lease.heartbeat().await);
        super::read_only(lease.dispose().await);
        assert_eq!(place.config(), config);
        before.is_kept(&place).unwrap();
        chmod(&place.file(".cursor"), 0o755);
        lease.dispose().await.unwrap();
        before.comes_back(&place).await.unwrap();
        assert!(place.file(CONFIG).exists());
    }
}
