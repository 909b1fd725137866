//! Locks between processes, and what the dead leave.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command};
use std::time::{Duration, Instant};

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::disk::Folder;
use fusion_cursor_native::lock::{
    Attempt, DirectoryLock, Holder, KernelLock, Life, LockError, Machine, World,
};

use super::aside::{self, told};
use super::disk::{only_these, place};

const NAME: &str = "a.lock";
const TTL: Duration = Duration::from_secs(30);
/// Less than [`TTL`]: what comes within it was not waited out.
const PATIENCE: Duration = Duration::from_secs(20);

/// An ignored test that runs as a process of its own, and what it says; ended when this is dropped.
struct Other {
    child: Child,
    said: BufReader<ChildStdout>,
}

impl Other {
    fn start(name: &str, folder: &Folder) -> Self {
        let mut child = aside::start(&format!("locks::inside::{name}"), folder.path().to_str().unwrap());
        let said = BufReader::new(child.stdout.take().unwrap());
        Self { child, said }
    }

    /// The rest of the next line that has this word.
    fn hear(&mut self, word: &str) -> String {
        let mut line = String::new();
        loop {
            line.clear();
            assert_ne!(
                self.said.read_line(&mut line).unwrap(),
                0,
                "it ended without {word:?}"
            );
            if let Some((_, rest)) = line.split_once(&format!("@{word}")) {
                return rest.trim().to_owned();
            }
        }
    }

    fn tell(&mut self, word: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{word}").unwrap();
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _status = self.child.wait();
    }
}

fn say(word: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "@{word}").unwrap();
    out.flush().unwrap();
}

