//! A table of each series over a condition: the median without and with it, and their ratio.

use super::condition_label;
use crate::digest::Digest;
use crate::layout::cell::Cell;
use crate::layout::table::{Column, Table};
use crate::subject::series::{Curve, CurveStep, TestSeries, curves};
use crate::wording::bound::Bound;
use sixbench_method::plan::SeriesBy;
use sixbench_method::terms::Directions;

/// A quantity under a condition, and without it.
struct ConditionRow<'c> {
    curve: &'c Curve,
    step: &'c CurveStep,
    without: &'c CurveStep,
}

impl ConditionRow<'_> {
    /// Returns the median of a step.
    fn value(&self, step: &CurveStep) -> Cell {
        let value = match self.curve.subject.unit {
            Some(quantity) => Cell::Quantity(quantity, step.value),
            None => Cell::Rate(step.value),
        };
        value.signed(if step.is_open { "≥\u{a0}" } else { "" })
    }

    /// Returns the median under the condition in per cent of that without it.
    fn ratio(&self) -> Option<Cell> {
        let bound = Bound::of_ratio(self.step.is_open, self.without.is_open);
        (self.without.value > 0.0)
            .then(|| Cell::rounded(100.0 * self.step.value / self.without.value, bound, 1))
    }
}

pub(super) fn table(digest: &Digest, steps: &TestSeries) -> Table {
    let curves = curves(digest, steps);
    let rows = curves.iter().flat_map(|curve| {
        curve.steps.iter().skip(1).map(move |step| ConditionRow {
            curve,
            step,
            without: &curve.steps[0],
        })
    });
    let (what, note) = match steps.by {
        SeriesBy::Broadcast => (
            "broadcast frames",
            "Broadcast: frames to the hardware broadcast address, evenly in place of test frames (RFC 2544 section 11.1). The rates count them, so that \
             as many frames reach the device with and without them.",
        ),
        SeriesBy::Burst => (
            "bursts",
            "Bursts: so many frames are sent back to back, and the tester waits between them so that the mean rate holds (RFC 2544 section 21). The interval from \
             one burst to the next is their frames divided by the rate.",
        ),
        _ => (
            "filters",
            "Filters: conditions that the device checks before it forwards a frame, of which the last permits the test frames, and those before it \
             block other addresses (RFC 2544 section 11.4). Their exact rules are in the facts, under filters.nft.",
        ),
    };
    Table::new(
        format!("Without and with {what}: {}", steps.name),
        columns(steps),
        rows,
    )
    .with_note(format!("Medians; rates in frames/s per direction. {note}"))
}

fn columns<'c>(steps: &TestSeries) -> Vec<Column<'c, ConditionRow<'c>>> {
    let by = steps.by;
    let both = steps
        .steps
        .first()
        .map_or(Directions::Both, |(_, test)| test.directions);
    vec![
        Column::text("Quantity", |row: &ConditionRow| {
            row.curve.subject.quantity.clone()
        }),
        Column::number("Size", |row: &ConditionRow| row.curve.size),
        Column::text("Direction", move |row: &ConditionRow| {
            let own = row.curve.subject.direction.map(|own| own.to_string());
            own.unwrap_or_else(|| match both {
                Directions::Both => "both".to_owned(),
                single => single.each().iter().map(ToString::to_string).collect(),
            })
        }),
        Column::text("Condition", move |row: &ConditionRow| {
            condition_label(by, row.step.at)
        }),
        Column::number("Without", |row: &ConditionRow| row.value(row.without)),
        Column::number("With", |row: &ConditionRow| row.value(row.step)),
        Column::number("With / without (%)", |row: &ConditionRow| row.ratio()),
    ]
}
