//! All recipes: the built-in ones and those of further directories, which may replace some. Rows of devices are made of the others.

use super::built_in::BUILT_IN;
use super::{DeviceHost, Recipe, chain};
use crate::exec::TestbedError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All recipes by name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    recipes: BTreeMap<String, Recipe>,
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

    /// Recipes of devices in a row come last: they are made of others.
    fn add_all(&mut self, files: Vec<(String, String)>) -> Result<(), TestbedError> {
        let is_chain = |text: &str| toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("chain"));
        let (chains, single): (Vec<_>, Vec<_>) = files.into_iter().partition(|(_, text)| is_chain(text));
        single.iter().try_for_each(|(file, text)| self.add(file, text))?;
        chains.iter().try_for_each(|(file, text)| self.add_chain(file, text))
    }

    pub(super) fn add_chain(&mut self, file: &str, text: &str) -> Result<(), TestbedError> {
        let chain: chain::ChainFile = toml::from_str(text).map_err(|e| TestbedError::Other(format!("{file}: {e}")))?;
        let recipe = chain.resolve(|name| self.get(name), &self.names());
        let recipe = recipe.map_err(|wrong| TestbedError::Other(format!("{file} is not a valid recipe:\n  {wrong}")))?;
        self.insert(recipe);
        Ok(())
    }

    pub(super) fn add(&mut self, file: &str, text: &str) -> Result<(), TestbedError> {
        let recipe: Recipe = toml::from_str(text).map_err(|e| TestbedError::Other(format!("{file}: {e}")))?;
        let problems = recipe.problems();
        if !problems.is_empty() {
            return Err(TestbedError::Other(format!("{file} is not a valid recipe:\n  {}", problems.join("\n  "))));
        }
        self.insert(recipe);
        Ok(())
    }

    fn insert(&mut self, recipe: Recipe) {
        let others = [DeviceHost::Netns, DeviceHost::Lab].into_iter().filter_map(|host| recipe.on(host));
        self.elsewhere.extend(others.map(|other| (other.name.clone(), other)));
        self.recipes.insert(recipe.name.clone(), recipe);
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
