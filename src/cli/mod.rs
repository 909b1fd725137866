//! What Cursor's CLI is: where its program lies, the flags it takes, the environment it gets, and what its
//! words mean. [`candidates`] and [`locate`] look at the disk, [`probe`] and [`discover`] run short commands; the rest
//! are pure functions.

pub mod args;
pub mod candidates;
pub mod environment;
pub mod failure;
pub mod locate;
