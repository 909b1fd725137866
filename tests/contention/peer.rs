//! A peer that knows the protocol's page and nothing else, as the plugin does: the bootstrap lock in its own git
//! directory, a block of three lines, the main lock's folder with five tries over 70 ms, and a config that it prints
//! anew.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fusion_cursor_native::lock::{Life, Machine, World};
use serde_json::{Map, Value, json};

use crate::support::{BLOCK, entry, hostname, now_ms};

/// Between its tries at a lock, in milliseconds.
const PAUSES: [u64; 4] = [10, 15, 20, 25];
const MAIN_TTL: Duration = Duration::from_secs(30);
const BOOTSTRAP_TTL: Duration = Duration::from_secs(10);
const SILENCE: i64 = 15 * 60 * 1000;

/// Where it ends in the middle, as if killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    BootstrapLocked,
    Excluded,
    Locked,
    ManifestMade,
    Pending,
    ConfigWritten,
    Confirmed,
    End,
}

impl Until {
    pub(crate) const CRASHES: [Self; 7] = [
        Self::BootstrapLocked,
        Self::Excluded,
        Self::Locked,
        Self::ManifestMade,
        Self::Pending,
        Self::ConfigWritten,
        Self::Confirmed,
    ];
}

/// It gave up: a lock was held, or the config is no JSON.
#[derive(Debug)]
pub(crate) struct GaveUp;

pub(crate) struct Peer {
    tree: PathBuf,
    git_dir: PathBuf,
    common: PathBuf,
    pub(crate) key: String,
}

