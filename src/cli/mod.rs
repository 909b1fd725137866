//! What Cursor's CLI is: where its program lies, the flags it takes, the environment it gets, and what its
//! answers and failure texts mean. [`candidates`] and [`locate`] look at the disk, [`probe`] and [`discover`] run
//! short commands; the rest are pure functions.

pub mod args;
mod ask;
pub mod auth;
pub mod candidates;
#[cfg(test)]
mod decorated;
pub mod discover;
pub mod environment;
pub mod failure;
mod found;
mod json;
pub mod launcher;
pub mod locate;
mod mask;
mod model_row;
pub mod models;
mod naming;
pub mod probe;
mod runnable;
pub mod said;
mod screen;
pub mod secrets;
pub mod unstarted;
pub mod verdict;
pub mod version;
