//! The same question, for those who cannot wait for a future.

use std::fs::create_dir_all;
use std::path::Path;

use fusion_cursor_native::worktree::{GitError, Tracking, classify};

use crate::support::*;

fn classified(place: &Place, path: &Path) -> Result<Tracking, GitError> {
    classify(path, &place.git())
}

#[test]
fn it_is_tracked_or_not_or_lies_in_no_repository() {
    let place = Place::new();
    let top = place.repository("r");
    assert_eq!(classified(&place, &place.at("home")).unwrap(), Tracking::NonGit);
    assert_eq!(classified(&place, &top).unwrap(), Tracking::Untracked);
    fill(&top);
    assert_eq!(classified(&place, &top).unwrap(), Tracking::Untracked);
    // Of the others it does not tell.
    place.run(&top, &["add", "-f", OURS[1]]);
    assert_eq!(classified(&place, &top).unwrap(), Tracking::Untracked);
    place.run(&top, &["add", "-f", OURS[0]]);
    assert_eq!(classified(&place, &top).unwrap(), Tracking::Tracked);
    create_dir_all(top.join("sub")).unwrap();
    assert_eq!(classified(&place, &top.join("sub")).unwrap(), Tracking::Untracked);
}

#[test]
fn what_cannot_be_told_is_an_error() {
    let mut place = Place::new();
    let top = place.repository("r");
    let gone = place.at("gone");
    let said = classified(&place, &gone).unwrap_err().to_string();
    assert!(said.contains(gone.to_str().unwrap()), "{said}");
    place.set("PATH", "");
    let said = failed(classified(&place, &top));
    assert!(said.contains("PATH"), "{said}");
}
