//! `sixbench archive`: a results directory as one file.

use crate::exit::{Exit, Failed};
use crate::output;
use sixbench_runner::archive::{self, ArchiveError};
use std::path::Path;

/// Packs a results directory, and prints the archive's name and checksum in the format of `sha256sum`.
pub(crate) fn archive(results: &Path, file: Option<&Path>) -> Result<Exit, Failed> {
    let failed = |error| match error {
        ArchiveError::Store(error) => Failed {
            exit: Exit::Usage,
            ..error.into()
        },
        error => Failed::new(Exit::Usage, error),
    };
    let (path, sum) = archive::write(results, file).map_err(failed)?;
    output::line(format_args!("{sum}  {}", path.display()))?;
    Ok(Exit::Done)
}
