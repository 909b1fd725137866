//! The stand-in agent.

fn main() {}
