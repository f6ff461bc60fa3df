//! The formats in which the results of a run can be exported. What each format's files contain is a matter of `report`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// A format that a run writes if its plan asks for it, and that `sixbench export` writes on demand: a group of files that one kind of reader needs
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
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

/// The reason why a word names no format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
// The message above each variant explains its fields.
#[allow(missing_docs)]
pub enum ExportFormatError {
    /// Versions up to 0.2 wrote Parquet beside every report.
    #[error(
        "sixbench no longer writes Parquet; its package for Python does: python3 -m sixbench to_parquet DIR"
    )]
    Parquet,
    /// No format has this name.
    #[error("expected an export ({known}), not `{word}`", known = ExportFormat::known())]
    Unknown { word: String },
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

    /// The word of Parquet, which has been an output of the program.
    pub const PARQUET: &'static str = "parquet";

    /// The words that have an answer of their own: those of the formats, and that of Parquet, which is answered with the way to it.
    pub const WORDS: [&'static str; 7] = [
        "latex",
        "markdown",
        "svg",
        "junit",
        "benchmarks",
        "csv",
        Self::PARQUET,
    ];

    /// Returns the format's word in plans and on the command line, which is also the name of its folder.
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

    fn known() -> String {
        Self::ALL.map(Self::word).join(", ")
    }
}

impl FromStr for ExportFormat {
    type Err = ExportFormatError;

    fn from_str(word: &str) -> Result<Self, ExportFormatError> {
        let found = Self::ALL.into_iter().find(|format| format.word() == word);
        match (found, word) {
            (Some(format), _) => Ok(format),
            (None, Self::PARQUET) => Err(ExportFormatError::Parquet),
            (None, _) => Err(ExportFormatError::Unknown {
                word: word.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_that_of_one_format_also_in_a_resolved_plan() {
        let words = ExportFormat::ALL.map(ExportFormat::word);
        assert_eq!(ExportFormat::WORDS[..6], words);
        for format in ExportFormat::ALL {
            assert_eq!(format.word().parse(), Ok(format));
            let resolved = serde_json::to_value(format).expect("a word");
            assert_eq!(resolved, format.word());
        }
    }

    #[test]
    fn parquet_is_referred_to_the_package_for_python() {
        let refused = "parquet".parse::<ExportFormat>().expect_err("no format");
        assert!(
            refused
                .to_string()
                .ends_with("python3 -m sixbench to_parquet DIR")
        );
        let unknown = "pdf".parse::<ExportFormat>().expect_err("no format");
        assert_eq!(
            unknown.to_string(),
            "expected an export (latex, markdown, svg, junit, benchmarks, csv), not `pdf`"
        );
    }
}
