//! The column layout of the paper for which tables are written.

use std::str::FromStr;

/// The column layout of the paper for which `results.tex` is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaperStyle {
    /// One column of text, at least as wide as that of LaTeX's class `article`.
    #[default]
    OneColumn,
    /// Two columns of text; tables too wide for one of them span both.
    TwoColumn,
}

impl FromStr for PaperStyle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "one-column" => Ok(Self::OneColumn),
            "two-column" => Ok(Self::TwoColumn),
            _ => Err(format!("expected one-column or two-column, not `{text}`")),
        }
    }
}

/// The beginning of the line of `results.tex` that records its style.
pub(super) const STYLE_LINE: &str = "% Style: ";

impl PaperStyle {
    /// Returns the style for which a `results.tex` was written; `None` if it does not record one.
    pub fn of_file(text: &str) -> Option<Self> {
        text.lines()
            .find_map(|line| line.strip_prefix(STYLE_LINE))?
            .trim_end_matches('.')
            .parse()
            .ok()
    }

    /// Returns its word on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::OneColumn => "one-column",
            Self::TwoColumn => "two-column",
        }
    }

    /// Returns the widths of a column and of the page's text, points: those of `article` on A4, since no common class for papers has narrower ones.
    pub(super) fn widths(self) -> (f64, f64) {
        match self {
            Self::OneColumn => (345.0, 345.0),
            Self::TwoColumn => (220.0, 450.0),
        }
    }

    /// Returns the width of a figure in a column, in LaTeX's notation.
    pub(crate) fn figure_width(self) -> &'static str {
        match self {
            Self::OneColumn => "9cm",
            Self::TwoColumn => "7.5cm",
        }
    }

    pub(super) fn class_options(self) -> &'static str {
        match self {
            Self::OneColumn => "a4paper",
            Self::TwoColumn => "a4paper,twocolumn",
        }
    }
}
