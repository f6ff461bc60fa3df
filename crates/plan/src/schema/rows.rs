//! The keys of a plan file as `docs/plan-keys.toml` describes them. Tests compare them with those that the reader takes.

use serde::Deserialize;
use std::collections::BTreeMap;

const DESCRIBED: &str = include_str!("../../../../docs/plan-keys.toml");

/// One or several keys with one meaning.
#[derive(Deserialize)]
pub(crate) struct KeyRow {
    /// The table of the documentation that has the row.
    #[serde(skip)]
    pub(crate) table: String,
    pub(crate) keys: Vec<String>,
    /// The measures that have these keys; empty if every test, or another table of the plan, has them.
    #[serde(default)]
    pub(crate) measures: Vec<String>,
    /// The keys of the table that the value may be.
    #[serde(default)]
    pub(crate) inner: Vec<String>,
    /// The kinds of values.
    pub(crate) value: String,
    pub(super) meaning: String,
    /// The value without the key; empty if there is none.
    #[serde(default)]
    pub(super) default: String,
}

impl KeyRow {
    /// Returns the kinds of values: `text`, `number`, `list` and so on.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.value.split(", ")
    }

    pub(super) fn is_required(&self) -> bool {
        self.default == "required" && self.measures.is_empty()
    }
}

/// Returns the rows of all tables, each table's in their order.
pub(crate) fn rows() -> Vec<KeyRow> {
    let tables: BTreeMap<String, Vec<KeyRow>> =
        toml::from_str(DESCRIBED).expect("tables of rows, which tests read");
    tables
        .into_iter()
        .flat_map(|(table, rows)| {
            rows.into_iter().map(move |row| KeyRow {
                table: table.clone(),
                ..row
            })
        })
        .collect()
}
