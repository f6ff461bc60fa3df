//! One goal's part in a multiple loss ratio search: the evidence from its trials, and the trial it needs next.

use super::goal::{Goal, Target};
use super::invalid_trials::{GoalEvidence, InvalidTrialPolicy};
use super::load_stat::{Class, ClassifiedTrial, LoadStat};
use super::range::{Bounds, ExpectedLoad, LoadRange};
use super::{Bracket, CapacityEstimate, Limit, Start};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{DirectionResult, TrialResult, TrialSpec};
use std::collections::BTreeMap;

/// The most by which one trial lowers the aim of a search, as a ratio of loads.
const DEEPEST_STEP: u64 = 16;

/// Takes one goal from short trials and wide bounds to full trials and the goal's width.
#[derive(Clone, Debug)]
pub(super) struct Selector {
    goal: Goal,
    targets: Vec<Target>,
    stage: usize,
    range: LoadRange,
    estimate: CapacityEstimate,
    aim: ExpectedLoad,
    stats: BTreeMap<FrameRate, LoadStat>,
    policy: InvalidTrialPolicy,
}

impl Selector {
    pub(super) fn new(goal: Goal, range: LoadRange, max_invalid: u32, start: Start) -> Self {
        let range = range.with_width(goal.width);
        Self {
            goal,
            targets: goal.targets(),
            stage: 0,
            range,
            aim: match start {
                // The first trial is at the maximum: its forwarding rate is the first good estimate.
                Start::Cold => ExpectedLoad::at(FrameRate(u64::MAX)),
                Start::Near(hint) => ExpectedLoad::around(hint),
            },
            stats: BTreeMap::new(),
            policy: InvalidTrialPolicy::new(max_invalid),
            estimate: CapacityEstimate::default(),
        }
    }

    /// Returns the same selector with another way to estimate the capacity.
    pub(super) fn estimating(self, estimate: CapacityEstimate) -> Self {
        Self { estimate, ..self }
    }

    /// Processes any trial, including those that another goal asked for, and moves on to longer trials once the stage is settled.
    pub(super) fn learn(&mut self, result: &TrialResult) {
        let verdict = result.verdict(self.goal.loss_ratio);
        match self.policy.judge(result, verdict) {
            GoalEvidence::Met => self.add(result, false),
            GoalEvidence::Missed => self.add(result, true),
            GoalEvidence::Nothing | GoalEvidence::BeyondTester => {}
        }
        self.take_aim(result);
        self.advance();
    }

    /// Returns the trial that would help this goal most, or `None` once the goal is reached.
    ///
    /// The load is never one already classified: it lies strictly between the relevant bounds. A load is classified as soon as its full trials add up
    /// to the duration sum, and there are finitely many loads, so every search ends.
    pub(super) fn nominate(&self) -> Option<TrialSpec> {
        let target = self.target();
        let rate = self.stage_range().gallop(self.bounds(target), self.aim)?;
        Some(TrialSpec::constant(rate, target.duration_ns))
    }

    pub(super) fn bracket(&self) -> Bracket {
        let Bounds { lower, upper } = self.bounds(&self.goal.last_target());
        let limit = match upper {
            None => Limit::Maximum,
            Some(load) if self.is_upper(load) => Limit::Dut,
            Some(_) => Limit::Tester,
        };
        Bracket {
            goal: self.goal.loss_ratio,
            lower,
            upper,
            limit,
            exceed_ratio: self.goal.certainty.exceed_ratio,
            conditional_throughput: lower.and_then(|load| self.conditional_throughput(load)),
        }
    }

    /// Returns the rate that the DUT typically forwards at a load that meets the goal. The loss is that of the worse direction, by which loads are judged.
    fn conditional_throughput(&self, load: FrameRate) -> Option<FrameRate> {
        let typical = self
            .stats
            .get(&load)?
            .typical_loss(&self.goal.last_target())?;
        Some(FrameRate((load.0 as f64 * (1.0 - typical.0)) as u64))
    }

