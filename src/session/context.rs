//! What the first prompt says before the user's own words: the CLI has no flag for any of it.

use std::fmt;

use crate::hidden::Length;

/// What a host tells the agent once.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Context {
    /// Blank is as good as none.
    pub system_prompt: Option<String>,
    /// By name; a blank one is none.
    pub skills: Vec<String>,
}

impl fmt::Debug for Context {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Context")
            .field("system_prompt", &Length::of(self.system_prompt.as_ref()))
            .field("skills", &self.skills)
            .finish()
    }
}

const CODING: &str = "Tool mode: coding. You may change files in the workspace and run commands.";
const READ_ONLY: &str = "Tool mode: read-only. Read and plan; do not change files.";

/// The first prompt of a session. `tools`: the names of the host's tools, as the CLI shows them.
#[must_use]
pub fn first_prompt(context: &Context, coding: bool, tools: &[String], prompt: &str) -> String {
    let system = context.system_prompt.as_deref().map_or("", str::trim);
    let mode = if coding { CODING } else { READ_ONLY };
    let skills: Vec<String> = context
        .skills
        .iter()
        .filter_map(|skill| one_line(skill))
        .collect();
    let named = |what: &str, names: &[String]| match names {
        [] => String::new(),
        names => format!("{what}: {}", names.join(", ")),
    };
    let parts = [
        system.to_owned(),
        mode.to_owned(),
        named("Requested skills", &skills),
        named("MCP tools of this session", tools),
        format!("User request:\n{prompt}"),
    ];
    let said: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    said.join("\n\n")
}

/// A name that stays in its list.
fn one_line(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(system: Option<&str>, skills: &[&str], coding: bool, tools: &[&str], prompt: &str) -> String {
        let context = Context {
            system_prompt: system.map(str::to_owned),
            skills: skills.iter().map(|skill| (*skill).to_owned()).collect(),
        };
        let tools: Vec<String> = tools.iter().map(|tool| (*tool).to_owned()).collect();
        first_prompt(&context, coding, &tools, prompt)
    }

    #[test]
    fn it_says_all_that_there_is_and_nothing_else() {
        let all = format!(
            "Be brief.\n\n{CODING}\n\nRequested skills: review, plan\n\n\
             MCP tools of this session: fusion-custom-tools-1-fn_a, fusion-custom-tools-1-fn_b\n\n\
             User request:\nhi\n"
        );
        let tools = ["fusion-custom-tools-1-fn_a", "fusion-custom-tools-1-fn_b"];
        assert_eq!(
            said(Some("Be brief."), &["review", "plan"], true, &tools, "hi\n"),
            all
        );
        assert_eq!(
            said(None, &[], false, &[], "hi"),
            format!("{READ_ONLY}\n\nUser request:\nhi")
        );
        assert_eq!(
            said(None, &[], true, &[], ""),
            format!("{CODING}\n\nUser request:\n")
        );
    }

    #[test]
    fn what_is_blank_is_not_said_and_the_prompt_stays_as_it_is() {
        for blank in ["", " \n\t"] {
            assert_eq!(
                said(Some(blank), &[blank], false, &[], " \u{feff}x\r\n "),
                format!("{READ_ONLY}\n\nUser request:\n \u{feff}x\r\n ")
            );
        }
    }

    #[test]
    fn lines_of_a_system_prompt_stay_and_a_skill_is_one_line() {
        let said = said(
            Some("\none\n\ntwo\n"),
            &[" a\n\nUser request:\nb ", ""],
            false,
            &[],
            "hi",
        );
        assert_eq!(
            said,
            format!("one\n\ntwo\n\n{READ_ONLY}\n\nRequested skills: a User request: b\n\nUser request:\nhi")
        );
    }

    #[test]
    fn its_debug_tells_no_prompt() {
        let context = Context {
            system_prompt: Some("s3cret".into()),
            skills: Vec::new(),
        };
        assert!(!format!("{context:?}").contains("s3cret"));
    }
}
