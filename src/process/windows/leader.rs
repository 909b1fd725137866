//! The process that a tree begins with, on Windows: the first one of a job. `leader_unix.rs` is its twin.

use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _, OwnedHandle};
use std::sync::Arc;

use windows_sys::Win32::System::Threading::{GetExitCodeProcess, INFINITE, TerminateProcess};

use super::platform::create::{Plan, create};
use super::platform::handle::{done, ended};
use super::platform::job::Job;
use super::platform::{KILLED_CODE, Signal, system_folder};
use super::quote::push_word;
use super::{Exit, Reach};

/// A started process. While one of these is there, no other process gets its number.
#[derive(Debug, Clone)]
pub(super) struct Leader {
    pid: i32,
    process: Arc<OwnedHandle>,
    job: Option<Arc<Job>>,
}

/// One that was just started, and this side's ends of its pipes.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) leader: Leader,
    pub(super) stdin: Option<OwnedHandle>,
    pub(super) stdout: Option<OwnedHandle>,
    pub(super) stderr: Option<OwnedHandle>,
}

/// How long `taskkill` may take, in milliseconds.
const TASKKILL: u32 = 5000;

impl Leader {
    pub(super) fn new(pid: i32, process: OwnedHandle, job: Option<Arc<Job>>) -> Self {
        Self {
            pid,
            process: Arc::new(process),
            job,
        }
    }

    pub(super) fn of(child: &Child) -> Self {
        child.leader.clone()
    }

    /// Its process id.
    pub(super) fn number(&self) -> i32 {
        self.pid
    }

    /// What it is in, where it could be put into one.
    pub(super) fn job(&self) -> Option<&Arc<Job>> {
        self.job.as_ref()
    }

    /// End it, or all that came of it. Nobody can be asked to.
    pub(super) fn signal(&self, reach: Reach, signal: Signal) {
        if signal != Signal::KILL {
            return;
        }
        let sent = match (reach, &self.job) {
            (Reach::All, Some(job)) => job.terminate(),
            // Itself in any case: the program that follows its children may be missing.
            (Reach::All, None) if !self.has_ended(0) => self.end_tree().and(self.terminate()),
            _ => self.terminate(),
        };
        // One that is ending already refuses to be ended.
        if let Err(error) = sent
            && !self.has_ended(0)
        {
            tracing::debug!(pid = self.pid, %error, "the process was not ended");
        }
    }

    fn terminate(&self) -> io::Result<()> {
        // SAFETY: the handle is open, and one that this host made, with all rights.
        done(unsafe { TerminateProcess(self.process.as_raw_handle(), KILLED_CODE) })
    }

    /// Without a job the system's own program follows parents and children.
    fn end_tree(&self) -> io::Result<()> {
        let Some(system) = system_folder() else {
            return Ok(());
        };
        let program = system.join("taskkill.exe");
        let mut line = Vec::new();
        push_word(&mut line, &program.as_os_str().encode_wide().collect::<Vec<_>>());
        for word in ["/T", "/F", "/PID", &self.pid.cast_unsigned().to_string()] {
            push_word(&mut line, &word.encode_utf16().collect::<Vec<_>>());
        }
        let plan = Plan {
            program: &program,
            line,
            cwd: &system,
            env: &[],
        };
        let taskkill = create(&plan, None)?;
        taskkill.resume()?;
        if !ended(taskkill.process.as_handle(), TASKKILL) {
            // SAFETY: the handle is open.
            let _gone = unsafe { TerminateProcess(taskkill.process.as_raw_handle(), KILLED_CODE) };
        }
        Ok(())
    }

    fn has_ended(&self, within: u32) -> bool {
        ended(self.process.as_handle(), within)
    }

    /// Wait until it has ended. `None` where the system does not tell.
    pub(super) fn wait(&self) -> Option<Exit> {
        let mut code = 0;
        // SAFETY: the handle is open, and the code is written to a number of this function.
        let told = self.has_ended(INFINITE)
            && unsafe { GetExitCodeProcess(self.process.as_raw_handle(), &raw mut code) } != 0;
        if !told {
            tracing::error!(pid = self.pid, "cannot wait for the process");
        }
        told.then_some(Exit::Code(code.cast_signed()))
    }

    /// It has ended: give its number back.
    #[allow(clippy::unused_self, reason = "its twin has a zombie to take away")]
    pub(super) fn reap(&self, child: Child) {
        drop(child);
    }

