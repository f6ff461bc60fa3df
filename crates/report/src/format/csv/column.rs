//! A column of a file with comma-separated values, which has its name and its cells in one place.

/// A column of a file of `Row`s: its name, and its cell in each row.
pub(super) struct FileColumn<'c, Row> {
    pub(super) name: &'static str,
    cell: Box<dyn Fn(&Row) -> String + 'c>,
}

impl<'c, Row> FileColumn<'c, Row> {
    pub(super) fn new<C: ToString>(name: &'static str, cell: impl Fn(&Row) -> C + 'c) -> Self {
        Self {
            name,
            cell: Box::new(move |row| cell(row).to_string()),
        }
    }

    pub(super) fn cell(&self, row: &Row) -> String {
        (self.cell)(row)
    }

    /// Returns a column whose cell is empty in a row without a value.
    pub(super) fn optional<C: ToString>(
        name: &'static str,
        cell: impl Fn(&Row) -> Option<C> + 'c,
    ) -> Self {
        Self {
            name,
            cell: Box::new(move |row| cell(row).map(|cell| cell.to_string()).unwrap_or_default()),
        }
    }
}

/// A row of a file, and the hosts it was measured on; empty if it concerns the whole run.
pub(super) struct FileRow<Row> {
    pub(super) hosts: String,
    pub(super) row: Row,
}
