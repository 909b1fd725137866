//! Where git directories lie.

use std::fs::{create_dir_all, read_to_string, write};
use std::path::Path;

use fusion_cursor_native::worktree::Shape;

use crate::support::*;

#[tokio::test]
async fn the_main_worktree() {
    let place = Place::new();
    let top = place.repository("r");
    let shape = place.shape(&top).await;
    assert_eq!(
        (&shape.git_dir, &shape.common_dir),
        (&top.join(".git"), &top.join(".git"))
    );
    assert_eq!(shape.prefix, b"");
    place.is_kept_clean(&top, &top).await;
}

#[tokio::test]
async fn a_path_over_links_is_resolved_once() {
    let place = Place::new();
    let top = place.repository("r");
    create_dir_all(top.join("apps/web")).unwrap();
    std::os::unix::fs::symlink(top.join("apps/web"), place.at("link")).unwrap();
    let shape = place.shape(&place.at("link")).await;
    assert_eq!((shape.top, shape.prefix), (top, b"apps/web/".to_vec()));
}

#[tokio::test]
async fn a_linked_worktree_shares_the_exclude_file() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let shape = place.shape(&linked).await;
    assert_eq!(shape.git_dir, top.join(".git/worktrees/linked"));
    assert_eq!(shape.common_dir, top.join(".git"));
    assert_eq!(shape.prefix, b"");
    place.is_kept_clean(&linked, &linked).await;
    create_dir_all(linked.join("a/b")).unwrap();
    place.is_kept_clean(&linked, &linked.join("a/b")).await;
}

#[tokio::test]
async fn a_linked_worktree_whose_paths_are_relative() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    write(linked.join(".git"), "gitdir: ../r/.git/worktrees/linked\n").unwrap();
    write(
        top.join(".git/worktrees/linked/gitdir"),
        "../../../../linked/.git\n",
    )
    .unwrap();
    write(top.join(".git/worktrees/linked/commondir"), "../../../.git/\n").unwrap();
    assert_eq!(place.shape(&linked).await.common_dir, top.join(".git"));
    place.is_kept_clean(&linked, &linked).await;
    // The other side has to find it by the same paths.
    let (main, other) = (place.shape(&top).await, place.shape(&linked).await);
    ensure(&other).await.unwrap();
    fill(&linked);
    assert!(!withdraw(&main).await.unwrap());
    let text = exclude_text(&main);
    assert!(!text.contains("worktree:"), "git names it: {text}");
}

#[tokio::test]
async fn a_git_file_with_blanks_at_its_end() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let marker = read_to_string(linked.join(".git")).unwrap();
    let plain = place.shape(&linked).await;
    for end in ["\r\n", "\n\n", "  \n"] {
        write(linked.join(".git"), format!("{}{end}", marker.trim_end())).unwrap();
        // What git makes of it, be it a refusal, is what counts.
        match place.look(&linked).await {
            Ok(looked) => match looked.shape {
                Shape::Repository(shape) => assert_eq!(shape.git_dir, plain.git_dir),
                Shape::NoGit => panic!("{end:?}: it lies in a repository"),
            },
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains(linked.to_str().unwrap()), "{end:?}: {said}");
            }
        }
    }
}

#[tokio::test]
async fn a_git_file_that_leads_nowhere_is_no_missing_repository() {
    let place = Place::new();
    let folder = place.at("broken");
    create_dir_all(folder.join("sub")).unwrap();
    for content in ["gitdir: /nowhere/at/all\n", "nonsense\n", ""] {
        write(folder.join(".git"), content).unwrap();
        for path in [&folder, &folder.join("sub")] {
            let said = failed(place.look(path).await);
            assert!(said.contains(folder.to_str().unwrap()), "{content:?}: {said}");
        }
    }
    // Nor is an empty folder of that name, which git passes over.
    std::fs::remove_file(folder.join(".git")).unwrap();
    create_dir_all(folder.join(".git")).unwrap();
    let said = failed(place.look(&folder.join("sub")).await);
    assert!(
        said.contains(folder.join(".git").to_str().unwrap()) && said.contains("remove"),
        "{said}"
    );
}