    /// End all of it.
    pub(super) fn kill_and_reap(&self) {
        self.signal(Reach::All, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;
    use std::time::Duration;

    use super::super::exec::spawn;
    use super::super::survey::{self, Lineage};
    use super::super::{Launch, Mark, Owner};
    use super::*;

    /// A `cmd` that waits for a grandchild of its own, which waits for its input.
    fn tree() -> Child {
        let shell = system_folder().unwrap().join("cmd.exe");
        let launch = Launch {
            program: shell.clone(),
            args: ["/d", "/c", "cmd.exe", "/d", "/c", "cmd.exe"]
                .map(OsString::from)
                .into(),
            cwd: shell.parent().unwrap().to_owned(),
            env: vec![("PATH".into(), shell.parent().unwrap().into())],
            owner: Owner(0),
            via: None,
        };
        spawn(&launch).unwrap()
    }

    fn lineage(leader: &Leader) -> Lineage {
        Lineage::of_leader(Mark::next(), leader)
    }

    /// All of the tree, once it has grown.
    fn grown(leader: &Leader) -> Vec<survey::Process> {
        let mut before = Vec::new();
        let deadline = std::time::Instant::now() + Duration::from_secs(20);
        loop {
            let found = lineage(leader).look();
            // Twice the same: Wine makes up the start of a process that has only just begun.
            if found.len() >= 3 && found == before {
                return found;
            }
            assert!(std::time::Instant::now() < deadline, "{found:?}");
            before = found;
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    fn all_end(processes: &[survey::Process]) {
        let deadline = std::time::Instant::now() + Duration::from_secs(10);
        loop {
            let alive: Vec<_> = processes.iter().filter(|process| process.is_alive()).collect();
            if alive.is_empty() {
                return;
            }
            assert!(std::time::Instant::now() < deadline, "{alive:?}");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_job_ends_as_one_and_tells_its_exit_code() {
        let child = tree();
        let leader = Leader::of(&child);
        let all = grown(&leader);
        assert!(
            all.iter().all(|process| process.group == leader.number()),
            "shells that wait for each other are the way to the agent: {all:?}"
        );
        leader.signal(Reach::All, Signal::TERM);
        assert!(all.iter().all(survey::Process::is_alive), "nobody is asked");
        leader.signal(Reach::All, Signal::KILL);
        assert_eq!(leader.wait(), Some(Exit::KILLED));
        all_end(&all);
        assert!(lineage(&leader).look().is_empty());
    }

    #[test]
    fn what_a_lineage_finds_it_ends_without_its_leader() {
        let child = tree();
        let all = grown(&child.leader);
        let left = lineage(&child.leader).end(Duration::from_secs(60), Duration::from_secs(10));
        assert!(
            left.is_empty(),
            "and without a grace that nobody could use: {left:?}"
        );
        all_end(&all);
    }

    #[test]
    fn the_last_handle_takes_all_with_it_unless_they_were_let_go() {
        let (ended, kept) = (tree(), tree());
        let (first, second) = (grown(&ended.leader), grown(&kept.leader));
        drop(ended);
        all_end(&first);
        kept.leader.job().unwrap().release().unwrap();
        // Without its pipes it would end by itself.
        let Child {
            leader,
            stdin: _stdin,
            stdout: _stdout,
            stderr: _stderr,
        } = kept;
        drop(leader);
        assert!(second.iter().all(survey::Process::is_alive), "{second:?}");
        for process in &second {
            survey::end_one(process).unwrap();
        }
        all_end(&second);
    }

    #[test]
    fn without_a_job_parents_lead_to_all_of_it() {
        let child = tree();
        let all = grown(&child.leader);
        // The real one stays, and would end them all at the end of this test.
        let loose = Leader {
            job: None,
            ..child.leader.clone()
        };
        let mut before = lineage(&loose);
        assert_eq!(before.look().len(), all.len());
        loose.signal(Reach::All, Signal::KILL);
        assert_eq!(loose.wait(), Some(Exit::KILLED));
        let after: Vec<_> = lineage(&loose).look().iter().map(|process| process.id).collect();
        let lost = all
            .iter()
            .find(|process| process.is_alive() && !after.contains(&process.id));
        assert_eq!(lost, None, "one that has ended is still their parent");
        let left = before.end(Duration::ZERO, Duration::from_secs(10));
        assert!(left.is_empty(), "{left:?}");
        all_end(&all);
    }

    #[test]
    fn a_script_is_not_started_as_a_program() {
        let launch = Launch {
            program: r"C:\none\agent.cmd".into(),
            args: Vec::new(),
            cwd: Path::new(r"C:\").to_owned(),
            env: Vec::new(),
            owner: Owner(0),
            via: None,
        };
        assert_eq!(spawn(&launch).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
