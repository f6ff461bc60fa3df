//! Sentences on how results change over a series: one for each, at its smallest frame size with results.

use crate::digest::Digest;
use crate::subject::series::{TestSeries, curves, series};
use crate::wording::numbers::{grouped, in_a_sentence, three_digits};
use sixbench_method::plan::SeriesBy;

/// Returns the sentences on every series over flows, then over connections, then over sizes of the table.
pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    [SeriesBy::Flows, SeriesBy::Connections, SeriesBy::TableSize]
        .into_iter()
        .flat_map(|by| series(digest, by))
        .filter_map(|steps| degradation(digest, &steps))
        .collect()
}

/// Returns a sentence on degradation: `flows: throughput at 84 bytes degrades by 19 % from 1 to 64 network flows.`
fn degradation(digest: &Digest, steps: &TestSeries) -> Option<String> {
    let curves = curves(digest, steps);
    let (curve, last, change) = curves
        .iter()
        .find_map(|c| Some((c, c.steps.last()?, c.degradation(c.steps.last()?)?)))?;
    let verb = if change < 0.0 { "improves" } else { "degrades" };
    let (name, size) = (in_a_sentence(&curve.subject.quantity), curve.size);
    let [from, to] = [curve.steps.first()?.at, last.at].map(grouped);
    let (of, bound) = (noun(steps.by), curve.bound(last));
    let Some(bound) = (if change < 0.0 {
        bound.inverted()
    } else {
        bound
    })
    .phrase() else {
        return Some(format!(
            "{}: how {name} at {size}\u{a0}bytes changes from {from} to {to} {of} cannot be stated: both rates are lower bounds.",
            steps.name
        ));
    };
    let change = three_digits(change.abs());
    Some(format!(
        "{}: {name} at {size}\u{a0}bytes {verb} by {bound}{change}\u{a0}% from {from} to {to} {of}.",
        steps.name
    ))
}

fn noun(by: SeriesBy) -> &'static str {
    match by {
        SeriesBy::Connections => "connections",
        SeriesBy::TableSize => "entries of the connection tracking table",
        _ => "network flows",
    }
}
