//! A command of a recipe.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command: words separated by whitespace, not interpreted by a shell. Placeholders in braces are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "a table with `run`"
)]
pub struct RecipeCommand {
    /// The command line.
    pub run: String,
}

impl RecipeCommand {
    /// Returns the words in braces, except those after a `$`, which belong to the command's own syntax.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        let text = &self.run;
        text.match_indices('{').filter_map(move |(at, _)| {
            let is_own = text[..at].ends_with('$');
            let end = text[at..].find('}')?;
            (!is_own).then(|| &text[at + 1..at + end])
        })
    }
}
