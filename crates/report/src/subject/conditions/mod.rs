//! The conditions of RFC 2544 section 11: each test without and with them, side by side.

mod sentences;
mod tables;

use crate::digest::Digest;
use crate::subject::series::{TestSeries, series};
use crate::subject::{Chapter, Subject};
use sixbench_method::plan::SeriesBy;
use sixbench_method::units::counted;

pub(super) struct ModifyingConditions;

impl Subject for ModifyingConditions {
    fn results(&self, digest: &Digest) -> Vec<Chapter> {
        let tables = compared(digest)
            .iter()
            .map(|steps| tables::table(digest, steps))
            .filter(|table| !table.rows.is_empty())
            .collect();
        vec![Chapter::new(
            "conditions",
            "Without and with filters",
            tables,
            vec![],
        )]
    }

    fn comparisons(&self, group: &Digest) -> Vec<String> {
        compared(group)
            .iter()
            .filter_map(|steps| sentences::sentence(group, steps))
            .collect()
    }
}

/// Returns the series over a condition whose first step is the test without it.
fn compared<'d>(digest: &Digest<'d>) -> Vec<TestSeries<'d>> {
    let mut all = series(digest, SeriesBy::Filters);
    all.retain(|steps| steps.steps.first().is_some_and(|(at, _)| *at == 0.0));
    all
}

/// Returns the condition of a step in words.
fn in_words(at: f64) -> String {
    counted(at as u64, "filter")
}
