use std::fs;

use tempfile::TempDir;

use super::*;

/// A process that has ended, as `owner.json` names it.
fn dead_owner() -> String {
    let machine = Machine::get();
    let start = machine.start().unwrap().0.rsplit_once(':').unwrap().0.to_owned();
    // It has the number of this process, and started before it.
    json!({ "pid": machine.pid(), "hostname": machine.hostname(), "processStart": format!("{start}:1") })
        .to_string()
}

fn left_by(parent: &TempDir, digit: char, owner: &str) -> PathBuf {
    let digits = digit.to_string().repeat(TABLE + RANDOM);
    let path = parent.path().join(format!("{PREFIX}77-{digits}"));
    fs::create_dir(&path).unwrap();
    fs::write(path.join(SCHEMA), "{}").unwrap();
    fs::write(path.join(OWNER), owner).unwrap();
    path
}

#[test]
fn a_folder_holds_the_list_until_it_is_removed_and_those_of_the_dead_go() {
    let parent = TempDir::new().unwrap();
    let dead = left_by(&parent, 'a', &dead_owner());
    let alive = left_by(&parent, 'b', &own(Machine::get()));
    let filled = left_by(&parent, 'c', &dead_owner());
    fs::write(filled.join("mine"), "kept").unwrap();
    let killed = parent.path().join(format!(
        "{PREFIX}{}-{:08x}{:016x}",
        i32::MAX,
        table(Machine::get()).unwrap(),
        1
    ));
    fs::create_dir(&killed).unwrap();
    let made = SchemaFolder::make(parent.path(), "[1]", 7).unwrap();
    assert_eq!(fs::read_to_string(made.schema()).unwrap(), "[1]");
    assert!(
        !made.schema().to_str().unwrap().starts_with(r"\\?\"),
        "Node may not know that spelling"
    );
    assert!(!dead.exists() && !killed.exists() && alive.join(SCHEMA).exists());
    assert_eq!(fs::read_to_string(filled.join("mine")).unwrap(), "kept");
    let second = SchemaFolder::make(parent.path(), "[2]", 8).unwrap();
    assert!(made.schema().exists(), "of a bridge of this process");
    for folder in [&made, &second] {
        folder.remove();
        assert!(!folder.schema().parent().unwrap().exists());
        folder.remove();
    }
}
