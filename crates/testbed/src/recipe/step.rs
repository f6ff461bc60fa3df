//! A command of a recipe.

use serde::{Deserialize, Serialize};

/// A command: words separated by white space, no shell. What stands in braces is filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, expecting = "struct Step")]
pub struct RecipeCommand {
    /// The command line.
    pub run: String,
}

impl RecipeCommand {
    /// Returns the words in braces, unless a `$` makes them a format of the command's own.
    pub(super) fn placeholders(&self) -> impl Iterator<Item = &str> {
        let text = &self.run;
        text.match_indices('{').filter_map(move |(at, _)| {
            let is_own = text[..at].ends_with('$');
            let end = text[at..].find('}')?;
            (!is_own).then(|| &text[at + 1..at + end])
        })
    }
}
