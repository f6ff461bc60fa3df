//! All recipes: the built-in ones and those of further directories, which may replace some. Rows of devices are made of the others.

use super::built_in::BUILT_IN;
use super::{DeviceHost, Recipe, base, chain};
use crate::exec::TestbedError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All recipes by name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    recipes: BTreeMap<String, Recipe>,
    /// The recipes of one device as they are written, for those that take something from them.
    tables: BTreeMap<String, toml::Table>,
    /// The same on another host, as `NAME@HOST`.
    pub(super) elsewhere: BTreeMap<String, Recipe>,
}

impl Library {
    /// The built-in recipes and those in `directories`, which may replace built-in ones.
    pub fn load<P: AsRef<Path>>(directories: &[P]) -> Result<Self, TestbedError> {
        let mut library = Self::default();
        library.add_all(BUILT_IN.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect())?;
        for directory in directories {
            library.add_directory(directory.as_ref())?;
        }
        Ok(library)
    }

    /// These and the recipes in `directory`, which may replace some.
    pub fn with_directory(mut self, directory: &Path) -> Result<Self, TestbedError> {
        self.add_directory(directory)?;
        Ok(self)
    }

    /// These and the recipes in `files`, each a file's name and its text, which may replace some.
    pub fn with_texts(mut self, files: Vec<(String, String)>) -> Result<Self, TestbedError> {
        self.add_all(files)?;
        Ok(self)
    }

    fn add_directory(&mut self, directory: &Path) -> Result<(), TestbedError> {
        let entries = std::fs::read_dir(directory).map_err(TestbedError::file("read the recipes in", directory))?;
        let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
        files.sort();
        let read = |file: &PathBuf| {
            let text = std::fs::read_to_string(file).map_err(TestbedError::file("read", file))?;
            Ok((file.display().to_string(), text))
        };
        self.add_all(files.iter().map(read).collect::<Result<_, TestbedError>>()?)
    }

    /// Recipes that are made of others come after these, and last those of devices in a row.
    fn add_all(&mut self, files: Vec<(String, String)>) -> Result<(), TestbedError> {
        let table = |text: &str| toml::from_str::<toml::Table>(text).unwrap_or_default();
        let (chains, single): (Vec<_>, Vec<_>) = files.into_iter().partition(|(_, text)| table(text).contains_key("chain"));
        let (mut made, plain): (Vec<_>, Vec<_>) =
            single.into_iter().partition(|(_, text)| base::sources(&table(text)).next().is_some());
        plain.iter().try_for_each(|(file, text)| self.add(file, text))?;
        while !made.is_empty() {
            let names: Vec<String> =
                made.iter().filter_map(|(_, text)| Some(table(text).get("name")?.as_str()?.to_owned())).collect();
            let waits =
                |(_, text): &(String, String)| base::sources(&table(text)).any(|name| names.iter().any(|own| own == name));
            let (later, now): (Vec<_>, Vec<_>) = made.into_iter().partition(waits);
            if let (Some((file, _)), true) = (later.first(), now.is_empty()) {
                return Err(TestbedError::Other(format!("{file} is not a valid recipe:\n  it is made of itself")));
            }
            now.iter().try_for_each(|(file, text)| self.add_made(file, text))?;
            made = later;
        }
        chains.iter().try_for_each(|(file, text)| self.add_chain(file, text))
    }

    /// Adds a recipe that takes something from others, which are there already.
    pub(super) fn add_made(&mut self, file: &str, text: &str) -> Result<(), TestbedError> {
        let own: toml::Table = toml::from_str(text).map_err(|e| TestbedError::Other(format!("{file}: {e}")))?;
        let invalid = |wrong: String| TestbedError::Other(format!("{file} is not a valid recipe:\n  {wrong}"));
        let whole = base::resolve(own, |name| self.tables.get(name)).map_err(invalid)?;
        let recipe = whole.clone().try_into().map_err(|error: toml::de::Error| invalid(error.message().to_owned()))?;
        self.add_checked(file, recipe, whole)
    }

    pub(super) fn add_chain(&mut self, file: &str, text: &str) -> Result<(), TestbedError> {
        let chain: chain::ChainFile = toml::from_str(text).map_err(|e| TestbedError::Other(format!("{file}: {e}")))?;
        let recipe = chain.resolve(|name| self.get(name), &self.names());
        let recipe = recipe.map_err(|wrong| TestbedError::Other(format!("{file} is not a valid recipe:\n  {wrong}")))?;
        self.insert(recipe);
        Ok(())
    }

    pub(super) fn add(&mut self, file: &str, text: &str) -> Result<(), TestbedError> {
        let wrong = |error: toml::de::Error| TestbedError::Other(format!("{file}: {error}"));
        self.add_checked(file, toml::from_str(text).map_err(wrong)?, toml::from_str(text).map_err(wrong)?)
    }

    fn add_checked(&mut self, file: &str, recipe: Recipe, table: toml::Table) -> Result<(), TestbedError> {
        let problems = recipe.problems();
        if !problems.is_empty() {
            return Err(TestbedError::Other(format!("{file} is not a valid recipe:\n  {}", problems.join("\n  "))));
        }
        self.tables.insert(recipe.name.clone(), table);
        self.insert(recipe);
        Ok(())
    }

    fn insert(&mut self, recipe: Recipe) {
        let others = [DeviceHost::Netns, DeviceHost::Lab].into_iter().filter_map(|host| recipe.on(host));
        self.elsewhere.extend(others.map(|other| (other.name.clone(), other)));
        self.recipes.insert(recipe.name.clone(), recipe.of_its_host());
    }

    /// The recipe of this name, or of `NAME@HOST`: the same on another host, `netns` or `lab`, where it can be there.
    pub fn get(&self, name: &str) -> Option<&Recipe> {
        self.recipes.get(name).or_else(|| self.elsewhere.get(name))
    }

    /// All recipes, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        self.recipes.values()
    }

    /// All names, ascending.
    pub fn names(&self) -> Vec<&str> {
        self.recipes.keys().map(String::as_str).collect()
    }
}
