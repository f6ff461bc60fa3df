//! Columns that a paper has no room for, because another column says the same in every row.

use super::layout::subset;
use crate::layout::table::{ColumnHead, Table};

/// The names of a column and of the one in its group that may say the same. With fewer than 100 repetitions the outer percentiles are the extremes, and
/// a test without a title of its own has that of its device.
const REPEATED: [[&str; 2]; 3] = [["P1", "Min"], ["P99", "Max"], ["Device", "Test"]];

/// The note where percentiles are left out.
const NOTE: &str = "P1 and P99 are left out: in every row they are Min and Max.";

/// Returns the table without the columns that repeat another one. A percentile in a table without extremes stays: there it is the spread.
pub(super) fn without_repeats(table: &Table) -> Table {
    let (left_out, kept): (Vec<usize>, Vec<usize>) =
        (0..table.columns.len()).partition(|&index| repeats_another(table, index));
    let has_percentile = left_out
        .iter()
        .any(|&index| table.columns[index].name.starts_with('P'));
    Table {
        notes: table.notes.clone(),
        ..subset(table, &kept)
    }
    .with_note_if(has_percentile, NOTE)
}

/// Returns whether the cells of a column are those of the column that its name may repeat.
fn repeats_another(table: &Table, index: usize) -> bool {
    let own = &table.columns[index];
    !table.rows.is_empty()
        && REPEATED
            .iter()
            .filter(|[name, _]| *name == own.name)
            .filter_map(|[_, other]| place_of(table, own, other))
            .any(|other| table.rows.iter().all(|row| row[index] == row[other]))
}

/// Returns the place of the column with this name in the group of another.
fn place_of(table: &Table, beside: &ColumnHead, name: &str) -> Option<usize> {
    table
        .columns
        .iter()
        .position(|column| column.group == beside.group && column.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::table::Column;

    /// Returns a table of two rows with these columns: name, and the cell of both rows.
    fn table(columns: &[(&str, [&str; 2])]) -> Table {
        let columns = columns
            .iter()
            .map(|(name, cells)| Column::text(*name, |row: &usize| cells[*row].to_owned()));
        Table::new("T", columns, [0, 1])
    }

    fn names(table: &Table) -> Vec<&str> {
        table.columns.iter().map(|c| c.name.as_str()).collect()
    }

    #[test]
    fn percentiles_that_are_the_extremes_are_left_out_and_a_note_says_so() {
        let few = [
            ("Test", ["a", "b"]),
            ("P1", ["1", "2"]),
            ("P99", ["8", "9"]),
            ("Min", ["1", "2"]),
            ("Max", ["8", "9"]),
        ];
        let shown = without_repeats(&table(&few));
        assert_eq!(names(&shown), ["Test", "Min", "Max"]);
        assert_eq!(shown.notes, [NOTE]);
        assert_eq!(shown.rows[1], ["b", "2", "9"]);
    }

    #[test]
    fn percentiles_that_differ_from_the_extremes_in_one_row_or_stand_alone_stay() {
        let many = [("P1", ["1", "2"]), ("Min", ["1", "1"])];
        assert_eq!(names(&without_repeats(&table(&many))), ["P1", "Min"]);
        let alone = [("P1", ["1", "2"]), ("P99", ["8", "9"])];
        let shown = without_repeats(&table(&alone));
        assert_eq!(names(&shown), ["P1", "P99"]);
        assert!(shown.notes.is_empty());
    }

    #[test]
    fn a_device_is_left_out_where_it_is_the_title_of_every_test() {
        let same = [("Test", ["TAYGA", "Jool"]), ("Device", ["TAYGA", "Jool"])];
        assert_eq!(names(&without_repeats(&table(&same))), ["Test"]);
        let other = [
            ("Test", ["TAYGA", "with 10 %"]),
            ("Device", ["TAYGA", "TAYGA"]),
        ];
        assert_eq!(names(&without_repeats(&table(&other))), ["Test", "Device"]);
    }
}
