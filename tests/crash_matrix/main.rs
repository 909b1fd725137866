//! Whoever dies at whatever step: what an operator finds afterwards is what he had.
//!
//! Every test here is one state that a worktree may be in. In a copy of it a child process does an operation and is
//! killed before and after each step that changes the disk; then the worktree is reconciled and compared. The table
//! of all of them is in `docs/crash-matrix.md`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by a panic")]
#![allow(clippy::disallowed_methods, reason = "a test is its own host")]

#[path = "../aside/mod.rs"]
mod aside;
mod cell;
mod child;
mod place;
mod state;
mod table;

use state::State;

macro_rules! states {
    ($($name:ident => $state:ident,)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                cell::all_of(State::$state).await;
            }
        )*
    };
}

states! {
    no_file => NoFile,
    no_file_in_a_folder_of_the_operators => NoFileInFolder,
    a_file => Plain,
    a_file_without_servers => Bare,
    a_commented_file => Commented,
    edited_before => EditedBefore,
    edited_meanwhile => EditedMeanwhile,
    broken_before => Broken,
    quarantined => Quarantined,
    beside_a_living_session => Peer,
    a_linked_worktree => Linked,
    a_subfolder => Subfolder,
    a_git_directory_without_an_exclude_file => NoInfo,
    no_repository => NoGit,
}
