//! `results.tex`: every table of the report. It compiles by itself, and may be `\input` into a paper, where its preamble is skipped.

mod layout;
mod text;

use crate::document::Document;
use crate::table::{Column, Table};
use crate::{origin, status, trust};
use layout::{COLUMN_SEPARATION, TablePart, TypeSize};
use std::collections::BTreeMap;
use std::str::FromStr;
use text::escaped;

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
const STYLE_LINE: &str = "% Style: ";

impl PaperStyle {
    /// Returns the style that a `results.tex` was written for, or `None` of one that does not say so.
    pub fn of_file(text: &str) -> Option<Self> {
        text.lines().find_map(|line| line.strip_prefix(STYLE_LINE))?.trim_end_matches('.').parse().ok()
    }

    /// The word for it on the command line.
    fn word(self) -> &'static str {
        match self {
            Self::OneColumn => "one-column",
            Self::TwoColumn => "two-column",
        }
    }

    /// The widths of a column and of the page's text, points: those of `article` on A4, where no usual class of papers is narrower.
    fn widths(self) -> (f64, f64) {
        match self {
            Self::OneColumn => (345.0, 345.0),
            Self::TwoColumn => (220.0, 450.0),
        }
    }

    fn class_options(self) -> &'static str {
        match self {
            Self::OneColumn => "a4paper",
            Self::TwoColumn => "a4paper,twocolumn",
        }
    }
}

/// Tables after which those that wait for room are printed: LaTeX holds 18 at least.
const TABLES_AT_ONCE: usize = 12;

pub(crate) fn latex(document: &Document<'_>, style: PaperStyle) -> String {
    let mut labels = BTreeMap::new();
    let floats = tables(document).flat_map(|table| floats(table, style, &label(&table.title, &mut labels)));
    let floats: Vec<String> = floats.collect();
    let tables: Vec<String> = floats.chunks(TABLES_AT_ONCE).map(|some| some.join("\n")).collect();
    let trust =
        trust::sentence(&document.digest).map_or_else(String::new, |line| format!("\n\\textbf{{{}}}\n", escaped(&line)));
    let input = document.digest.input;
    format!(
        "{}{}\n\\begingroup\\raggedright\n{}. {}.\n{trust}\\par\\endgroup\n\n{}\n\\sixbenchend\n",
        head(document, style),
        preamble(style, &input.plan.name),
        escaped(&origin::sentence(input)),
        escaped(&status::counted(&document.digest)),
        tables.join("\n\\clearpage\n\n")
    )
}

fn tables<'d>(document: &'d Document<'_>) -> impl Iterator<Item = &'d Table> {
    let tables = document.results().iter().chain(document.evidence()).flat_map(|chapter| &chapter.tables);
    let rest = [&document.faults, &document.conformance, &document.run].into_iter().filter(|table| !table.rows.is_empty());
    tables.chain(rest).filter(|table| !table.columns.is_empty())
}

fn head(document: &Document<'_>, style: PaperStyle) -> String {
    let input = document.digest.input;
    let warnings: String = input.facts.warnings.iter().map(|text| format!("% warning: {}\n", comment(text))).collect();
    format!(
        "% {}. {}.\n% pdflatex compiles this file by itself. A paper that has \\usepackage{{array,booktabs}} may \\input it.\n\
         {STYLE_LINE}{}.\n% {}\n% {}. Written {}.\n{warnings}\n",
        comment(&input.plan.name),
        comment(&origin::sentence(input)),
        style.word(),
        comment(origin::command(input)),
        comment(&status::counted(&document.digest)),
        comment(input.generated)
    )
}

/// The commands before the tables. `\@nodocument` is `\relax` once a document has begun: then this file is part of a paper.
fn preamble(style: PaperStyle, title: &str) -> String {
    format!(
        "\\makeatletter\n\
         \\ifx\\@nodocument\\relax\n\
         \\def\\sixbenchbegin{{}}\\def\\sixbenchend{{}}\n\
         \\else\n\
         \\documentclass[{}]{{article}}\n\
         \\usepackage{{array,booktabs}}\n\
         \\def\\sixbenchbegin{{\\begin{{document}}\\section*{{\\raggedright {}}}}}\n\
         \\def\\sixbenchend{{\\end{{document}}}}\n\
         \\fi\n\
         \\makeatother\n\
         % A character that the fonts of pdfLaTeX lack; XeLaTeX and LuaLaTeX print it where their font has it.\n\
         \\providecommand\\sixbenchchar{{}}\n\
         \\ifdefined\\Umathcode\\protected\\def\\sixbenchchar#1{{\\char\"#1\\relax}}\n\
         \\else\\protected\\def\\sixbenchchar#1{{{{\\scriptsize U+#1}}}}\\fi\n\
         \\sixbenchbegin\n",
        style.class_options(),
        escaped(title)
    )
}

/// A label that no other table of the file has: `tab:sixbench-throughput`.
fn label(title: &str, used: &mut BTreeMap<String, usize>) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(5)
        .map(str::to_ascii_lowercase)
        .collect();
    let name = if words.is_empty() { "table".to_owned() } else { words.join("-") };
    let uses = used.entry(name.clone()).or_default();
    *uses += 1;
    if *uses == 1 { format!("tab:sixbench-{name}") } else { format!("tab:sixbench-{name}-{uses}") }
}

