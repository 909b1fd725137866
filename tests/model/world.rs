//! Machines, processes and clocks that a test has in its hand.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use fusion_cursor_native::lock::{Life, ProcessStart, World};

/// What is true of all machines.
#[derive(Debug)]
pub(crate) struct Machines {
    /// Epoch milliseconds, on each of them.
    clocks: Vec<i64>,
    dead: HashSet<u32>,
    next_pid: u32,
}

/// A process of one of them.
#[derive(Debug)]
pub(crate) struct Process {
    machines: Arc<Mutex<Machines>>,
    pub(crate) host: usize,
    hostname: String,
    pub(crate) pid: u32,
    start: Option<ProcessStart>,
}

impl Machines {
    #[allow(
        clippy::disallowed_methods,
        reason = "the locks compare with what files say of their age"
    )]
    pub(crate) fn new(count: usize) -> Arc<Mutex<Self>> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        Arc::new(Mutex::new(Self {
            clocks: vec![i64::try_from(now).unwrap(); count],
            dead: HashSet::new(),
            next_pid: 1000,
        }))
    }

    pub(crate) fn pass(&mut self, milliseconds: i64) {
        for clock in &mut self.clocks {
            *clock += milliseconds;
        }
    }

    pub(crate) fn jump(&mut self, host: usize, milliseconds: i64) {
        self.clocks[host] += milliseconds;
    }

    pub(crate) fn set_all(&mut self, now: i64) {
        self.clocks.fill(now);
    }

    pub(crate) fn now(&self, host: usize) -> i64 {
        self.clocks[host]
    }

    pub(crate) fn kill(&mut self, pid: u32) {
        self.dead.insert(pid);
    }

    pub(crate) fn is_dead(&self, pid: u32) -> bool {
        self.dead.contains(&pid)
    }
}

impl Process {
    /// A new one. It lives as long as the test program: what it has locked outlives it.
    pub(crate) fn start(machines: &Arc<Mutex<Machines>>, host: usize, tells_start: bool) -> &'static Self {
        let pid = {
            let mut machines = machines.lock().unwrap();
            machines.next_pid += 1;
            machines.next_pid
        };
        Box::leak(Box::new(Self {
            machines: Arc::clone(machines),
            host,
            hostname: format!("host-{host}"),
            pid,
            start: tells_start.then(|| ProcessStart(format!("model:boot-{host}:1:{pid}"))),
        }))
    }

    pub(crate) fn tells_start(&self) -> bool {
        self.start.is_some()
    }
}

impl World for Process {
    fn now_ms(&self) -> i64 {
        self.machines.lock().unwrap().now(self.host)
    }

    fn pid(&self) -> u32 {
        self.pid
    }

    fn hostname(&self) -> &str {
        &self.hostname
    }

    fn start(&self) -> Option<&ProcessStart> {
        self.start.as_ref()
    }

    fn life(&self, pid: i64, hostname: &str, start: Option<&str>) -> Life {
        if hostname != self.hostname {
            return Life::Unknown;
        }
        let dead = u32::try_from(pid).map_or(true, |pid| self.machines.lock().unwrap().is_dead(pid));
        match start {
            _ if dead => Life::Dead,
            Some(_) => Life::Alive,
            None => Life::MaybeAlive,
        }
    }
}
