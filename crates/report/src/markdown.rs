//! `results.md`: the verdict and the tables of results, to be pasted into an issue or a paper's notes.

use crate::digest::Digest;
use crate::table::{Column, Table};
use crate::{Input, chapter, origin, status, verdict};

/// The verdict and the tables of results as Markdown.
pub fn markdown(input: &Input) -> String {
    let digest = Digest::new(input);
    let sentences = verdict::sentences(&digest).iter().map(|s| format!("- {}\n", escaped(s))).collect::<String>();
    let warnings = warnings(input);
    let tables: Vec<Table> = chapter::results(&digest).into_iter().flat_map(|chapter| chapter.tables).collect();
    let tables: String = tables.iter().map(|t| format!("\n## {}\n\n{}", escaped(&t.title), table(t))).collect();
    let run = origin::table(input);
    let run = format!("\n## {}\n\n{}", escaped(&run.title), table(&run));
    let (name, origin) = (escaped(&input.plan.name), escaped(&origin::sentence(input)));
    format!("# {name}\n\n{origin}.\n\n{}.\n\n{sentences}{warnings}{tables}{run}", status::counted(&digest))
}

/// Returns the warnings of the run, the doubts about its numbers first.
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
fn escaped(text: &str) -> String {
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
