//! All recipes: the built-in ones and those in additional directories, which may replace some of them. Rows of devices are composed of other
//! recipes.

use super::built_in::BUILT_IN;
use super::{DeviceHost, Recipe, base, chain};
use crate::exec::{RecipeError, TestbedError};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use sixbench_method::lists::each_once;
use sixbench_method::record::CodeOrigin;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A file from which a recipe was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecipeFile {
    /// The path as given by the user or, for a built-in recipe, the name of its file.
    pub path: String,
    /// The origin of the file.
    pub origin: CodeOrigin,
    text: Arc<str>,
}

impl RecipeFile {
    /// Returns the SHA-256 of the octets that were read, in hexadecimal.
    pub fn sha256(&self) -> String {
        sha256(&self.text)
    }

    /// Reads its text as TOML.
    fn read<T: DeserializeOwned>(&self) -> Result<T, TestbedError> {
        toml::from_str(&self.text).map_err(|error| {
            let path = self.path.clone();
            RecipeError::Syntax { path, error }.into()
        })
    }

    /// Returns the error that its recipe has problems, one a line.
    fn invalid(&self, problems: String) -> TestbedError {
        let path = self.path.clone();
        RecipeError::Invalid { path, problems }.into()
    }
}

/// Returns the SHA-256 of a text, in hexadecimal.
pub fn sha256(text: &str) -> String {
    Sha256::digest(text)
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}

/// All recipes by name.
#[derive(Clone, Debug, Default)]
pub struct Library {
    recipes: BTreeMap<String, Recipe>,
    /// The files from which each recipe was read: its own, then those of the recipes on which it builds.
    files: BTreeMap<String, Vec<RecipeFile>>,
    /// The recipes of single devices as written, for other recipes to build on.
    tables: BTreeMap<String, toml::Table>,
    /// The files of rows, by name. A row is rebuilt when one of its devices is replaced.
    rows: BTreeMap<String, RecipeFile>,
    /// The recipes on other hosts, as `NAME@HOST`.
    pub(super) elsewhere: BTreeMap<String, Recipe>,
}

impl Library {
    /// Returns the built-in recipes and those in a plan's `directories`, which may replace built-in ones.
    ///
    /// # Errors
    /// The first mistake in a recipe, with file and line.
    pub fn load<P: AsRef<Path>>(directories: &[P]) -> Result<Self, TestbedError> {
        let built_in = BUILT_IN
            .iter()
            .map(|(file, text)| ((*file).to_owned(), (*text).to_owned()))
            .collect();
        let library = Self::default().with_texts(built_in, CodeOrigin::BuiltIn)?;
        directories.iter().try_fold(library, |library, path| {
            library.with_directory(path.as_ref(), CodeOrigin::Plan)
        })
    }

    /// Adds the recipes in `directory`, which may replace existing ones.
    ///
    /// # Errors
    /// The first mistake in a recipe, with file and line, or a directory that cannot be read.
    pub fn with_directory(
        self,
        directory: &Path,
        origin: CodeOrigin,
    ) -> Result<Self, TestbedError> {
        self.with_texts(texts_in(directory)?, origin)
    }

    /// Adds the recipes in `files`, pairs of file name and text, which may replace existing ones.
    ///
    /// # Errors
    /// The first mistake in a recipe, with file and line.
    pub fn with_texts(
        mut self,
        files: Vec<(String, String)>,
        origin: CodeOrigin,
    ) -> Result<Self, TestbedError> {
        self.add_all(files, origin)?;
        Ok(self)
    }

    /// Returns the files from which a recipe was read, its own first, or nothing for an unknown recipe.
    pub fn files_of(&self, name: &str) -> &[RecipeFile] {
        self.files
            .get(name)
            .or_else(|| {
                self.files
                    .get(name.split_once('@').map_or(name, |(name, _)| name))
            })
            .map_or(&[], Vec::as_slice)
    }

