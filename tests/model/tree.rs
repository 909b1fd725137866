//! The reference model of one worktree: what its operator has written, as if there were nothing of ours, and which
//! leases live. It knows nothing of how an entry is put in or taken out.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use fusion_cursor_native::mcp::compose::{look, strip};
use fusion_cursor_native::mcp::manifest::Manifest;
use fusion_cursor_native::worktree::{Shape, names};

use super::texts::{Status, has_servers};
use super::world::{Machines, Process};

pub(crate) type Checked = Result<(), String>;

/// Of a session, as its peers know it.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    pub(crate) key: String,
    host: usize,
    pid: u32,
    tells_start: bool,
    /// By its own machine's clock.
    beat: i64,
}

/// Of a worktree.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    pub(crate) path: PathBuf,
    pub(crate) shape: Shape,
    /// The operator's text; `None` where they have no file.
    pub(crate) text: Option<String>,
    /// What lies there, with our entries.
    pub(crate) file: Option<Vec<u8>>,
    pub(crate) status: Status,
    pub(crate) mode: u32,
    pub(crate) claims: Vec<Claim>,
    pub(crate) quarantined: bool,
    /// Whether the operator had `mcpServers` when we last wrote; `None` where nobody can tell.
    pub(crate) seen_servers: Option<bool>,
    /// `.cursor` is ours.
    pub(crate) folder_is_ours: bool,
}

impl Claim {
    pub(crate) fn new(key: &str, process: &Process, now: i64) -> Self {
        Self {
            key: key.to_owned(),
            host: process.host,
            pid: process.pid,
            tells_start: process.tells_start(),
            beat: now,
        }
    }

    /// As somebody on this machine sees it.
    fn is_live(&self, host: usize, machines: &Machines) -> bool {
        let age = machines.now(host) - self.beat;
        let beats = (-24 * 60 * 60 * 1000..=15 * 60 * 1000).contains(&age);
        match (self.host == host, machines.is_dead(self.pid)) {
            (true, true) => false,
            (true, false) if self.tells_start => true,
            _ => beats,
        }
    }
}

/// What an operation comes to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// The config may be written.
    pub(crate) writes: bool,
    /// The manifest is brought in line.
    pub(crate) settles: bool,
    pub(crate) in_force: bool,
}

/// The command in the entry of a key: it is in a config if and only if the entry is.
pub(crate) fn command(key: &str) -> String {
    format!("run-{key}-end")
}

impl Tree {
    pub(crate) fn new(path: PathBuf, shape: Shape) -> Self {
        Self {
            path,
            shape,
            text: None,
            file: None,
            status: Status::Absent,
            mode: 0o600,
            claims: Vec::new(),
            quarantined: false,
            seen_servers: Some(false),
            folder_is_ours: false,
        }
    }

    pub(crate) fn cursor(&self) -> PathBuf {
        self.path.join(names::CURSOR)
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.cursor().join(names::CONFIG)
    }

    pub(crate) fn has_manifest(&self) -> bool {
        self.cursor().join(names::MANIFEST).exists()
    }

    pub(crate) fn has_lock(&self) -> bool {
        self.cursor().join(names::LOCK).exists()
    }

    pub(crate) fn drop_dead(&mut self, host: usize, machines: &Machines, but: Option<&str>) {
        self.claims
            .retain(|claim| but == Some(claim.key.as_str()) || claim.is_live(host, machines));
    }

    pub(crate) fn beat(&mut self, key: &str, process: &Process, now: i64) {
        match self.claims.iter_mut().find(|claim| claim.key == key) {
            Some(claim) => claim.beat = now,
            None => self.claims.push(Claim::new(key, process, now)),
        }
    }

    /// The latest beat of all.
    pub(crate) fn last_beat(&self) -> i64 {
        self.claims
            .iter()
            .map(|claim| claim.beat)
            .max()
            .unwrap_or_default()
    }

    /// The keys of ours that are in a config that can be edited.
    fn keys(&self) -> Vec<String> {
        let looked = self.file.as_deref().map(look);
        looked
            .and_then(Result::ok)
            .map(|config| config.fusion_keys)
            .unwrap_or_default()
    }

    /// Whether a session may write the config; whether it is quarantined comes with it.
    pub(crate) fn judge(&mut self) -> bool {
        self.quarantined = match self.status {
            Status::Absent | Status::Refused => false,
            Status::Good => self.quarantined && !self.keys().is_empty(),
            Status::Unparsable => true,
        };
        !self.quarantined && self.status != Status::Refused
    }

