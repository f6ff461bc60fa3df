//! `results.tex`: every table of the report as a plain `tabular`, to be `\input` into a paper. It needs no package.

use crate::document::Document;
use crate::table::{Column, Table};
use crate::{origin, status};

pub(crate) fn latex(document: &Document<'_>) -> String {
    let input = document.digest.input;
    let tables = document.results().iter().chain(document.evidence()).flat_map(|chapter| &chapter.tables);
    let rest = [&document.faults, &document.conformance, &document.run].into_iter().filter(|table| !table.rows.is_empty());
    let tables: Vec<String> = tables.chain(rest).map(table).collect();
    let warnings: String = input.facts.warnings.iter().map(|text| format!("% warning: {}\n", comment(text))).collect();
    format!(
        "% {}. {}. \\input this file; it needs no package.\n% {}\n% {}. Written {}.\n{warnings}\n{}",
        comment(&input.plan.name),
        comment(&origin::sentence(input)),
        comment(origin::command(input)),
        comment(&status::counted(&document.digest)),
        comment(input.generated),
        tables.join("\n")
    )
}

fn table(table: &Table) -> String {
    let layout: String = table.columns.iter().map(|c| if c.number { 'r' } else { 'l' }).collect();
    let line = |cells: &mut dyn Iterator<Item = String>| cells.collect::<Vec<_>>().join(" & ") + " \\\\\n";
    let groups = match table.groups.is_empty() {
        true => String::new(),
        false => line(&mut table.groups.iter().map(|g| spanning(&g.name, g.columns))),
    };
    let names = line(&mut table.columns.iter().map(|c: &Column| escaped(&c.name)));
    let rows: String = table.rows.iter().map(|row| line(&mut row.iter().map(|cell| escaped(cell)))).collect();
    let notes: String = table.notes.iter().map(|note| format!("\\par {}\n", escaped(note))).collect();
    format!(
        "\\begin{{table}}[htbp]\n\\centering\\footnotesize\n\\caption{{{}}}\n\\begin{{tabular}}{{{layout}}}\n\\hline\n\
         {groups}{names}\\hline\n{rows}\\hline\n\\end{{tabular}}\n{notes}\\end{{table}}\n",
        escaped(&table.title)
    )
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

/// Text that LaTeX shall print as it is.
fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => plain.extend(['\\', c]),
            '\\' => plain += "\\textbackslash{}",
            '~' => plain += "\\textasciitilde{}",
            '^' => plain += "\\textasciicircum{}",
            '<' => plain += "\\textless{}",
            '>' => plain += "\\textgreater{}",
            '|' => plain += "\\textbar{}",
            '"' => plain += "''",
            '\u{a0}' => plain.push('~'),
            '–' => plain += "--",
            '≥' => plain += "$\\geq$",
            '≤' => plain += "$\\leq$",
            '×' => plain += "$\\times$",
            '\n' | '\r' => plain.push(' '),
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_latex_would_obey_is_printed() {
        assert_eq!(escaped("50\u{a0}% of {a_b} & #1 \\x ≥ 3"), "50~\\% of \\{a\\_b\\} \\& \\#1 \\textbackslash{}x $\\geq$ 3");
    }

    #[test]
    fn grouped_columns_share_a_heading() {
        let text = table(&Table::new("T", ["Test", "#TL (ms)|Median", "#TL (ms)|P1"]));
        assert!(text.contains("{lrr}\n\\hline\n & \\multicolumn{2}{c}{TL (ms)} \\\\\nTest & Median & P1 \\\\"), "{text}");
    }
}
