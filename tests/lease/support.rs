//! Worktrees, sessions in them, and all that lies there.
#![allow(dead_code, reason = "not every part is for every system")]
#![allow(
    clippy::disallowed_methods,
    reason = "a test is its own host, and waits as it likes"
)]

#[path = "../git/mod.rs"]
mod git;
#[path = "../processes/mod.rs"]
mod processes;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use fusion_cursor_native::cancel::cancel;
use fusion_cursor_native::mcp::manifest::ServerEntry;
use fusion_cursor_native::mcp::{
    Lease, Problem, ReconcileReport, StageRequest, StagingError, WorktreeReport, inspect, reconcile, stage,
};
use fusion_cursor_native::process::Owner;
use fusion_cursor_native::worktree::{Git, LIMIT};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use processes::*;

pub(crate) const CONFIG: &str = ".cursor/mcp.json";
pub(crate) const MANIFEST: &str = ".cursor/.fusion-mcp-state.json";
pub(crate) const LOCK: &str = ".cursor/.fusion-mcp.lock";
pub(crate) const TOKEN: &str = "s3cr3t-token";

/// A config as people write it.
pub(crate) const COMMENTED: &str = "\u{feff}{\r\n\t// mine\r\n\t\"mcpServers\": {\r\n\t\t\"files\": { \"command\": \"npx\", \
    \"args\": [\"-y\", \"http://x//y\",], /* why */ \"n\": 1.0e+2 },\r\n\t},\r\n\t\"other\": [ 1,2 ,3 ]\r\n}";
pub(crate) const PLAIN: &str =
    "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\"\n    }\n  }\n}\n";
/// Without a container for servers.
pub(crate) const BARE: &str = "{ \"a\": 1 }";

/// A folder for one test, with an empty home.
pub(crate) struct Place {
    folder: TempDir,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) lock_timeout: Duration,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(&home).unwrap();
        Self::of(folder, &home)
    }

    /// A folder of its own with this home, beside that: it goes with the home's place where this process is killed.
    pub(crate) fn with_home(home: &Path) -> Self {
        Self::of(tempfile::tempdir_in(home.parent().unwrap()).unwrap(), home)
    }

    fn of(folder: TempDir, home: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap();
        Self {
            folder,
            env: vec![("PATH".into(), path), ("HOME".into(), home.into())],
            lock_timeout: Duration::from_secs(10),
        }
    }

    /// A worktree that another process has made.
    pub(crate) fn existing(&self, path: &Path) -> Worktree<'_> {
        Worktree {
            place: self,
            path: path.to_owned(),
            common: None,
        }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn git(&self) -> Git {
        Git {
            env: self.env.clone(),
            owner: Owner(0),
            limit: LIMIT,
        }
    }

    /// What git prints; it has to succeed.
    pub(crate) fn run(&self, folder: &Path, args: &[&str]) -> String {
        git::run("git", &self.env, &[], folder, args)
    }

    /// A repository with one commit.
    pub(crate) fn repository(&self, name: &str) -> Worktree<'_> {
        let top = self.at(name);
        fs::create_dir_all(&top).unwrap();
        self.run(&top, &["init", "-q"]);
        fs::write(top.join("README"), "hello\n").unwrap();
        self.run(&top, &["add", "README"]);
        self.run(&top, &["commit", "-qm", "first"]);
        Worktree {
            place: self,
            path: top.clone(),
            common: Some(top.join(".git")),
        }
    }

    /// A folder that is in no repository.
    pub(crate) fn plain(&self, name: &str) -> Worktree<'_> {
        let path = self.at(name);
        fs::create_dir_all(&path).unwrap();
        Worktree {
            place: self,
            path,
            common: None,
        }
    }
}

/// A folder that sessions work in.
#[derive(Clone)]
pub(crate) struct Worktree<'a> {
    pub(crate) place: &'a Place,
    pub(crate) path: PathBuf,
    /// The common git directory.
    pub(crate) common: Option<PathBuf>,
}