    /// What lies there after an operation that was not interrupted, and may have written the config.
    pub(crate) fn check(&mut self, expected: Expected) -> Checked {
        self.check_config(expected.writes)?;
        self.check_manifest(expected.settles)?;
        self.check_folder(&[names::CONFIG, names::MANIFEST])
    }

    fn check_config(&mut self, writes: bool) -> Checked {
        let (file, mode) = read(&self.config()).map_err(|error| format!("the config: {error}"))?;
        if !writes {
            return self.is_untouched(file.as_deref(), mode);
        }
        let existed = self.file.is_some();
        self.status = if file.is_some() {
            Status::Good
        } else {
            Status::Absent
        };
        self.file = file;
        if self.claims.is_empty() && self.file.as_deref() != self.text.as_deref().map(str::as_bytes) {
            return Err(format!(
                "without a lease it should be {:?}: {}",
                self.text,
                self.shown()
            ));
        }
        if self.file.is_some() {
            if !existed {
                self.mode = 0o600;
            }
            if mode != self.mode {
                return Err(format!("its mode is {mode:o} and should be {:o}", self.mode));
            }
            self.is_the_operators(
                &self
                    .claims
                    .iter()
                    .map(|claim| claim.key.clone())
                    .collect::<Vec<_>>(),
            )?;
        }
        self.seen_servers = Some(has_servers(self.text.as_deref()));
        Ok(())
    }

    fn is_untouched(&self, file: Option<&[u8]>, mode: u32) -> Checked {
        if file != self.file.as_deref() {
            return Err(format!(
                "it was to be left alone: {:?} and not {}",
                file.map(String::from_utf8_lossy),
                self.shown()
            ));
        }
        if file.is_some() && mode != self.mode {
            return Err(format!("its mode became {mode:o}, from {:o}", self.mode));
        }
        Ok(())
    }

    /// The config has exactly these keys of ours, and all else is the operator's.
    fn is_the_operators(&self, keys: &[String]) -> Checked {
        let bytes = self.file.as_deref().unwrap_or_default();
        let looked = look(bytes).map_err(|refusal| format!("{refusal}: {}", self.shown()))?;
        let text = String::from_utf8_lossy(bytes);
        let mut found = looked.fusion_keys;
        found.sort();
        let mut wanted = keys.to_vec();
        wanted.sort();
        if found != wanted || wanted.iter().any(|key| !text.contains(&command(key))) {
            return Err(format!("it should have {wanted:?}: {}", self.shown()));
        }
        let stripped =
            strip(&text, has_servers(self.text.as_deref())).map_err(|refusal| refusal.to_string())?;
        match &self.text {
            Some(own) if *own != stripped => Err(format!("the operator's {own:?} became {stripped:?}")),
            None if !look(stripped.as_bytes()).is_ok_and(|config| config.is_empty) => {
                Err(format!("the operator has none, and this is left: {stripped:?}"))
            }
            _ => Ok(()),
        }
    }

    fn manifest(&self) -> Result<Option<Manifest>, String> {
        match fs::read(self.cursor().join(names::MANIFEST)) {
            Ok(bytes) => match Manifest::parse(&bytes) {
                Ok(manifest) => Ok(Some(manifest)),
                Err(error) => Err(format!("the manifest: {error}")),
            },
            Err(_) => Ok(None),
        }
    }

    fn check_manifest(&self, settles: bool) -> Checked {
        let manifest = self.manifest()?;
        let needed = !self.claims.is_empty() || self.quarantined;
        let Some(manifest) = manifest else {
            return if needed {
                Err("there is no manifest".to_owned())
            } else {
                Ok(())
            };
        };
        let mut found: Vec<&str> = manifest.leases.keys().collect();
        let mut keys: Vec<&str> = self.claims.iter().map(|claim| claim.key.as_str()).collect();
        found.sort_unstable();
        keys.sort_unstable();
        // One that somebody who died has left lies there until something is done.
        if (settles && !needed) || found != keys {
            return Err(format!("the manifest has {found:?} and should have {keys:?}"));
        }
        if manifest.quarantine.is_some() != self.quarantined {
            return Err(format!("quarantined should be {}", self.quarantined));
        }
        if manifest.pending.is_some() && !self.quarantined && self.status != Status::Refused && settles {
            return Err("something is pending".to_owned());
        }
        Ok(())
    }

