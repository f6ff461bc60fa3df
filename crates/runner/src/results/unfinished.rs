//! Files that are not whole yet, under names of their own until they are.
//!
//! Who writes such a file holds a lock on it, which the kernel gives up for a killed process. So the next writer of the same file knows one that a killed
//! process has left from one that is being written, and removes it; no process number is compared, which may be another machine's. Anything else of such
//! a name, such as a link that somebody has put there, stays as it is, and the next number is taken.

use sixbench_io::files::Folder;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;

/// The ending of these files, which no user gives to a file.
pub(crate) const ENDING: &str = ".sixbench-new";

/// A file that is being written. It is removed with its owner, unless it was finished.
pub(crate) struct UnfinishedFile {
    folder: Folder,
    name: OsString,
    file: File,
    is_finished: bool,
}

impl UnfinishedFile {
    /// Creates the file `STEM.sixbench-new` in a folder, or `STEM.2.sixbench-new` and so on while others write theirs.
    ///
    /// # Errors
    /// It cannot be created.
    pub(crate) fn create(folder: &Folder, stem: impl AsRef<OsStr>) -> io::Result<Self> {
        let endings = std::iter::once(ENDING.to_owned())
            .chain((2u32..).map(|number| format!(".{number}{ENDING}")));
        for ending in endings {
            let mut name = stem.as_ref().to_owned();
            name.push(ending);
            if let Some(file) = claim(folder, &name)? {
                return Ok(Self {
                    folder: folder.clone(),
                    name,
                    file,
                    is_finished: false,
                });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, in place of whatever has that.
    ///
    /// # Errors
    /// It cannot be renamed, and is removed.
    pub(crate) fn replace(mut self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.folder.rename(&self.name, name.as_ref())?;
        self.is_finished = true;
        Ok(())
    }

    /// Gives the file a name that nothing has.
    ///
    /// # Errors
    /// Something has it, or the file cannot be renamed; it is removed.
    pub(crate) fn finish_new(mut self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.folder.rename_new(&self.name, name.as_ref())?;
        self.is_finished = true;
        Ok(())
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        // Half a file is of no use, and takes room on a disk that may be full.
        if !self.is_finished {
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// Creates and locks a file, in place of one that a killed process has left. Returns `None` if the name is taken.
fn claim(folder: &Folder, name: &OsStr) -> io::Result<Option<File>> {
    let created = match folder.create_new(name) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !remove_abandoned(folder, name) {
                return Ok(None);
            }
            folder.create_new(name)
        }
        created => created,
    };
    let file = match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
        created => created?,
    };
    // Before it was locked, another process may have taken it for one that was left, and removed it or be about to. A file system without locks has no
    // such process: there, nothing is removed.
    let is_of_another = matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock));
    let is_ours = !is_of_another && file.metadata()?.nlink() > 0;
    Ok(is_ours.then_some(file))
}

/// Removes a file that nobody is writing. Returns false if somebody is, or if this cannot be known.
fn remove_abandoned(folder: &Folder, name: &OsStr) -> bool {
    let Ok(left) = folder.append(name) else {
        return false;
    };
    // As long as the lock is held, and the name is this file's, nobody gives the name to another file.
    left.try_lock().is_ok() && is_named(folder, name, &left) && folder.remove(name).is_ok()
}

fn is_named(folder: &Folder, name: &OsStr, file: &File) -> bool {
    let named = folder.read(name).and_then(|named| named.metadata());
    named.is_ok_and(|named| {
        file.metadata()
            .is_ok_and(|file| (file.dev(), file.ino()) == (named.dev(), named.ino()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write as _;
    use std::path::PathBuf;

    /// A directory of this test, removed at its end.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir()
                .join(format!("sixbench-unfinished-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(&path).expect("a directory");
            Self(path)
        }

        fn folder(&self) -> Folder {
            Folder::open(&self.0).expect("the directory")
        }

        fn files(&self) -> Vec<String> {
            let names = self.folder().names().expect("names");
            names
                .iter()
                .map(|name| name.to_string_lossy().into_owned())
                .collect()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_a_killed_process_has_left_is_removed_and_what_another_one_writes_is_not() {
        let scratch = Scratch::new("killed");
        let folder = scratch.folder();
        fs::write(scratch.0.join(".a.sixbench-new"), "half").expect("a file");
        let first = UnfinishedFile::create(&folder, ".a").expect("a file");
        first.file().write_all(b"first").expect("written");
        let second = UnfinishedFile::create(&folder, ".a").expect("a file");
        second.file().write_all(b"second").expect("written");
        assert_eq!(
            scratch.files(),
            [".a.2.sixbench-new", ".a.sixbench-new"],
            "each has its own"
        );
        second.replace("a").expect("renamed");
        first.replace("a").expect("renamed");
        assert_eq!(scratch.files(), ["a"]);
        let text = fs::read_to_string(scratch.0.join("a")).expect("the file");
        assert_eq!(text, "first");
    }

    #[test]
    fn a_link_and_a_file_of_somebody_stay() {
        let scratch = Scratch::new("others");
        fs::write(scratch.0.join(".a.new"), "of somebody").expect("a file");
        fs::write(scratch.0.join("target"), "of somebody").expect("a file");
        let link = scratch.0.join(".a.sixbench-new");
        std::os::unix::fs::symlink(scratch.0.join("target"), &link).expect("a link");
        let file = UnfinishedFile::create(&scratch.folder(), ".a").expect("a file");
        file.replace("a").expect("renamed");
        assert_eq!(
            scratch.files(),
            [".a.new", ".a.sixbench-new", "a", "target"]
        );
        for kept in [".a.new", "target"] {
            let text = fs::read_to_string(scratch.0.join(kept)).expect("the file");
            assert_eq!(text, "of somebody", "{kept}");
        }
    }

    #[test]
    fn a_name_that_is_taken_meanwhile_is_not_given_again_and_nothing_is_left() {
        let scratch = Scratch::new("taken");
        let file = UnfinishedFile::create(&scratch.folder(), "a").expect("a file");
        fs::write(scratch.0.join("a"), "of somebody").expect("a file");
        let refused = file.finish_new("a").expect_err("the name is taken");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(scratch.files(), ["a"]);
        let text = fs::read_to_string(scratch.0.join("a")).expect("the file");
        assert_eq!(text, "of somebody");
    }
}
