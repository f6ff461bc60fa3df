//! Why results cannot be merged.

use super::writer::{WritingProcess, how_to_stop, writer_words};
use sixbench_io::files::Folder;
use sixbench_method::plan::MeasurementKey;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why results cannot be merged.
#[derive(Debug, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum MergeError {
    /// A run still writes to a directory.
    #[error(
        "{} still writes to {}; merge again when it has ended, or {}",
        writer_words(writer.as_ref()), directory.display(), how_to_stop(writer.as_ref())
    )]
    StillWritten {
        directory: PathBuf,
        writer: Option<WritingProcess>,
    },
    /// The directories are of different plans.
    #[error("{} and {} are of different plans: {what}", a.display(), b.display())]
    DifferentPlans {
        a: PathBuf,
        b: PathBuf,
        what: String,
    },
    /// A recipe was changed between the runs.
    #[error("{} and {} have different recipes/{recipe}: they measured different devices", a.display(), b.display())]
    DifferentRecipes {
        a: PathBuf,
        b: PathBuf,
        recipe: String,
    },
    /// Two runs have performed the same repetition.
    #[error("both {} and {} have {key}: leave one of them out", a.display(), b.display())]
    Twice {
        a: PathBuf,
        b: PathBuf,
        key: MeasurementKey,
    },
    /// A folder cannot be copied.
    #[error("cannot copy the {name} of {}: {error}", from.display())]
    NotCopied {
        from: PathBuf,
        name: String,
        error: io::Error,
    },
}

impl MergeError {
    pub(crate) fn copying(from: &Folder, name: &str) -> impl Fn(io::Error) -> Self + use<> {
        let (from, name) = (from.path().to_owned(), name.to_owned());
        move |error| Self::NotCopied {
            from: from.clone(),
            name: name.clone(),
            error,
        }
    }

    pub(crate) fn still_written(directory: &Path) -> Self {
        Self::StillWritten {
            directory: directory.to_owned(),
            writer: WritingProcess::find(&directory.join("trials.jsonl")),
        }
    }
}
