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
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(STYLE_LINE))?;
        line.split('.').next()?.parse().ok()
    }

    /// Returns its word on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::OneColumn => "one-column",
            Self::TwoColumn => "two-column",
        }
    }

    /// Returns the command that writes the files for the other column layout, as the end of a comment.
    pub(super) fn hint_on_the_other(self) -> &'static str {
        match self {
            Self::OneColumn => "For a two-column paper: sixbench report --style two-column DIR",
            Self::TwoColumn => "For a paper of one column: sixbench report --style one-column DIR",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_records_its_style_with_or_without_the_command_for_the_other() {
        let style = |line: &str| PaperStyle::of_file(&format!("% a plan\n{line}\n"));
        let own = format!(
            "{STYLE_LINE}two-column. {}",
            PaperStyle::TwoColumn.hint_on_the_other()
        );
        assert_eq!(style(&own), Some(PaperStyle::TwoColumn));
        assert_eq!(style("% Style: two-column."), Some(PaperStyle::TwoColumn));
        assert_eq!(style("% Style: three-column."), None);
        assert_eq!(style("no style"), None);
    }
}
