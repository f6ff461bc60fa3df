//! Errors about recipes and their files.

use std::path::PathBuf;

/// The reason why a recipe cannot be used; `path` is the file it was read from.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum RecipeError {
    /// There is no recipe of this name.
    #[error("there is no recipe {name}")]
    Unknown { name: String },
    /// The file is too large, or is not a regular file.
    #[error(
        "{} is not the file of a recipe: these are regular files of at most 1 MiB",
        path.display()
    )]
    NoFile { path: PathBuf },
    /// The file is not a recipe in TOML.
    #[error("{path}: {error}")]
    Syntax {
        path: String,
        error: toml::de::Error,
    },
    /// The recipe inherits from itself.
    #[error("{path} is not a valid recipe:\n  it is made of itself")]
    Circular { path: String },
    /// The recipe has problems, one line each.
    #[error("{path} is not a valid recipe:\n  {problems}")]
    Invalid { path: String, problems: String },
    /// A device of an existing row was replaced by one that does not fit.
    #[error(
        "{cause}\n  a device of this row was replaced by one that does not fit into it: give that another name, or bring the row along"
    )]
    BrokenRow { cause: String },
}
