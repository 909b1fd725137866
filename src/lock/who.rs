//! Who a process is, so that a reused pid is not taken for it; and what time it is. Tests put their own in place.

use std::env::consts::OS;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use super::system::{self, look};

/// When a process started: an opaque word that holds the boot, the pid namespace and the start time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStart(pub String);

impl fmt::Display for ProcessStart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What became of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// It runs: this very one.
    Alive,
    /// It has ended.
    Dead,
    /// There is a process of that number, but nothing says that it is the one.
    MaybeAlive,
    /// Another machine, or another pid namespace.
    Unknown,
}

/// The clock and the table of processes.
pub trait World: fmt::Debug + Send + Sync {
    /// Epoch milliseconds.
    fn now_ms(&self) -> i64;
    /// The number of this process.
    fn pid(&self) -> u32;
    /// The name of this machine.
    fn hostname(&self) -> &str;
    /// When this process started; `None` where the system does not tell.
    fn start(&self) -> Option<&ProcessStart>;
    /// What became of a process that wrote these down.
    fn life(&self, pid: i64, hostname: &str, start: Option<&str>) -> Life;
    /// Whether a process with this start runs, or ran, on the kernel that this one runs on: what that kernel has
    /// locked for the one, the other cannot lock.
    fn same_kernel(&self, start: &str) -> bool {
        let own = self.start().and_then(|own| Word::of(&own.0));
        let other = Word::of(start);
        own.zip(other)
            .is_some_and(|(own, other)| (own.system, own.boot) == (other.system, other.boot))
    }
}

/// Which table of processes this one is in, in a few digits: one of the same number is the same but for one chance in
/// four thousand million. `None` where the system does not tell.
#[must_use]
pub fn table(world: &dyn World) -> Option<u32> {
    let own = Word::of(&world.start()?.0)?;
    let mut hasher = DefaultHasher::new();
    (world.hostname(), own.system, own.boot, own.room).hash(&mut hasher);
    u32::try_from(hasher.finish() >> 32).ok()
}

/// The parts of a [`ProcessStart`], as in `linux:<boot>:<pid namespace>:<time>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Word<'a> {
    system: &'a str,
    boot: &'a str,
    room: &'a str,
    time: u64,
}

impl<'a> Word<'a> {
    fn of(word: &'a str) -> Option<Self> {
        let mut parts = word.split(':');
        let (system, boot, room) = (parts.next()?, parts.next()?, parts.next()?);
        let time = parts.next()?.parse().ok()?;
        let whole = parts.next().is_none() && !boot.is_empty();
        whole.then_some(Self {
            system,
            boot,
            room,
            time,
        })
    }
}

/// The real one.
#[derive(Debug)]
pub struct Machine {
    hostname: String,
    start: Option<ProcessStart>,
}

impl Machine {
    /// The one that this process runs on.
    pub fn get() -> &'static Self {
        static MACHINE: OnceLock<Machine> = OnceLock::new();
        MACHINE.get_or_init(|| {
            let start = system::birth().map(|birth| ProcessStart(format!("{OS}:{birth}")));
            Self {
                hostname: system::hostname(),
                start,
            }
        })
    }
}

impl World for Machine {
    #[allow(
        clippy::disallowed_methods,
        reason = "the format counts in that clock, and who judges by it minds jumps"
    )]
    fn now_ms(&self) -> i64 {
        epoch_ms(SystemTime::now())
    }

    fn pid(&self) -> u32 {
        std::process::id()
    }

    fn hostname(&self) -> &str {
        &self.hostname
    }

    fn start(&self) -> Option<&ProcessStart> {
        self.start.as_ref()
    }

    fn life(&self, pid: i64, hostname: &str, start: Option<&str>) -> Life {
        let own = self.start.as_ref().and_then(|own| Word::of(&own.0));
        match (own, start.and_then(Word::of)) {
            (Some(own), Some(other)) if (own.system, own.boot) == (other.system, other.boot) => {
                if own.room == other.room {
                    look(pid, Some(other.time))
                } else {
                    Life::Unknown
                }
            }
            // A system beside this one that has its name: a guest such as WSL, which counts its processes by itself.
            (Some(own), Some(other)) if own.system != other.system => Life::Unknown,
            _ if hostname != self.hostname => Life::Unknown,
            // From before the last boot, or of a machine that has the same name: whoever has the number is another.
            (_, Some(_)) => match look(pid, None) {
                Life::Dead => Life::Dead,
                _ => Life::Unknown,
            },
            (_, None) => look(pid, None),
        }
    }
}

