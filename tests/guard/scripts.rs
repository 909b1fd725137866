//! What the kernel knows no format for is treated alike with a guard and without one.

use std::fs::{Permissions, set_permissions, write};
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::host::{Host, Stage};

#[test]
fn a_script_without_a_first_line_is_the_shells_and_a_foreign_program_is_refused() {
    let stage = Stage::new(&json!({ "turn": [] }));
    let elf = [b"\x7fELF\x02\x01\x01\0(garbage) (".as_slice(), &[0xB7; 64]].concat();
    for guarded in [true, false] {
        let mut host = Host::start();
        assert_eq!(host.hear(), "here");
        if !guarded {
            host.tell("program /none/guard");
        }
        for (name, content, outcome) in [
            (
                "script",
                &b"echo \"$# $1 $2 ${0##*/}\"; exit 3\n"[..],
                "Code(3) 2 one two words script",
            ),
            ("empty", b"", "Code(0) "),
            ("named", b"#!/bin/sh\necho \"$2\"\n", "Code(0) two words"),
            ("no interpreter", b"#!/none/sh\n", "NoInterpreter"),
            ("foreign", &elf, "WrongFormat"),
            (
                "windows",
                b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0",
                "WrongFormat",
            ),
        ] {
            let file = stage.path(name);
            write(&file, content).unwrap();
            set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
            let told = host.ask(&format!("run {}", file.display()));
            assert_eq!(told, outcome, "{name}, guarded: {guarded}");
        }
        set_permissions(stage.path("script"), Permissions::from_mode(0o644)).unwrap();
        let told = host.ask(&format!("run {}", stage.path("script").display()));
        assert_eq!(told, "NotPermitted", "guarded: {guarded}");
        assert_eq!(host.ask("run /none/agent"), "Gone", "guarded: {guarded}");
        assert_eq!(host.guard() != Some(0), guarded);
    }
}
