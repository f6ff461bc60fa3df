//! Writes the files that are derived from the records: report, tables, figures.

use super::lean::LeanRecords;
use super::own_files::OwnFile;
use super::store::{self, StoreError, StoredRun};
use super::written::make_folder;
use crate::error::RunError;
use crate::error::store::cannot_write;
use crate::version::VERSION;
use sixbench_analysis::comparison::Comparison;
use sixbench_io::files::Folder;
use sixbench_method::budget;
use sixbench_method::campaign;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{ExportFormat, Plan, Profile};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::replay::{self, Replay};
use sixbench_report::comparison::ComparisonWords;
use sixbench_report::{self as report, PaperStyle, ReportError, ReportFile};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// All data that a report needs.
pub struct ReportInputs<'a> {
    /// The plan that was run.
    pub plan: &'a Plan,
    /// The trials in the order in which they were performed.
    pub records: &'a [TrialRecord],
    /// The facts of the run.
    pub facts: &'a Facts,
    /// Every command that the testbed ran, as a shell script.
    pub commands: &'a str,
    /// True if the run is not complete.
    pub interrupted: bool,
}

/// Writes all derived files of a run in its directory. `plan`, `facts` and `commands` are the run's. Returns the path of report.html.
///
/// # Errors
/// The records cannot be read, or a file cannot be written.
pub(crate) fn write(
    folder: &Folder,
    plan: &Plan,
    facts: &Facts,
    commands: &str,
    interrupted: bool,
) -> Result<PathBuf, RunError> {
    let mut lean = LeanRecords::load(folder, plan, facts)?;
    lean.give_back_delays(folder, plan)?;
    let inputs = ReportInputs {
        plan,
        records: &lean.records,
        facts,
        commands,
        interrupted,
    };
    let style = kept_style(folder);
    with_document(&inputs, &lean.replayed.finished, |document| {
        write_files(folder, &document.with_style(style))
    })?
}

/// The folders of parts of papers beside `results.tex`, each with the beginning of its files.
const PARTS_OF_PAPERS: [PartsOfPapers; 2] = [
    PartsOfPapers {
        folder: report::PAPER_FIGURES,
        mark: report::PAPER_FIGURE_MARK,
    },
    PartsOfPapers {
        folder: report::PAPER_TABLES,
        mark: report::PAPER_TABLE_MARK,
    },
];

/// Figures or tables for papers, which have a folder of their own.
struct PartsOfPapers {
    folder: &'static str,
    /// The beginning of each of the files.
    mark: &'static str,
}

/// Removes the figures and tables for papers that an earlier report had and this one has not: they would be outdated. Files of other names, and those
/// that do not say that they are of a run, stay.
fn remove_old_parts_of_papers(folder: &Folder, written: &[String]) {
    for parts in PARTS_OF_PAPERS {
        parts.remove_old(folder, written);
    }
}

impl PartsOfPapers {
    fn remove_old(&self, folder: &Folder, written: &[String]) {
        let Ok(parts) = folder.folder(self.folder) else {
            return;
        };
        for name in parts.files().unwrap_or_default() {
            let own = format!("{}/{}", self.folder, name.display());
            let is_tex = Path::new(&name).extension().is_some_and(|end| end == "tex");
            if is_tex && !written.contains(&own) && self.has_mark(&parts, &name) {
                // One that cannot be removed is old, and does no other harm.
                let _ = parts.remove(name);
            }
        }
    }

    fn has_mark(&self, parts: &Folder, name: &OsStr) -> bool {
        parts
            .text(name)
            .is_ok_and(|text| text.starts_with(self.mark))
    }
}

/// The folder of a results directory in which each export has a folder.
const EXPORTS: &str = "exports";

/// The file that keeps the style of the paper for which it was written.
const TABLES_FOR_PAPERS: &str = "results.tex";

