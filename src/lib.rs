//! The native core of fusion-cursor-native.

pub mod cli;
pub mod process;
pub mod stream;
