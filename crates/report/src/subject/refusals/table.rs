//! What devices said of the frames that they did not deliver.

use crate::digest::{Digest, PointDigest};
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::wording::numbers::{load, title};
use sixbench_method::bottleneck::{DeliveryRefusal, of_trial, refusals};
use sixbench_method::trial::{TrialSpec, Verdict};

/// Returns what the device of a point said, in the losing trial at the lowest load in which it said anything.
pub(super) fn of_point(point: &PointDigest) -> Vec<DeliveryRefusal> {
    refusals(&point.records, point.first_goal())
}

/// A reason at a point.
pub(crate) struct RefusalRow<'d> {
    pub(crate) point: &'d PointDigest<'d>,
    pub(crate) refusal: DeliveryRefusal,
}

/// Returns a row for each reason at each point.
pub(crate) fn rows<'d>(digest: &'d Digest<'d>) -> impl Iterator<Item = RefusalRow<'d>> {
    digest.points.iter().flat_map(|point| {
        of_point(point)
            .into_iter()
            .map(move |refusal| RefusalRow { point, refusal })
    })
}

pub(super) fn table(digest: &Digest) -> Table {
    Table::new("Why frames were not delivered, as the device says", columns(), rows(digest)).with_note(
        "ICMP errors that quote test frames, and counters of the device's kernel that grew: of the losing trial at the lowest load in which there were \
         any. Devices limit how many ICMP errors they send, so those that came may stand for more.",
    )
}

fn columns<'d>() -> Vec<Column<'d, RefusalRow<'d>>> {
    vec![
        Column::text("Test", |row: &RefusalRow| title(row.point.test)),
        Column::number("Size", |row: &RefusalRow| row.point.size()),
        Column::text("Direction", |row: &RefusalRow| row.refusal.direction),
        Column::text("The device", |row: &RefusalRow| row.refusal.what.clone()),
        Column::number("Frames", |row: &RefusalRow| Cell::Count(row.refusal.frames)),
        Column::number("Missing", |row: &RefusalRow| {
            Cell::Count(row.refusal.missing)
        }),
        Column::text("What to do", |row: &RefusalRow| row.refusal.advice.clone()),
    ]
}

/// Returns a sentence about the most frequent reason at each point where no trial passed, or where it explains at least half of what is missing.
pub(super) fn sentences(digest: &Digest) -> Vec<String> {
    digest.points.iter().filter_map(sentence).collect()
}

fn sentence(point: &PointDigest) -> Option<String> {
    let said = of_point(point);
    let first = said.first()?;
    let has_passed = point.highest_passing(point.first_goal()).is_some();
    if has_passed && 2 * first.frames < first.missing {
        return None;
    }
    let load = lowest_lost(point).map_or_else(String::new, |spec| format!(", at {}", load(spec)));
    let advice = first
        .advice
        .as_ref()
        .map_or_else(String::new, |advice| format!("; {advice}"));
    Some(format!(
        "{}{load}: {}{advice}.",
        point.name(),
        first.sentence
    ))
}

/// Returns the trial with the lowest load of those of the point that were lost.
fn lowest_lost<'p>(point: &PointDigest<'p>) -> Option<&'p TrialSpec> {
    let lost = point
        .records
        .iter()
        .filter(|record| record.result.verdict(point.first_goal()) != Verdict::Passed);
    lost.filter(|record| !of_trial(record).is_empty())
        .map(|record| &record.result.spec)
        .min_by_key(|spec| spec.rate)
}
