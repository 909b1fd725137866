//! The guard: a small process beside the host, which ends what is left of its turns when the host has gone.
//!
//! No code of a host runs where it is killed, and the kernel's own word to a child goes to that child alone. So a
//! second process waits at the other end of a socket that closes with the host, however the host ends, and then
//! looks for every process that carries the host's mark, sessions and parents aside.
//!
//! There is one for each host, started before its first process. It is in a session of its own, deaf to the
//! signals of terminals, holds nothing of the host but that socket, and leaves right after the host. Where it is
//! ended itself, it is started again. Where it cannot be had, a process is bound to the host by the kernel
//! (Linux), which reaches the agent itself and nobody that it has started.

mod duty;
mod host;
mod program;
mod protocol;

pub use duty::stand;
pub(super) use host::starting;
pub use host::{keep, kept, pid, use_program};
