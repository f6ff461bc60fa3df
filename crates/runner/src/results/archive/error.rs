//! Errors in archiving a results directory.

use crate::results::store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a results directory cannot be archived.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum ArchiveError {
    /// It is not a results directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run is still going on.
    #[error("{}: the run goes on; its results can be archived when it has ended", .0.display())]
    Running(PathBuf),
    /// The archive already exists, and may have been published.
    #[error("{} exists already; move it away, or choose another name", .0.display())]
    Exists(PathBuf),
    /// The archive would contain itself.
    #[error("{} is in the results directory; choose a place outside of it", .0.display())]
    Inside(PathBuf),
    /// A file of the results cannot be read.
    #[error("cannot read {}", path.display())]
    NotRead { path: PathBuf, source: io::Error },
    /// The archive cannot be written.
    #[error("cannot write {}", path.display())]
    NotWritten { path: PathBuf, source: io::Error },
}

impl ArchiveError {
    /// Returns a conversion of an I/O error for a file that cannot be read.
    pub(super) fn reading(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::NotRead {
            path: path.to_owned(),
            source,
        }
    }

    /// Returns a conversion of an I/O error for a file that cannot be written.
    pub(super) fn writing(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::NotWritten {
            path: path.to_owned(),
            source,
        }
    }
}
