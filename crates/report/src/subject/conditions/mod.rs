//! The conditions of RFC 2544 section 11, and its bursts (section 21): each test without and with them, side by side.

pub(crate) mod broadcasts;
pub(crate) mod bursts;
mod sentences;
mod tables;

pub(crate) use broadcasts::BroadcastTotals;
pub(crate) use bursts::BurstTotals;

use crate::digest::{Digest, PointDigest};
use crate::subject::series::{TestSeries, series};
use crate::subject::{Chapter, PointFields, Subject};
use crate::wording::numbers::three_digits;
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
            "Without and with broadcast frames, filters or bursts",
            tables,
            vec![],
        )]
    }

    fn evidence(&self, digest: &Digest) -> Vec<Chapter> {
        vec![
            Chapter::new(
                "broadcasts",
                "Broadcast frames",
                vec![broadcasts::table(digest)],
                vec![],
            ),
            Chapter::new("bursts", "Bursts", vec![bursts::table(digest)], vec![]),
        ]
    }

    fn fill_point<'p>(
        &self,
        fields: &mut PointFields<'p>,
        _digest: &Digest,
        point: &PointDigest<'p>,
    ) {
        fields.broadcasts = broadcasts::of_point(point);
        fields.bursts = bursts::of_point(point);
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
    let by = [
        (SeriesBy::Broadcast, 0.0),
        (SeriesBy::Filters, 0.0),
        (SeriesBy::Burst, 1.0),
    ];
    by.into_iter()
        .flat_map(|(by, without)| {
            series(digest, by)
                .into_iter()
                .filter(move |steps| steps.steps.first().is_some_and(|(at, _)| *at == without))
        })
        .collect()
}

/// Returns the condition of a step in words.
fn condition_label(by: SeriesBy, at: f64) -> String {
    match by {
        SeriesBy::Broadcast => format!("{}\u{a0}% broadcast", three_digits(at)),
        SeriesBy::Burst if at == 1.0 => "single frames".to_owned(),
        SeriesBy::Burst => format!("bursts of {at}"),
        _ => counted(at as u64, "filter"),
    }
}
