//! Bytes to lines to events.

pub mod event;
