//! The private folder of a bridge: it holds the list of tools, for the child that Cursor starts. It goes with the
//! bridge; where the process was killed, with the next bridge of anybody.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, UNIX_EPOCH};

use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::disk::{self, Durability, Entry, Folder, Identity, Kind};
use crate::lock::{Life, Machine, World, table};

const PREFIX: &str = "fusion-cursor-bridge-";
const SCHEMA: &str = "schema.json";
const OWNER: &str = "owner.json";
const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
/// Digits of a name that tell where its maker runs: whoever is killed before it has written that down is known by them.
const TABLE: usize = 8;
/// Random digits behind them.
const RANDOM: usize = 16;
/// No more names than that are looked at, in a folder that everybody may fill.
const NAMES: usize = 65_536;
/// No owner says more.
const OWNER_LIMIT: u64 = 4096;
/// One that says nothing of its owner is left alone for so long, unless its maker ran here: it may be about to.
const UNSAID: Duration = Duration::from_secs(60);

/// The folders of this process. Many bridges that open at once would look into those of each other, over and over.
static OURS: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// The folder of one bridge.
#[derive(Debug)]
pub(super) struct SchemaFolder {
    /// Until the folder is removed: JavaScript may hold a bridge for long after, and a descriptor with it.
    parent: Mutex<Option<Folder>>,
    schema: PathBuf,
    name: String,
    identity: Identity,
}

impl SchemaFolder {
    /// Make it in `parent`, with this text for the child; and remove what bridges of processes that are dead left
    /// there. *Blocks.*
    pub(super) fn make(parent: &Path, schema: &str, random: u64) -> disk::Result<Self> {
        let parent = Folder::open(parent)?;
        sweep(&parent, Machine::get());
        let name = name(Machine::get(), random);
        let (folder, _) = parent.make_child(&name, FOLDER_MODE)?;
        // The umask may have taken away what this process needs.
        folder.set_mode(FOLDER_MODE)?;
        OURS.lock().insert(name.clone());
        let made = Self {
            identity: folder.identity()?,
            schema: parent.path().join(&name).join(SCHEMA),
            parent: Mutex::new(Some(parent)),
            name,
        };
        let filled = folder
            .create(OWNER, own(Machine::get()).as_bytes(), FILE_MODE)
            .and_then(|_| folder.create(SCHEMA, schema.as_bytes(), FILE_MODE));
        if let Err(error) = filled {
            made.remove();
            return Err(error);
        }
        Ok(made)
    }

    /// The file for the child.
    pub(super) fn schema(&self) -> PathBuf {
        self.schema.clone()
    }

    /// Remove it. It may be gone already. *Blocks.*
    pub(super) fn remove(&self) {
        // Held all the while: who comes second finds the folder gone when this returns.
        let mut parent = self.parent.lock();
        if let Some(parent) = parent.take()
            && let Err(error) = clear(&parent, &self.name, self.identity)
        {
            tracing::debug!(%error, "the folder of a tool bridge stays");
        }
        OURS.lock().remove(&self.name);
    }
}

/// What says whose a folder is.
fn own(world: &dyn World) -> String {
    let start = world.start().map(|start| start.0.as_str());
    json!({ "pid": world.pid(), "hostname": world.hostname(), "processStart": start }).to_string()
}

fn name(world: &dyn World, random: u64) -> String {
    let (pid, table) = (world.pid(), table(world).unwrap_or_default());
    format!("{PREFIX}{pid}-{table:0TABLE$x}{random:0RANDOM$x}")
}

/// The process that made a folder of this name, and its table of processes; `None` for a name of another form.
fn maker(name: &str) -> Option<(i64, u32)> {
    let (pid, digits) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let whole = digits.len() == TABLE + RANDOM && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let plain = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    if !whole || !plain {
        return None;
    }
    Some((pid.parse().ok()?, u32::from_str_radix(&digits[..TABLE], 16).ok()?))
}

/// Remove the folders of the dead. What anything else lies under such a name stays, and nothing here fails.
fn sweep(parent: &Folder, world: &dyn World) {
    let names = match parent.names(NAMES) {
        Ok(names) => names,
        Err(error) => {
            tracing::debug!(%error, "folders of dead tool bridges are not looked for");
            return;
        }
    };
    let ours = names.iter().filter_map(|name| name.to_str());
    for name in ours.filter(|name| maker(name).is_some() && !OURS.lock().contains(*name)) {
        match left_behind(parent, name, world) {
            Ok(None) => {}
            Ok(Some(identity)) => match clear(parent, name, identity) {
                Ok(()) => tracing::debug!(name, "removed the folder of a dead tool bridge"),
                Err(error) => tracing::debug!(%error, "the folder of a dead tool bridge stays"),
            },
            Err(error) => tracing::debug!(%error, "the folder of a tool bridge is left alone"),
        }
    }
}

/// Which folder lies under a name, where it is one that a bridge of ours left behind.
fn left_behind(parent: &Folder, name: &str, world: &dyn World) -> disk::Result<Option<Identity>> {
    if !parent.entry(name)?.is_some_and(|entry| is_private(&entry)) {
        return Ok(None);
    }
    let Some(folder) = parent.child(name)? else {
        return Ok(None);
    };
    // Once more, of what was opened: another one may have taken the name.
    let itself = folder.itself()?;
    if !is_private(&itself) {
        return Ok(None);
    }
    let said = folder.read(OWNER, OWNER_LIMIT)?;
    let owner = said.and_then(|said| serde_json::from_slice(&said.bytes).ok());
    let dead = owner.map_or_else(
        || is_forsaken(name, &itself, world),
        |owner| is_of_the_dead(&owner, world),
    );
    Ok(dead.then_some(itself.identity))
}

/// Whether this owner has ended, for sure.
fn is_of_the_dead(owner: &Value, world: &dyn World) -> bool {
    let text = |key: &str| owner.get(key).and_then(Value::as_str);
    let pid = owner.get("pid").and_then(Value::as_i64);
    pid.zip(text("hostname"))
        .is_some_and(|(pid, hostname)| world.life(pid, hostname, text("processStart")) == Life::Dead)
}

/// The same of one that does not say whose it is.
fn is_forsaken(name: &str, itself: &Entry, world: &dyn World) -> bool {
    let Some((pid, theirs)) = maker(name) else {
        return false;
    };
    let made = itself.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u128::try_from(world.now_ms()).unwrap_or_default();
    let is_old = now.saturating_sub(made.as_millis()) > UNSAID.as_millis();
    let is_from_here = table(world).is_some_and(|own| own == theirs);
    (is_from_here || is_old) && world.life(pid, world.hostname(), None) == Life::Dead
}

/// As a bridge of this user makes it.
fn is_private(entry: &Entry) -> bool {
    entry.kind == Kind::Folder && entry.mode & 0o7777 == FOLDER_MODE && entry.is_own()
}

/// Remove the files that a bridge makes, and the folder where nothing else lies in it. Who is its owner goes last, so
/// that what a crash leaves is still told from others.
fn clear(parent: &Folder, name: &str, identity: Identity) -> disk::Result<()> {
    let Some(folder) = parent.child(name)? else {
        return Ok(());
    };
    if folder.identity()? != identity {
        return Ok(());
    }
    for file in [SCHEMA, OWNER] {
        folder.remove(file, Durability::Fleeting)?;
    }
    parent.remove_child(name).map(|_| ())
}

#[cfg(test)]
#[cfg_attr(unix, path = "folder_tests.rs")]
#[cfg_attr(windows, path = "folder_tests_windows.rs")]
mod tests;
