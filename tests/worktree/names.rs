//! Folders whose names mean something to git.

use std::ffi::OsStr;
use std::fs::create_dir_all;
use std::os::unix::ffi::OsStrExt;

use crate::support::*;

const ODD: &[&[u8]] = &[
    b"*",
    b"a*b",
    b"**",
    b"[ab]",
    b"[!a]",
    b"]",
    b"!not",
    b"#comment",
    b"who?",
    br"back\slash",
    br"end\",
    b" leading",
    b"trailing ",
    b"tab\there",
    b"cr\r",
    "größer 文件".as_bytes(),
    b"{a,b}",
    b":(glob)x",
    b"-dash",
    b"\"quoted\"",
];

#[tokio::test]
async fn no_name_is_taken_for_a_pattern() {
    let place = Place::new();
    let top = place.repository("r");
    for name in ODD {
        let folder = top.join("in").join(OsStr::from_bytes(name));
        // What the name would match, were it a pattern.
        create_dir_all(top.join("in/axb/.cursor")).unwrap();
        create_dir_all(&folder).unwrap();
        place.is_kept_clean(&top, &folder).await;
    }
}

#[tokio::test]
async fn a_name_covers_no_other_folder() {
    let place = Place::new();
    let top = place.repository("r");
    let (star, other) = (top.join("a*b"), top.join("axb"));
    create_dir_all(&star).unwrap();
    ensure(&place.shape(&star).await).await.unwrap();
    fill(&other);
    assert!(
        place
            .shown(&top)
            .iter()
            .any(|name| name.contains("axb/.cursor/mcp.json"))
    );
}

#[tokio::test]
async fn the_repository_itself_may_lie_anywhere() {
    let place = Place::new();
    for name in ODD.iter().copied().chain([&b"line\nbreak"[..]]) {
        let top = place.repository(OsStr::from_bytes(name));
        let sub = top.join("sub");
        create_dir_all(&sub).unwrap();
        place.is_kept_clean(&top, &top).await;
        place.is_kept_clean(&top, &sub).await;
    }
}

#[tokio::test]
async fn a_line_break_in_the_prefix_is_refused_before_anything_is_written() {
    let place = Place::new();
    let top = place.repository("r");
    let folder = top.join("line\nbreak/sub");
    create_dir_all(&folder).unwrap();
    let said = failed(place.look(&folder).await);
    assert!(
        said.contains("line break") && said.contains("line\\nbreak"),
        "{said}"
    );
}

/// Only file systems of Linux keep such names.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_name_need_not_be_text() {
    let place = Place::new();
    let top = place.repository("r");
    let folder = top.join(OsStr::from_bytes(b"\xff\xfe*"));
    create_dir_all(&folder).unwrap();
    place.is_kept_clean(&top, &folder).await;
}
