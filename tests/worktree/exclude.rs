//! The exclude file, whatever is there.

use std::fs::{Permissions, create_dir, read, remove_dir_all, remove_file, set_permissions, write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Instant;

use fusion_cursor_native::disk::{self, Fault};
use fusion_cursor_native::worktree::{GitError, Repository};

use crate::support::*;

async fn repository(place: &Place) -> (PathBuf, Repository, PathBuf) {
    let top = place.repository("r");
    let shape = place.shape(&top).await;
    let file = exclude_file(&shape);
    (top, shape, file)
}

fn disk_error(result: Result<bool, GitError>) -> disk::Error {
    match result {
        Err(GitError::Disk(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn whatever_was_written_there_is_had_back() {
    let place = Place::new();
    let (top, _, file) = repository(&place).await;
    for bytes in [
        &b""[..],
        b"\n",
        b"*.o\n",
        b"*.o",
        b"*.o\r\n*.a\r\n",
        b"*.o\r\n*.a",
        b"*.o\r",
        b"\n\n\n",
        b"\xef\xbb\xbf*.o\n",
        b"\xff\x00\xfe\n# \xe9",
    ] {
        write(&file, bytes).unwrap();
        place.is_kept_clean(&top, &top).await;
        assert_eq!(read(&file).unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_missing_file_and_a_missing_folder_are_missing_again() {
    let place = Place::new();
    let (top, _, file) = repository(&place).await;
    remove_file(&file).unwrap();
    place.is_kept_clean(&top, &top).await;
    remove_dir_all(file.parent().unwrap()).unwrap();
    place.is_kept_clean(&top, &top).await;
    assert!(!file.parent().unwrap().exists());
}

#[tokio::test]
async fn what_was_made_stays_where_somebody_else_uses_it_by_now() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    let info = file.parent().unwrap();
    remove_dir_all(info).unwrap();
    ensure(&shape).await.unwrap();
    append(&file, "*.o\n");
    assert!(withdraw(&shape).await.unwrap());
    assert_eq!(exclude_text(&shape), "*.o\n");
    remove_dir_all(info).unwrap();
    ensure(&shape).await.unwrap();
    write(info.join("attributes"), "*.png binary\n").unwrap();
    assert!(withdraw(&shape).await.unwrap());
    assert!(!file.exists() && info.join("attributes").exists());
}

#[tokio::test]
async fn the_mode_stays() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    for mode in [0o600, 0o640, 0o644, 0o664, 0o666, 0o755] {
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let now = || file.metadata().unwrap().permissions().mode() & 0o7777;
        ensure(&shape).await.unwrap();
        assert_eq!(now(), mode);
        withdraw(&shape).await.unwrap();
        assert_eq!(now(), mode);
    }
}

#[tokio::test]
async fn what_is_read_only_is_left_alone_also_by_root() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    let (info, before) = (file.parent().unwrap(), read(&file).unwrap());
    for (path, mode) in [(&*file, 0o444), (info, 0o555)] {
        let original = path.metadata().unwrap().permissions();
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
        let refused = ensure(&shape).await;
        let said = refused.as_ref().unwrap_err().to_string();
        let error = disk_error(refused);
        assert!(matches!(error.what, Fault::Denied(_)), "{error}");
        assert!(
            said.contains(file.to_str().unwrap()) && said.contains("writable"),
            "{said}"
        );
        assert_eq!(read(&file).unwrap(), before);
        set_permissions(path, original).unwrap();
        // Lines that are there already need no write.
        ensure(&shape).await.unwrap();
        let original = path.metadata().unwrap().permissions();
        set_permissions(path, Permissions::from_mode(mode)).unwrap();
        assert!(!ensure(&shape).await.unwrap());
        disk_error(withdraw(&shape).await);
        set_permissions(path, original).unwrap();
        assert!(withdraw(&shape).await.unwrap());
    }
}

#[tokio::test]
async fn what_is_no_file_is_refused_at_once_and_stays() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    let target = place.at("target");
    write(&target, "*.o\n").unwrap();
    let mut sockets = Vec::new();
    for kind in ["link", "dangling", "folder", "fifo", "socket", "device"] {
        remove_file(&file).or_else(|_| remove_dir_all(&file)).unwrap();
        let there = match kind {
            "link" => symlink(&target, &file).is_ok(),
            "dangling" => symlink("/nowhere", &file).is_ok(),
            "folder" => create_dir(&file).is_ok(),
            "fifo" => tool("mkfifo", &[file.as_os_str()]),
            "socket" => UnixListener::bind(&file)
                .map(|socket| sockets.push(socket))
                .is_ok(),
            _ => {
                is_root()
                    && tool(
                        "mknod",
                        &[file.as_os_str(), "c".as_ref(), "1".as_ref(), "3".as_ref()],
                    )
            }
        };
        if !there {
            write(&file, "").unwrap();
            eprintln!("skipped: a {kind} cannot be made here");
            continue;
        }
        let before = file.symlink_metadata().unwrap();
        let began = Instant::now();
        for result in [
            ensure(&shape).await,
            withdraw(&shape).await,
            shape.exclusion().map(|report| report.present),
        ] {
            let said = result.as_ref().unwrap_err().to_string();
            let error = disk_error(result);
            assert!(
                matches!(error.what, Fault::Symlink | Fault::NotAFile(_)),
                "{kind}: {error}"
            );
            assert!(
                said.contains(file.to_str().unwrap()) && said.contains("a real one"),
                "{said}"
            );
        }
        assert!(began.elapsed().as_secs() < 8, "{kind}: {:?}", began.elapsed());
        assert_eq!(file.symlink_metadata().unwrap().file_type(), before.file_type());
        assert_eq!(read(&target).unwrap(), b"*.o\n");
    }
}

#[tokio::test]
async fn a_folder_that_is_a_link_is_refused_too() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    let (info, elsewhere) = (file.parent().unwrap(), place.at("elsewhere"));
    std::fs::rename(info, &elsewhere).unwrap();
    symlink(&elsewhere, info).unwrap();
    let before = read(elsewhere.join("exclude")).unwrap();
    let error = disk_error(ensure(&shape).await);
    assert!(
        matches!(error.what, Fault::Symlink) && error.path == info,
        "{error}"
    );
    assert_eq!(read(elsewhere.join("exclude")).unwrap(), before);
}

#[tokio::test]
async fn a_huge_file_is_refused() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    let limit = 8 << 20;
    write(&file, vec![b'\n'; limit + 1]).unwrap();
    assert!(matches!(
        disk_error(ensure(&shape).await).what,
        Fault::TooLarge(_)
    ));
    // With our lines it would be one that we could not read any more.
    write(&file, vec![b'\n'; limit - 10]).unwrap();
    assert!(matches!(
        disk_error(ensure(&shape).await).what,
        Fault::TooLarge(_)
    ));
    assert_eq!(file.metadata().unwrap().len(), limit as u64 - 10);
    write(&file, vec![b'\n'; limit - 1000]).unwrap();
    assert!(ensure(&shape).await.unwrap());
    assert!(withdraw(&shape).await.unwrap());
    assert_eq!(file.metadata().unwrap().len(), limit as u64 - 1000);
}

#[tokio::test]
async fn a_peers_block_is_ours_too() {
    let place = Place::new();
    let (top, shape, file) = repository(&place).await;
    let theirs = format!("*.o\n{BLOCK}*.a\n");
    write(&file, &theirs).unwrap();
    assert!(!ensure(&shape).await.unwrap());
    assert_eq!(exclude_text(&shape), theirs);
    fill(&top);
    place.verify(&top).await.unwrap();
    assert!(!withdraw(&shape).await.unwrap());
    clear(&top);
    assert!(withdraw(&shape).await.unwrap());
    assert_eq!(exclude_text(&shape), "*.o\n*.a\n");
}

#[tokio::test]
async fn a_block_that_a_peer_removed_comes_back() {
    let place = Place::new();
    let (top, shape, file) = repository(&place).await;
    ensure(&shape).await.unwrap();
    fill(&top);
    write(&file, "*.o\n").unwrap();
    assert!(!shape.exclusion().unwrap().present);
    assert!(ensure(&shape).await.unwrap());
    assert_eq!(place.shown(&top), [""; 0]);
}

#[tokio::test]
async fn the_report_only_reads() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    let absent = shape.exclusion().unwrap();
    assert_eq!((absent.file.as_path(), absent.present), (&*file, false));
    assert!(absent.prefixes.is_empty());
    write(
        &file,
        BLOCK.replace("/.cursor", "/a*b/.cursor").replace('*', r"\*"),
    )
    .unwrap();
    let other = shape.exclusion().unwrap();
    assert_eq!((other.present, other.prefixes), (false, vec![b"a*b/".to_vec()]));
    ensure(&shape).await.unwrap();
    assert!(shape.exclusion().unwrap().present);
    remove_dir_all(file.parent().unwrap()).unwrap();
    assert!(!shape.exclusion().unwrap().present);
    assert!(!file.parent().unwrap().exists());
    std::fs::rename(place.at("r"), place.at("moved")).unwrap();
    let said = shape.exclusion().unwrap_err().to_string();
    assert!(
        said.contains(shape.common_dir.to_str().unwrap()) && said.contains("moved or removed"),
        "{said}"
    );
}

#[tokio::test]
async fn no_temporary_file_is_seen_beside_it() {
    let place = Place::new();
    let (_, shape, file) = repository(&place).await;
    let names = || {
        let listed = std::fs::read_dir(file.parent().unwrap()).unwrap();
        listed.map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>()
    };
    ensure(&shape).await.unwrap();
    assert_eq!(names(), ["exclude"]);
    withdraw(&shape).await.unwrap();
    assert_eq!(names(), ["exclude"]);
}
