//! The report on how the stand-in was launched.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{codec, sys};

/// Command line, environment, working directory, stdin so far, ids and open files.
pub(crate) fn report(stdin: &[u8]) -> Value {
    let argv: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let env: BTreeMap<String, String> = std::env::vars_os()
        .map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        })
        .collect();
    let mut report = json!({
        "type": "echo",
        "argv": argv,
        "cwd": cwd(),
        "env": env,
        "pid": std::process::id(),
        "stdin": {
            "length": stdin.len(),
            "base64": codec::to_base64(stdin),
            "text": std::str::from_utf8(stdin).ok(),
        },
    });
    if let (Some(report), Value::Object(identity)) = (report.as_object_mut(), sys::identity()) {
        report.extend(identity);
    }
    report
}

/// The working directory; empty where it is gone.
pub(crate) fn cwd() -> String {
    std::env::current_dir()
        .map(|path| path.to_string_lossy().into_owned())
        .unwrap_or_default()
}