    /// Nothing but these is there; and nothing at all where `.cursor` was ours and nobody needs it.
    fn check_folder(&mut self, allowed: &[&str]) -> Checked {
        let Ok(entries) = fs::read_dir(self.cursor()) else {
            self.folder_is_ours = false;
            return Ok(());
        };
        let names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        if let Some(name) = names.iter().find(|name| !allowed.contains(&name.as_str())) {
            return Err(format!("{name} is left"));
        }
        if !self.has_manifest() {
            if self.folder_is_ours && names.is_empty() {
                return Err("the folder that was made is left".to_owned());
            }
            self.folder_is_ours = false;
        }
        Ok(())
    }

    /// What lies there after an operation that died: all as it was before or as it was to become, each for itself.
    pub(crate) fn adopt(&mut self, after: &Self, writes: bool) -> Checked {
        let (file, mode) = read(&self.config()).map_err(|error| format!("the config: {error}"))?;
        if self.is_untouched(file.as_deref(), mode).is_err() {
            if !writes {
                return Err(format!(
                    "it was to be left alone: {:?}",
                    file.as_deref().map(String::from_utf8_lossy)
                ));
            }
            let existed = self.file.is_some();
            self.status = if file.is_some() {
                Status::Good
            } else {
                Status::Absent
            };
            self.file = file;
            if !existed {
                self.mode = 0o600;
            }
            if self.file.is_some() {
                if mode != self.mode {
                    return Err(format!("its mode is {mode:o} and should be {:o}", self.mode));
                }
                let keys: Vec<String> = after.claims.iter().map(|claim| claim.key.clone()).collect();
                self.is_the_operators(&keys)?;
            } else if self.text.is_some() {
                return Err("the operator's file is gone".to_owned());
            }
        }
        if self.seen_servers != Some(has_servers(self.text.as_deref())) {
            self.seen_servers = None;
        }
        self.adopt_manifest(after)?;
        self.check_folder_of_the_dead()
    }

    fn adopt_manifest(&mut self, after: &Self) -> Checked {
        let Some(manifest) = self.manifest()? else {
            self.claims.clear();
            self.quarantined = false;
            return Ok(());
        };
        let is = |tree: &Self| {
            tree.claims.len() == manifest.leases.len()
                && tree
                    .claims
                    .iter()
                    .all(|claim| manifest.leases.contains_key(&claim.key))
        };
        let record = manifest.quarantine.is_some();
        if is(after) && record == after.quarantined {
            self.claims.clone_from(&after.claims);
            self.quarantined = after.quarantined;
        } else if !is(self) || record != self.quarantined {
            let keys: Vec<&str> = manifest.leases.keys().collect();
            return Err(format!(
                "the manifest has {keys:?}, which is neither before nor after"
            ));
        }
        for claim in &mut self.claims {
            if let Some(lease) = manifest.leases.get(&claim.key) {
                claim.beat = lease.heartbeat_at;
            }
        }
        Ok(())
    }

    fn check_folder_of_the_dead(&self) -> Checked {
        let entries = fs::read_dir(self.cursor()).into_iter().flatten();
        for entry in entries {
            let name = entry.unwrap().file_name().to_string_lossy().into_owned();
            if ![names::CONFIG, names::MANIFEST, names::LOCK].contains(&name.as_str()) {
                return Err(format!("{name} is left where nothing excludes it"));
            }
        }
        Ok(())
    }

    /// What is left of us at the end.
    pub(crate) fn check_end(&mut self) -> Checked {
        self.claims.clear();
        self.quarantined = false;
        self.check(Expected {
            writes: self.status != Status::Refused,
            settles: true,
            in_force: true,
        })
    }

    fn shown(&self) -> String {
        format!("{:?}", self.file.as_deref().map(String::from_utf8_lossy))
    }
}

/// Bytes and permission bits; none of a file that is not there.
pub(crate) fn read(path: &Path) -> io::Result<(Option<Vec<u8>>, u32)> {
    match fs::read(path) {
        Ok(bytes) => Ok((Some(bytes), fs::metadata(path)?.permissions().mode() & 0o7777)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((None, 0)),
        Err(error) => Err(error),
    }
}
