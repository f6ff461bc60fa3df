//! What tables of several subjects share: the statistics of a sample as cells, and the notes below them.

use crate::digest::{GoalDigest, InvalidReason, PointDigest, PointSample, PrintedSummary};
use crate::layout::cell::Cell;
use crate::wording::numbers;
use sixbench_method::terms::FrameSize;
use sixbench_stats::Summary;
use std::collections::BTreeSet;

/// Returns the bit rate at layer 2 per direction, Mbit/s, including the FCS but not preamble and gap.
pub(crate) fn mbit(rate: f64, size: FrameSize) -> f64 {
    mbit_of_octets(rate, f64::from(size.0))
}

/// Returns the same for frames of these octets on average.
pub(crate) fn mbit_of_octets(rate: f64, octets: f64) -> f64 {
    rate * octets * 8.0 / 1e6
}

/// Returns a note on how meaningful the percentiles of these summaries are.
pub(crate) fn percentile_note<'s>(summaries: impl Iterator<Item = &'s Summary>) -> String {
    let sizes: BTreeSet<usize> = summaries.map(|s| s.n).filter(|&n| n < 100).collect();
    let sizes: Vec<usize> = sizes.into_iter().collect();
    if sizes.is_empty() {
        "P1 and P99: 1st and 99th percentile by RFC 2330 section 11.3; n: size of the sample."
            .to_owned()
    } else {
        format!(
            "With n = {}, the 1st/99th percentiles are the minimum and maximum.",
            numbers::alternatives(&sizes)
        )
    }
}

/// Returns the spread of the repetitions: `(max - min) / median`, per cent.
pub(super) fn dispersion(summary: &Summary) -> Cell {
    summary
        .dispersion_percent()
        .map(|d| format!("{}\u{a0}%", numbers::three_digits(d.abs())))
        .into()
}

/// Returns a description of what limited a result, including repetitions that need a separate mention.
pub(super) fn limit_words(goal: &GoalDigest) -> String {
    let mut words = vec![goal.limits.describe()];
    if goal.unmeasured > 0 {
        let cause = goal.limits.reason.map_or("tester", InvalidReason::phrase);
        words.push(format!("{cause}, no result {}×", goal.unmeasured));
    }
    if goal.below_minimum > 0 {
        words.push(format!("below the lowest load {}×", goal.below_minimum));
    }
    words.retain(|w| w != "–" || goal.unmeasured == 0);
    words.join("; ")
}

/// The statistics of a sample as cells.
#[derive(Clone)]
pub(super) struct Statistics {
    pub(super) min: Cell,
    pub(super) p1: Cell,
    pub(super) median: Cell,
    pub(super) p99: Cell,
    pub(super) max: Cell,
    pub(super) n: Cell,
}

impl Statistics {
    pub(super) fn new(printed: PrintedSummary, n: usize) -> Self {
        let PrintedSummary {
            min,
            p1,
            median,
            p99,
            max,
        } = printed;
        let [min, p1, median, p99, max] = [min, p1, median, p99, max].map(Cell::Text);
        Self {
            min,
            p1,
            median,
            p99,
            max,
            n: Cell::Number(n as u64),
        }
    }

    pub(super) fn of_sample(sample: &PointSample) -> Self {
        Self::new(sample.printed(), sample.summary.n)
    }

    /// Returns the statistics of a searched rate, or why there are none.
    pub(super) fn of_rate(point: &PointDigest) -> Self {
        match point.rated() {
            Some(rated) => Self::new(rated.limits.printed(&rated.summary), rated.summary.n),
            None => Self {
                median: point.nothing().into(),
                n: Cell::Number(0),
                ..Self::missing()
            },
        }
    }

    /// Returns the statistics of nothing.
    pub(super) fn missing() -> Self {
        Self {
            min: Cell::Missing,
            p1: Cell::Missing,
            median: Cell::Missing,
            p99: Cell::Missing,
            max: Cell::Missing,
            n: Cell::Missing,
        }
    }
}

/// The note below every table of rates with this sign.
pub(super) const OPEN: &str = "≥: the device may be better, because the tester fell short above this or the plan goes no higher.";

/// The note below every other table with this sign.
pub(super) const AT_MOST: &str = "≤: the true value may be lower, because the tester saw the frames too long after they arrived for a number, or because others \
                       had the device's processors meanwhile.";
pub(super) const AT_LEAST: &str = "≥: the true value may be higher, because the trial ended before the device had recovered or the burst was \
                        as long as the plan allows.";
