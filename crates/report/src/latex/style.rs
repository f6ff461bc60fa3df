//! The columns of the paper that tables are written for.

use std::str::FromStr;

/// The columns of the paper that `results.tex` is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaperStyle {
    /// One column of text, as wide as that of LaTeX's class `article` at least.
    #[default]
    OneColumn,
    /// Two columns of text; tables that are too wide for one of them span both.
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

/// The line of `results.tex` that says for which style it was written.
pub(super) const STYLE_LINE: &str = "% Style: ";

impl PaperStyle {
    /// Returns the style that a `results.tex` was written for, or `None` of one that does not say so.
    pub fn of_file(text: &str) -> Option<Self> {
        text.lines().find_map(|line| line.strip_prefix(STYLE_LINE))?.trim_end_matches('.').parse().ok()
    }

    /// The word for it on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::OneColumn => "one-column",
            Self::TwoColumn => "two-column",
        }
    }

    /// The widths of a column and of the page's text, points: those of `article` on A4, where no usual class of papers is narrower.
    pub(super) fn widths(self) -> (f64, f64) {
        match self {
            Self::OneColumn => (345.0, 345.0),
            Self::TwoColumn => (220.0, 450.0),
        }
    }

    /// The width of a figure in a column, as LaTeX takes it.
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
