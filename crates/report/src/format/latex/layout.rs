//! The parts of a table that fit on a page: the width of each column, and the places at which rows or columns continue in another part.

use crate::layout::latex::{least_width, natural_width};
use crate::layout::table::{ColumnGroup, Table};

/// Half of the space between two columns, points.
pub(super) const COLUMN_SEPARATION: f64 = 3.0;

/// The most lines of a part, including notes and caption; an A4 page holds at least as many in either type size.
const MOST_LINES: usize = 48;

/// A type size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TypeSize {
    /// The command that selects it.
    pub(super) command: &'static str,
    /// The width of an M, points; relative to its size, smaller type is wider.
    em: f64,
}

const SIZES: [TypeSize; 2] = [
    TypeSize {
        command: "\\footnotesize",
        em: 8.0,
    },
    TypeSize {
        command: "\\scriptsize",
        em: 7.0 * 1.08,
    },
];

/// A table that fits on a page.
pub(super) struct TablePart {
    pub(super) table: Table,
    pub(super) size: TypeSize,
    /// The width of each column, points; `None` if each is as wide as its widest cell.
    pub(super) widths: Option<Vec<f64>>,
}

/// The widest cell of each column, in widths of an M; measured once, since many layouts of a table are tried.
pub(super) struct ColumnExtents {
    /// On one line.
    natural: Vec<f64>,
    /// With a line break wherever one is possible.
    least: Vec<f64>,
}

impl ColumnExtents {
    pub(super) fn measure(table: &Table) -> Self {
        let cells = |i: usize| {
            table
                .rows
                .iter()
                .map(move |row| row[i].as_str())
                .chain([table.columns[i].name.as_str()])
        };
        let widest = |of: fn(&str) -> f64| {
            (0..table.columns.len())
                .map(|i| cells(i).map(of).fold(0.5, f64::max))
                .collect()
        };
        Self {
            natural: widest(natural_width),
            least: widest(least_width),
        }
    }

    fn subset(&self, columns: &[usize]) -> Self {
        let at_columns = |extents: &[f64]| columns.iter().map(|&i| extents[i]).collect();
        Self {
            natural: at_columns(&self.natural),
            least: at_columns(&self.least),
        }
    }
}

/// Returns the table in parts that are no wider than `width`, points, and no longer than a page.
pub(super) fn parts(table: &Table, extents: &ColumnExtents, width: f64) -> Vec<TablePart> {
    let of_columns =
        |columns: &Vec<usize>| by_rows(subset(table, columns), &extents.subset(columns), width);
    let mut parts: Vec<TablePart> = by_columns(table, extents, width)
        .iter()
        .flat_map(of_columns)
        .collect();
    if let Some(last) = parts.last_mut() {
        last.table.notes.clone_from(&table.notes);
    }
    parts
}

/// Splits the columns if they are wider than a line even in the smallest type; each part repeats the first column and the frame size, which identify
/// the row. Returns the columns of each part, in ascending order.
fn by_columns(table: &Table, extents: &ColumnExtents, width: f64) -> Vec<Vec<usize>> {
    let smallest = SIZES[SIZES.len() - 1];
    let keys: Vec<usize> = (0..table.columns.len())
        .filter(|&i| i == 0 || table.columns[i].name == "Size")
        .collect();
    let least = |columns: &[usize]| {
        total(&widths(
            &head(table, columns).groups,
            &extents.subset(columns).least,
            smallest,
        ))
    };
    let mut parts = vec![keys.clone()];
    for column in (0..table.columns.len()).filter(|column| !keys.contains(column)) {
        let last = parts.last_mut().expect("one part at least");
        let with = ascending(last.iter().copied().chain([column]));
        if with.len() > keys.len() + 1 && least(&with) > width {
            parts.push(ascending(keys.iter().copied().chain([column])));
        } else {
            *last = with;
        }
    }
    parts
}

fn ascending(columns: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut columns: Vec<usize> = columns.collect();
    columns.sort_unstable();
    columns
}

/// Returns the table with these columns only, without notes.
pub(super) fn subset(table: &Table, columns: &[usize]) -> Table {
    let rows = table
        .rows
        .iter()
        .map(|row| columns.iter().map(|&i| row[i].clone()).collect())
        .collect();
    Table {
        rows,
        ..head(table, columns)
    }
}

/// Returns the table with these columns only, without rows and notes.
fn head(table: &Table, columns: &[usize]) -> Table {
    Table::without_rows(
        table.title.clone(),
        columns.iter().map(|&i| table.columns[i].clone()).collect(),
    )
}

fn by_rows(mut table: Table, extents: &ColumnExtents, width: f64) -> Vec<TablePart> {
    let (size, widths) = fitted(&table, extents, width);
    let head = 6;
    let mut parts: Vec<Vec<Vec<String>>> = vec![Vec::new()];
    let mut used = head;
    for row in std::mem::take(&mut table.rows) {
        let lines = lines(&row, widths.as_deref(), size);
        if used + lines > MOST_LINES && used > head {
            parts.push(Vec::new());
            used = head;
        }
        used += lines;
        parts.last_mut().expect("one part at least").push(row);
    }
    let part = |rows| TablePart {
        table: Table {
            rows,
            ..table.clone()
        },
        size,
        widths: widths.clone(),
    };
    parts.into_iter().map(part).collect()
}

