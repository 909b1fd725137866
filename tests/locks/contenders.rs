//! Many at once, with nothing but the lock directory between them.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use fusion_cursor_native::lock::{Attempt, DirectoryLock, Machine, World};

use super::support::{NAME, Place, TTL, dead_pid, no_kernel};

const CONTENDERS: u32 = 16;
const ROUNDS: u32 = 30;

#[test]
fn of_all_who_find_a_dead_lock_one_gets_it_at_a_time() {
    let place = Arc::new(Place::new());
    let dead = dead_pid();
    for _ in 0..ROUNDS {
        let hostname = Machine::get().hostname();
        place.plugins(Some(&format!(
            r#"{{"pid":{dead},"hostname":"{hostname}","acquiredAt":1}}"#
        )));
        let (inside, served) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let barrier = Arc::new(Barrier::new(usize::try_from(CONTENDERS).unwrap()));
        let contend = || {
            let (place, barrier) = (Arc::clone(&place), Arc::clone(&barrier));
            let (inside, served) = (Arc::clone(&inside), Arc::clone(&served));
            thread::spawn(move || {
                let elsewhere = Place::new();
                let kernel = no_kernel(&elsewhere.folder);
                barrier.wait();
                loop {
                    let attempt = DirectoryLock::attempt(&place.folder, NAME, TTL, &kernel, Machine::get());
                    match attempt.unwrap() {
                        Attempt::Busy(_) => thread::yield_now(),
                        Attempt::Taken(lock) => {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                            lock.check().unwrap();
                            thread::yield_now();
                            lock.check().unwrap();
                            inside.fetch_sub(1, Ordering::SeqCst);
                            lock.release().unwrap();
                            served.fetch_add(1, Ordering::SeqCst);
                            return;
                        }
                    }
                }
            })
        };
        let threads: Vec<_> = (0..CONTENDERS).map(|_| contend()).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(served.load(Ordering::SeqCst), CONTENDERS);
        assert_eq!(fs::read_dir(place.temp.path()).unwrap().count(), 0);
    }
}
