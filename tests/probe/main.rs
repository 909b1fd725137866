//! Probing and model discovery, on real programs in real folders.
#![cfg(unix)]

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod candidates;
#[cfg(test)]
mod models;
#[cfg(test)]
mod states;
#[cfg(test)]
mod support;
#[cfg(test)]
mod wrapper;
