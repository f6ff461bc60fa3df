//! The clauses met, bent and broken, as a table.

use crate::Input;
use crate::table::Table;
use sixbench_method::conformance::of_plan;

/// One row for each clause. A run that was cut short did not make all the repetitions it planned: the page says so above.
pub(crate) fn table(input: &Input) -> Table {
    let all = input.plan.tests.len();
    let rows = of_plan(input.plan).into_iter().map(|(clause, tests)| {
        let about = if tests.len() == all { "all".to_owned() } else { tests.join(", ") };
        let (level, standing) = (clause.level.to_string(), clause.standing.to_string());
        vec![clause.clause.to_owned(), level, clause.asks.to_owned(), clause.here, about, standing]
    });
    Table::new("Clause by clause", ["Clause", "Level", "Asks for", "This run", "Tests", "Standing"]).with_rows(rows)
}
