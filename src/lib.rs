//! The native core of fusion-cursor-native.

pub mod stream;