/// The table as one float, or as several with one number where it has too many rows or columns for a page.
fn floats(table: &Table, style: PaperStyle, label: &str) -> Vec<String> {
    let (column, page) = style.widths();
    let is_narrow = |parts: &[TablePart]| parts.len() == 1 && parts[0].widths.is_none();
    let parts = Some(layout::parts(table, column)).filter(|parts| is_narrow(parts)).map(|parts| (parts, "table"));
    let spanning = if style == PaperStyle::TwoColumn { "table*" } else { "table" };
    let (parts, environment) = parts.unwrap_or_else(|| (layout::parts(table, page), spanning));
    let caption = |index: usize| match index {
        0 => format!("\\caption{{{}}}\\label{{{label}}}", escaped(&table.title)),
        _ => format!("\\addtocounter{{table}}{{-1}}\\caption{{{}, continued}}", escaped(&table.title)),
    };
    parts.iter().enumerate().map(|(index, part)| float(part, environment, &caption(index))).collect()
}

fn float(part: &TablePart, environment: &str, caption: &str) -> String {
    let (table, TypeSize { command, .. }) = (&part.table, part.size);
    let names = line(table.columns.iter().map(|c: &Column| escaped(&c.name)));
    let rows: String = table.rows.iter().map(|row| line(row.iter().map(|cell| escaped(cell)))).collect();
    let notes: String = table.notes.iter().map(|note| format!("\\par {}\n", escaped(note))).collect();
    let notes = if notes.is_empty() { notes } else { format!("\\par\\smallskip\\raggedright\n{notes}") };
    format!(
        "\\begin{{{environment}}}[htbp]\n\\centering{command}\\setlength{{\\tabcolsep}}{{{COLUMN_SEPARATION}pt}}\n{caption}\n\
         \\begin{{tabular}}{{@{{}}{}@{{}}}}\n\\toprule\n{}{names}\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n\
         {notes}\\end{{{environment}}}\n",
        columns(part),
        groups(table)
    )
}

fn line(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(" & ") + " \\\\\n"
}

/// The columns as `tabular` wants them: each as wide as it is, or of a given width with its text wrapped.
fn columns(part: &TablePart) -> String {
    let columns = &part.table.columns;
    match &part.widths {
        None => columns.iter().map(|column| if column.number { 'r' } else { 'l' }).collect(),
        Some(widths) => columns.iter().zip(widths).map(|(column, width)| wrapped(column, *width)).collect(),
    }
}

fn wrapped(column: &Column, width: f64) -> String {
    let side = if column.number { "left" } else { "right" };
    format!(">{{\\ragged{side}\\arraybackslash}}p{{{width:.1}pt}}")
}

/// The names of groups of columns, with a rule under each.
fn groups(table: &Table) -> String {
    if table.groups.is_empty() {
        return String::new();
    }
    let mut rules = String::new();
    let mut first = 1;
    for group in &table.groups {
        let last = first + group.columns - 1;
        if !group.name.is_empty() {
            rules += &format!("\\cmidrule(lr){{{first}-{last}}}");
        }
        first = last + 1;
    }
    line(table.groups.iter().map(|group| spanning(&group.name, group.columns))) + &rules + "\n"
}

fn spanning(name: &str, columns: usize) -> String {
    match name.is_empty() {
        true => String::new(),
        false => format!("\\multicolumn{{{columns}}}{{c}}{{{}}}", escaped(name)),
    }
}

fn comment(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grouped_columns_share_a_heading() {
        let table = Table::new("T", ["Test", "#TL (ms)|Median", "#TL (ms)|P1"]);
        let text = floats(&table, PaperStyle::OneColumn, "tab:t").concat();
        let heading = " & \\multicolumn{2}{c}{TL (ms)} \\\\\n\\cmidrule(lr){2-3}\nTest & Median & P1 \\\\";
        assert!(text.contains(&format!("{{@{{}}lrr@{{}}}}\n\\toprule\n{heading}")), "{text}");
    }

    #[test]
    fn every_table_has_a_label_of_its_own() {
        let mut used = BTreeMap::new();
        let labels = ["Frame loss rate", "Frame loss rate", "中"].map(|title| label(title, &mut used));
        assert_eq!(labels, ["tab:sixbench-frame-loss-rate", "tab:sixbench-frame-loss-rate-2", "tab:sixbench-table"]);
    }

    #[test]
    fn a_wide_table_spans_both_columns_and_a_narrow_one_does_not() {
        let table = |cell: &str| Table::new("T", ["Test", "#n"]).with_rows([vec![cell.to_owned(), "1".to_owned()]]);
        let of = |cell: &str| floats(&table(cell), PaperStyle::TwoColumn, "tab:t").concat();
        assert!(of("a").starts_with("\\begin{table}[htbp]") && of(&"word ".repeat(30)).starts_with("\\begin{table*}[htbp]"));
    }
}
