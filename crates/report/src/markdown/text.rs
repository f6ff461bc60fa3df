//! Tables and text in Markdown.

use crate::table::{Column, Table};

pub(crate) fn table(table: &Table) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = line(table.columns.iter().map(|c| escaped(&c.full_name())).collect());
    let rule = line(table.columns.iter().map(|c: &Column| if c.number { "--:" } else { ":--" }.to_owned()).collect());
    let rows: String = table.rows.iter().map(|r| line(r.iter().map(|c| escaped(c)).collect())).collect();
    let notes: String = table.notes.iter().map(|n| format!("\n{}\n", escaped(n))).collect();
    format!("{head}{rule}{rows}{notes}")
}

/// Returns text that Markdown shows literally.
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
