//! The files of a report: those that every run writes beside its records, and those that are exported on demand, by format.

use super::document::{Document, ReportFile};
use super::download::ROOT;
use crate::ReportError;
use sixbench_method::plan::ExportFormat;

/// Returns the names of a format's files other than figures, and the tables of papers.
fn names(format: ExportFormat) -> &'static [&'static str] {
    match format {
        ExportFormat::Latex => &["results.tex", "methods.tex", "run.bib"],
        ExportFormat::Markdown => &["results.md", "methods.md"],
        ExportFormat::Svg => &[],
        ExportFormat::Junit => &["junit.xml"],
        ExportFormat::Benchmarks => &[
            "bencher.json",
            "benchmark-bigger.json",
            "benchmark-smaller.json",
            "trend-left-out.json",
        ],
        ExportFormat::Csv => &[
            "results.csv",
            "results-values.csv",
            "points.csv",
            "warnings.csv",
            "refusals.csv",
            "sequence.csv",
            "sizes.csv",
            "ramps.csv",
            "broadcasts.csv",
            "bursts.csv",
            "requirements.csv",
            "requirements-by-device.csv",
            "results-scaling.csv",
        ],
    }
}

impl Document<'_> {
    /// Returns the files that every results directory has. Each is made when it is asked for, since the files of a long run are large.
    ///
    /// # Errors
    /// An item is an error if a template does not match its context: a bug in this crate.
    pub fn root_files(&self) -> impl Iterator<Item = Result<ReportFile, ReportError>> {
        self.named(&ROOT)
    }

    /// Returns the formats in which the plan of the run asks to have it exported.
    pub fn asked_exports(&self) -> &[ExportFormat] {
        &self.digest.input.plan.exports
    }

    /// Returns the files of a format; those for which the run has nothing are left out. Each is made when it is asked for.
    ///
    /// # Errors
    /// An item is an error if a template does not match its context: a bug in this crate.
    pub fn export(
        &self,
        format: ExportFormat,
    ) -> impl Iterator<Item = Result<ReportFile, ReportError>> {
        let has_figures = format == ExportFormat::Svg;
        let is_of_papers = format == ExportFormat::Latex;
        let figures = has_figures.then(|| self.shown_figures());
        let parts = is_of_papers.then(|| self.shown_parts_of_papers());
        let drawn = figures.into_iter().flatten();
        self.named(names(format))
            .chain(drawn.chain(parts.into_iter().flatten()).map(Ok))
    }

    fn named(
        &self,
        names: &'static [&'static str],
    ) -> impl Iterator<Item = Result<ReportFile, ReportError>> {
        names.iter().filter_map(|name| {
            self.file(name)
                .map(|text| Some(((*name).to_owned(), text?)))
                .transpose()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::FORMATS;

    #[test]
    fn every_file_of_the_report_is_in_the_root_or_in_one_export() {
        for (name, _) in FORMATS {
            let exports = ExportFormat::ALL.map(names);
            let places = exports.iter().filter(|names| names.contains(&name)).count();
            assert!(
                places == 1 || (places == 0 && ROOT.contains(&name)),
                "{name}"
            );
        }
        for name in ExportFormat::ALL.into_iter().flat_map(names).chain(&ROOT) {
            assert!(
                FORMATS.iter().any(|(of_report, _)| of_report == name),
                "{name}"
            );
        }
    }
}
