//! The clauses met and bent, as a table.

use crate::Input;
use crate::table::Table;
use sixbench_method::conformance::{Clause, clauses};

/// One row for each clause. A run that was cut short did not make all the repetitions it planned: the page says so above.
pub(crate) fn table(input: &Input) -> Table {
    let row = |c: Clause| {
        let standing = if c.is_met { "met" } else { "bent" };
        vec![c.clause.to_owned(), c.asks.to_owned(), c.here, standing.to_owned()]
    };
    Table::new(["Clause", "Asks for", "This run", "Standing"]).with_rows(clauses(input.plan).into_iter().map(row))
}
