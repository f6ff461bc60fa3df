//! `sixbench history`: a page about all results directories in a folder.

use crate::exit::{Exit, Failed};
use crate::output::{self, tell};
use sixbench_runner::history::{HistoryRequest, write_history};
use std::path::Path;

/// Writes the page and its data; prints the directories that were left out and a summary of the changes.
pub(crate) fn history(
    folder: &Path,
    page: Option<&Path>,
    label: Option<&str>,
) -> Result<Exit, Failed> {
    let written = write_history(&HistoryRequest {
        folder,
        page,
        label,
    })?;
    written
        .skipped
        .iter()
        .for_each(|line| tell!("left out: {line}"));
    output::line(format_args!(
        "{}page: {}\ndata: {}",
        written.summary,
        written.page.display(),
        written.data.display()
    ))?;
    Ok(Exit::Done)
}
