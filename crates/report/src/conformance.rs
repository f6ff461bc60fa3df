//! The clauses that are met, bent, broken, or not checked against their text, as a table.

use crate::Input;
use crate::layout::table::{Column, Table};
use sixbench_method::conformance::{Clause, Conformance, of_plan};
use sixbench_method::lists::each_once;
use sixbench_method::plan::Plan;

/// A clause, and the tests that it is about.
struct ClauseRow {
    clause: Clause,
    tests: String,
}

/// Returns the table, with one row for each clause. If a run was cut short and so has fewer repetitions than planned, the page says this above the
/// table.
pub(crate) fn table(input: &Input) -> Table {
    let all = input.plan.tests.len();
    let rows = of_plan(input.plan).into_iter().map(|(clause, tests)| {
        let tests = if tests.len() == all {
            "all".to_owned()
        } else {
            named(&tests, input.plan).join(", ")
        };
        ClauseRow { clause, tests }
    });
    Table::of("Clause by clause", columns(), rows)
}

fn columns() -> Vec<Column<'static, ClauseRow>> {
    vec![
        Column::text("Clause", |row: &ClauseRow| row.clause.clause),
        Column::text("Level", |row: &ClauseRow| row.clause.level.to_string()),
        Column::text("Requirement", |row: &ClauseRow| row.clause.requirement),
        Column::text("This run", |row: &ClauseRow| row.clause.actual.clone()),
        Column::text("Tests", |row: &ClauseRow| row.tests.clone()),
        Column::text("Conformance", |row: &ClauseRow| {
            row.clause.conformance.to_string()
        }),
    ]
}

/// Returns the clauses that are bent, broken or not checked, and those that are met.
pub(crate) fn parted(table: &Table) -> (Table, Table) {
    let met = Conformance::Met.to_string();
    let is_met = |row: &Vec<String>| row.last() == Some(&met);
    let (met, open) = table.rows.iter().cloned().partition(is_met);
    (
        Table {
            rows: open,
            ..table.clone()
        },
        Table {
            rows: met,
            ..table.clone()
        },
    )
}

/// Returns the clauses that are bent or broken.
pub(crate) fn departures(table: &Table) -> Table {
    let words =
        [Conformance::Partial, Conformance::Violated].map(|conformance| conformance.to_string());
    let is_departure = |row: &&Vec<String>| row.last().is_some_and(|word| words.contains(word));
    Table {
        rows: table.rows.iter().filter(is_departure).cloned().collect(),
        ..table.clone()
    }
}

/// Returns the names of the tests. If they include all tests with a common beginning, they appear as the pattern that `--only` takes:
/// `unbound.aaaa40.*`.
pub(crate) fn named(tests: &[String], plan: &Plan) -> Vec<String> {
    let is_whole = |start: &str| {
        let mut alike = plan
            .tests
            .iter()
            .filter(|test| test.name.starts_with(start));
        alike.clone().count() > 1 && alike.all(|test| tests.contains(&test.name))
    };
    let name = |test: &String| {
        let starts = test.match_indices('.').map(|(at, _)| &test[..=at]);
        starts
            .into_iter()
            .find(|start| is_whole(start))
            .map_or_else(|| test.clone(), |start| format!("{start}*"))
    };
    each_once(tests.iter().map(name))
}
