//! Many at once: processes in one worktree, worktrees of one repository with git at work in all of them, and the
//! plugin beside us.
#![cfg(unix)]

#[cfg(test)]
mod alone;
#[cfg(test)]
#[path = "../aside/mod.rs"]
mod aside;
#[cfg(test)]
mod beside;
#[cfg(test)]
mod cycles;
#[cfg(test)]
mod git_at_work;
#[cfg(test)]
mod peer;
#[cfg(test)]
#[path = "../lease/support.rs"]
mod support;
#[cfg(test)]
mod workers;
