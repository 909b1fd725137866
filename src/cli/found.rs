//! What was found for a name, so that not every turn looks through all folders of a `PATH`.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::candidates::Places;
use super::locate::Program;

/// How long what was found is believed. Something better may be installed at any time.
const BELIEVED: Duration = Duration::from_secs(10);
/// So many are kept at most: a host has one `PATH`, or a few.
const KEPT: usize = 64;

/// Programs by what was looked for, and where.
#[derive(Debug, Default)]
pub(super) struct Found(HashMap<(Option<String>, Places), (Program, Instant)>);

impl Found {
    /// What was found not long ago, if that is still there.
    pub(super) fn get(&self, name: Option<&str>, places: &Places, now: Instant) -> Option<Program> {
        let key = (name.map(str::to_owned), places.clone());
        let (program, since) = self.0.get(&key)?;
        let fresh = now.saturating_duration_since(*since) < BELIEVED;
        (fresh && program.path.is_file()).then(|| program.clone())
    }

    /// This was found.
    pub(super) fn put(&mut self, name: Option<&str>, places: &Places, program: &Program, now: Instant) {
        self.0
            .retain(|_, (_, since)| now.saturating_duration_since(*since) < BELIEVED);
        if self.0.len() < KEPT {
            let key = (name.map(str::to_owned), places.clone());
            self.0.insert(key, (program.clone(), now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(path: &std::path::Path) -> Places {
        Places::of(&[("PATH".into(), path.into())])
    }

    #[test]
    fn it_is_believed_for_a_while_for_the_same_place_and_while_it_is_there() {
        let top = tempfile::tempdir().unwrap();
        let file = top.path().join("agent.exe");
        std::fs::write(&file, "").unwrap();
        let (here, there) = (places(top.path()), places(&top.path().join("b")));
        let program = Program::new(file.clone());
        let now = Instant::now();
        let mut found = Found::default();
        found.put(None, &here, &program, now);
        assert_eq!(found.get(None, &here, now), Some(program.clone()));
        assert_eq!(found.get(None, &here, now + BELIEVED), None, "not for ever");
        assert_eq!(found.get(Some("agent"), &here, now), None, "another name");
        assert_eq!(found.get(None, &there, now), None, "another PATH");
        std::fs::remove_file(&file).unwrap();
        assert_eq!(found.get(None, &here, now), None, "it has gone");
    }

    #[test]
    fn only_so_many_are_kept() {
        let program = Program::new("/x".into());
        let now = Instant::now();
        let mut found = Found::default();
        for number in 0..KEPT * 2 {
            found.put(Some(&number.to_string()), &Places::default(), &program, now);
        }
        assert_eq!(found.0.len(), KEPT);
        found.put(None, &Places::default(), &program, now + BELIEVED);
        assert_eq!(found.0.len(), 1);
    }
}
