//! `results.tex`: every table of the report. It compiles alone, and can be `\input` into a paper, which skips its preamble.

pub(crate) mod float;
mod layout;
pub(crate) mod preamble;
mod style;

use crate::findings::origin;
use crate::findings::status;
use crate::findings::trust;
use crate::format::document::Document;
use crate::layout::latex::escaped;
use crate::layout::table::Table;
use float::floats;
use preamble::{Preamble, comment};
use std::collections::BTreeMap;
use style::STYLE_LINE;

pub use style::PaperStyle;

/// The number of tables after which pending floats are flushed: LaTeX can hold at least 18.
const TABLES_AT_ONCE: usize = 12;

pub(crate) fn latex(document: &Document<'_>, style: PaperStyle) -> String {
    let mut labels = BTreeMap::new();
    let clauses = document.conformance().table();
    let floats = tables(document, &clauses)
        .flat_map(|table| floats(table, style, &label(&table.title, &mut labels)));
    let floats: Vec<String> = floats.collect();
    let tables: Vec<String> = floats
        .chunks(TABLES_AT_ONCE)
        .map(|some| some.join("\n"))
        .collect();
    let trust = trust::sentence(&document.digest).map_or_else(String::new, |line| {
        format!("\n\\textbf{{{}}}\n", escaped(&line))
    });
    let input = document.digest.input;
    format!(
        "{}{}\n\\begingroup\\raggedright\n{}. {}.\n{trust}{}\\par\\endgroup\n\n{}\n\\sixbenchend\n",
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
        tables.join("\n\\clearpage\n\n")
    )
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
        "% {}. {}.\n% pdflatex compiles this file by itself. A paper that has \\usepackage{{array,booktabs}} may \\input it.\n\
         {STYLE_LINE}{}.\n% {}\n% {}. Written {}.\n{warnings}\n",
        comment(&input.plan.name),
        comment(&origin::sentence(&document.digest)),
        style.word(),
        comment(origin::command(input)),
        comment(&status::counted(&document.digest)),
        comment(input.generated)
    )
}

/// Returns a label that no other table of the file has: `tab:sixbench-throughput`.
fn label(title: &str, used: &mut BTreeMap<String, usize>) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(5)
        .map(str::to_ascii_lowercase)
        .collect();
    let name = if words.is_empty() {
        "table".to_owned()
    } else {
        words.join("-")
    };
    let uses = used.entry(name.clone()).or_default();
    *uses += 1;
    if *uses == 1 {
        format!("tab:sixbench-{name}")
    } else {
        format!("tab:sixbench-{name}-{uses}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_has_a_label_of_its_own() {
        let mut used = BTreeMap::new();
        let labels =
            ["Frame loss rate", "Frame loss rate", "中"].map(|title| label(title, &mut used));
        assert_eq!(
            labels,
            [
                "tab:sixbench-frame-loss-rate",
                "tab:sixbench-frame-loss-rate-2",
                "tab:sixbench-table"
            ]
        );
    }
}
