//! The models that `cursor-agent models` lists.
//!
//! Recorded builds print the header `Available models`, a row `id - Label` for each model with marks such as
//! `(current, default)` at its end, and a line that begins with `Tip:`. Tabs or columns are only known from
//! parsers of older builds, and JSON from no build at all: it is taken where it comes. The listing is a
//! catalogue; a model in it may still be refused by the plan.

use std::collections::HashMap;

use super::json::Raw;
use super::model_row::{Row, read_row, split_marks};
use super::said::plain;

/// One model of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Model {
    /// What `--model` takes, exactly.
    pub id: String,
    /// For people; the id where there is none.
    pub label: String,
    /// The list marks it as the default.
    pub is_default: bool,
    /// The list marks it as the one in use.
    pub is_current: bool,
    /// Whether it reasons, where the list says so.
    pub reasoning: Option<bool>,
    /// The size of its context in tokens, where the list says so.
    pub context_window: Option<u64>,
}

/// How the list was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Source {
    /// Rows of text.
    Text,
    /// JSON.
    Json,
    /// Nothing was recognised.
    #[default]
    None,
}

/// The models in their order, each id once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelList {
    /// Of two rows with one id the first stays, with the marks of both.
    pub entries: Vec<Model>,
    /// Where they were read from; not `None` where the CLI said that there are none.
    pub source: Source,
    /// The CLI said that this account has no models. False where nothing was recognised.
    pub empty_account: bool,
}

/// Reads the output of `models` (or of `--list-models`, which is the same).
///
/// Under the known header, in any case and with or without a colon, every row `id - Label` counts, behind a line
/// of prose only if the id is more than a word: `please - upgrade` is no model. Up to the first line of prose
/// also columns parted by a tab or two spaces count, and an id alone; the latter beside other rows only if it is
/// more than a word. What is before that header does not count.
///
/// Without the header (it may be missing or translated) only what can hardly be prose counts: a run of rows
/// `id - Label` where some id is more than a word, and blocks in which all lines are columns or lone ids.
#[must_use]
pub fn parse_models(text: &str) -> ModelList {
    let text = plain(text);
    if let Some(list) = from_json(&text) {
        return list;
    }
    let rows: Vec<Row<'_>> = text.lines().map(read_row).collect();
    let models = match rows.iter().position(|row| *row == Row::Header) {
        Some(header) => under_header(&rows[header + 1..]),
        None => without_header(&rows),
    };
    let models = unique(models);
    let empty_account = models.is_empty() && rows.contains(&Row::NoModels);
    ModelList {
        source: if models.is_empty() && !empty_account {
            Source::None
        } else {
            Source::Text
        },
        entries: models,
        empty_account,
    }
}