impl<'a> Worktree<'a> {
    /// A worktree of the same repository.
    pub(crate) fn linked(&self, name: &str) -> Worktree<'a> {
        let path = self.place.at(name);
        let args = ["worktree", "add", "-q", "--detach", path.to_str().unwrap()];
        self.place.run(&self.path, &args);
        Self { path, ..self.clone() }
    }

    /// A folder in it.
    pub(crate) fn below(&self, name: &str) -> Worktree<'a> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).unwrap();
        Self { path, ..self.clone() }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The operator writes the config, as an editor does.
    pub(crate) fn write(&self, text: &str) {
        self.write_file(CONFIG, text);
    }

    pub(crate) fn write_file(&self, name: &str, text: &str) {
        let path = self.file(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn chmod(&self, name: &str, mode: u32) {
        fs::set_permissions(self.file(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn mode(&self, name: &str) -> u32 {
        fs::symlink_metadata(self.file(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o7777
    }

    pub(crate) fn config(&self) -> Option<String> {
        fs::read_to_string(self.file(CONFIG)).ok()
    }

    pub(crate) fn manifest(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.file(MANIFEST)).unwrap()).unwrap()
    }

    /// Keys of ours in the config.
    pub(crate) fn keys(&self) -> Vec<String> {
        let text = self.config().unwrap_or_default();
        fusion_cursor_native::mcp::compose::look(text.as_bytes())
            .map(|config| config.fusion_keys)
            .unwrap_or_default()
    }

    pub(crate) fn exclude(&self) -> String {
        let file = self.common.as_ref().unwrap().join("info/exclude");
        fs::read_to_string(file).unwrap_or_default()
    }

    /// All that lies in the worktree and in the places of git's that we write to: kinds, modes, bytes.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut all = BTreeMap::new();
        walk(&self.path, &mut all);
        all.retain(|path, _| !path.components().any(|part| part.as_os_str() == ".git"));
        if let Some(common) = &self.common {
            walk(&common.join("info"), &mut all);
            for lock in lock_folders(common) {
                walk(&lock, &mut all);
            }
        }
        Snapshot(all)
    }

    /// Which of our files git would show or take.
    pub(crate) fn shown(&self) -> String {
        let plain = ["-c", "core.excludesFile=", "status", "--porcelain", "-uall"];
        self.place.run(&self.path, &plain)
    }

    pub(crate) fn request(&self, key: &str) -> StageRequest {
        StageRequest {
            worktree: self.path.clone(),
            server_key: key.to_owned(),
            entry: entry(),
            lock_timeout: self.place.lock_timeout,
            git: self.place.git(),
            scope: Owner(0),
        }
    }

    pub(crate) async fn try_stage(&self, key: &str) -> Result<Lease, StagingError> {
        let (_calm, calm) = cancel();
        within("staging", stage(self.request(key), calm)).await
    }

    pub(crate) async fn stage(&self) -> Lease {
        self.try_stage(&key()).await.unwrap()
    }

    /// Why it was refused.
    pub(crate) async fn refused(&self) -> Problem {
        match self.try_stage(&key()).await {
            Err(StagingError::Failed(problem)) => problem,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn reconcile(&self) -> ReconcileReport {
        let git = self.place.git();
        within(
            "reconciling",
            reconcile(self.path.clone(), git, self.place.lock_timeout),
        )
        .await
    }

    pub(crate) async fn inspect(&self) -> WorktreeReport {
        within("inspecting", inspect(self.path.clone(), self.place.git())).await
    }
}

fn lock_folders(common: &Path) -> Vec<PathBuf> {
    let name = "fusion-cursor-exclude.lock";
    let mut all = vec![common.join(name)];
    if let Ok(linked) = fs::read_dir(common.join("worktrees")) {
        all.extend(linked.map(|folder| folder.unwrap().path().join(name)));
    }
    all
}

/// Kind, mode and bytes by path.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, (char, u32, String)>);

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (path, (kind, mode, bytes)) in &self.0 {
            writeln!(f, "{kind} {mode:o} {} {bytes:?}", path.display())?;
        }
        Ok(())
    }
}

fn walk(path: &Path, all: &mut BTreeMap<PathBuf, (char, u32, String)>) {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return;
    };
    let kind = metadata.file_type();
    let (kind, bytes) = if kind.is_dir() {
        ('d', String::new())
    } else if kind.is_symlink() {
        ('l', fs::read_link(path).unwrap().display().to_string())
    } else if kind.is_fifo() {
        ('p', String::new())
    } else {
        let bytes = fs::read(path).unwrap_or_default();
        ('f', bytes.escape_ascii().to_string())
    };
    all.insert(
        path.to_owned(),
        (kind, metadata.permissions().mode() & 0o7777, bytes),
    );
    if kind == 'd' {
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            walk(&entry.path(), all);
        }
    }
}

pub(crate) fn entry() -> ServerEntry {
    ServerEntry::new(
        "/usr/bin/node".to_owned(),
        vec!["/opt/server.cjs".to_owned()],
        vec![("TOKEN".to_owned(), TOKEN.to_owned())],
    )
}

/// A new server key.
pub(crate) fn key() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("fusion-custom-tools-00000000-0000-4000-8000-{number:012}")
}

