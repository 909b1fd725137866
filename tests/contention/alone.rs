//! What a cycle of a session that is alone costs.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use fusion_cursor_native::disk::synced;

use crate::aside::{passed, test};
use crate::support::*;

const CYCLES: usize = 20;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// In a process of its own, as all syncs of a process are counted.
#[test]
fn a_cycle_syncs_no_more_than_it_has_to() {
    let done = test("alone::counting").output().unwrap();
    passed(&done);
    for line in String::from_utf8_lossy(&done.stdout)
        .lines()
        .filter(|line| line.contains("takes"))
    {
        println!("{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
#[ignore = "a worker of the tests"]
async fn counting() {
    let place = Place::new();
    let tree = place.repository("r");
    for (text, most) in [(None, 12), (Some(PLAIN), 13)] {
        if let Some(text) = text {
            tree.write(text);
        }
        let (mut cycles, mut waits) = (Vec::new(), Vec::new());
        for _ in 0..CYCLES {
            let (before, began) = (synced(), Instant::now());
            dispose(&tree.stage().await).await;
            cycles.push(began.elapsed());
            waits.push(synced().time.saturating_sub(before.time));
            let syncs = synced().count - before.count;
            assert!(syncs <= most, "{syncs} syncs");
        }
        let (cycle, wait) = (median(cycles), median(waits));
        println!("\na cycle takes {cycle:?}, of which {wait:?} are at most {most} syncs");
    }
}

#[tokio::test]
async fn a_cycle_starts_at_most_three_git_processes_and_none_at_its_end() {
    let mut place = Place::new();
    let path = place
        .env
        .iter()
        .find(|(name, _)| name == "PATH")
        .unwrap()
        .1
        .clone();
    let real = std::env::split_paths(&path)
        .map(|folder| folder.join("git"))
        .find(|git| git.exists())
        .unwrap();
    let (bin, log) = (place.at("bin"), place.at("log"));
    fs::create_dir(&bin).unwrap();
    let counted = format!(
        "#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
        log.display(),
        real.display()
    );
    fs::write(bin.join("git"), counted).unwrap();
    fs::set_permissions(bin.join("git"), Permissions::from_mode(0o755)).unwrap();
    let path = std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path))).unwrap();
    place.env.retain(|(name, _)| name != "PATH");
    place.env.push(("PATH".into(), path));
    let started = || fs::read_to_string(&log).unwrap_or_default().lines().count();
    let main = place.repository("r");
    for tree in [&main, &main.linked("linked")] {
        let before = started();
        let lease = tree.stage().await;
        assert!(started() - before <= 3, "{}", fs::read_to_string(&log).unwrap());
        let before = started();
        assert!(within("a beat", lease.heartbeat()).await);
        dispose(&lease).await;
        assert_eq!(started(), before);
    }
}
