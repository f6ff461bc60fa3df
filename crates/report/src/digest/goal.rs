//! The repetitions of one point for one loss goal: the results of the searches for the load.

use crate::wording::bound::Bound;
use crate::wording::numbers::grouped;
use sixbench_method::search::{AcceptedLoss, Bracket, Limit};
use sixbench_method::terms::FrameRate;
use sixbench_stats::{Censored, CensoredValue, OpenStatistics, Summary};

/// The repetitions of one point for one goal.
pub(crate) struct GoalDigest {
    pub(crate) goal: AcceptedLoss,
    /// The summary of the relevant lower bounds, frames per second per direction. A repetition in which the DUT lost frames even at the lowest load
    /// counts as 0, since leaving it out would flatter the DUT. `None` if no repetition has a result.
    pub(crate) summary: Option<Summary>,
    /// The summarised values, in the order of the repetitions.
    pub(crate) values: Vec<f64>,
    /// The lowest lower bound and the highest upper bound, between which the true values lie.
    pub(crate) span: (u64, u64),
    /// The number of repetitions that count as 0.
    pub(crate) below_minimum: u32,
    /// The number of repetitions without a result, because the tester fell short or other work disturbed the trials at every load.
    pub(crate) unmeasured: u32,
    pub(crate) limits: Limits,
    /// The conditional throughput of each repetition that has one, frames per second per direction.
    pub(crate) conditional: Vec<f64>,
}

/// The numbers of repetitions, by what limited them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) dut: u32,
    pub(crate) tester: u32,
    pub(crate) maximum: u32,
    /// Repetitions that were limited by other work on the machine or by an accident.
    pub(crate) disturbed: u32,
    /// Repetitions that were limited by what happened before the trial.
    pub(crate) unprepared: u32,
    /// True if the true median may be higher, because something other than the DUT ended searches. A few such repetitions above the median do not
    /// affect it.
    pub(crate) is_median_open: bool,
    /// The statistics whose true values may be higher.
    pub(crate) open: OpenStatistics,
    /// The reason why trials were invalid, if it was not the tester.
    pub(crate) reason: Option<InvalidReason>,
}

/// The statistics of a sample, each with the sign of a bound if its true value may be higher.
pub(crate) struct PrintedSummary {
    pub(crate) min: String,
    pub(crate) p1: String,
    pub(crate) median: String,
    pub(crate) p99: String,
    pub(crate) max: String,
}

/// A condition before a trial that was not as required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidReason {
    /// The connections of phase 1 were not all opened, or not all kept (RFC 9693).
    Connections,
    /// The names were not cached as planned, or there were too few of them (RFC 8219 section 9.2).
    Names,
}

impl InvalidReason {
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::Connections => "connections of phase 1",
            Self::Names => "names not as asked",
        }
    }
}

impl GoalDigest {
    /// Returns the digest of these brackets. `reason` is given if trials were invalid for a reason other than the tester.
    pub(super) fn new(
        goal: AcceptedLoss,
        brackets: impl Iterator<Item = Bracket>,
        reason: Option<InvalidReason>,
    ) -> Self {
        let limits = Limits {
            reason,
            ..Limits::default()
        };
        let mut digest = Self {
            goal,
            summary: None,
            values: vec![],
            span: (u64::MAX, 0),
            below_minimum: 0,
            unmeasured: 0,
            limits,
            conditional: vec![],
        };
        let sample: Censored = brackets.filter_map(|bracket| digest.add(bracket)).collect();
        digest.limits.is_median_open = sample.is_median_open();
        digest.limits.open = sample.open_statistics();
        digest.values = sample.values().to_vec();
        digest.summary = Summary::of(&digest.values);
        digest
    }

    /// Adds a repetition, and returns the value that it contributes to the sample.
    fn add(&mut self, bracket: Bracket) -> Option<CensoredValue> {
        let Some(rate) = bracket.value() else {
            self.unmeasured += 1;
            self.limits.disturbed += u32::from(bracket.limit == Limit::Disturbed);
            return None;
        };
        self.below_minimum += u32::from(bracket.lower.is_none());
        // As in the summary, a repetition in which the DUT lost frames even at the lowest load counts as 0.
        let typical = match bracket.lower {
            None => Some(FrameRate(0)),
            Some(_) => bracket.conditional_throughput,
        };
        self.conditional.extend(typical.map(|rate| rate.0 as f64));
        let lower = bracket.lower.map_or(0, |rate| rate.0);
        let upper = bracket.upper.map_or(lower, |rate| rate.0);
        self.span = (self.span.0.min(lower), self.span.1.max(upper));
        match bracket.limit {
            Limit::Dut => self.limits.dut += 1,
            Limit::Tester if self.limits.reason.is_some() => self.limits.unprepared += 1,
            Limit::Tester => self.limits.tester += 1,
            Limit::Maximum => self.limits.maximum += 1,
            Limit::Disturbed => self.limits.disturbed += 1,
        }
        Some(rate)
    }
}

impl Limits {
    /// Returns the relation of the median to the true one.
    pub(crate) fn bound(self) -> Bound {
        Bound::at_least_if(self.is_median_open)
    }

    /// Returns the sign before a number whose true value may be higher.
    pub(crate) fn sign(self) -> &'static str {
        self.bound().sign().unwrap_or_default()
    }

    /// Returns the statistics of a summary as tables print them.
    pub(crate) fn printed(self, summary: &Summary) -> PrintedSummary {
        let signed = |is_open: bool, value: f64| {
            format!(
                "{}{}",
                Bound::at_least_if(is_open).sign().unwrap_or_default(),
                grouped(value)
            )
        };
        PrintedSummary {
            min: signed(self.open.min, summary.min),
            p1: signed(self.open.p1, summary.p1),
            median: signed(self.is_median_open, summary.median),
            p99: signed(self.open.p99, summary.p99),
            max: signed(self.open.max, summary.max),
        }
    }

    pub(crate) fn describe(self) -> String {
        let kinds = [
            (self.dut, "device"),
            (self.tester, "tester"),
            (self.maximum, "maximum of the plan"),
            (self.disturbed, "disturbed machine"),
            (
                self.unprepared,
                self.reason.map_or("", InvalidReason::phrase),
            ),
        ];
        let present: Vec<_> = kinds.iter().filter(|(n, _)| *n > 0).collect();
        match present.as_slice() {
            [] => "–".to_owned(),
            [(_, name)] => (*name).to_owned(),
            several => several
                .iter()
                .map(|(n, name)| format!("{name} {n}×"))
                .collect::<Vec<_>>()
                .join(", "),
        }
    }
}
