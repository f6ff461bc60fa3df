//! The repetitions of one point for one loss goal: what a search of the load came to.

use crate::bound::Bound;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::stats::{Censored, CensoredValue, Summary};
use sixbench_method::terms::LossRatio;

/// The repetitions of one point for one goal.
pub(crate) struct GoalDigest {
    pub(crate) goal: LossRatio,
    /// The summary of the relevant lower bounds, frames per second per direction. A repetition in which the DUT lost frames
    /// even at the lowest load counts as 0: leaving it out would flatter the DUT. `None` when no repetition came to a result.
    pub(crate) summary: Option<Summary>,
    /// The values that are summarised, in the order of the repetitions.
    pub(crate) values: Vec<f64>,
    /// The lowest lower bound and the highest upper bound: where the true values lie.
    pub(crate) span: (u64, u64),
    /// Repetitions that count as 0.
    pub(crate) below_minimum: u32,
    /// Repetitions that are no result, since the tester fell short or others disturbed at every load.
    pub(crate) unmeasured: u32,
    pub(crate) limits: Limits,
}

/// The numbers of repetitions, by what limited them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) dut: u32,
    pub(crate) tester: u32,
    pub(crate) maximum: u32,
    /// Repetitions that were limited by other work on the machine, or an accident.
    pub(crate) disturbed: u32,
    /// Repetitions that were limited by what happened before the trial.
    pub(crate) unprepared: u32,
    /// True if the median may be higher in truth, because something other than the DUT ended searches. A few such repetitions above the median
    /// do not make it so.
    pub(crate) is_median_open: bool,
    /// The reason why trials were invalid, where the tester was not to blame.
    pub(crate) reason: Option<InvalidReason>,
}

/// The condition before a trial that was not as asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InvalidReason {
    /// The connections of phase 1 were not all opened or not kept (RFC 9693).
    Connections,
    /// The names were not cached as the plan has it, or there were too few of them (RFC 8219 section 9.2).
    Names,
}

impl InvalidReason {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Connections => "connections of phase 1",
            Self::Names => "names not as asked",
        }
    }
}

impl GoalDigest {
    /// `reason`: trials were invalid for that, not since the tester fell short.
    pub(super) fn new(goal: LossRatio, brackets: impl Iterator<Item = Bracket>, reason: Option<InvalidReason>) -> Self {
        let limits = Limits { reason, ..Limits::default() };
        let mut digest =
            Self { goal, summary: None, values: vec![], span: (u64::MAX, 0), below_minimum: 0, unmeasured: 0, limits };
        let sample: Censored = brackets.filter_map(|bracket| digest.add(bracket)).collect();
        digest.limits.is_median_open = sample.is_median_open();
        digest.values = sample.values().to_vec();
        digest.summary = Summary::of(&digest.values);
        digest
    }

    /// Takes a repetition into account, and returns the value it adds to the sample.
    fn add(&mut self, bracket: Bracket) -> Option<CensoredValue> {
        let Some(rate) = bracket.value() else {
            self.unmeasured += 1;
            self.limits.disturbed += u32::from(bracket.limit == Limit::Disturbed);
            return None;
        };
        self.below_minimum += u32::from(bracket.lower.is_none());
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
    /// Returns how the median lies to the true one.
    pub(crate) fn bound(self) -> Bound {
        Bound::of(self.is_median_open)
    }

    /// The sign before a number that may be higher in truth.
    pub(crate) fn sign(self) -> &'static str {
        self.bound().sign().unwrap_or_default()
    }

    pub(crate) fn words(self) -> String {
        let kinds = [
            (self.dut, "DUT"),
            (self.tester, "tester"),
            (self.maximum, "maximum of the plan"),
            (self.disturbed, "disturbed machine"),
            (self.unprepared, self.reason.map_or("", InvalidReason::words)),
        ];
        let present: Vec<_> = kinds.iter().filter(|(n, _)| *n > 0).collect();
        match present.as_slice() {
            [] => "–".to_owned(),
            [(_, name)] => (*name).to_owned(),
            several => several.iter().map(|(n, name)| format!("{name} {n}×")).collect::<Vec<_>>().join(", "),
        }
    }
}