    /// Adds plain recipes first, then those that build on others, then rows of devices.
    fn add_all(
        &mut self,
        files: Vec<(String, String)>,
        origin: CodeOrigin,
    ) -> Result<(), TestbedError> {
        // Text that is not TOML yields an empty table, and is refused when its recipe is read.
        let table =
            |file: &RecipeFile| toml::from_str::<toml::Table>(&file.text).unwrap_or_default();
        let files = files.into_iter().map(|(path, text)| RecipeFile {
            path,
            origin,
            text: text.into(),
        });
        let parsed = files.map(|file| (table(&file), file));
        let (chains, single): (Vec<_>, Vec<_>) =
            parsed.partition(|(table, _)| table.contains_key("chain"));
        let (mut made, plain): (Vec<_>, Vec<_>) = single
            .into_iter()
            .partition(|(table, _)| base::sources(table).next().is_some());
        plain
            .into_iter()
            .try_for_each(|(table, file)| self.add(file, table))?;
        while !made.is_empty() {
            let names: Vec<String> = made
                .iter()
                .filter_map(|(table, _)| Some(table.get("name")?.as_str()?.to_owned()))
                .collect();
            let waits = |(table, _): &(toml::Table, _)| {
                base::sources(table).any(|name| names.iter().any(|own| own == name))
            };
            let (later, now): (Vec<_>, Vec<_>) = made.into_iter().partition(waits);
            if let (Some((_, file)), true) = (later.first(), now.is_empty()) {
                let path = file.path.clone();
                return Err(RecipeError::Circular { path }.into());
            }
            now.into_iter()
                .try_for_each(|(table, file)| self.add_made(&file, table))?;
            made = later;
        }
        let chains: Vec<RecipeFile> = chains.into_iter().map(|(_, file)| file).collect();
        chains.iter().try_for_each(|file| self.add_chain(file))?;
        self.renew_rows(&chains)
    }

    /// Rebuilds the rows that existed before, because some of their devices may have been replaced.
    fn renew_rows(&mut self, new: &[RecipeFile]) -> Result<(), TestbedError> {
        let earlier: Vec<RecipeFile> = self
            .rows
            .values()
            .filter(|file| !new.contains(file))
            .cloned()
            .collect();
        earlier.iter().try_for_each(|file| {
            self.add_chain(file)
                .map_err(|error| error.restated(|cause| RecipeError::BrokenRow { cause }))
        })
    }

    /// Adds a recipe that builds on existing ones.
    fn add_made(&mut self, file: &RecipeFile, own: toml::Table) -> Result<(), TestbedError> {
        let sources: Vec<String> = base::sources(&own).map(str::to_owned).collect();
        let whole = base::resolve(own, |name| self.tables.get(name))
            .map_err(|problem| file.invalid(problem))?;
        let recipe = whole
            .clone()
            .try_into()
            .map_err(|error: toml::de::Error| file.invalid(error.message().to_owned()))?;
        self.add_checked(self.with_files_of(file, &sources), recipe, whole)
    }

    fn add_chain(&mut self, file: &RecipeFile) -> Result<(), TestbedError> {
        let chain: chain::ChainFile = file.read()?;
        let recipe = chain
            .resolve(|name| self.get(name), &self.names())
            .map_err(|problem| file.invalid(problem))?;
        let parts: Vec<String> = recipe.parts.iter().map(|part| part.name.clone()).collect();
        self.insert(self.with_files_of(file, &parts), recipe, None);
        Ok(())
    }

    fn add(&mut self, file: RecipeFile, table: toml::Table) -> Result<(), TestbedError> {
        let recipe = file.read()?;
        self.add_checked(vec![file], recipe, table)
    }

    /// Returns the files of a recipe that builds on others, each once.
    fn with_files_of(&self, file: &RecipeFile, others: &[String]) -> Vec<RecipeFile> {
        each_once(
            std::iter::once(file)
                .chain(others.iter().flat_map(|name| self.files_of(name)))
                .cloned(),
        )
    }

    fn add_checked(
        &mut self,
        files: Vec<RecipeFile>,
        recipe: Recipe,
        table: toml::Table,
    ) -> Result<(), TestbedError> {
        let problems = recipe.problems();
        if !problems.is_empty() {
            return Err(files[0].invalid(problems.join("\n  ")));
        }
        self.insert(files, recipe, Some(table));
        Ok(())
    }

    /// Adds a recipe, replacing any of the same name. An equal recipe, such as the copy in a results directory, changes nothing: it is trusted like
    /// the existing one.
    fn insert(&mut self, files: Vec<RecipeFile>, recipe: Recipe, table: Option<toml::Table>) {
        let (name, own) = (recipe.name.clone(), recipe.clone().of_its_host());
        if self.get(&name).is_some_and(|known| *known == own) {
            return;
        }
        let others = [DeviceHost::Netns, DeviceHost::Lab]
            .into_iter()
            .filter_map(|host| recipe.on(host));
        self.elsewhere
            .extend(others.map(|other| (other.name.clone(), other)));
        match table {
            Some(table) => {
                self.rows.remove(&name);
                self.tables.insert(name.clone(), table);
            }
            None => self
                .rows
                .extend(files.first().map(|own| (name.clone(), own.clone()))),
        }
        self.files.insert(name.clone(), files);
        self.recipes.insert(name, own);
    }

