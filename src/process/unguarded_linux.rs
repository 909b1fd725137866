//! A process without a guard: the kernel kills it when the host dies.
//!
//! For that it must itself ask the kernel between fork and exec, so the host is forked, and what the process
//! starts is not reached.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr;

use rustix::io::Errno;
use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

/// Bind the life of what is about to start to this thread's, and so to the host's. To be called when all else is
/// set.
///
/// # Errors
/// Where a text holds a zero byte.
pub(super) fn bind(command: &mut Command) -> io::Result<()> {
    let image = Image::of(command)?;
    let host = getpid();
    let become_it = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // A host that died before the line above would never be noticed.
        if getppid() == Some(host) {
            // Here, and not by std: its `execvp` hands what the kernel does not know to the shell.
            Err(image.execute())
        } else {
            Err(io::Error::from(Errno::SRCH))
        }
    };
    // SAFETY: between fork and exec only system calls are made; nothing allocates, locks or panics.
    unsafe {
        command.pre_exec(become_it);
    }
    Ok(())
}

/// All that the system wants to know of a program, made before the fork.
struct Image {
    program: CString,
    /// Pointers into `_texts`, with a null at the end.
    arguments: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    /// What the pointers lead to. Its texts do not move while this lives.
    _texts: Vec<CString>,
}

// SAFETY: the pointers lead to texts that the image itself owns and that nobody changes.
unsafe impl Send for Image {}
// SAFETY: as above; there is nothing in it that changes.
unsafe impl Sync for Image {}

impl Image {
    fn of(command: &Command) -> io::Result<Self> {
        let program = text(command.get_program())?;
        let args = std::iter::once(command.get_program()).chain(command.get_args());
        let args: Vec<_> = args.map(text).collect::<io::Result<_>>()?;
        // Nothing is inherited, so what was removed is not there.
        let pairs = command.get_envs().filter_map(|(name, value)| {
            let pair: OsString = [name, OsStr::new("="), value?].into_iter().collect();
            Some(text(&pair))
        });
        let pairs: Vec<_> = pairs.collect::<io::Result<_>>()?;
        let arguments = pointers(&args);
        let environment = pointers(&pairs);
        let texts = args.into_iter().chain(pairs).collect();
        Ok(Self {
            program,
            arguments,
            environment,
            _texts: texts,
        })
    }

    /// Become this program. Returns only where the system refuses.
    fn execute(&self) -> io::Error {
        // SAFETY: the path and all texts end with a zero, both lists end with a null, and all of it lives on in `self`.
        unsafe {
            libc::execve(
                self.program.as_ptr(),
                self.arguments.as_ptr(),
                self.environment.as_ptr(),
            );
        }
        io::Error::last_os_error()
    }
}

fn text(of: &OsStr) -> io::Result<CString> {
    CString::new(of.as_bytes()).map_err(io::Error::from)
}

fn pointers(texts: &[CString]) -> Vec<*const libc::c_char> {
    let all = texts.iter().map(|text| CStr::as_ptr(text));
    all.chain([ptr::null()]).collect()
}
