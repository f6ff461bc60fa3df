//! The clauses that are met, bent, broken, or not checked against their text, as a table.

use crate::layout::table::{Column, Table};
use sixbench_method::conformance::{Clause, Conformance, of_plan};
use sixbench_method::lists::each_once;
use sixbench_method::plan::Plan;

/// The clauses on which a run reports, each with the tests that it is about.
pub(crate) struct ReportedClauses(Vec<ReportedClause>);

struct ReportedClause {
    clause: Clause,
    tests: String,
}

impl ReportedClauses {
    /// Returns the clauses of a plan. If a run was cut short and so has fewer repetitions than planned, the page says this above the table.
    pub(crate) fn of_plan(plan: &Plan) -> Self {
        let all = plan.tests.len();
        let reported = of_plan(plan).into_iter().map(|(clause, tests)| {
            let tests = if tests.len() == all {
                "all".to_owned()
            } else {
                named(&tests, plan).join(", ")
            };
            ReportedClause { clause, tests }
        });
        Self(reported.collect())
    }

    /// Returns a table of all clauses.
    pub(crate) fn table(&self) -> Table {
        self.table_of(|_| true)
    }

    /// Returns a table of the clauses that are met.
    pub(crate) fn met(&self) -> Table {
        self.table_of(|conformance| conformance == Conformance::Met)
    }

    /// Returns a table of the clauses that are bent, broken or not checked.
    pub(crate) fn open(&self) -> Table {
        self.table_of(|conformance| conformance != Conformance::Met)
    }

    /// Returns a table of the clauses that are bent or broken.
    pub(crate) fn departures(&self) -> Table {
        self.table_of(|conformance| {
            matches!(conformance, Conformance::Partial | Conformance::Violated)
        })
    }

    fn table_of(&self, is_listed: impl Fn(Conformance) -> bool) -> Table {
        let listed = self
            .0
            .iter()
            .filter(|reported| is_listed(reported.clause.conformance));
        Table::new("Clause by clause", columns(), listed)
    }
}

fn columns<'c>() -> Vec<Column<'c, &'c ReportedClause>> {
    vec![
        Column::text("Clause", |row: &&ReportedClause| row.clause.clause),
        Column::text("Level", |row: &&ReportedClause| {
            row.clause.level.to_string()
        }),
        Column::text("Requirement", |row: &&ReportedClause| {
            row.clause.requirement
        }),
        Column::text("This run", |row: &&ReportedClause| {
            row.clause.actual.clone()
        }),
        Column::text("Tests", |row: &&ReportedClause| row.tests.clone()),
        Column::text("Conformance", |row: &&ReportedClause| {
            row.clause.conformance.to_string()
        }),
    ]
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