/// Returns the largest type in which the columns fit into a line, and their widths if text must be wrapped for this.
fn fitted(table: &Table, extents: &ColumnExtents, width: f64) -> (TypeSize, Option<Vec<f64>>) {
    let natural = |size| widths(&table.groups, &extents.natural, size);
    if let Some(size) = SIZES
        .into_iter()
        .find(|&size| total(&natural(size)) <= width)
    {
        return (size, None);
    }
    let least = |size| widths(&table.groups, &extents.least, size);
    let size = SIZES
        .into_iter()
        .find(|&size| total(&least(size)) <= width)
        .unwrap_or(SIZES[SIZES.len() - 1]);
    (size, Some(shared(&least(size), &natural(size), width)))
}

/// Returns the widths after distributing the remaining width to the columns that need more, in proportion to their need.
fn shared(least: &[f64], natural: &[f64], width: f64) -> Vec<f64> {
    let left = (width - total(least)).max(0.0);
    let wanted: Vec<f64> = least
        .iter()
        .zip(natural)
        .map(|(least, natural)| (natural - least).max(0.0))
        .collect();
    let all: f64 = wanted.iter().sum();
    let share = if all > 0.0 {
        (left / all).min(1.0)
    } else {
        0.0
    };
    least
        .iter()
        .zip(&wanted)
        .map(|(least, wanted)| least + wanted * share)
        .collect()
}

/// Returns the width of each column, points, given the extents of all; the last column of a group makes room for the group's name.
fn widths(groups: &[ColumnGroup], extents: &[f64], size: TypeSize) -> Vec<f64> {
    let mut widths: Vec<f64> = extents.iter().map(|extent| extent * size.em).collect();
    let mut first = 0;
    for group in groups {
        let columns = &mut widths[first..first + group.columns];
        let missing = natural_width(&group.name) * size.em - total(columns);
        columns[group.columns - 1] += missing.max(0.0);
        first += group.columns;
    }
    widths
}

/// Returns the width of columns including the space between them.
fn total(widths: &[f64]) -> f64 {
    widths.iter().sum::<f64>() + 2.0 * COLUMN_SEPARATION * (widths.len().max(1) - 1) as f64
}

fn lines(row: &[String], widths: Option<&[f64]>, size: TypeSize) -> usize {
    let Some(widths) = widths else { return 1 };
    // Broken lines are not full, so allow a third more.
    let of_cell = |(cell, width): (&String, &f64)| {
        (natural_width(cell) * size.em * 1.33 / width).ceil() as usize
    };
    row.iter()
        .zip(widths)
        .map(of_cell)
        .max()
        .unwrap_or(1)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::cell::Cell;
    use crate::layout::table::Column;
    use std::ops::RangeInclusive;

    fn numbered(rows: RangeInclusive<u64>) -> Table {
        let columns = [
            Column::text("Test", |_: &u64| "a"),
            Column::number("n", |row: &u64| Cell::Number(*row)),
        ];
        Table::new("T", columns, rows).with_note("n")
    }

    #[test]
    fn a_narrow_table_is_left_as_it_is() {
        let table = numbered(1..=1);
        let parts = parts(&table, &ColumnExtents::measure(&table), 345.0);
        assert!(parts.len() == 1 && parts[0].widths.is_none() && parts[0].table.notes == ["n"]);
    }

    #[test]
    fn columns_that_no_line_holds_go_on_in_another_part_with_the_name_of_the_row() {
        let numbers =
            (1..40).map(|i| Column::number(format!("c{i}"), |row: &u64| Cell::Count(*row)));
        let columns =
            std::iter::once(Column::text("Test", |row: &u64| Cell::Count(*row))).chain(numbers);
        let table = Table::new("T", columns, [100_000]);
        let parts = parts(&table, &ColumnExtents::measure(&table), 345.0);
        assert!(
            parts.len() > 1
                && parts
                    .iter()
                    .all(|part| part.table.columns[0].name == "Test")
        );
        assert_eq!(
            parts
                .iter()
                .map(|part| part.table.columns.len() - 1)
                .sum::<usize>(),
            39
        );
    }

    #[test]
    fn rows_that_no_page_holds_go_on_in_another_part_with_the_notes_at_the_end() {
        let table = numbered(0..=99);
        let parts = parts(&table, &ColumnExtents::measure(&table), 345.0);
        assert_eq!(
            parts
                .iter()
                .map(|part| part.table.rows.len())
                .sum::<usize>(),
            100
        );
        assert!(
            parts.len() == 3 && parts[0].table.notes.is_empty() && parts[2].table.notes == ["n"]
        );
    }
}