/// Returns the style of the `results.tex` that is in the directory, so that one that is written again keeps it. Versions up to 0.2 wrote it beside the
/// report.
fn kept_style(folder: &Folder) -> PaperStyle {
    let exported = export_folder(folder, ExportFormat::Latex);
    exported
        .and_then(|latex| latex.text(TABLES_FOR_PAPERS))
        .or_else(|_| folder.text(TABLES_FOR_PAPERS))
        .ok()
        .and_then(|text| PaperStyle::of_file(&text))
        .unwrap_or_default()
}

/// Opens the folder of an export that was written before.
fn export_folder(folder: &Folder, format: ExportFormat) -> io::Result<Folder> {
    folder.folder(EXPORTS)?.folder(format.word())
}

/// Writes the files of a report that every results directory has, the exports that the plan asks for, and again whatever was exported before: no
/// file may contradict the report beside it. Returns the path of report.html.
fn write_files(folder: &Folder, document: &report::Document<'_>) -> Result<PathBuf, RunError> {
    write_texts(folder, document.root_files())?;
    for format in ExportFormat::ALL {
        if document.asked_exports().contains(&format) || export_folder(folder, format).is_ok() {
            write_export(folder, document, format)?;
        }
    }
    if folder.read(OLD_LAYOUT).is_ok() {
        write_beside_report(folder, document)?;
    }
    Ok(folder.path().join("report.html"))
}

/// The file by which a directory of a version up to 0.2 is recognised: these wrote every format beside the report.
const OLD_LAYOUT: &str = "results.md";

/// Writes every format beside the report, in a directory that has them there.
fn write_beside_report(folder: &Folder, document: &report::Document<'_>) -> Result<(), RunError> {
    let files = ExportFormat::ALL
        .into_iter()
        .flat_map(|format| document.export(format));
    let written = write_texts(folder, files)?;
    remove_old_parts_of_papers(folder, &written);
    Ok(())
}

/// Writes these files; returns their names, in the same order.
fn write_texts(
    folder: &Folder,
    files: impl Iterator<Item = Result<ReportFile, ReportError>>,
) -> Result<Vec<String>, RunError> {
    files
        .map(|file| {
            let (name, text) = file?;
            store::write(folder, &name, text)?;
            Ok(name)
        })
        .collect()
}

/// Returns the summary for a terminal of `width` columns.
///
/// # Errors
/// A record was written by a newer version.
pub fn terminal(inputs: &ReportInputs<'_>, width: usize, color: bool) -> Result<String, RunError> {
    let outcomes = replay::outcomes(inputs.plan, inputs.records);
    with_document(inputs, &outcomes, |document| {
        document.terminal(width, color)
    })
}

/// Writes the derived files of a stored run again. Those for papers are in the style of the existing `results.tex`; if a style is given they are in this
/// one, and are exported. Returns the path of report.html, and the summary for a terminal of `width` columns.
///
/// # Errors
/// There are no results, there is nothing to report, or the directory cannot be written to.
pub fn again(
    directory: &Path,
    style: Option<PaperStyle>,
    width: usize,
    color: bool,
) -> Result<(PathBuf, String), RunError> {
    let folder = &store::folder(directory)?;
    with_stored(folder, directory, |document| {
        let document = document.with_style(style.unwrap_or_else(|| kept_style(folder)));
        if style.is_some() {
            write_export(folder, &document, ExportFormat::Latex)?;
        }
        Ok((
            write_files(folder, &document)?,
            document.terminal(width, color),
        ))
    })?
}

/// Writes a stored run in further formats, each to its folder `exports/FORMAT` in the results directory; those for papers in the style of the existing
/// `results.tex`. Returns the paths of the files.
///
/// # Errors
/// There are no results, there is nothing to report, or the directory cannot be written to.
pub fn export(directory: &Path, formats: &[ExportFormat]) -> Result<Vec<PathBuf>, RunError> {
    let folder = &store::folder(directory)?;
    with_stored(folder, directory, |document| {
        let document = document.with_style(kept_style(folder));
        let written = formats
            .iter()
            .map(|format| write_export(folder, &document, *format));
        Ok(written.collect::<Result<Vec<_>, RunError>>()?.concat())
    })?
}

