//! Replays the committed inputs of every fuzz target.

use std::fs::{read, read_dir};
use std::path::Path;

#[path = "../fuzz/bodies.rs"]
mod bodies;

fn corpus() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

#[test]
fn every_input_of_the_corpus_passes() {
    for (name, body) in bodies::BODIES {
        let mut count = 0;
        for entry in read_dir(corpus().join(name)).unwrap() {
            let path = entry.unwrap().path();
            println!("{}", path.display());
            let input = read(&path).unwrap();
            body(&input);
            // What a pipe may leave of it.
            for end in 0..input.len() {
                body(&input[..end]);
            }
            count += 1;
        }
        assert!(count >= 3, "the corpus of {name} is there");
    }
}

#[test]
fn every_corpus_has_a_target() {
    let mut folders: Vec<String> = read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut names: Vec<String> = bodies::BODIES
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    folders.sort();
    names.sort();
    assert_eq!(folders, names);
}