fn until<T>(what: &str, mut so: impl FnMut() -> Option<T>) -> T {
    let give_up = Instant::now() + PATIENCE;
    loop {
        if let Some(so) = so() {
            return so;
        }
        assert!(Instant::now() < give_up, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn kernel(folder: &Folder) -> KernelLock {
    let lock = until("the kernel lock", || KernelLock::attempt(folder).unwrap());
    assert!(lock.held);
    lock
}

/// As where the system gives no such lock: then what is written in the folder has to do.
#[cfg(feature = "failpoints")]
fn no_kernel(folder: &Folder) -> KernelLock {
    use fusion_cursor_native::disk::failpoint::{Verdict, arm};

    const NOT_SUPPORTED: i32 = 50;
    let refused = arm(
        folder.path(),
        Box::new(|step| match step.what {
            "lock.kernel" => Verdict::Fail(NOT_SUPPORTED),
            _ => Verdict::Go,
        }),
    );
    let lock = KernelLock::attempt(folder).unwrap().unwrap();
    drop(refused);
    assert!(!lock.held);
    lock
}

fn attempt(folder: &Folder, kernel: &KernelLock) -> Result<Attempt, LockError> {
    DirectoryLock::attempt(folder, NAME, TTL, kernel, Machine::get())
}

fn taken(folder: &Folder, kernel: &KernelLock) -> DirectoryLock {
    until("the lock folder", || match attempt(folder, kernel).unwrap() {
        Attempt::Taken(lock) => Some(lock),
        Attempt::Busy(_) => None,
    })
}

fn busy(folder: &Folder, kernel: &KernelLock) -> Option<Holder> {
    match attempt(folder, kernel).unwrap() {
        Attempt::Taken(_) => panic!("taken"),
        Attempt::Busy(holder) => holder,
    }
}

/// The number of a process that has ended.
fn dead_pid() -> u32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "none"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    child.wait().unwrap();
    child.id()
}

#[tokio::test]
async fn another_process_waits_and_is_told_for_whom() {
    let (_temp, folder) = place();
    let mut other = Other::start("holds", &folder);
    other.hear("held");
    assert!(KernelLock::attempt(&folder).unwrap().is_none());
    only_these(&folder, &[]);
    let (_calm, calm) = cancel();
    let soon = tokio::time::Instant::now() + Duration::from_millis(300);
    let late = KernelLock::acquire(&folder, soon, &calm).await.unwrap_err();
    let LockError::TimedOut { holder, .. } = &late else {
        panic!("{late}");
    };
    assert_eq!(holder.as_ref().unwrap().pid, Some(other.child.id()), "{late}");
    let by_then = tokio::time::Instant::now() + PATIENCE;
    let waiting = KernelLock::acquire(&folder, by_then, &calm);
    other.tell("go");
    assert!(waiting.await.unwrap().held);
}

#[test]
fn a_kernel_lock_is_gone_with_its_process() {
    let (_temp, folder) = place();
    let mut other = Other::start("holds", &folder);
    other.hear("held");
    assert!(KernelLock::attempt(&folder).unwrap().is_none());
    other.kill();
    drop(kernel(&folder));
    only_these(&folder, &[]);
}

#[test]
fn one_folder_has_one_lock_however_it_is_spelled() {
    let (temp, folder) = place();
    fs::create_dir(temp.path().join("Tree")).unwrap();
    let spelled = |name: &str| Folder::open(&temp.path().join(name)).unwrap();
    let _held = kernel(&spelled("Tree"));
    assert!(KernelLock::attempt(&spelled("TREE")).unwrap().is_none());
    drop(kernel(&folder));
}

#[test]
fn a_lock_folder_says_whose_it_is_and_leaves_nothing() {
    let (temp, folder) = place();
    let kernel = kernel(&folder);
    let lock = taken(&folder, &kernel);
    let owner = fs::read(temp.path().join(NAME).join("owner.json")).unwrap();
    let owner: serde_json::Value = serde_json::from_slice(&owner).unwrap();
    let machine = Machine::get();
    assert_eq!(owner["pid"], std::process::id());
    assert_eq!(owner["hostname"], machine.hostname());
    assert_eq!(owner["processStart"], machine.start().unwrap().0);
    assert_eq!(owner["kernelLock"], true);
    lock.check().unwrap();
    lock.release().unwrap();
    only_these(&folder, &[]);
}

#[cfg(feature = "failpoints")]
#[test]
fn who_is_alive_keeps_his_lock_folder_and_the_dead_do_not() {
    let (_temp, folder) = place();
    let mut other = Other::start("holds_the_folder", &folder);
    other.hear("held");
    let kernel = no_kernel(&folder);
    assert_eq!(busy(&folder, &kernel).unwrap().pid, Some(other.child.id()));
    other.kill();
    let began = Instant::now();
    taken(&folder, &kernel).release().unwrap();
    assert!(began.elapsed() < TTL / 2, "{:?}", began.elapsed());
    only_these(&folder, &[]);
}

#[test]
fn a_dead_plugins_lock_folder_is_taken_over() {
    let (temp, folder) = place();
    let kernel = kernel(&folder);
    let hostname = Machine::get().hostname();
    for (pid, life) in [(dead_pid(), Life::Dead), (std::process::id(), Life::MaybeAlive)] {
        assert_eq!(Machine::get().life(pid.into(), hostname, None), life);
        fs::create_dir(temp.path().join(NAME)).unwrap();
        let now = Machine::get().now_ms();
        let owner = format!(r#"{{"pid":{pid},"hostname":"{hostname}","acquiredAt":{now}}}"#);
        fs::write(temp.path().join(NAME).join("owner.json"), owner).unwrap();
        if life == Life::Dead {
            taken(&folder, &kernel).release().unwrap();
            only_these(&folder, &[]);
        } else {
            assert_eq!(busy(&folder, &kernel).unwrap().pid, Some(pid));
        }
    }
}

#[test]
fn many_processes_count_without_losing_one() {
    const PROCESSES: usize = 4;
    const TIMES: usize = 25;
    let (temp, folder) = place();
    fs::write(temp.path().join("count"), "0").unwrap();
    let mut others: Vec<Other> = (0..PROCESSES).map(|_| Other::start("counts", &folder)).collect();
    for other in &mut others {
        other.tell(&TIMES.to_string());
    }
    for other in &mut others {
        other.hear("done");
    }
    let count = fs::read_to_string(temp.path().join("count")).unwrap();
    assert_eq!(count, (PROCESSES * TIMES).to_string());
    only_these(&folder, &["count"]);
}

#[cfg(feature = "failpoints")]
#[test]
fn whoever_dies_at_any_step_is_followed_by_another() {
    for stale in [false, true] {
        for number in 1.. {
            let (temp, folder) = place();
            if stale {
                fs::create_dir(temp.path().join(NAME)).unwrap();
                let hostname = Machine::get().hostname();
                let owner = format!(
                    r#"{{"pid":{},"hostname":"{hostname}","acquiredAt":1}}"#,
                    dead_pid()
                );
                fs::write(temp.path().join(NAME).join("owner.json"), owner).unwrap();
            }
            let mut other = Other::start("dies", &folder);
            other.tell(&number.to_string());
            let whole = other.child.wait().unwrap().success();
            let kernel = kernel(&folder);
            let began = Instant::now();
            let lock = taken(&folder, &kernel);
            assert!(began.elapsed() < TTL / 2, "step {number}: {:?}", began.elapsed());
            lock.check().unwrap();
            lock.release().unwrap();
            only_these(&folder, &[]);
            if whole {
                assert!(number > 6, "{number}");
                break;
            }
        }
    }
}

mod inside {
    use super::*;

    /// End at once: nothing is dropped, and nothing is given up.
    #[cfg(feature = "failpoints")]
    #[allow(
        clippy::exit,
        reason = "an abort would have the system report a crash, which takes its time"
    )]
    fn gone() -> ! {
        std::process::exit(9);
    }

    fn told_folder() -> Folder {
        Folder::open(told().as_ref()).unwrap()
    }

    #[test]
    #[ignore = "it is run beside another test"]
    fn holds() {
        let folder = told_folder();
        let lock = kernel(&folder);
        say("held");
        told();
        drop(lock);
    }

    #[test]
    #[ignore = "it is run beside another test, and killed"]
    fn holds_the_folder() {
        let folder = told_folder();
        let kernel = kernel(&folder);
        let _lock = taken(&folder, &kernel);
        say("held");
        told();
    }

    #[test]
    #[ignore = "it is run beside another test"]
    fn counts() {
        let folder = told_folder();
        let times: usize = told().parse().unwrap();
        let path = folder.path().join("count");
        for _ in 0..times {
            let kernel = kernel(&folder);
            let lock = taken(&folder, &kernel);
            let count: usize = fs::read_to_string(&path).unwrap().parse().unwrap();
            lock.check().unwrap();
            fs::write(&path, (count + 1).to_string()).unwrap();
            lock.release().unwrap();
        }
        say("done");
    }

    #[cfg(feature = "failpoints")]
    #[test]
    #[ignore = "it is run by another test, and ends itself"]
    fn dies() {
        use fusion_cursor_native::disk::failpoint::{Moment, Verdict, arm};

        let folder = told_folder();
        let number: u64 = told().parse().unwrap();
        let kernel = kernel(&folder);
        let _armed = arm(
            folder.path(),
            Box::new(move |step| {
                if step.number == number && step.moment == Moment::Before {
                    gone();
                }
                Verdict::Go
            }),
        );
        let mut lock = taken(&folder, &kernel);
        lock.check().unwrap();
        lock.vacate().unwrap();
        lock.release().unwrap();
    }
}
