//! Descriptors for a host that has run out of them.
//!
//! A look at processes opens files. A host that leaks descriptors, or opens as many as it may, must still be able to
//! end what its turns have started; so a few are put aside while there are some.

use std::io;
use std::os::fd::OwnedFd;

use parking_lot::Mutex;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// A look has a folder, a file in it and at times a folder below it open.
const COUNT: usize = 3;

static ASIDE: Mutex<Vec<OwnedFd>> = Mutex::new(Vec::new());

/// Put them aside, as far as there are some. What is there already stays.
pub(super) fn put_aside() {
    fill(&mut ASIDE.lock());
}

fn fill(aside: &mut Vec<OwnedFd>) {
    while aside.len() < COUNT {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let Ok(one) = openat(CWD, "/dev/null", flags, Mode::empty()) else {
            return;
        };
        aside.push(one);
    }
}

/// Whether this is the want of a descriptor.
pub(super) fn is_want(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

/// Do something that opens no more than [`COUNT`] files at a time: where it fails for want of a descriptor, with those
/// that were put aside. Another thread of the host may be quicker to take them.
pub(super) fn with_room<T>(work: impl Fn() -> io::Result<T>) -> io::Result<T> {
    match work() {
        Err(error) if is_want(&error) => {
            let mut aside = ASIDE.lock();
            aside.clear();
            let again = work();
            fill(&mut aside);
            again
        }
        outcome => outcome,
    }
}
