//! The command line of one turn.

use std::ffi::OsString;
use std::path::Path;

/// What the flags of a turn are made from.
#[derive(Debug, Clone, Default)]
pub struct TurnFlags {
    /// A model id, perhaps with the prefix `cursor-cli/`; `auto` where absent or blank.
    pub model: Option<String>,
    /// True: may change files and run commands (`--force`). False: `--mode plan`.
    pub coding: bool,
    /// A session to go on with.
    pub resume: Option<String>,
    /// Approve every configured MCP server.
    pub approve_mcps: bool,
    /// Say the workspace by flag too.
    pub workspace_flag: bool,
}

/// The prefix that hosts put before the ids of this provider.
const PROVIDER_PREFIX: &str = "cursor-cli/";

/// The arguments of one streaming turn; the prompt is not among them, it goes to standard input.
///
/// `--trust` is always given, since the refusal of an untrusted workspace differs from build to build.
/// A model is always given, since the CLI would else take the one of the last run of anybody.
#[must_use]
pub fn turn_args(flags: &TurnFlags, cwd: &Path) -> Vec<OsString> {
    let model = flags.model.as_deref().map_or("", str::trim);
    let model = model.strip_prefix(PROVIDER_PREFIX).unwrap_or(model).trim();
    let model = if model.is_empty() { "auto" } else { model };
    let mut args: Vec<OsString> = [
        "--print",
        "--output-format",
        "stream-json",
        "--model",
        model,
        "--trust",
    ]
    .map(OsString::from)
    .into();
    if flags.coding {
        args.push("--force".into());
    } else {
        args.extend(["--mode", "plan"].map(OsString::from));
    }
    if flags.approve_mcps {
        args.push("--approve-mcps".into());
    }
    if let Some(session) = &flags.resume {
        args.extend(["--resume", session].map(OsString::from));
    }
    if flags.workspace_flag {
        args.extend([OsString::from("--workspace"), cwd.into()]);
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(flags: &TurnFlags) -> String {
        let args = turn_args(flags, Path::new("/w t"));
        args.iter()
            .map(|arg| arg.to_str().unwrap())
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn a_plain_turn_only_plans() {
        assert_eq!(
            line(&TurnFlags::default()),
            "--print|--output-format|stream-json|--model|auto|--trust|--mode|plan"
        );
    }

    #[test]
    fn every_option_has_its_flag_in_order() {
        let flags = TurnFlags {
            model: Some("cursor-cli/gpt-5[context=1m,fast=false]".into()),
            coding: true,
            resume: Some("s-1".into()),
            approve_mcps: true,
            workspace_flag: true,
        };
        assert_eq!(
            line(&flags),
            "--print|--output-format|stream-json|--model|gpt-5[context=1m,fast=false]|--trust|--force\
             |--approve-mcps|--resume|s-1|--workspace|/w t"
        );
    }

    #[test]
    fn a_blank_model_is_auto() {
        for model in ["", "  ", "cursor-cli/", " cursor-cli/ "] {
            let flags = TurnFlags {
                model: Some(model.into()),
                ..TurnFlags::default()
            };
            assert!(line(&flags).contains("--model|auto|"), "for {model:?}");
        }
    }
}
