//! The directory of merged results. They are written in a folder of it, and only moved to their place when they are complete: a merge that is killed
//! leaves nothing that looks like results, and the next one removes what it left.

use super::new_directory::{MERGING, check_empty};
use super::store::{Store, StoreError, make_directory};
use super::stored::{TRIALS, is_in_use};
use crate::error::store::cannot_write;
use crate::error::writer::WritingProcess;
use sixbench_io::files::Folder;
use sixbench_method::plan::{Plan, Selection};
use std::ffi::OsString;
use std::io;
use std::path::Path;

/// The last file that is moved: only a directory that has it is a results directory.
const LAST: &str = "resolved.toml";

/// Everything that a merge writes.
const WRITTEN: [&str; 7] = [
    "commands.sh",
    "facts.json",
    "plan.toml",
    "queries",
    "recipes",
    LAST,
    TRIALS,
];

/// Merged results that are not complete yet. Unless [`MergedStore::finish`] is called, dropping this removes them.
pub(crate) struct MergedStore {
    directory: Folder,
    /// `None` after the results have been moved.
    store: Option<Store>,
}

impl MergedStore {
    /// Begins to write merged results to a directory.
    ///
    /// # Errors
    /// The directory holds results or other files, another merge writes to it, or it cannot be written to.
    pub(crate) fn create(output: &Path, plan: &Plan, source: &str) -> Result<Self, StoreError> {
        if output.join(MERGING).is_dir() {
            remove_left(output)?;
        }
        check_empty(output)?;
        let failed = |error| StoreError::NotCreated {
            directory: output.to_owned(),
            error,
        };
        let directory = make_directory(output).map_err(failed)?;
        let store = Store::create(&output.join(MERGING), plan, source, &Selection::default())?;
        Ok(Self {
            directory,
            store: Some(store),
        })
    }

    pub(crate) fn store(&mut self) -> &mut Store {
        self.store.as_mut().expect("it is not finished")
    }

    /// Moves the results to their place.
    ///
    /// # Errors
    /// A file cannot be moved.
    pub(crate) fn finish(mut self) -> Result<(), StoreError> {
        // Its lock on the records moves with them.
        let Some(store) = self.store.take() else {
            return Ok(());
        };
        let moved = move_all(store.folder(), &self.directory);
        moved.map_err(cannot_write(self.directory.path()))
    }
}

impl Drop for MergedStore {
    fn drop(&mut self) {
        if self.store.take().is_some() {
            let _ = remove_all(&self.directory, MERGING);
        }
    }
}

fn move_all(from: &Folder, to: &Folder) -> io::Result<()> {
    let (last, others): (Vec<_>, Vec<_>) = from.names()?.into_iter().partition(|name| name == LAST);
    others
        .iter()
        .chain(&last)
        .try_for_each(|name| from.move_to(name, to))?;
    to.remove_folder(MERGING)
}

/// Removes what a killed merge has left in a directory.
fn remove_left(output: &Path) -> Result<(), StoreError> {
    let directory = make_directory(output).map_err(cannot_write(output))?;
    let merging = directory
        .folder(MERGING)
        .map_err(cannot_write(&output.join(MERGING)))?;
    for folder in [&directory, &merging] {
        if is_in_use(folder) {
            let writer = WritingProcess::find(&folder.path().join(TRIALS));
            return Err(StoreError::InUse {
                directory: output.to_owned(),
                writer,
            });
        }
    }
    let removed = (|| {
        // Killed while it moved its files: some are in their place already.
        let left = merging.names()?;
        let is_moved =
            |name: &&OsString| WRITTEN.iter().any(|own| name == own) && !left.contains(name);
        directory
            .names()?
            .iter()
            .filter(is_moved)
            .try_for_each(|name| {
                let is_folder = directory.folders()?.contains(name);
                if is_folder {
                    remove_all(&directory, name)
                } else {
                    directory.remove(name)
                }
            })?;
        remove_all(&directory, MERGING)
    })();
    removed.map_err(cannot_write(output))
}

/// Removes a folder with the files in it and in the folders in it.
fn remove_all(directory: &Folder, name: impl AsRef<Path>) -> io::Result<()> {
    let folder = directory.folder(&name)?;
    for below in folder.folders()? {
        remove_all(&folder, below)?;
    }
    folder
        .names()?
        .into_iter()
        .try_for_each(|file| folder.remove(file))?;
    directory.remove_folder(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::store::load;
    use std::fs;
    use std::path::PathBuf;

    /// A directory of one test, removed when dropped.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("sixbench-merged-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("a directory");
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<String> = fs::read_dir(&self.0)
                .expect("a directory")
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn create(scratch: &Scratch) -> Result<MergedStore, StoreError> {
        let source = "name = \"merged\"\n[[test]]\nname = \"v4\"\ndut = \"linux-ipv4\"\n";
        let plan = sixbench_plan::parse(source, &["linux-ipv4"])
            .unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
            .plan;
        MergedStore::create(&scratch.0, &plan, source)
    }

    #[test]
    fn results_are_in_their_place_when_they_are_complete_and_not_before() {
        let scratch = Scratch::new("whole");
        let merged = create(&scratch).expect("a new directory");
        assert_eq!(scratch.names(), [MERGING]);
        assert!(load(&scratch.0).is_err());
        let twice = create(&scratch)
            .map(drop)
            .expect_err("another merge writes to it")
            .to_string();
        assert!(twice.contains("is writing to"), "{twice}");
        merged.finish().expect("moved");
        assert_eq!(scratch.names(), ["plan.toml", LAST, TRIALS]);
        load(&scratch.0).expect("results");
    }

    #[test]
    fn a_merge_that_fails_leaves_nothing_and_one_that_was_killed_what_the_next_removes() {
        let scratch = Scratch::new("killed");
        drop(create(&scratch).expect("a new directory"));
        assert!(scratch.names().is_empty());
        // As if it had been killed: nothing is dropped, but its locks are gone.
        let mut killed = create(&scratch).expect("an empty directory");
        drop(killed.store.take());
        drop(killed);
        assert_eq!(scratch.names(), [MERGING]);
        fs::rename(
            scratch.0.join(MERGING).join("plan.toml"),
            scratch.0.join("plan.toml"),
        )
        .expect("moved");
        create(&scratch)
            .expect("what is left is removed")
            .finish()
            .expect("moved");
        assert_eq!(scratch.names(), ["plan.toml", LAST, TRIALS]);
    }

    #[test]
    fn files_of_the_user_stay() {
        let scratch = Scratch::new("user");
        fs::write(scratch.0.join("plan.toml"), "MINE").expect("a file");
        let error = create(&scratch).map(drop).expect_err("refused").to_string();
        assert!(error.contains("it contains plan.toml"), "{error}");
        assert_eq!(
            fs::read_to_string(scratch.0.join("plan.toml")).expect("a file"),
            "MINE"
        );
        assert_eq!(scratch.names(), ["plan.toml"]);
    }
}
