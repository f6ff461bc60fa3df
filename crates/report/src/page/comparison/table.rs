//! A comparison as a table for a terminal.

use super::words::{Sides, below, effect, finding, short_side, titles, verdict};
use sixbench_analysis::comparison::{Comparison, ComparisonRow};
use sixbench_analysis::gate::Gate;

/// The least width for a table, columns; a narrower terminal, or a user who asks for plain sentences, gets none.
const NARROWEST: usize = 72;

/// Returns the comparison as a table, with a sentence below each inconclusive row, then what could not be compared. `None` if a line would be wider
/// than `width`: a narrow terminal gets the sentences of `describe`.
pub fn table(compared: &Comparison<'_>, names: &[String; 2], width: usize) -> Option<String> {
    let sides = Sides::new(compared);
    let head = [
        "",
        &sides.head("A"),
        &sides.head("B"),
        "B to A [95 % interval]",
        "verdict",
    ]
    .map(str::to_owned);
    let cells = |row: &ComparisonRow| {
        [
            format!("  {}", row.subject),
            short_side(row, 0),
            short_side(row, 1),
            effect(row).unwrap_or_default(),
            verdict(row),
        ]
    };
    let rows: Vec<[String; 5]> = std::iter::once(head)
        .chain(compared.rows().map(cells))
        .collect();
    let columns: [usize; 5] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    let line = |row: &[String; 5]| {
        let cells: Vec<String> = row
            .iter()
            .zip(columns)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned() + "\n"
    };
    if width < NARROWEST || columns.iter().sum::<usize>() + 2 * (columns.len() - 1) > width {
        return None;
    }
    let mut lines = rows.iter();
    let head = lines.next().map(line).filter(|_| sides.has_rows());
    let mut text = head.unwrap_or_default();
    for point in compared.measured_points() {
        text += &titles(point, names);
        for (row, cells) in point.rows.iter().zip(lines.by_ref()) {
            text += &line(cells);
            if row.finding.gate() == Gate::Inconclusive {
                text += &format!("    {}\n", finding(row, &sides));
            }
        }
    }
    Some(text + &below(compared))
}
