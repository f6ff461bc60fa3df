//! What the losing trials say of a limit: their loads, and what passed while each of their bins was due.

use crate::bottleneck::losses::are_of_queries;
use crate::record::TrialRecord;
use crate::terms::{Direction, FrameRate};
use crate::trial::LOSS_BIN_NS;
use crate::units::show_rate;
use std::fmt;

/// Losing trials that make a pattern.
pub(super) const FEWEST_TRIALS: usize = 3;

/// The highest of their loads as a multiple of the lowest: over less, a device that is at its limit may pass the same, too.
const SMALLEST_RANGE: f64 = 2.0;

/// Returns the noun for what the trials send.
pub(super) fn noun(lost: &[&TrialRecord]) -> &'static str {
    if are_of_queries(lost) {
        "queries"
    } else {
        "frames"
    }
}

/// The loads of the trials that make a pattern.
pub(super) struct PatternLoads {
    lowest: FrameRate,
    highest: FrameRate,
}

impl PatternLoads {
    /// Returns the range of these loads; `None` of no loads.
    pub(super) fn spanning(loads: impl Iterator<Item = FrameRate> + Clone) -> Option<Self> {
        Some(Self {
            lowest: loads.clone().min()?,
            highest: loads.max()?,
        })
    }

    /// Returns whether the loads differ enough for a pattern.
    pub(super) fn is_wide(&self) -> bool {
        self.highest.0 as f64 >= SMALLEST_RANGE * self.lowest.0 as f64
    }
}

impl fmt::Display for PatternLoads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lowest, highest) = (show_rate(self.lowest), show_rate(self.highest));
        write!(f, "{lowest} to {highest}")
    }
}

/// What was offered and what passed while one bin of a trial was due.
#[derive(Clone, Copy)]
pub(super) struct Bin {
    pub(super) offered: f64,
    pub(super) passed: f64,
}

impl Bin {
    fn new(load: FrameRate, length_ns: u64, lost: u64) -> Self {
        let offered = load.0 as f64 * length_ns as f64 / 1e9;
        Self {
            offered,
            passed: (offered - lost as f64).max(0.0),
        }
    }

    /// Returns whether nothing passed. Of a load that is no whole number a bin, one more or less is due than `offered`.
    pub(super) fn is_silent(self) -> bool {
        self.passed <= 1.0
    }

    pub(super) fn share(self) -> f64 {
        self.passed / self.offered.max(f64::MIN_POSITIVE)
    }
}

/// Returns the bins of a direction of a trial at a constant load, the last of which may be shorter; none if the direction has no place of its losses.
pub(super) fn bins(record: &TrialRecord, direction: Direction) -> Vec<Bin> {
    let spec = &record.result.spec;
    let mut directions = record.result.directions.iter();
    let Some(counts) = directions.find(|of| of.direction == direction) else {
        return Vec::new();
    };
    if counts.lost_by_bin.is_empty() {
        return Vec::new();
    }
    let lost = counts.lost_by_bin.iter().copied();
    let starts = (0..spec.duration_ns).step_by(LOSS_BIN_NS as usize);
    starts
        .zip(lost.chain(std::iter::repeat(0)))
        .map(|(start_ns, lost)| {
            let length_ns = LOSS_BIN_NS.min(spec.duration_ns - start_ns);
            Bin::new(spec.rate, length_ns, lost)
        })
        .collect()
}
