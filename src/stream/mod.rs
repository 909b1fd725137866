//! Bytes to lines to events.

pub mod batch;
pub mod event;
