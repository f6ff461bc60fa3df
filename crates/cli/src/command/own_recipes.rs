//! The recipes that a user keeps for all plans, in `sixbench/recipes` of the user's configuration (XDG Base Directory Specification).

use sixbench_runner::owner::can_others_change;
use sixbench_testbed::TestbedError;
use sixbench_testbed::recipe::texts_in;
use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The user's own recipes cannot be used.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum OwnRecipesError {
    /// Other users can change one: it is code that a run executes, usually as root, and a run does not ask before it executes the user's own.
    #[error(
        "{0}: other users own it or can change it, and recipes are code that runs as you: chown and chmod go-w '{0}', or name the directory by --recipes"
    )]
    Writable(String),
    /// One cannot be read.
    #[error(transparent)]
    Unreadable(Arc<TestbedError>),
}

/// The paths and texts of the recipes, or the reason why there are none.
static OWN: OnceLock<Result<Vec<(String, String)>, OwnRecipesError>> = OnceLock::new();

/// Reads the recipes. Commands that need no root give it up right after this, and then cannot look into the home of root.
pub(crate) fn read() {
    OWN.get_or_init(|| {
        let directory = directory(|name| std::env::var_os(name)).filter(|found| found.is_dir());
        directory.map_or(Ok(Vec::new()), |directory| checked_texts(&directory))
    });
}

/// Returns the paths and texts of the user's own recipes: those in `$XDG_CONFIG_HOME/sixbench/recipes`, by default `~/.config/sixbench/recipes`.
///
/// # Errors
/// A recipe cannot be read, or other users can change it.
pub(crate) fn texts() -> Result<Vec<(String, String)>, OwnRecipesError> {
    // `read` was called at the start of the program (`main`).
    OWN.get().cloned().unwrap_or(Ok(Vec::new()))
}

fn checked_texts(directory: &Path) -> Result<Vec<(String, String)>, OwnRecipesError> {
    let texts =
        texts_in(directory).map_err(|error| OwnRecipesError::Unreadable(Arc::new(error)))?;
    let files = texts.iter().map(|(path, _)| Path::new(path));
    // The directories above are the user's own home, which is taken to be safe.
    match iter::once(directory)
        .chain(files)
        .find(|path| can_others_change(path))
    {
        Some(open) => Err(OwnRecipesError::Writable(open.display().to_string())),
        None => Ok(texts),
    }
}

fn directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let configuration = absolute(variable("XDG_CONFIG_HOME"))
        .or_else(|| Some(absolute(variable("HOME"))?.join(".config")))?;
    Some(configuration.join("sixbench/recipes"))
}

/// Returns the path that a variable has. A relative one is to be ignored, says the specification.
fn absolute(variable: Option<OsString>) -> Option<PathBuf> {
    let path = variable.map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_that_of_the_configuration_or_in_the_home_and_never_a_relative_one() {
        let found = |pairs: &[(&str, &str)]| {
            let of = |name: &str| {
                let mut pairs = pairs.iter();
                let pair = pairs.find(|(known, _)| *known == name);
                pair.map(|(_, value)| OsString::from(value))
            };
            directory(of).map(|path| path.display().to_string())
        };
        let home = ("HOME", "/home/u");
        let of_home = Some("/home/u/.config/sixbench/recipes".to_owned());
        assert_eq!(found(&[home]), of_home);
        assert_eq!(found(&[home, ("XDG_CONFIG_HOME", "conf")]), of_home);
        assert_eq!(
            found(&[home, ("XDG_CONFIG_HOME", "/conf")]).as_deref(),
            Some("/conf/sixbench/recipes")
        );
        assert_eq!(found(&[]), None);
    }
}
