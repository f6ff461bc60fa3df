//! A table independent of notation: HTML, Markdown and LaTeX all print it.

use crate::layout::cell::Cell;
use crate::layout::wrapped;
use serde::Serialize;

/// Columns, rows of cells, and notes below.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) columns: Vec<ColumnHead>,
    /// The row above the column names; empty if no columns are grouped.
    pub(crate) groups: Vec<ColumnGroup>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
    /// The texts of cells that the page shows in bold.
    pub(crate) strong: Vec<&'static str>,
}

/// The name of a column and how it is set.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ColumnHead {
    /// The name of the group that it forms with its neighbours; empty if it is in no group.
    pub(crate) group: String,
    pub(crate) name: String,
    /// True if the column holds numbers, which are right-aligned.
    pub(crate) number: bool,
}

/// A column of a table of `Row`s: its name, and its cell in each row.
pub(crate) struct Column<'c, Row> {
    head: ColumnHead,
    cell: Box<dyn Fn(&Row) -> Cell + 'c>,
}

/// Neighbouring columns with the same group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ColumnGroup {
    pub(crate) name: String,
    pub(crate) columns: usize,
}

impl<'c, Row> Column<'c, Row> {
    /// Returns a column of text.
    pub(crate) fn text<C: Into<Cell>>(
        name: impl Into<String>,
        cell: impl Fn(&Row) -> C + 'c,
    ) -> Self {
        Self {
            head: ColumnHead::new("", name, false),
            cell: Box::new(move |row| cell(row).into()),
        }
    }

    /// Returns a column of numbers.
    pub(crate) fn number<C: Into<Cell>>(
        name: impl Into<String>,
        cell: impl Fn(&Row) -> C + 'c,
    ) -> Self {
        Self::number_in("", name, cell)
    }

    /// Returns a column of numbers in a group with its neighbours.
    pub(crate) fn number_in<C: Into<Cell>>(
        group: impl Into<String>,
        name: impl Into<String>,
        cell: impl Fn(&Row) -> C + 'c,
    ) -> Self {
        Self {
            head: ColumnHead::new(group, name, true),
            cell: Box::new(move |row| cell(row).into()),
        }
    }
}

impl Table {
    /// Returns a table of these rows, each with a cell in each column.
    pub(crate) fn new<'c, Row>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = Column<'c, Row>>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Self {
        let (heads, cells): (Vec<_>, Vec<_>) = columns
            .into_iter()
            .map(|column| (column.head, column.cell))
            .unzip();
        let rows = rows
            .into_iter()
            .map(|row| cells.iter().map(|cell| cell(&row).to_string()).collect());
        Self {
            rows: rows.collect(),
            ..Self::without_rows(title.into(), heads)
        }
    }

    /// Returns a table without rows and notes.
    pub(crate) fn without_rows(title: String, columns: Vec<ColumnHead>) -> Self {
        Self {
            title,
            groups: groups(&columns),
            columns,
            rows: Vec::new(),
            notes: Vec::new(),
            strong: Vec::new(),
        }
    }

    /// Returns the rows for a terminal of `width` columns, without title and notes: as aligned columns if they fit, else with each row as a sentence.
    /// Empty without rows.
    pub(crate) fn for_terminal(&self, width: usize) -> String {
        let aligned = self.aligned();
        if self.rows.is_empty() {
            return String::new();
        }
        if aligned.lines().all(|line| line.chars().count() <= width) {
            return aligned;
        }
        let sentences = self
            .rows
            .iter()
            .map(|row| format!("  {}", self.sentence(row)));
        sentences
            .map(|sentence| wrapped(&sentence, width))
            .collect()
    }

    fn aligned(&self) -> String {
        let lines = || {
            [self.columns.iter().map(|c| c.name.clone()).collect()]
                .into_iter()
                .chain(self.rows.iter().cloned())
        };
        let width = |i: usize| {
            lines()
                .map(|cells: Vec<String>| cells[i].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let padded = |(i, cell): (usize, &String)| {
            if self.columns[i].number {
                format!("{cell:>0$}", widths[i])
            } else {
                format!("{cell:<0$}", widths[i])
            }
        };
        let line = |cells: Vec<String>| {
            cells
                .iter()
                .enumerate()
                .map(padded)
                .collect::<Vec<_>>()
                .join("  ")
                .trim_end()
                .to_owned()
        };
        lines()
            .map(|cells| format!("  {}\n", line(cells)))
            .collect::<String>()
            .replace('\u{a0}', " ")
    }

    /// Returns a row as a sentence: `frames: measured 64 k /s, subscribers 113`.
    fn sentence(&self, row: &[String]) -> String {
        let named = self
            .columns
            .iter()
            .zip(row)
            .skip(1)
            .map(|(column, cell)| format!("{} {cell}", column.name));
        format!(
            "{}: {}",
            row.first().map_or("", String::as_str),
            named.collect::<Vec<_>>().join(", ")
        )
    }

    /// Returns the table with the cells that have one of these texts in bold.
    pub(crate) fn with_strong(self, strong: Vec<&'static str>) -> Self {
        Self { strong, ..self }
    }

    /// Returns the table with one more note.
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Returns the table with these notes added.
    pub(crate) fn with_notes(self, notes: impl IntoIterator<Item = String>) -> Self {
        notes.into_iter().fold(self, Self::with_note)
    }

    /// Returns the table with this note added if the condition holds.
    pub(crate) fn with_note_if(self, holds: bool, note: &str) -> Self {
        if holds { self.with_note(note) } else { self }
    }
}

fn groups(columns: &[ColumnHead]) -> Vec<ColumnGroup> {
    let mut groups: Vec<ColumnGroup> = Vec::new();
    for column in columns {
        match groups
            .last_mut()
            .filter(|last| last.name == column.group && !column.group.is_empty())
        {
            Some(last) => last.columns += 1,
            None => groups.push(ColumnGroup {
                name: column.group.clone(),
                columns: 1,
            }),
        }
    }
    let is_grouped = groups.iter().any(|group| !group.name.is_empty());
    if is_grouped { groups } else { Vec::new() }
}

impl ColumnHead {
    fn new(group: impl Into<String>, name: impl Into<String>, number: bool) -> Self {
        Self {
            group: group.into(),
            name: name.into(),
            number,
        }
    }

    /// Returns group and name on one line.
    pub(crate) fn full_name(&self) -> String {
        if self.group.is_empty() {
            self.name.clone()
        } else {
            format!("{}: {}", self.group, self.name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_one_group_share_a_heading() {
        let columns = [
            Column::text("Test", |row: &f64| format!("t{row}")),
            Column::number_in("TL (ms)", "Median", |row: &f64| Cell::Significant(*row)),
            Column::number_in("TL (ms)", "P1", |_: &f64| Cell::Missing),
            Column::number("n", |_: &f64| Cell::Number(1)),
        ];
        let table = Table::new("", columns, [2.5]);
        let group = |name: &str, columns| ColumnGroup {
            name: name.to_owned(),
            columns,
        };
        assert_eq!(
            table.groups,
            [group("", 1), group("TL (ms)", 2), group("", 1)]
        );
        assert_eq!(table.columns[1].full_name(), "TL (ms): Median");
        assert!(table.columns[1].number && !table.columns[0].number);
        assert_eq!(table.rows, [["t2.5", "2.5", "–", "1"]]);
    }

    #[test]
    fn a_table_without_groups_has_one_row_of_names() {
        let columns = [
            Column::text("Test", |row: &String| row.clone()),
            Column::number("n", |_: &String| Cell::Number(1)),
        ];
        assert!(Table::new("", columns, []).groups.is_empty());
    }
}
