//! A host's tools behind a port of this machine, with real connections.
#![cfg(unix)]

#[cfg(test)]
#[path = "../aside/mod.rs"]
mod aside;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod closing;
#[cfg(test)]
mod deadlines;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod protection;
#[cfg(test)]
mod support;
