//! A machine to probe: folders of programs, a home, and the environment that leads there.
#![allow(dead_code, reason = "each test program uses its own part")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

#[path = "../processes/mod.rs"]
mod processes;

use std::ffi::OsString;
use std::fs::{Permissions, create_dir_all, set_permissions, write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fusion_cursor_native::cli::discover::{DiscoverError, ModelsRequest, discover};
use fusion_cursor_native::cli::models::ModelList;
use fusion_cursor_native::cli::probe::{ProbeRequest, probe, validate};
use fusion_cursor_native::cli::verdict::BinaryStatus;
use fusion_cursor_native::process::Owner;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) use processes::*;

/// The limit of a command that is expected to answer.
pub(crate) const AMPLE: Duration = Duration::from_secs(15);
/// The limit where one command is expected to hang and another one to answer, on a busy machine too.
pub(crate) const TIGHT: Duration = Duration::from_secs(2);
/// The limit where nothing is expected to answer.
pub(crate) const SCANT: Duration = Duration::from_millis(300);

pub(crate) const VERSION: &str = "2026.08.11-e8db854";

/// The body of a shell script that answers as the agent does.
pub(crate) const AGENT: &str = r#"
case "$*" in
  --version) echo 2026.08.11-e8db854 ;;
  "status --format json") echo '{"status":"authenticated","isAuthenticated":true}' ;;
  models) printf 'Available models\n\nauto - Auto (default)\n' ;;
  *) exit 9 ;;
esac
"#;

/// The same behind the wrapper `cursor`, which is an editor without the word `agent`.
pub(crate) const WRAPPER: &str = r#"
[ "$1" = agent ] || { printf '1.7.44\n9d178a4149c8c6f84dca1ba8a4e0f8b3a4a1d2c3\nx64\n'; exit 0; }
shift
case "$*" in
  --version) echo 2026.08.11-e8db854 ;;
  "status --format json") echo '{"isAuthenticated":true}' ;;
  models) printf 'Available models\n\nauto - Auto (default)\n' ;;
  *) exit 9 ;;
esac
"#;

pub(crate) struct Machine {
    folder: TempDir,
    /// The folders of `PATH`, below the machine's own.
    path: Vec<PathBuf>,
    added: Vec<(String, String)>,
    pub(crate) limit: Duration,
}

impl Machine {
    /// An empty home, and two empty folders in `PATH`: `one` and `two`.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = ["one", "two"].map(|name| folder.path().join(name)).to_vec();
        for place in path.iter().chain([&folder.path().join("home")]) {
            create_dir_all(place).unwrap();
        }
        Self {
            folder,
            path,
            added: Vec::new(),
            limit: AMPLE,
        }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The path as a program of this machine gets it.
    pub(crate) fn text(&self, name: &str) -> String {
        self.at(name).to_str().unwrap().to_owned()
    }

    /// A shell script at this place.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        self.file(name, format!("#!/bin/sh\n{body}\n"), 0o755)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>, mode: u32) -> PathBuf {
        let path = self.at(name);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(&path, content).unwrap();
        set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        path
    }

    /// The stand-in at this place, playing this scenario.
    pub(crate) fn stand_in(&mut self, name: &str, scenario: &Value) -> PathBuf {
        let path = self.at(name);
        create_dir_all(path.parent().unwrap()).unwrap();
        symlink(env!("CARGO_BIN_EXE_fusion-cursor-stand-in"), &path).unwrap();
        write(self.at("scenario.json"), scenario.to_string()).unwrap();
        self.set("FUSION_CURSOR_SCENARIO", &self.text("scenario.json"));
        path
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.added.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn path_is(&mut self, folders: &[&str]) {
        self.path = folders.iter().map(|name| self.at(name)).collect();
    }

    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::join_paths(&self.path).unwrap();
        let mut all: Vec<(OsString, OsString)> =
            vec![("PATH".into(), path), ("HOME".into(), self.at("home").into())];
        for (name, value) in &self.added {
            all.retain(|(known, _)| known.as_os_str() != name.as_str());
            all.push((name.into(), value.into()));
        }
        all
    }

    pub(crate) fn without(&self, names: &[&str]) -> Vec<(OsString, OsString)> {
        let mut all = self.environment();
        all.retain(|(name, _)| !names.iter().any(|other| name == other));
        all
    }

    pub(crate) fn request(&self, configured: Option<&str>) -> ProbeRequest {
        ProbeRequest {
            configured: configured.map(str::to_owned),
            environment: self.environment(),
            limit: self.limit,
            owner: Owner(0),
        }
    }

    pub(crate) async fn probe(&self) -> BinaryStatus {
        within("the probe", probe(self.request(None))).await
    }

    pub(crate) async fn probe_configured(&self, configured: &str) -> BinaryStatus {
        within("the probe", probe(self.request(Some(configured)))).await
    }

    pub(crate) async fn validate(&self, configured: &str) -> (bool, BinaryStatus) {
        within("the validation", validate(self.request(Some(configured)))).await
    }

    pub(crate) async fn models(&self, binary: &str) -> Result<ModelList, DiscoverError> {
        let request = ModelsRequest {
            binary: binary.to_owned(),
            environment: self.environment(),
            limit: self.limit,
            owner: Owner(0),
        };
        within("the models", discover(request)).await
    }

    /// The lines of a file that programs write to; none where there is no file.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.at(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The process id in a file, once it is there.
    pub(crate) async fn pid(&self, name: &str) -> u32 {
        let path = self.at(name);
        eventually(&format!("{name} is there"), || path.exists()).await;
        std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
    }
}

pub(crate) fn path_of(status: &BinaryStatus) -> Option<&Path> {
    status.program.as_ref().map(|program| program.path.as_path())
}

pub(crate) fn reason(status: &BinaryStatus) -> &str {
    status.reason.as_deref().unwrap_or_default()
}