#[tokio::test]
async fn a_submodule_has_an_exclude_file_of_its_own() {
    let place = Place::new();
    let (library, top) = (place.repository("library"), place.repository("r"));
    place.run(
        &top,
        &["submodule", "add", "-q", library.to_str().unwrap(), "sub/lib"],
    );
    let sub = top.join("sub/lib");
    let shape = place.shape(&sub).await;
    assert_eq!(
        (&shape.top, &shape.common_dir),
        (&sub, &top.join(".git/modules/sub/lib"))
    );
    place.is_kept_clean(&sub, &sub).await;
    // A linked worktree of the submodule finds the submodule in use by its config.
    let linked = place.worktree(&sub, "linked");
    let other = place.shape(&linked).await;
    ensure(&shape).await.unwrap();
    fill(&sub);
    assert!(!withdraw(&other).await.unwrap());
    assert!(!exclude_text(&shape).contains("worktree:"));
    clear(&sub);
    assert!(withdraw(&other).await.unwrap());
}

fn separate(place: &Place) -> (std::path::PathBuf, std::path::PathBuf) {
    let (top, apart) = (place.at("r"), place.at("apart"));
    create_dir_all(&top).unwrap();
    place.run(
        &top,
        &["init", "-q", "--separate-git-dir", apart.to_str().unwrap()],
    );
    place.run(&top, &["commit", "-qm", "first", "--allow-empty"]);
    (top, apart)
}

#[tokio::test]
async fn a_git_directory_that_lies_apart() {
    let place = Place::new();
    let (top, apart) = separate(&place);
    let shape = place.shape(&top).await;
    assert_eq!((&shape.git_dir, &shape.common_dir), (&apart, &apart));
    place.is_kept_clean(&top, &top).await;
}

#[tokio::test]
async fn linked_worktrees_find_a_main_one_that_nothing_of_gits_names() {
    let place = Place::new();
    let (top, apart) = separate(&place);
    let linked = place.worktree(&top, "linked");
    let (main, other) = (place.shape(&top).await, place.shape(&linked).await);
    assert_eq!(
        (&other.common_dir, &other.git_dir),
        (&apart, &apart.join("worktrees/linked"))
    );
    place.is_kept_clean(&linked, &linked).await;
    ensure(&main).await.unwrap();
    fill(&top);
    ensure(&other).await.unwrap();
    assert!(
        !withdraw(&other).await.unwrap(),
        "the main worktree needs the lines"
    );
    assert_eq!(place.shown(&top), [""; 0]);
    clear(&top);
    assert!(withdraw(&other).await.unwrap());
    assert!(!exclude_text(&main).contains("fusion"));
}

#[tokio::test]
async fn a_worktree_that_was_moved_by_hand_is_found() {
    let place = Place::new();
    let top = place.repository("r");
    let linked = place.worktree(&top, "linked");
    let moved = place.at("moved");
    std::fs::rename(&linked, &moved).unwrap();
    let (main, other) = (place.shape(&top).await, place.shape(&moved).await);
    ensure(&other).await.unwrap();
    fill(&moved);
    assert!(!withdraw(&main).await.unwrap());
    assert_eq!(place.shown(&moved), [""; 0]);
    clear(&moved);
    assert!(withdraw(&main).await.unwrap());
}

#[tokio::test]
async fn nothing_can_be_committed_from_a_folder_without_a_working_tree() {
    let place = Place::new();
    let plain = place.at("plain");
    create_dir_all(&plain).unwrap();
    let bare = place.at("bare");
    create_dir_all(&bare).unwrap();
    place.run(&bare, &["init", "-q", "--bare"]);
    let top = place.repository("r");
    let elsewhere = place.repository("elsewhere");
    place.run(&elsewhere, &["config", "core.worktree", plain.to_str().unwrap()]);
    for folder in [
        &plain,
        &bare,
        &bare.join("refs"),
        &top.join(".git"),
        &top.join(".git/refs"),
        &elsewhere,
    ] {
        let looked = place.look(folder).await.unwrap();
        assert!(
            matches!(looked.shape, Shape::NoGit),
            "{}: {looked:?}",
            folder.display()
        );
        assert!(looked.tracked.is_empty());
    }
}