/// Whether the process that started then is the one that was written down.
pub(super) fn same(there: u64, written: u64) -> Life {
    if there == written { Life::Alive } else { Life::Dead }
}

/// A time of the file system or of the clock, in milliseconds.
pub(super) fn epoch_ms(time: SystemTime) -> i64 {
    let ms = |time: std::time::Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => ms(since),
        Err(before) => -ms(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_knows_itself() {
        let machine = Machine::get();
        let pid = i64::from(machine.pid());
        let start = machine.start().unwrap().0.as_str();
        assert_eq!(machine.life(pid, machine.hostname(), Some(start)), Life::Alive);
        assert_eq!(machine.life(pid, "renamed-since", Some(start)), Life::Alive);
        assert_eq!(machine.life(pid, machine.hostname(), None), Life::MaybeAlive);
        assert_eq!(machine.life(pid, "elsewhere", None), Life::Unknown);
        assert!(machine.same_kernel(start));
    }

    #[test]
    fn a_reused_number_is_told_by_the_start() {
        let machine = Machine::get();
        let pid = i64::from(machine.pid());
        let own = Word::of(&machine.start().unwrap().0).unwrap();
        let word = |boot: &str, room: &str, time: u64| format!("{}:{boot}:{room}:{time}", own.system);
        let life = |pid, start: &str| machine.life(pid, machine.hostname(), Some(start));
        assert_eq!(life(pid, &word(own.boot, own.room, own.time + 1)), Life::Dead);
        assert_eq!(life(pid, &word(own.boot, "1", own.time)), Life::Unknown);
        assert_eq!(
            life(pid, &word("another-boot", own.room, own.time)),
            Life::Unknown
        );
        assert_eq!(
            life(i64::from(i32::MAX), &word("another-boot", own.room, own.time)),
            Life::Dead
        );
        assert_eq!(
            life(i64::from(i32::MAX), &word(own.boot, own.room, own.time)),
            Life::Dead
        );
        for pid in [pid, i64::from(i32::MAX)] {
            assert_eq!(life(pid, "another-system:boot:1:5"), Life::Unknown);
        }
        assert_eq!(
            life(pid, "of a later version"),
            Life::MaybeAlive,
            "as if it had none"
        );
        assert!(machine.same_kernel(&word(own.boot, "1", 5)));
        assert!(!machine.same_kernel(&word("another-boot", own.room, 5)));
        assert!(!machine.same_kernel("of a later version"));
    }

    #[test]
    fn a_table_of_processes_is_told_from_others_by_all_that_makes_it_one() {
        let of = |hostname: &str, start: &str| {
            let start = Some(ProcessStart(start.to_owned()));
            let hostname = hostname.to_owned();
            table(&Machine { hostname, start })
        };
        let here = of("here", "linux:boot:1:5");
        assert!(here.is_some());
        assert_eq!(here, of("here", "linux:boot:1:6"), "another process of it");
        for (hostname, start) in [
            ("there", "linux:boot:1:5"),
            ("here", "windows:boot:1:5"),
            ("here", "linux:later:1:5"),
            ("here", "linux:boot:2:5"),
        ] {
            assert_ne!(here, of(hostname, start), "{hostname} {start}");
        }
        assert_eq!(of("here", "of a later version"), None);
    }

    #[test]
    fn no_process_has_an_impossible_number() {
        let machine = Machine::get();
        for pid in [0, -1, i64::MIN, i64::MAX, i64::from(i32::MAX)] {
            assert_eq!(machine.life(pid, machine.hostname(), None), Life::Dead, "{pid}");
        }
    }
}