pub(crate) async fn dispose(lease: &Lease) {
    within("disposing", lease.dispose()).await.unwrap();
}

/// A process that has ended.
pub(crate) fn dead_pid() -> u32 {
    let mut child = Command::new("/bin/sh").args(["-c", "exit 0"]).spawn().unwrap();
    let pid = child.id();
    child.wait().unwrap();
    pid
}

pub(crate) fn hostname() -> String {
    use fusion_cursor_native::lock::World;
    fusion_cursor_native::lock::Machine::get().hostname().to_owned()
}

pub(crate) fn now_ms() -> i64 {
    use fusion_cursor_native::lock::World;
    fusion_cursor_native::lock::Machine::get().now_ms()
}

/// A lease as the plugin writes it.
pub(crate) fn plugins_lease(pid: u32, age_ms: i64) -> Value {
    json!({
        "pid": pid,
        "hostname": hostname(),
        "heartbeatAt": now_ms() - age_ms,
        "serverEntry": { "command": "node", "args": ["x.cjs"], "env": { "TOKEN": TOKEN } },
    })
}

/// A manifest as the plugin writes it.
pub(crate) fn plugins_manifest(baseline: Option<&str>, fields: &Value) -> Value {
    let mut manifest = json!({
        "version": 1,
        "baseline": {
            "existed": baseline.is_some(),
            "raw": baseline,
            "mode": baseline.map(|_| 0o100_644),
            "parsable": true,
            "createdDir": baseline.is_none(),
        },
        "exclusionOwnedByFusion": true,
        "lastWrittenRaw": null,
        "pending": null,
        "operatorEditObserved": false,
        "configUnwritable": false,
        "quarantine": null,
        "leases": {},
    });
    for (name, value) in fields.as_object().unwrap() {
        manifest[name] = value.clone();
    }
    manifest
}

/// A config as the plugin prints it: the operator's, with this key of its own.
pub(crate) fn plugins_config(operators: Option<&str>, key: &str) -> String {
    let mut config: Value = operators.map_or_else(|| json!({}), |text| serde_json::from_str(text).unwrap());
    config["mcpServers"][key] = plugins_lease(1, 0)["serverEntry"].clone();
    serde_json::to_string_pretty(&config).unwrap() + "\n"
}

/// The marker block for the top of a repository.
pub(crate) const BLOCK: &str = "# >>> fusion cursor-runtime >>>\n/.cursor/mcp.json\n\
    /.cursor/.fusion-mcp-state.json\n/.cursor/.fusion-mcp.lock/\n# <<< fusion cursor-runtime <<<\n";
