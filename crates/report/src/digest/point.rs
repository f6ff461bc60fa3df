//! What is known of one point: its trials, its repetitions, and what they sum up to.

use super::{GoalDigest, InvalidReason, Limits, PointSample};
use crate::numbers::title;
use sixbench_method::bottleneck::busiest;
use sixbench_method::measures::{Noun, Outcome, Quantity, SendingTime};
use sixbench_method::plan::{Plan, Point, Test};
use sixbench_method::record::TrialRecord;
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::stats::Summary;
use sixbench_method::status::InvalidCause;
use sixbench_method::terms::{Direction, FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{TrialKind, Verdict};
use std::collections::BTreeMap;

pub(crate) struct PointDigest<'a> {
    pub(crate) test: &'a Test,
    pub(crate) point: Point,
    pub(crate) records: Vec<&'a TrialRecord>,
    pub(crate) outcomes: Vec<&'a Outcome>,
    first_goal: LossRatio,
    /// One for each goal of the test, in its order. Of a test that is no throughput test: of the search for its load.
    pub(crate) goals: Vec<GoalDigest>,
    /// Every quantity measured beside the throughput, by direction and load.
    pub(crate) samples: Vec<PointSample>,
}

impl<'a> PointDigest<'a> {
    /// `records` and `outcomes` are those of the point.
    pub(crate) fn new(
        plan: &Plan,
        test: &'a Test,
        point: Point,
        records: Vec<&'a TrialRecord>,
        outcomes: Vec<&'a Outcome>,
    ) -> Self {
        let goals = test.loss_goals(plan).iter().enumerate();
        let reason = invalid_reason(&records);
        let goals = goals.map(|(i, &goal)| GoalDigest::new(goal, brackets(&outcomes, i), reason)).collect();
        let samples = samples(&outcomes);
        Self { test, point, records, outcomes, first_goal: test.first_goal(plan), goals, samples }
    }

    /// Returns the first loss goal of the test of this point, by which its trials are judged.
    pub(crate) fn first_goal(&self) -> LossRatio {
        self.first_goal
    }

    pub(crate) fn is_throughput(&self) -> bool {
        self.test.measure.is_throughput()
    }

    /// Returns whether the result is a rate that was searched: the throughput, or the establishment rate.
    pub(crate) fn is_searched(&self) -> bool {
        self.test.measure.is_searched_rate() && !self.repeats_a_rate()
    }

    /// The summary of a searched rate for the first goal, if there is a result.
    pub(crate) fn headline(&self) -> Option<&Summary> {
        self.goals.first().filter(|_| self.is_searched()).and_then(|g| g.summary.as_ref())
    }

    /// The frame size, where it means anything: DNS queries are as long as their names.
    pub(crate) fn size(&self) -> Option<FrameSize> {
        self.test.measure.dns().is_none().then_some(self.point.frame_size)
    }

    /// The point as sentences name it.
    pub(crate) fn name(&self) -> String {
        let at = self.size().map(|size| format!(" at {size}\u{a0}bytes")).unwrap_or_default();
        format!("{}{at}", title(self.test))
    }

