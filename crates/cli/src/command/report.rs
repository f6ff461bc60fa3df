//! `sixbench report`, `sixbench export` and `sixbench merge`: write reports from the records.

use super::stdout_color;
use crate::exit::{Exit, Failed};
use crate::output;
use crate::view::columns;
use sixbench_report::{ExportFormat, PaperStyle};
use sixbench_runner::store::StoreError;
use sixbench_runner::{RunError, reporting};
use std::path::{Path, PathBuf};

/// Writes the reports of these results directories again. Nothing is measured here, so the exit code of any error is that of a wrong argument: the
/// directory cannot be reported on.
pub(crate) fn report(directories: &[PathBuf], style: Option<PaperStyle>) -> Result<Exit, Failed> {
    for directory in directories {
        let (report, summary) = reporting::again(directory, style, columns(), stdout_color())
            .map_err(|error| Failed {
                exit: Exit::Usage,
                ..error.into()
            })?;
        output::print_colored(summary.trim_end())?;
        output::line(format_args!("\nreport: {}", report.display()))?;
    }
    Ok(Exit::Done)
}

/// Writes the results of a run in further formats, and prints the path of each file.
pub(crate) fn export(directory: &Path, formats: &[ExportFormat]) -> Result<Exit, Failed> {
    let written = reporting::export(directory, formats).map_err(|error| Failed {
        exit: Exit::Usage,
        ..error.into()
    })?;
    for path in written {
        output::line(format_args!("{}", path.display()))?;
    }
    Ok(Exit::Done)
}

/// Merges the results of runs that each measured part of one plan, and writes the report on all of them.
pub(crate) fn merge(directories: &[PathBuf], output: &Path) -> Result<Exit, Failed> {
    sixbench_runner::merge(directories, output).map_err(|error| match error {
        // Nothing of it is to be measured, so there is no run to continue.
        RunError::Store(error @ StoreError::HoldsResults(_)) => {
            Failed::usage(format!("{error}; choose another directory with -o"))
        }
        error => error.into(),
    })?;
    report(&[output.to_owned()], None)
}
