//! Operators at work, for real and in the model.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fusion_cursor_native::mcp::compose::strip;

use super::run::Run;
use super::steps::Edit;
use super::texts::{GARBAGE, Status, TEXTS, has_servers, with_number};
use super::tree::Tree;

/// What an editor has read: the file, and the operator's part of it.
#[derive(Debug, Clone)]
pub(crate) struct Buffer {
    file: Vec<u8>,
    status: Status,
    text: Option<String>,
}

impl Run {
    /// Whether there was something to edit.
    pub(super) fn edit(&mut self, index: usize, edit: Edit) -> bool {
        let tree = &mut self.trees[index];
        let number =
            |text: &Option<String>, number| text.as_deref().and_then(|text| with_number(text, number));
        match edit {
            Edit::Replace { text, mode } => {
                let (text, status) = TEXTS[text];
                tree.text = Some(text.to_owned());
                let mode = mode.unwrap_or(if tree.file.is_some() { tree.mode } else { 0o644 });
                self.unbroken[index] = None;
                put(tree, Some(text.as_bytes().to_vec()), status, mode, &self.folder);
            }
            Edit::Number(to) => {
                let file = tree
                    .file
                    .as_deref()
                    .and_then(|file| with_number(std::str::from_utf8(file).ok()?, to));
                let (Status::Good, Some(text), Some(file)) = (tree.status, number(&tree.text, to), file)
                else {
                    return false;
                };
                tree.text = Some(text);
                put(
                    tree,
                    Some(file.into_bytes()),
                    Status::Good,
                    tree.mode,
                    &self.folder,
                );
            }
            Edit::Comment(number) => {
                let (Status::Good, Some(text), Some(file)) = (tree.status, &tree.text, &tree.file) else {
                    return false;
                };
                let comment = format!("\n/* {number} */");
                tree.text = Some(format!("{text}{comment}"));
                let file = [file.as_slice(), comment.as_bytes()].concat();
                put(tree, Some(file), Status::Good, tree.mode, &self.folder);
            }
            Edit::Break => {
                let (Some(file), None) = (&tree.file, &self.unbroken[index]) else {
                    return false;
                };
                self.unbroken[index] = Some(Buffer {
                    file: file.clone(),
                    status: tree.status,
                    text: tree.text.clone(),
                });
                let file = [GARBAGE.as_bytes(), file].concat();
                put(tree, Some(file), Status::Unparsable, tree.mode, &self.folder);
            }
            Edit::Repair => {
                let Some(before) = self.unbroken[index].take() else {
                    return false;
                };
                put(tree, Some(before.file), before.status, tree.mode, &self.folder);
            }
            Edit::Delete => {
                tree.text = None;
                self.unbroken[index] = None;
                put(tree, None, Status::Absent, 0o600, &self.folder);
            }
            Edit::Chmod(mode) => {
                let Some(file) = tree.file.clone() else {
                    return false;
                };
                put(tree, Some(file), tree.status, mode, &self.folder);
            }
            Edit::TakeOut { container_stays } => return self.take_out(index, container_stays),
            Edit::Open => {
                let Some(file) = &tree.file else { return false };
                let opened = Buffer {
                    file: file.clone(),
                    status: tree.status,
                    text: tree.text.clone(),
                };
                self.buffers[index] = (tree.status == Status::Good && tree.text.is_some()).then_some(opened);
            }
            Edit::Save(to) => return self.save(index, to),
        }
        true
    }

    fn take_out(&mut self, index: usize, container_stays: bool) -> bool {
        let tree = &mut self.trees[index];
        let broken = self.unbroken[index]
            .as_ref()
            .map_or(tree.status, |before| before.status);
        let (Some(text), Some(file), Status::Good) = (&tree.text, &tree.file, broken) else {
            return false;
        };
        let text = if container_stays && tree.status == Status::Good {
            strip(&String::from_utf8_lossy(file), true).unwrap()
        } else {
            text.clone()
        };
        self.unbroken[index] = None;
        tree.text = Some(text.clone());
        put(
            tree,
            Some(text.into_bytes()),
            Status::Good,
            tree.mode,
            &self.folder,
        );
        true
    }

    fn save(&mut self, index: usize, to: Option<u32>) -> bool {
        let tree = &mut self.trees[index];
        let Some(mut buffer) = self.buffers[index].clone() else {
            return false;
        };
        // Whether a container is ours or the operator's, nobody can tell from what an editor had kept.
        let servers = has_servers(buffer.text.as_deref());
        if !tree.has_manifest() || tree.seen_servers != Some(servers) {
            return false;
        }
        if let Some(to) = to {
            let file = with_number(&String::from_utf8_lossy(&buffer.file), to);
            let text = buffer.text.as_deref().and_then(|text| with_number(text, to));
            let (Some(file), Some(text)) = (file, text) else {
                return false;
            };
            (buffer.file, buffer.text) = (file.into_bytes(), Some(text));
        }
        self.unbroken[index] = None;
        tree.text = buffer.text;
        let mode = if tree.file.is_some() { tree.mode } else { 0o644 };
        put(tree, Some(buffer.file), buffer.status, mode, &self.folder);
        true
    }
}

/// As an editor writes: another file under the same name.
pub(super) fn put(tree: &mut Tree, file: Option<Vec<u8>>, status: Status, mode: u32, folder: &Path) {
    let config = tree.config();
    match &file {
        Some(bytes) => {
            fs::create_dir_all(tree.cursor()).unwrap();
            let new = folder.join("editor");
            fs::write(&new, bytes).unwrap();
            fs::set_permissions(&new, fs::Permissions::from_mode(mode)).unwrap();
            fs::rename(&new, &config).unwrap();
        }
        None => {
            let _gone = fs::remove_file(&config);
        }
    }
    tree.file = file;
    tree.status = status;
    tree.mode = mode;
}
