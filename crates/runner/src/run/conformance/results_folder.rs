//! A directory that the user names for the results of a device, open. It is tried before the time is spent for results that would be lost, and one that was
//! made for them is removed again where none were written.

use crate::error::store::{Result, StoreError};
use crate::results::store::make_directory;
use crate::results::unfinished::UnfinishedFile;
use sha2::{Digest as _, Sha256};
use sixbench_io::files::Folder;
use std::io;
use std::path::{Path, PathBuf};

pub(super) struct ResultsFolder {
    pub(super) folder: Folder,
    path: PathBuf,
    is_new: bool,
}

impl ResultsFolder {
    /// Opens a directory, or makes it, for a file of this name and others.
    ///
    /// # Errors
    /// It cannot be made, or no file can be made in it.
    pub(super) fn open(path: &Path, results: &str) -> Result<Self> {
        let is_new = !path.exists();
        let folder = make_directory(path).map_err(|error| StoreError::NotCreated {
            directory: path.to_owned(),
            error,
        })?;
        let opened = Self {
            folder,
            path: path.to_owned(),
            is_new,
        };
        let made = UnfinishedFile::create(&opened.folder, format!(".{results}"));
        opened.written(results, made.map(drop))?;
        Ok(opened)
    }

    /// Returns the path of a file.
    pub(super) fn path_of(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Returns the path of a file as results have it.
    pub(super) fn shown(&self, file: &str) -> String {
        self.path_of(file).display().to_string()
    }

    /// Returns what was done to a file, with its path in the error.
    pub(super) fn written<T>(&self, file: &str, result: io::Result<T>) -> Result<T> {
        result.map_err(|error| StoreError::NotWritten {
            path: self.path_of(file),
            error,
        })
    }
}

impl Drop for ResultsFolder {
    fn drop(&mut self) {
        // Only an empty directory can be removed so.
        if self.is_new {
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// Returns a SHA-256 in hexadecimal digits.
pub(super) fn sha256(octets: &[u8]) -> String {
    let digest = Sha256::digest(octets);
    digest.iter().map(|octet| format!("{octet:02x}")).collect()
}