    fn target(&self) -> &Target {
        &self.targets[self.stage]
    }

    fn stage_range(&self) -> LoadRange {
        self.range.with_width(self.target().width)
    }

    fn is_upper(&self, load: FrameRate) -> bool {
        let last = self.goal.last_target();
        self.stats
            .get(&load)
            .is_some_and(|stat| stat.classify(&last) == Class::Upper)
    }

    fn add(&mut self, result: &TrialResult, high_loss: bool) {
        let stat = self.stats.entry(result.spec.rate).or_default();
        stat.add(ClassifiedTrial {
            duration_ns: result.spec.duration_ns,
            loss_ratio: result.loss_ratio(),
            is_high_loss: high_loss,
        });
    }

    /// Returns the relevant bounds: the smallest upper bound, and the largest lower bound below it. This is how RFC 9971
    /// resolves loss inversion (section 4.8.2).
    fn bounds(&self, target: &Target) -> Bounds {
        let mut lower = None;
        let beyond = self.policy.beyond();
        for (&load, stat) in &self.stats {
            if beyond.is_some_and(|beyond| load >= beyond) {
                break;
            }
            match stat.classify(target) {
                Class::Upper => {
                    return Bounds {
                        lower,
                        upper: Some(load),
                    };
                }
                Class::Lower => lower = Some(load),
                Class::Undecided => {}
            }
        }
        Bounds {
            lower,
            upper: beyond,
        }
    }

    /// Aims at the rate that a failed trial forwarded, as long as no load meets the goal.
    fn take_aim(&mut self, result: &TrialResult) {
        let rate = result.spec.rate;
        let bounds = self.bounds(self.target());
        let is_bounded = self.estimate == CapacityEstimate::Bounded;
        let has_failed = bounds.upper == Some(rate) || (is_bounded && result.is_beyond_tester());
        if bounds.lower.is_some() || !has_failed {
            return;
        }
        let least = if is_bounded { rate.0 / DEEPEST_STEP } else { 0 };
        let forwarded = forwarding_rate(result, self.goal.loss_ratio).max(FrameRate(least));
        // A trial within the width of the bound would be useless: step down from the bound instead.
        if !self.stage_range().is_narrow(forwarded.0, rate.0) {
            self.aim = ExpectedLoad::at(forwarded.min(self.aim.load));
        }
    }

    /// Moves on to longer trials as long as the stage is settled; they begin at the bounds of the previous stage.
    fn advance(&mut self) {
        while self.stage + 1 < self.targets.len() {
            let bounds = self.bounds(self.target());
            if !self.stage_range().is_settled(bounds) {
                return;
            }
            self.aim = bounds
                .lower
                .or(bounds.upper)
                .map_or(self.aim, ExpectedLoad::at);
            self.stage += 1;
        }
    }
}

/// Returns the load at which the DUT, if it forwarded no more than in this trial, would lose exactly the accepted ratio: received frames over the
/// trial's duration, in the worse direction. Broadcast frames are part of the load and are not forwarded.
fn forwarding_rate(result: &TrialResult, accepted: LossRatio) -> FrameRate {
    let rate = |d: &DirectionResult| {
        // A sender that stopped early, or took too long, offered its frames over the time it took, not over the nominal one.
        let took_ns = if d.sending.took_ns > 0 {
            d.sending.took_ns
        } else {
            result.spec.duration_ns
        };
        let test_frames = d.offered.max(1) as f64;
        let broadcasts = d.broadcasts.map_or(0, |of| of.sent) as f64;
        let of_load = (test_frames + broadcasts) / test_frames;
        d.received as f64 * of_load * 1e9 / took_ns as f64 / (1.0 - accepted.0.min(0.99))
    };
    let worst = result
        .directions
        .iter()
        .map(rate)
        .fold(f64::INFINITY, f64::min);
    FrameRate(worst as u64)
}
