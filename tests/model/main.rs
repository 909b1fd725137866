//! Random interleavings of sessions, deaths, clocks and operators, against a simple model of what must be there.
//!
//! `MODEL_SEED=7 cargo nextest run --features failpoints --test model` repeats the run of one seed;
//! `MODEL_STEPS=1000000` makes as many steps in all.
#![cfg(unix)]

#[cfg(test)]
mod act;
#[cfg(test)]
mod edits;
#[cfg(test)]
mod run;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod steps;
#[cfg(test)]
mod texts;
#[cfg(test)]
mod tree;
#[cfg(test)]
mod world;