    /// The sign before a searched rate that may be higher in truth.
    pub(crate) fn sign(&self) -> &'static str {
        self.limits().sign()
    }

    /// Returns the limits that ended the searches for the first goal.
    pub(crate) fn limits(&self) -> Limits {
        self.goals.first().map(|g| g.limits).unwrap_or_default()
    }

    /// Returns the words that take the place of a missing number.
    pub(crate) fn nothing(&self) -> &'static str {
        if self.records.is_empty() { "not run" } else { "no result" }
    }

    /// Trials that were invalid and had to be repeated.
    pub(crate) fn invalid(&self) -> u32 {
        self.outcomes.iter().map(|o| o.invalid).sum()
    }

    /// The throughput that a measurement of another kind was made at, or relative to.
    pub(crate) fn determined(&self) -> Option<FrameRate> {
        self.outcomes.iter().find_map(|o| o.load_throughput())
    }

    /// Returns whether the throughput that the result was made at is only known not to be lower.
    pub(crate) fn is_load_at_least(&self) -> bool {
        let own = |o: &&Outcome| o.brackets.first().is_some_and(|bracket| bracket.limit != Limit::Dut);
        self.outcomes.iter().any(|o| o.load.as_ref().map_or_else(|| own(o), |load| load.is_at_least))
    }

    /// The sample of a quantity in one direction; of several loads, at the lowest.
    pub(crate) fn sample(&self, quantity: Quantity, direction: Direction) -> Option<&PointSample> {
        self.samples.iter().find(|s| s.quantity == quantity && s.direction == direction)
    }

    /// The sample of a quantity in its worse direction.
    pub(crate) fn worst(&self, quantity: Quantity) -> Option<&PointSample> {
        let samples = self.samples.iter().filter(|s| s.quantity == quantity);
        match quantity.is_higher_better() {
            true => samples.min_by(|a, b| a.summary.median.total_cmp(&b.summary.median)),
            false => samples.max_by(|a, b| a.summary.median.total_cmp(&b.summary.median)),
        }
    }

    pub(crate) fn directions(&self) -> Vec<Direction> {
        let measured = |direction: &&Direction| self.samples.iter().any(|s| s.direction == **direction);
        self.test.directions.each().iter().filter(measured).copied().collect()
    }

    /// The frame loss rate in the worse direction at every rate, ascending, per cent.
    pub(crate) fn losses(&self) -> Vec<(FrameRate, Summary)> {
        let mut worst: BTreeMap<(FrameRate, u32), f64> = BTreeMap::new();
        let values = self.outcomes.iter().flat_map(|o| o.values.iter().map(|v| (o.repetition, v)));
        for (repetition, value) in values.filter(|(_, v)| v.quantity == Quantity::FrameLossRate) {
            let loss = worst.entry((value.load, repetition)).or_default();
            *loss = loss.max(value.value);
        }
        let mut rates: BTreeMap<FrameRate, Vec<f64>> = BTreeMap::new();
        worst.into_iter().for_each(|((rate, _), loss)| rates.entry(rate).or_default().push(loss));
        rates.into_iter().filter_map(|(rate, losses)| Some((rate, Summary::of(&losses)?))).collect()
    }

    /// The one number of each repetition that has one: throughput, or the measure's first quantity. A rate that is repeated is none.
    pub(crate) fn headlines(&self) -> Vec<(u32, f64)> {
        let headline = |o: &&Outcome| Some((o.repetition, o.headline(&self.test.measure)?));
        self.outcomes.iter().filter(|_| !self.repeats_a_rate()).filter_map(headline).collect()
    }

    /// The passing trial at the highest load: where the DUT worked hardest without losing.
    pub(crate) fn highest_passing(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        busiest(&self.records, goal)
    }

    /// The losing trial at the lowest load whose losses have a place in time.
    pub(crate) fn lowest_losing(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        let placed = |r: &TrialRecord| r.result.directions.iter().any(|d| !d.lost_by_bin.is_empty());
        let losing = self.records.iter().filter(|r| r.result.verdict(goal) == Verdict::Lost && placed(r));
        losing.min_by_key(|r| r.result.spec.rate).copied()
    }

    /// The trial whose losses are looked at in time. Bursts are over before that is worth a look.
    pub(crate) fn losing_trial(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        match (self.test.measure.sending(), self.test.measure.is_steady()) {
            (SendingTime::AtMost(_), _) => None,
            (_, false) => {
                let is_outage =
                    |r: &TrialRecord| matches!(r.result.spec.kind, TrialKind::Drop { .. } | TrialKind::Reset { .. });
                let placed = |r: &TrialRecord| r.result.directions.iter().any(|d| !d.lost_by_bin.is_empty());
                self.records.iter().rev().find(|r| is_outage(r) && placed(r)).copied()
            }
            _ => self.lowest_losing(goal),
        }
    }

    /// The trial in which the DUT's processor is looked at. Bursts and outages are no steady load.
    pub(crate) fn busiest_trial(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        self.highest_passing(goal).filter(|_| self.test.measure.is_steady())
    }

    /// The trial whose delays stand for the point: of throughput and of queries the passing one at the highest load, of delays that of the repetition
    /// nearest the median. None of other measures, whose loads are not meant to be forwarded.
    pub(crate) fn delay_trial(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        self.trial_of_delays(goal).filter(|r| r.result.directions.iter().any(|d| !d.delays.is_empty()))
    }

    /// The same, whether its delays are on record or not.
    pub(crate) fn trial_of_delays(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        let measure = &self.test.measure;
        match (measure.info().noun, measure.is_searched_rate()) {
            (Noun::Frames | Noun::Queries, true) => self.highest_passing(goal),
            _ if measure.is_of_delay() => self.trial_of_the_median(),
            _ => None,
        }
    }

    /// The measuring trial of the repetition whose headline is nearest the median: the last one, since it ended the repetition.
    fn trial_of_the_median(&self) -> Option<&'a TrialRecord> {
        let headlines = self.headlines();
        let values: Vec<f64> = headlines.iter().map(|(_, value)| *value).collect();
        let median = Summary::of(&values)?.median;
        let nearest = headlines.iter().min_by(|a, b| (a.1 - median).abs().total_cmp(&(b.1 - median).abs()))?;
        self.records.iter().filter(|r| r.repetition == nearest.0).max_by_key(|r| r.trial).copied()
    }
}

/// Returns the reason why most invalid trials were invalid, or `None` where the tester or a disturbance was to blame.
fn invalid_reason(records: &[&TrialRecord]) -> Option<InvalidReason> {
    match InvalidCause::of(records) {
        InvalidCause::Connections => Some(InvalidReason::Connections),
        InvalidCause::Names => Some(InvalidReason::Names),
        InvalidCause::Tester | InvalidCause::Disturbed => None,
    }
}

fn brackets(outcomes: &[&Outcome], goal: usize) -> impl Iterator<Item = Bracket> {
    outcomes.iter().filter_map(move |o| o.brackets.get(goal).copied())
}

fn samples(outcomes: &[&Outcome]) -> Vec<PointSample> {
    let mut found: BTreeMap<(Quantity, Direction, FrameRate), Vec<(f64, bool)>> = BTreeMap::new();
    // The numbers held on the way to a capacity are the steps of a search, and have a table of their own.
    for value in outcomes.iter().flat_map(|o| &o.values).filter(|v| v.quantity != Quantity::ConnectionsHeld) {
        found.entry((value.quantity, value.direction, value.load)).or_default().push((value.value, value.is_at_least));
    }
    found
        .into_iter()
        .filter_map(|((quantity, direction, load), values)| PointSample::new(quantity, direction, load, &values))
        .collect()
}
