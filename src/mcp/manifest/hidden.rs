//! What a manifest shows of itself in a log or a panic: no token, and nothing that an operator wrote.

use std::fmt::{Debug, Formatter, Result};

use super::{Baseline, Manifest, Pending, Quarantine, ServerEntry, Unknown};
use crate::hidden::Length;

impl Debug for Manifest {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter
            .debug_struct("Manifest")
            .field("baseline", &self.baseline)
            .field("exclusion_owned", &self.exclusion_owned)
            .field("last_written", &Length::of(self.last_written.as_ref()))
            .field("pending", &self.pending)
            .field("operator_edit_observed", &self.operator_edit_observed)
            .field("config_unwritable", &self.config_unwritable)
            .field("quarantine", &self.quarantine)
            .field("leases", &self.leases)
            .finish_non_exhaustive()
    }
}

impl Debug for Baseline {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter
            .debug_struct("Baseline")
            .field("existed", &self.existed)
            .field("raw", &Length::of(self.raw.as_ref()))
            .field("mode", &self.mode)
            .field("parsable", &self.parsable)
            .field("created_dir", &self.created_dir)
            .finish_non_exhaustive()
    }
}

impl Debug for Pending {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter
            .debug_struct("Pending")
            .field("kind", &self.kind)
            .field("raw", &Length::of(self.raw.as_ref()))
            .field("seq", &self.seq)
            .finish_non_exhaustive()
    }
}

impl Debug for Quarantine {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter
            .debug_struct("Quarantine")
            .field("raw", &Length::of(self.raw.as_ref()))
            .field("fusion_keys", &self.fusion_keys)
            .field("observed_at", &self.observed_at)
            .finish_non_exhaustive()
    }
}

impl Debug for ServerEntry {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("ServerEntry")
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &names)
            .finish_non_exhaustive()
    }
}

impl Debug for Unknown {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str("Unknown(..)")
    }
}
