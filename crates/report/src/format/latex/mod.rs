//! `results.tex` and a file for each table of the report. It compiles alone, and can be `\input` into a paper, which skips its preamble.

pub(crate) mod float;
mod label;
mod layout;
pub(crate) mod preamble;
mod repeats;
mod style;
pub(crate) mod table_file;

use crate::findings::origin;
use crate::findings::status;
use crate::findings::trust;
use crate::format::document::Document;
use crate::layout::latex::escaped;
use crate::layout::table::Table;
use label::TableLabels;
use preamble::{Preamble, comment};
use style::STYLE_LINE;
use table_file::{TableFile, inputs};

pub use style::PaperStyle;

/// Returns `results.tex`, which reads the files of the tables.
pub(crate) fn latex(document: &Document<'_>, style: PaperStyle) -> String {
    let trust = trust::sentence(&document.digest).map_or_else(String::new, |line| {
        format!("\n\\textbf{{{}}}\n", escaped(&line))
    });
    let input = document.digest.input;
    format!(
        "{}{}\n\\begingroup\\raggedright\n{}. {}.\n{trust}{}\\par\\endgroup\n\n\\providecommand\\sixbenchfolder{{}}\n{}\n\\sixbenchend\n",
        head(document, style),
        Preamble::of_tables(style, &input.plan.name),
        escaped(&origin::sentence(&document.digest)),
        escaped(&status::counted(&document.digest)),
        document
            .digest
            .anomalies_in_brief()
            .iter()
            .map(|text| format!("{}.\n", escaped(text)))
            .collect::<String>(),
        inputs(document.table_files())
    )
}

/// Returns the tables of a report in their order, for papers of this style.
pub(crate) fn table_files(document: &Document<'_>, style: PaperStyle) -> Vec<TableFile> {
    let mut labels = TableLabels::default();
    let clauses = document.conformance().table();
    tables(document, &clauses)
        .map(|table| TableFile::new(table, style, &mut labels))
        .collect()
}

fn tables<'d>(document: &'d Document<'_>, clauses: &'d Table) -> impl Iterator<Item = &'d Table> {
    let tables = document
        .results()
        .iter()
        .chain(document.evidence())
        .flat_map(|chapter| &chapter.tables);
    let rest = [document.faults(), clauses, document.run()]
        .into_iter()
        .filter(|table| !table.rows.is_empty());
    tables.chain(rest).filter(|table| !table.columns.is_empty())
}

fn head(document: &Document<'_>, style: PaperStyle) -> String {
    let input = document.digest.input;
    let warnings = document.digest.warnings_in_brief();
    let warnings: String = warnings
        .iter()
        .map(|text| format!("% warning: {}\n", comment(text)))
        .collect();
    format!(
        "% {}. {}.\n% pdflatex compiles this file by itself. A paper that has \\usepackage{{array,booktabs}} may \\input it, or single files of \
         {}/.\n{STYLE_LINE}{}. {}\n% A paper in another folder says where this one is, before it reads it: \\def\\sixbenchfolder{{FOLDER/}}\n\
         % {}\n% {}. Written {}.\n{warnings}\n",
        comment(&input.plan.name),
        comment(&origin::sentence(&document.digest)),
        table_file::FOLDER,
        style.word(),
        style.hint_on_the_other(),
        comment(origin::command(input)),
        comment(&status::counted(&document.digest)),
        comment(input.generated)
    )
}
