//! The main number of a point if it is a rate or a number of connections, whether searched for or measured in a trial.

use super::{Limits, PointDigest};
use sixbench_method::disturbance::makes_lower_bound;
use sixbench_method::measures::Quantity;
use sixbench_stats::Summary;

/// A summary, and whether the true value may be higher.
#[derive(Clone, Copy)]
pub(crate) struct RatedSummary {
    pub(crate) summary: Summary,
    pub(crate) limits: Limits,
    /// The range of the true values: for searched rates from the brackets, for others from the extremes of the sample.
    pub(crate) span: (f64, f64),
}

impl PointDigest<'_> {
    /// Returns the throughput, establishment rate, tear-down rate, or capacity.
    pub(crate) fn rated(&self) -> Option<RatedSummary> {
        if !self.test.measure.is_rated() || self.repeats_a_rate() {
            return None;
        }
        if let Some(quantity) = self.test.measure.info().headline {
            return self.sampled(quantity);
        }
        let goal = self.goals.first()?;
        let span = (goal.span.0 as f64, goal.span.1 as f64);
        Some(RatedSummary {
            summary: goal.summary?,
            limits: goal.limits,
            span,
        })
    }

    fn sampled(&self, quantity: Quantity) -> Option<RatedSummary> {
        let sample = self.worst(quantity)?;
        let (open, n) = (sample.at_least as u32, sample.summary.n as u32);
        // Consistent with the status of the point: a search ended by a disturbance did not reach the plan's maximum.
        let (maximum, disturbed) = if makes_lower_bound(&self.records) {
            (0, open)
        } else {
            (open, 0)
        };
        let limits = Limits {
            maximum,
            disturbed,
            dut: n - open.min(n),
            is_median_open: sample.is_median_open,
            open: sample.open,
            ..Limits::default()
        };
        Some(RatedSummary {
            summary: sample.summary,
            limits,
            span: (sample.summary.min, sample.summary.max),
        })
    }
}
