//! The formats in which a report is exported on demand, and the files of each.

use super::document::Document;
use crate::ReportError;

/// A format that `sixbench export` writes: a group of files that one kind of reader needs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// The tables, the methods section, the bibliography, and the panels of the figures for a paper.
    Latex,
    /// The tables and the methods section as Markdown.
    Markdown,
    /// The figures, each as one file.
    Svg,
    /// The tests as JUnit's XML.
    Junit,
    /// The data of Bencher and of github-action-benchmark.
    Benchmarks,
    /// Every table of numbers as CSV.
    Csv,
}

impl ExportFormat {
    /// Every format, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Latex,
        Self::Markdown,
        Self::Svg,
        Self::Junit,
        Self::Benchmarks,
        Self::Csv,
    ];

    /// Returns the format's word on the command line, which is also the name of its folder.
    pub fn word(self) -> &'static str {
        match self {
            Self::Latex => "latex",
            Self::Markdown => "markdown",
            Self::Svg => "svg",
            Self::Junit => "junit",
            Self::Benchmarks => "benchmarks",
            Self::Csv => "csv",
        }
    }

    /// Returns the format with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }

    /// Returns the names of the format's files other than figures.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Latex => &["results.tex", "methods.tex", "run.bib"],
            Self::Markdown => &["results.md", "methods.md"],
            Self::Svg => &[],
            Self::Junit => &["junit.xml"],
            Self::Benchmarks => &[
                "bencher.json",
                "benchmark-bigger.json",
                "benchmark-smaller.json",
                "trend-left-out.json",
            ],
            Self::Csv => &[
                "results.csv",
                "results-values.csv",
                "points.csv",
                "warnings.csv",
                "refusals.csv",
                "results-scaling.csv",
            ],
        }
    }
}

impl Document<'_> {
    /// Returns the files of a format with their names; those for which the run has nothing are left out.
    ///
    /// # Errors
    /// A template does not match its context: a bug in this crate.
    pub fn export(&self, format: ExportFormat) -> Result<Vec<(String, String)>, ReportError> {
        let mut files = Vec::new();
        for name in format.names() {
            files.extend(self.file(name)?.map(|text| ((*name).to_owned(), text)));
        }
        match format {
            ExportFormat::Svg => files.extend(self.shown_figures()),
            ExportFormat::Latex => files.extend(self.shown_paper_figures()),
            _ => {}
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::FORMATS;

    #[test]
    fn every_file_of_an_export_is_one_of_the_report() {
        for name in ExportFormat::ALL.into_iter().flat_map(ExportFormat::names) {
            assert!(
                FORMATS.iter().any(|(of_report, _)| of_report == name),
                "{name}"
            );
        }
    }

    #[test]
    fn every_word_is_that_of_one_format() {
        for format in ExportFormat::ALL {
            assert_eq!(ExportFormat::of_word(format.word()), Some(format));
        }
    }
}
