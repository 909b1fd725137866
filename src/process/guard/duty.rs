//! The guard's side: leave the host behind, listen, and clean up when the host has gone.

use std::ffi::OsString;
use std::io::{self, BufRead};
use std::os::fd::RawFd;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use super::protocol::{Kept, READY, Word};
use crate::process::survey::Lineage;

/// Between SIGTERM and SIGKILL. All is to be gone within three seconds.
const GRACE: Duration = Duration::from_secs(1);
/// How long after the SIGKILL the guard still looks. What stays that long cannot be killed.
const PATIENCE: Duration = Duration::from_secs(9);
/// How long a process that the host died over may take until it can be found.
const BIRTH: Duration = Duration::from_secs(1);
/// Between two looks for it.
const PAUSE: Duration = Duration::from_millis(5);

/// What the program of the guard does. It is started with the host's mark as its argument, and with the socket to
/// the host as its standard input.
#[must_use]
pub fn stand() -> ExitCode {
    let host = std::env::args_os().nth(1).map(OsString::into_string);
    let Some(Ok(host)) = host else {
        return ExitCode::from(64);
    };
    // In the session of the host still, which is not one of its turns'.
    let mut turns = Lineage::of_host(&host, Vec::new());
    leave_host();
    // A host that has gone meanwhile is noticed by the reading.
    let _heard = rustix::io::write(rustix::stdio::stdin(), &[READY]);
    let last = listen(io::stdin().lock());
    clean_up(&mut turns, &last);
    ExitCode::SUCCESS
}

/// What is to be done at the end.
#[derive(Debug, Default, PartialEq, Eq)]
struct Orders {
    kept: Kept,
    /// A process may be on its way that no look can find yet.
    starting: bool,
}

/// Listen until the host has gone.
fn listen(mut host: impl BufRead) -> Orders {
    let mut orders = Orders::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        match host.read_until(b'\n', &mut line) {
            Ok(1..) => match Word::parse(&line) {
                Some(Word::Keep(first, last)) => orders.kept.add(first, last),
                Some(Word::Starting) => orders.starting = true,
                Some(Word::Started) => orders.starting = false,
                None => {}
            },
            // A socket that cannot be read leads to no host.
            Ok(0) | Err(_) => return orders,
        }
    }
}

/// End what the host has left running.
fn clean_up(turns: &mut Lineage, orders: &Orders) {
    for turn in orders.kept.turns() {
        turns.keep(turn);
    }
    // Between the fork and the moment where the new program's environment is in place, a process has no mark.
    let born_by = Instant::now() + BIRTH;
    loop {
        let _cannot_be_ended = turns.end(GRACE, PATIENCE);
        if !orders.starting || Instant::now() >= born_by {
            return;
        }
        thread::park_timeout(PAUSE);
    }
}

/// Out of the session of the host, deaf to what it is sent, and with nothing of it in hand but the socket.
fn leave_host() {
    // It fails only for the leader of a group, and whoever starts this by hand may well see it there.
    let _alone = rustix::process::setsid();
    for signal in [
        libc::SIGHUP,
        libc::SIGINT,
        libc::SIGQUIT,
        libc::SIGTERM,
        libc::SIGPIPE,
    ] {
        // SAFETY: no handler is installed that could run, and no other thread does anything with signals.
        let _before = unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    for number in inherited() {
        // SAFETY: nothing in this program has opened a descriptor yet but the listing, which is closed by now.
        let _closed = unsafe { libc::close(number) };
    }
}

/// Open descriptors beyond the three standard ones.
fn inherited() -> Vec<RawFd> {
    let Ok(listing) = std::fs::read_dir("/dev/fd") else {
        return Vec::new();
    };
    let numbers = listing
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
    numbers.filter(|number| *number > 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(said: &str) -> (Vec<u64>, bool) {
        let orders = listen(said.as_bytes());
        (orders.kept.turns().collect(), orders.starting)
    }

    #[test]
    fn what_the_host_said_last_counts() {
        assert_eq!(heard(""), (vec![], false));
        assert_eq!(heard("starting\nstarted\n"), (vec![], false));
        assert_eq!(heard("starting\nstarted\nstarting\n"), (vec![], true));
        assert_eq!(
            heard("keep 7-7\nstarting\nkeep 1-2\nstarted\n"),
            (vec![1, 2, 7], false)
        );
    }

    #[test]
    fn a_host_that_died_in_the_middle_of_a_word_did_not_say_it() {
        assert_eq!(heard("starting\nstart"), (vec![], true));
        assert_eq!(heard("keep 1-1"), (vec![], false));
        assert_eq!(heard("\n\nkeep\nwhat\nkeep 1-1\n"), (vec![1], false));
    }
}
