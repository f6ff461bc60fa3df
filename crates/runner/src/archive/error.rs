//! Why a results directory gives no archive.

use crate::store::StoreError;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why there is no archive.
#[derive(Debug, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum ArchiveError {
    /// It is no results directory.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run goes on.
    #[error("{}: the run goes on; its results can be archived when it has ended", .0.display())]
    Running(PathBuf),
    /// There is an archive already, which may have been published.
    #[error("{} exists already; move it away, or choose another name", .0.display())]
    Exists(PathBuf),
    /// The archive would hold itself.
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
    /// Returns what makes an error of a file that cannot be read.
    pub(super) fn reading(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::NotRead { path: path.to_owned(), source }
    }

    /// Returns what makes an error of a file that cannot be written.
    pub(super) fn writing(path: &Path) -> impl Fn(io::Error) -> Self {
        |source| Self::NotWritten { path: path.to_owned(), source }
    }
}
