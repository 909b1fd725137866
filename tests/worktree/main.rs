//! Worktrees as git sees them, with real git in real folders.
#![cfg(unix)]

#[cfg(test)]
mod classify;
#[cfg(test)]
mod exclude;
#[cfg(test)]
mod ignored;
#[cfg(test)]
mod names;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod strange;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tracked;
#[cfg(test)]
mod withdraw;
