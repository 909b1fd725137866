//! What Cursor starts, and how it finds its way to the bridge.

use std::fmt;

use super::Bridge;

const URL: &str = "FUSION_CURSOR_TOOL_BRIDGE_URL";
const TOKEN: &str = "FUSION_CURSOR_TOOL_BRIDGE_TOKEN";

/// The child that serves the tools to Cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// The runtime to run it with.
    pub command: String,
    /// What that runtime is told before the name of a script.
    pub flags: Vec<String>,
    /// The script of the child.
    pub script: String,
    /// What that runtime needs to be one.
    pub env: Vec<(String, String)>,
}

/// How the child is started. Its environment has the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// The program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What is put into its environment.
    pub env: Vec<(String, String)>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("command", &self.command)
            .field("args", &self.args)
            .finish_non_exhaustive()
    }
}

impl Bridge {
    /// For the config that Cursor reads, and nobody else: it has the token.
    #[must_use]
    pub fn entry(&self, child: &Child) -> Entry {
        let ours = [(URL, self.url()), (TOKEN, self.token().reveal().to_owned())];
        let ours = ours.map(|(name, value)| (name.to_owned(), value));
        let script = [
            child.script.clone(),
            self.schema_file().to_string_lossy().into_owned(),
        ];
        Entry {
            command: child.command.clone(),
            args: child.flags.iter().cloned().chain(script).collect(),
            env: ours.into_iter().chain(child.env.iter().cloned()).collect(),
        }
    }
}