/// Writes the files of one format; returns their paths. The folder is made only if there is a file for it.
fn write_export(
    folder: &Folder,
    document: &report::Document<'_>,
    format: ExportFormat,
) -> Result<Vec<PathBuf>, RunError> {
    let mut files = document.export(format).peekable();
    if files.peek().is_none() {
        return Ok(Vec::new());
    }
    let path = folder.path().join(EXPORTS).join(format.word());
    let exports =
        make_folder(folder, EXPORTS).and_then(|exports| make_folder(&exports, format.word()));
    let exports = exports.map_err(cannot_write(&path))?;
    let names = write_texts(&exports, files)?;
    remove_old_parts_of_papers(&exports, &names);
    Ok(names.iter().map(|name| path.join(name)).collect())
}

/// Passes a document of a stored run to `print`.
fn with_stored<T>(
    folder: &Folder,
    directory: &Path,
    print: impl FnOnce(report::Document<'_>) -> T,
) -> Result<T, RunError> {
    let StoredRun {
        plan,
        facts,
        commands,
        ..
    } = &store::load_without_records(folder)?;
    let mut lean = LeanRecords::load(folder, plan, facts)?;
    // A run whose set-up failed has something to report: the status of every point.
    if lean.records.is_empty() && facts.runs.is_empty() {
        return Err(StoreError::NoTrial(directory.to_owned()).into());
    }
    let Replay {
        finished,
        unfinished,
        mismatches,
    } = &lean.replayed;
    // Individual points that an earlier version judged differently have a status that reports this.
    if let Some(mismatch) = mismatches
        .first()
        .filter(|_| finished.is_empty() && unfinished.is_empty())
    {
        return Err(StoreError::Mismatch {
            directory: directory.to_owned(),
            source: Box::new(mismatch.clone()),
        }
        .into());
    }
    let interrupted = !campaign::is_complete(plan, &facts.selection, finished);
    lean.give_back_delays(folder, plan)?;
    let inputs = ReportInputs {
        plan,
        records: &lean.records,
        facts,
        commands,
        interrupted,
    };
    with_document(&inputs, &lean.replayed.finished, print)
}

/// Writes a comparison to a file, as Markdown if its name ends in `.md`, otherwise as a page.
///
/// # Errors
/// The file cannot be written.
pub fn write_comparison(
    path: &Path,
    compared: &Comparison<'_>,
    words: &ComparisonWords<'_>,
) -> Result<(), RunError> {
    let kind = OwnFile::of_comparison(path);
    kind.check(path)?;
    let text = match kind {
        OwnFile::Markdown => report::comparison::markdown(compared, words),
        _ => report::comparison::page(
            compared,
            words,
            &format!("Written {} by sixbench {VERSION}", generated()),
        )?,
    };
    Ok(store::write_file(path, &text)?)
}

/// Returns the current time in the format used on pages, or the one that `SOURCE_DATE_EPOCH` sets, with which the same results give the same page
/// (<https://reproducible-builds.org/specs/source-date-epoch/>).
pub(crate) fn generated() -> String {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok();
    let set = set.and_then(|seconds| jiff::Timestamp::from_second(seconds.parse().ok()?).ok());
    set.map_or_else(jiff::Zoned::now, |time| {
        time.to_zoned(jiff::tz::TimeZone::UTC)
    })
    .strftime("%Y-%m-%d %H:%M %Z")
    .to_string()
}

/// Passes a document of the current state of a run, with the outcomes of its records, to `print`.
fn with_document<T>(
    inputs: &ReportInputs<'_>,
    outcomes: &[Outcome],
    print: impl FnOnce(report::Document<'_>) -> T,
) -> Result<T, RunError> {
    let input = report::Input {
        plan: inputs.plan,
        records: inputs.records,
        outcomes,
        facts: inputs.facts,
        commands: inputs.commands,
        generated: &generated(),
        interrupted: inputs.interrupted,
        rfc_budget: (inputs.plan.profile != Profile::Rfc && inputs.plan.has_loads())
            .then(|| budget::estimate_rfc(inputs.plan)),
    };
    Ok(print(report::Document::new(&input)?))
}