fn under_header(rows: &[Row<'_>]) -> Vec<Model> {
    let prose = rows
        .iter()
        .position(|row| matches!(row, Row::Prose | Row::NoModels))
        .unwrap_or(rows.len());
    let all_alone = !rows
        .iter()
        .any(|row| matches!(row, Row::Model(..) | Row::Columns(..)));
    rows.iter()
        .enumerate()
        .filter(|(index, row)| match row {
            Row::Model(..) => *index < prose || row.has_telling_id(),
            Row::Columns(..) => *index < prose,
            Row::Lone(..) => *index < prose && (all_alone || row.has_telling_id()),
            _ => false,
        })
        .filter_map(|(_, row)| row.parts())
        .map(|(id, label)| model(id, label))
        .collect()
}

fn without_header(rows: &[Row<'_>]) -> Vec<Model> {
    let mut models = Vec::new();
    for block in rows.split(|row| *row == Row::Blank) {
        let in_columns = block
            .iter()
            .all(|row| matches!(row, Row::Columns(..) | Row::Lone(..) | Row::ColumnTitles));
        if in_columns {
            let telling = block.iter().filter(|row| row.has_telling_id()).count();
            let rows = block.iter().filter(|row| **row != Row::ColumnTitles).count();
            // Most ids of a real list are no words; a help text or a table of settings has none of them.
            if rows >= 2 && telling * 2 >= rows {
                models.extend(
                    block
                        .iter()
                        .filter_map(Row::parts)
                        .map(|(id, label)| model(id, label)),
                );
            }
            continue;
        }
        for run in block.chunk_by(|a, b| matches!((a, b), (Row::Model(..), Row::Model(..)))) {
            if matches!(run, [Row::Model(..), ..]) && run.iter().any(Row::has_telling_id) {
                models.extend(
                    run.iter()
                        .filter_map(Row::parts)
                        .map(|(id, label)| model(id, label)),
                );
            }
        }
    }
    models
}

fn model(id: &str, label: &str) -> Model {
    let (label, marks) = split_marks(label);
    Model {
        id: id.to_owned(),
        label: if label.is_empty() { id } else { label }.to_owned(),
        is_default: marks.default,
        is_current: marks.current,
        ..Model::default()
    }
}

fn unique(models: Vec<Model>) -> Vec<Model> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<Model> = Vec::with_capacity(models.len());
    for model in models {
        if let Some(first) = places.get(&model.id).and_then(|place| kept.get_mut(*place)) {
            first.is_default |= model.is_default;
            first.is_current |= model.is_current;
        } else {
            places.insert(model.id.clone(), kept.len());
            kept.push(model);
        }
    }
    kept
}

/// The first line that begins with JSON which is a list of models: an array, or an object with one as
/// `models`. An empty array says that there are none.
fn from_json(text: &str) -> Option<ModelList> {
    let mut effort = text.len().saturating_mul(8);
    let mut rest = text;
    loop {
        // Also the loop's own step over blank lines: one at a time would look at each of them again and again.
        rest = rest.trim_start();
        let here = rest;
        if here.starts_with(['[', '{'])
            && let Some((value, behind)) = Raw::leading(here, &mut effort)
            && behind.lines().next().is_none_or(|line| line.trim().is_empty())
        {
            let list = if value.is_array() {
                Some(value)
            } else {
                value.member("models")
            };
            if let Some(list) = list.filter(|list| list.is_array())
                && let Some(models) = list.parts().map(json_model).collect::<Option<Vec<_>>>()
            {
                return Some(ModelList {
                    empty_account: models.is_empty(),
                    entries: unique(models),
                    source: Source::Json,
                });
            }
            rest = behind;
        }
        rest = &rest[rest.find('\n')? + 1..];
    }
}

/// A string, or an object with an `id`, `model` or `name` that can be an id. `None`: this is no list of models.
fn json_model(item: Raw<'_>) -> Option<Model> {
    if let Some(id) = item.as_str() {
        return is_json_id(&id).then(|| model(&id, ""));
    }
    let text = |name: &str| item.member(name).and_then(Raw::as_str);
    let id = ["id", "model", "name"]
        .iter()
        .find_map(|name| text(name).filter(|id| is_json_id(id)))?;
    let label = ["label", "displayName", "name"]
        .iter()
        .find_map(|name| text(name))
        .unwrap_or_default();
    let flag = |names: [&str; 2]| {
        names
            .iter()
            .find_map(|name| item.member(name).and_then(Raw::as_bool))
            == Some(true)
    };
    let read = model(&id, &shown(&label));
    Some(Model {
        is_default: read.is_default || flag(["isDefault", "default"]),
        is_current: read.is_current || flag(["isCurrent", "current"]),
        reasoning: item.member("reasoning").and_then(Raw::as_bool),
        context_window: item.member("contextWindow").and_then(Raw::as_u64),
        ..read
    })
}

/// A label whose escapes may have held anything, on one line.
fn shown(label: &str) -> String {
    plain(label).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// JSON says by itself where an id begins and ends, so other characters than those of rows are let in; not
/// white space, and not what would be a flag on the command line.
fn is_json_id(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('-') && !id.contains(|c: char| c.is_whitespace() || c.is_control())
}

#[cfg(test)]
#[path = "models_tests.rs"]
mod tests;
