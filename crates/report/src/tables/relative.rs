//! The rates of one device with different traffic side by side, as in the tables of siitperf's paper: tests in columns, statistics in rows, and in the
//! last row the performance relative to the first test.

use super::{OPEN, dispersion};
use crate::digest::{Digest, PointDigest, Rated, common_goal};
use crate::layout::table::Table;
use crate::wording::bound::Bound;
use crate::wording::numbers::{commonly_searched, frames, full_rate_unit, title, with_decimals};
use sixbench_method::lists::by_key;

/// Tests with a result; the others are compared with the first.
type Columns<'d, 'a> = Vec<(&'d PointDigest<'a>, Rated)>;

/// Returns a table for each device, measure and frame size at which several tests have a result.
pub(crate) fn tables(digest: &Digest) -> Vec<Table> {
    groups(digest).iter().map(|columns| table(digest, columns)).collect()
}

/// Does the same as [`tables`] for a terminal, which is too narrow for the titles of several tests: with a row for each test.
pub(crate) fn narrow_tables(digest: &Digest) -> Vec<Table> {
    let narrow = |columns: &Columns| {
        let rows = columns.iter().enumerate().map(|(place, (point, rated))| {
            let relative = if place == 0 { REFERENCE.to_owned() } else { relative_percent(rated, &columns[0].1) };
            vec![title(point.test), dispersion(&rated.summary), relative]
        });
        Table::new(name(digest, columns[0].0), ["Test", "#Dispersion", "#Rel. perf. (%)"]).with_rows(rows)
    };
    groups(digest).iter().map(narrow).collect()
}

const REFERENCE: &str = "reference";

fn name(digest: &Digest, first: &PointDigest) -> String {
    format!("Relative performance: {}, {}", digest.dut_title(first.test), frames(first.size()))
}

/// Returns the tests in groups, without those of a series, which have separate tables.
fn groups<'d, 'a>(digest: &'d Digest<'a>) -> Vec<Columns<'d, 'a>> {
    let alone = digest.searched_points().filter(|point| point.test.series.is_none());
    let rated = alone.filter_map(|point| Some((point, point.rated()?)));
    let key = |point: &PointDigest| (point.test.dut.clone(), point.test.measure.name(), point.size());
    let groups = by_key(rated.map(|(point, rated)| (key(point), (point, rated))));
    groups.into_iter().map(|(_, columns)| columns).filter(|columns| columns.len() > 1).collect()
}

fn table(digest: &Digest, columns: &[(&PointDigest, Rated)]) -> Table {
    let (first, reference) = columns[0];
    let heads = columns.iter().map(|(point, _)| format!("#{}", title(point.test)));
    let row = |name: &str, cell: &dyn Fn(&Rated) -> String| {
        std::iter::once(name.to_owned()).chain(columns.iter().map(|(_, rated)| cell(rated))).collect::<Vec<_>>()
    };
    let relative = columns.iter().skip(1).map(|(_, rated)| relative_percent(rated, &reference));
    let of_first = ["Rel. perf. (%)", REFERENCE].map(str::to_owned);
    let what = commonly_searched(&first.test.measure, common_goal(columns.iter().map(|(point, _)| *point)));
    let is_open = columns.iter().any(|(_, rated)| rated.limits.is_median_open);
    Table::new(name(digest, first), std::iter::once("Test".to_owned()).chain(heads))
        .with_rows([
            row("Median", &|rated| rated.limits.printed(&rated.summary).median),
            row("Minimum", &|rated| rated.limits.printed(&rated.summary).min),
            row("Maximum", &|rated| rated.limits.printed(&rated.summary).max),
            row("n", &|rated| rated.summary.n.to_string()),
            row("Dispersion", &|rated| dispersion(&rated.summary)),
            of_first.into_iter().chain(relative).collect(),
        ])
        .with_note(format!(
            "{what}, {}. Dispersion: (max - min) / median. Relative performance: the median divided by that of the first test here.",
            full_rate_unit(&first.test.measure)
        ))
        .with_note_if(is_open, OPEN)
}

/// Returns the cell for the ratio of two medians, per cent.
fn relative_percent(rated: &Rated, reference: &Rated) -> String {
    let bound = Bound::of_ratio(rated.limits.is_median_open, reference.limits.is_median_open);
    let percent = 100.0 * rated.summary.median / reference.summary.median;
    let sign = bound.sign().filter(|_| percent.is_finite());
    sign.map_or("–".to_owned(), |sign| format!("{sign}{}", with_decimals(bound.rounded(percent, 0.01), 2)))
}