#[tokio::test]
async fn a_bare_repository_with_linked_worktrees() {
    let place = Place::new();
    let (source, bare) = (place.repository("source"), place.at("hub/.git"));
    place.run(&source, &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
    let (one, two) = (place.worktree(&bare, "one"), place.worktree(&bare, "two"));
    place.is_kept_clean(&one, &one).await;
    let (first, second) = (place.shape(&one).await, place.shape(&two).await);
    ensure(&first).await.unwrap();
    fill(&one);
    assert!(!withdraw(&second).await.unwrap());
}

#[tokio::test]
async fn subfolders_have_their_own_lines() {
    let place = Place::new();
    let top = place.repository("r");
    let (web, api) = (top.join("apps/web"), top.join("apps/api"));
    create_dir_all(&web).unwrap();
    create_dir_all(&api).unwrap();
    place.is_kept_clean(&top, &web).await;
    let (one, two) = (place.shape(&web).await, place.shape(&api).await);
    assert_eq!(
        (&one.prefix[..], &two.prefix[..]),
        (&b"apps/web/"[..], &b"apps/api/"[..])
    );
    ensure(&one).await.unwrap();
    assert!(
        ensure(&two).await.unwrap(),
        "a block is there, but not with these lines"
    );
    fill(&web);
    fill(&api);
    assert_eq!(place.shown(&top), [""; 0]);
    clear(&web);
    assert!(withdraw(&one).await.unwrap());
    let left = two.exclusion().unwrap();
    assert_eq!((left.present, left.prefixes), (true, vec![b"apps/api/".to_vec()]));
    assert_eq!(place.shown(&top), [""; 0]);
}

#[tokio::test]
async fn a_cursor_folder_that_is_a_repository_of_its_own_is_refused() {
    let place = Place::new();
    let top = place.repository("r");
    place.repository("r/.cursor");
    let outside = place.at("outside");
    place.repository("outside/.cursor");
    for folder in [&top, &outside] {
        let said = failed(place.look(folder).await);
        assert!(said.contains(folder.join(".cursor").to_str().unwrap()), "{said}");
        assert!(said.contains("elsewhere"), "{said}");
    }
}

#[tokio::test]
async fn a_repository_around_a_mount_counts() {
    let place = Place::new();
    let top = place.repository("r");
    let mounted = top.join("data");
    create_dir_all(&mounted).unwrap();
    if !mount(&mounted) {
        eprintln!("skipped: only root can mount");
        return;
    }
    let shape = place.look(&mounted).await;
    unmount(&mounted);
    let Shape::Repository(shape) = shape.unwrap().shape else {
        panic!("`git add` at the top takes what lies in the mount");
    };
    assert_eq!((shape.top, shape.prefix), (top, b"data/".to_vec()));
}

fn mount(folder: &Path) -> bool {
    tool(
        "mount",
        &[
            "-t".as_ref(),
            "tmpfs".as_ref(),
            "none".as_ref(),
            folder.as_os_str(),
        ],
    )
}

fn unmount(folder: &Path) {
    assert!(tool("umount", &[folder.as_os_str()]));
}

#[tokio::test]
async fn a_working_tree_that_is_its_own_git_directory_is_refused() {
    let place = Place::new();
    let top = place.at("r");
    create_dir_all(&top).unwrap();
    place.run(&top, &["init", "-q", "--bare", "."]);
    place.run(&top, &["config", "core.bare", "false"]);
    place.run(&top, &["config", "core.worktree", top.to_str().unwrap()]);
    let said = failed(place.look(&top).await);
    assert!(
        said.contains("the git directory of its own working tree"),
        "{said}"
    );
}
