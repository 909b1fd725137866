//! What Cursor's CLI is: where its program lies, the flags it takes, the environment it gets, and what its
//! answers and failure texts mean. [`candidates`] and [`locate`] look at the disk; the rest are pure functions.

pub mod args;
pub mod auth;
pub mod candidates;
#[cfg(test)]
mod decorated;
pub mod environment;
pub mod failure;
mod json;
pub mod locate;
mod mask;
mod model_row;
pub mod models;
mod runnable;
pub mod said;
mod screen;
pub mod version;
