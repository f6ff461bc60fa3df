//! `results.md`: the verdict and the tables of results, to be pasted into an issue or a paper's notes.

use crate::document::Document;
use crate::table::{Column, Table};
use crate::{Input, origin, status, trust};

pub(crate) fn markdown(document: &Document<'_>) -> String {
    let input = document.digest.input;
    let sentences = document.verdict.iter().map(|s| format!("- {}\n", escaped(s))).collect::<String>();
    let warnings = warnings(input);
    let tables = document.results().iter().flat_map(|chapter| &chapter.tables);
    let tables: String = tables.map(|t| format!("\n## {}\n\n{}", escaped(&t.title), table(t))).collect();
    let run = format!("\n## {}\n\n{}", escaped(&document.run.title), table(&document.run));
    let (name, origin) = (escaped(&input.plan.name), escaped(&origin::sentence(input)));
    let trust = trust::sentence(&document.digest).map_or_else(String::new, |line| format!("**{}**\n\n", escaped(&line)));
    format!("# {name}\n\n{origin}.\n\n{}.\n\n{trust}{sentences}{warnings}{tables}{run}", status::counted(&document.digest))
}

fn warnings(input: &Input) -> String {
    let lines: String = input.facts.warnings.iter().map(|warning| format!("- {}\n", escaped(warning))).collect();
    if lines.is_empty() { lines } else { format!("\nWarnings of the run:\n\n{lines}") }
}

fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = line(table.columns.iter().map(|c| escaped(&c.full_name())).collect());
    let rule = line(table.columns.iter().map(|c: &Column| if c.number { "--:" } else { ":--" }.to_owned()).collect());
    let rows: String = table.rows.iter().map(|r| line(r.iter().map(|c| escaped(c)).collect())).collect();
    let notes: String = table.notes.iter().map(|n| format!("\n{}\n", escaped(n))).collect();
    format!("{head}{rule}{rows}{notes}")
}

/// Text that Markdown shall show as it is.
pub(crate) fn escaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | '<' | '\\' => plain.extend(['\\', c]),
            '\n' | '\r' => plain.push(' '),
            _ => plain.push(c),
        }
    }
    plain
}