impl Peer {
    /// In a folder that is the top of a working tree.
    pub(crate) fn new(tree: &Path, git_dir: &Path, common: &Path, key: &str) -> Self {
        Self {
            tree: tree.to_owned(),
            git_dir: git_dir.to_owned(),
            common: common.to_owned(),
            key: key.to_owned(),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.tree.join(".cursor").join(name)
    }

    pub(crate) fn stage(&self, until: Until) -> Result<(), GaveUp> {
        let bootstrap = Lock::take(&self.git_dir.join("fusion-cursor-exclude.lock"), BOOTSTRAP_TTL)?;
        if until == Until::BootstrapLocked {
            bootstrap.forget();
            return Ok(());
        }
        let exclude = self.common.join("info/exclude");
        let text = fs::read_to_string(&exclude).unwrap_or_default();
        if !text.contains(BLOCK.lines().next().unwrap()) {
            let gap = if text.is_empty() || text.ends_with('\n') {
                ""
            } else {
                "\n"
            };
            fs::create_dir_all(exclude.parent().unwrap()).unwrap();
            replace(&exclude, &format!("{text}{gap}{BLOCK}"));
        }
        drop(bootstrap);
        if until == Until::Excluded {
            return Ok(());
        }
        let created = fs::create_dir(self.tree.join(".cursor")).is_ok();
        let lock = Lock::take(&self.at(".fusion-mcp.lock"), MAIN_TTL)?;
        if until == Until::Locked {
            lock.forget();
            return Ok(());
        }
        let mut manifest = self.manifest().unwrap_or_else(|| self.fresh(created));
        self.recover(&mut manifest);
        if parsed(self.config().as_deref()).is_none() {
            return Err(GaveUp);
        }
        drop_stale(&mut manifest);
        manifest["leases"][&self.key] = json!({
            "pid": std::process::id(),
            "hostname": hostname(),
            "heartbeatAt": now_ms(),
            "serverEntry": { "command": entry().command, "args": ["of the peer"], "env": {} },
        });
        self.save(&manifest);
        if until == Until::ManifestMade {
            lock.forget();
            return Ok(());
        }
        self.recompose(&mut manifest, until);
        if until != Until::End {
            lock.forget();
        }
        Ok(())
    }

    pub(crate) fn dispose(&self) -> Result<(), GaveUp> {
        let lock = Lock::take(&self.at(".fusion-mcp.lock"), MAIN_TTL)?;
        let Some(mut manifest) = self.manifest() else {
            return Ok(());
        };
        self.recover(&mut manifest);
        manifest["leases"].as_object_mut().unwrap().remove(&self.key);
        drop_stale(&mut manifest);
        if !manifest["leases"].as_object().unwrap().is_empty() {
            self.recompose(&mut manifest, Until::End);
            return Ok(());
        }
        let baseline = manifest["baseline"].clone();
        let edited = manifest["operatorEditObserved"].as_bool().unwrap();
        match (edited, baseline["raw"].as_str()) {
            (false, Some(raw)) => {
                self.journal(&mut manifest, "restore", Some(raw.to_owned()), Until::End);
                let mode = u32::try_from(baseline["mode"].as_u64().unwrap()).unwrap() & 0o777;
                fs::set_permissions(self.at("mcp.json"), Permissions::from_mode(mode)).unwrap();
            }
            (false, None) => self.journal(&mut manifest, "delete", None, Until::End),
            (true, _) => {
                let text = composed(self.config().as_deref(), &json!({}));
                self.journal(&mut manifest, "write", Some(text), Until::End);
            }
        }
        fs::remove_file(self.at(".fusion-mcp-state.json")).unwrap();
        let exclude = self.common.join("info/exclude");
        let text = fs::read_to_string(&exclude).unwrap_or_default();
        let (start, end) = (BLOCK.lines().next().unwrap(), BLOCK.lines().last().unwrap());
        if let (Some(from), Some(to)) = (text.find(start), text.find(end)) {
            let rest = text[to + end.len()..].trim_start_matches('\n');
            replace(&exclude, &format!("{}{rest}", &text[..from]));
        }
        drop(lock);
        if baseline["createdDir"].as_bool().unwrap() {
            let _kept = fs::remove_dir(self.tree.join(".cursor"));
        }
        Ok(())
    }

    fn config(&self) -> Option<String> {
        fs::read_to_string(self.at("mcp.json")).ok()
    }

    fn manifest(&self) -> Option<Value> {
        let text = fs::read_to_string(self.at(".fusion-mcp-state.json")).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    fn fresh(&self, created: bool) -> Value {
        let raw = self.config();
        let mode = fs::metadata(self.at("mcp.json"))
            .ok()
            .map(|file| file.permissions().mode());
        json!({
            "version": 1,
            "baseline": {
                "existed": raw.is_some(), "raw": raw, "mode": mode, "parsable": true, "createdDir": created,
            },
            "exclusionOwnedByFusion": true,
            "lastWrittenRaw": null,
            "pending": null,
            "operatorEditObserved": false,
            "configUnwritable": false,
            "quarantine": null,
            "leases": {},
        })
    }

    fn recover(&self, manifest: &mut Value) {
        let current = Value::from(self.config());
        let pending = manifest["pending"].take();
        let last = &manifest["lastWrittenRaw"];
        let confirmed = if last.is_null() {
            manifest["baseline"]["raw"].clone()
        } else {
            last.clone()
        };
        if !pending.is_null() && current == pending["raw"] {
            manifest["lastWrittenRaw"] = pending["raw"].clone();
        } else if current != confirmed {
            manifest["operatorEditObserved"] = true.into();
        }
    }

    fn recompose(&self, manifest: &mut Value, until: Until) {
        let text = composed(self.config().as_deref(), &manifest["leases"]);
        self.journal(manifest, "write", Some(text), until);
    }

    fn journal(&self, manifest: &mut Value, kind: &str, raw: Option<String>, until: Until) {
        manifest["pending"] = json!({ "kind": kind, "raw": raw, "seq": 1 });
        self.save(manifest);
        if until == Until::Pending {
            return;
        }
        match &raw {
            Some(text) => self.replace("mcp.json", text),
            None => _ = fs::remove_file(self.at("mcp.json")),
        }
        if until == Until::ConfigWritten {
            return;
        }
        manifest["lastWrittenRaw"] = raw.into();
        manifest["pending"] = Value::Null;
        self.save(manifest);
    }

    fn save(&self, manifest: &Value) {
        self.replace(
            ".fusion-mcp-state.json",
            &serde_json::to_string_pretty(manifest).unwrap(),
        );
    }

    fn replace(&self, name: &str, text: &str) {
        replace(&self.at(name), text);
    }
}

fn replace(path: &Path, text: &str) {
    let beside = path.with_file_name(format!(".{}.tmp", std::process::id()));
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

/// The operator's config with these entries, printed anew.
fn composed(current: Option<&str>, leases: &Value) -> String {
    let mut config = parsed(current).unwrap();
    let servers = config
        .as_object_mut()
        .unwrap()
        .entry("mcpServers")
        .or_insert_with(|| json!({}));
    let servers = servers.as_object_mut().unwrap();
    servers.retain(|key, _| !key.starts_with("fusion-custom-tools-"));
    for (key, lease) in leases.as_object().unwrap() {
        servers.insert(key.clone(), lease["serverEntry"].clone());
    }
    serde_json::to_string_pretty(&config).unwrap() + "\n"
}

fn parsed(current: Option<&str>) -> Option<Value> {
    current.map_or_else(
        || Some(Value::Object(Map::new())),
        |text| serde_json::from_str(text).ok(),
    )
}

fn drop_stale(manifest: &mut Value) {
    let leases = manifest["leases"].as_object_mut().unwrap();
    leases.retain(|_, lease| {
        let dead = lease["hostname"] == hostname() && is_dead(&lease["pid"]);
        !dead && now_ms() - lease["heartbeatAt"].as_i64().unwrap() <= SILENCE
    });
}

fn is_dead(pid: &Value) -> bool {
    Machine::get().life(pid.as_i64().unwrap(), &hostname(), None) == Life::Dead
}

/// A lock's folder.
struct Lock(PathBuf);

impl Lock {
    #[allow(clippy::disallowed_methods, reason = "the peer is a program of its own")]
    fn take(path: &Path, ttl: Duration) -> Result<Self, GaveUp> {
        let mut pauses = PAUSES.into_iter();
        loop {
            match fs::create_dir(path) {
                Ok(()) => {
                    let owner =
                        json!({ "pid": std::process::id(), "hostname": hostname(), "acquiredAt": now_ms() });
                    let file = path.join("owner.json");
                    fs::write(&file, owner.to_string()).map_err(|_| GaveUp)?;
                    fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(|_| GaveUp)?;
                    return Ok(Self(path.to_owned()));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => return Err(GaveUp),
            }
            if is_stale(path, ttl) {
                let _gone = fs::remove_dir_all(path);
                continue;
            }
            std::thread::sleep(Duration::from_millis(pauses.next().ok_or(GaveUp)?));
        }
    }

    /// As a crash leaves it.
    fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

fn is_stale(path: &Path, ttl: Duration) -> bool {
    let modified = fs::metadata(path).and_then(|folder| folder.modified());
    let old = modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > ttl));
    let owner = fs::read_to_string(path.join("owner.json")).ok();
    let owner = owner.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let told = owner.is_some_and(|owner| {
        let age = now_ms() - owner["acquiredAt"].as_i64().unwrap_or(i64::MAX);
        let old = age > i64::try_from(ttl.as_millis()).unwrap();
        old || (owner["hostname"] == hostname() && is_dead(&owner["pid"]))
    });
    old || told
}