    /// Returns the recipe with this name. With `NAME@HOST`, returns the recipe on another host, `netns` or `lab`, if it can run there.
    pub fn get(&self, name: &str) -> Option<&Recipe> {
        self.recipes.get(name).or_else(|| self.elsewhere.get(name))
    }

    /// Returns all recipes, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Recipe> {
        self.recipes.values()
    }

    /// Returns all names in ascending order.
    pub fn names(&self) -> Vec<&str> {
        self.recipes.keys().map(String::as_str).collect()
    }
}

/// Returns the paths and texts of the recipes in a directory, sorted by path.
///
/// # Errors
/// The directory or a file in it cannot be read.
pub fn texts_in(directory: &Path) -> Result<Vec<(String, String)>, TestbedError> {
    let entries = std::fs::read_dir(directory)
        .map_err(TestbedError::file("read the recipes in", directory))?;
    let mut files: Vec<_> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    files.sort();
    files
        .iter()
        .map(|file| Ok((file.display().to_string(), text_of(file)?)))
        .collect()
}

/// Reads a recipe, which may be in a directory of somebody else: a FIFO would make root wait, and a device has no end.
fn text_of(file: &Path) -> Result<String, TestbedError> {
    const LARGEST: u64 = 1 << 20;
    let found = std::fs::metadata(file).map_err(TestbedError::file("read", file))?;
    if !found.is_file() || found.len() > LARGEST {
        let path = file.to_owned();
        return Err(RecipeError::NoFile { path }.into());
    }
    std::fs::read_to_string(file).map_err(TestbedError::file("read", file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "tayga-464xlat";

    #[test]
    fn what_is_not_a_regular_file_is_no_recipe() {
        let directory =
            std::env::temp_dir().join(format!("sixbench-recipes-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory");
        let link = directory.join("endless.toml");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
        let error = Library::load(&[&directory])
            .map(drop)
            .expect_err("refused")
            .to_string();
        std::fs::remove_dir_all(&directory).expect("removed");
        assert!(
            error.contains("endless.toml is not the file of a recipe"),
            "{error}"
        );
    }

    fn built_in() -> Library {
        Library::load::<&Path>(&[]).expect("recipes")
    }

    /// Returns the recipe of a device of the row as a plan may supply it.
    fn own(change: impl Fn(&mut Recipe)) -> Vec<(String, String)> {
        let mut recipe = built_in().get("tayga-clat").expect("a recipe").clone();
        change(&mut recipe);
        vec![(
            "recipes/clat.toml".to_owned(),
            toml::to_string(&recipe).expect("TOML"),
        )]
    }

    fn origins(library: &Library) -> Vec<(&str, CodeOrigin)> {
        library
            .files_of(ROW)
            .iter()
            .map(|file| (file.path.as_str(), file.origin))
            .collect()
    }

    #[test]
    fn a_row_has_the_device_that_a_plan_brings_along_and_its_file_is_one_of_the_row() {
        let texts = own(|recipe| recipe.title = "mine".to_owned());
        let library = built_in()
            .with_texts(texts, CodeOrigin::Plan)
            .expect("recipes");
        let row = library.get(ROW).expect("the row");
        let titles: Vec<&str> = row.parts.iter().map(|part| part.title.as_str()).collect();
        assert_eq!(titles[0], "mine");
        let [row, clat, plat] = origins(&library)[..] else {
            panic!("{:?}", origins(&library))
        };
        assert_eq!(
            (row.1, clat, plat.1),
            (
                CodeOrigin::BuiltIn,
                ("recipes/clat.toml", CodeOrigin::Plan),
                CodeOrigin::BuiltIn
            )
        );
    }

    #[test]
    fn a_copy_of_a_device_changes_nothing_of_a_row() {
        let library = built_in()
            .with_texts(own(|_| ()), CodeOrigin::Plan)
            .expect("recipes");
        assert_eq!(origins(&library), origins(&built_in()));
    }

    #[test]
    fn a_device_that_does_not_fit_into_its_row_is_refused_with_what_to_do() {
        let texts = own(|recipe| {
            recipe.right.tester = vec!["2001:db8:100::7".parse().expect("an address")];
        });
        let told = built_in()
            .with_texts(texts, CodeOrigin::Plan)
            .expect_err("no neighbour")
            .to_string();
        assert!(
            told.contains("tayga-464xlat.toml is not a valid recipe"),
            "{told}"
        );
        assert!(
            told.contains("give that another name, or bring the row along"),
            "{told}"
        );
    }
}
