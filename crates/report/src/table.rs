//! A table before it has a notation: HTML and Markdown print the same ones.

use serde::Serialize;

/// Columns, rows of cells, and what must be said below.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
}

/// A column and how it is set.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Numbers are set flush right.
    pub(crate) number: bool,
}

impl Table {
    /// A table without rows. A column whose name begins with `#` holds numbers.
    pub(crate) fn new<S: AsRef<str>>(columns: impl IntoIterator<Item = S>) -> Self {
        let column = |name: S| match name.as_ref().strip_prefix('#') {
            Some(name) => Column { name: name.to_owned(), number: true },
            None => Column { name: name.as_ref().to_owned(), number: false },
        };
        Self { columns: columns.into_iter().map(column).collect(), rows: Vec::new(), notes: Vec::new() }
    }

    /// The table with its rows.
    pub(crate) fn with_rows(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        self.rows.extend(rows);
        self
    }

    /// The table with one more sentence below.
    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}
