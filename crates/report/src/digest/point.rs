//! The data of one point: its trials, its repetitions, and their summaries.

use super::{GoalDigest, InvalidReason, Limits, PointSample};
use crate::wording::bound::between;
use crate::wording::numbers::{has_size_in_names, title};
use sixbench_method::bottleneck::busiest;
use sixbench_method::measures::{Noun, Outcome, Quantity, ResultKind, SendingTime, Value};
use sixbench_method::plan::{Plan, Point, Test};
use sixbench_method::record::TrialRecord;
use sixbench_method::search::{AcceptedLoss, Bracket, Limit};
use sixbench_method::status::InvalidCause;
use sixbench_method::terms::{Direction, FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{DirectionResult, RequirementResults, TrialKind, Verdict};
use sixbench_stats::Summary;
use std::collections::BTreeMap;

pub(crate) struct PointDigest<'a> {
    pub(crate) test: &'a Test,
    pub(crate) point: Point,
    pub(crate) records: Vec<&'a TrialRecord>,
    pub(crate) outcomes: Vec<&'a Outcome>,
    first_goal: LossRatio,
    /// One digest for each loss goal of the test, in its order; for a test other than one of throughput, that of the search for its load.
    pub(crate) goals: Vec<GoalDigest>,
    /// Every quantity measured in addition to the throughput, by direction and load.
    pub(crate) samples: Vec<PointSample>,
}

impl<'a> PointDigest<'a> {
    /// Returns the data of a point. `records` and `outcomes` are those of the point.
    pub(crate) fn new(
        plan: &Plan,
        test: &'a Test,
        point: Point,
        records: Vec<&'a TrialRecord>,
        outcomes: Vec<&'a Outcome>,
    ) -> Self {
        let goals = test.loss_goals(plan).iter().enumerate();
        let reason = invalid_reason(&records);
        let goals = goals
            .map(|(i, &goal)| {
                GoalDigest::new(plan.search.accepted(goal), brackets(&outcomes, i), reason)
            })
            .collect();
        let samples = samples(&outcomes);
        Self {
            test,
            point,
            records,
            outcomes,
            first_goal: test.first_goal(plan),
            goals,
            samples,
        }
    }

    /// Returns what was counted in a direction, of all trials of the point.
    pub(crate) fn in_direction(
        &self,
        direction: Direction,
    ) -> impl Iterator<Item = &'a DirectionResult> {
        self.records
            .iter()
            .flat_map(|record| &record.result.directions)
            .filter(move |of| of.direction == direction)
    }

    /// Returns the first loss goal of the test of this point, by which its trials are judged.
    pub(crate) fn first_goal(&self) -> LossRatio {
        self.first_goal
    }

    /// Returns what a load must meet to be the result of this point.
    pub(crate) fn accepted(&self) -> AcceptedLoss {
        let goal = self.goals.first().map(|found| found.goal);
        goal.unwrap_or(AcceptedLoss::in_every_trial(self.first_goal))
    }

    pub(crate) fn is_throughput(&self) -> bool {
        self.test.measure.is_throughput()
    }

    /// Returns whether the result is a rate that was searched for: the throughput, or the establishment rate.
    pub(crate) fn is_searched(&self) -> bool {
        self.test.measure.result_kind() == ResultKind::Rate
    }

    /// Returns the summary of a searched rate for the first goal, if there is a result.
    pub(crate) fn headline(&self) -> Option<&Summary> {
        self.goals
            .first()
            .filter(|_| self.is_searched())
            .and_then(|g| g.summary.as_ref())
    }

    /// Returns what the device did with the vectors of requirements: the results of the last trial of those.
    pub(crate) fn requirements(&self) -> Option<&'a RequirementResults> {
        let mut last_first = self.records.iter().rev();
        last_first.find_map(|record| record.result.requirements())
    }

    /// Returns the frame size; `None` for DNS queries, whose size follows from their names.
    pub(crate) fn size(&self) -> Option<FrameSize> {
        has_size_in_names(self.test).then_some(self.point.frame_size)
    }

    /// Returns the name of the point for sentences.
    pub(crate) fn name(&self) -> String {
        let at = self
            .size()
            .filter(|_| self.test.traffic.size_mix.is_none())
            .map(|size| format!(" at {size}\u{a0}bytes"))
            .unwrap_or_default();
        format!("{}{at}", title(self.test))
    }

    /// Returns the sign before a searched rate whose true value may be higher.
    pub(crate) fn sign(&self) -> &'static str {
        self.limits().sign()
    }

    /// Returns the limits that ended the searches for the first goal.
    pub(crate) fn limits(&self) -> Limits {
        self.goals.first().map(|g| g.limits).unwrap_or_default()
    }

    /// Returns the words printed instead of a missing number.
    pub(crate) fn nothing(&self) -> String {
        match self.not_found() {
            Some((lower, upper)) => between(lower, upper),
            None if self.records.is_empty() => "not run".to_owned(),
            None => "no result".to_owned(),
        }
    }

    /// Returns the bounds between which the rate lies, if it was not found because they are too far apart.
    pub(crate) fn not_found(&self) -> Option<(FrameRate, FrameRate)> {
        let wide = || {
            self.outcomes
                .iter()
                .filter_map(|outcome| outcome.brackets.first())
                .filter(|found| found.is_not_found())
        };
        let bounds = wide()
            .filter_map(|found| found.lower)
            .min()
            .zip(wide().filter_map(|found| found.upper).max());
        bounds.filter(|_| self.is_searched() && self.headline().is_none())
    }

    /// Returns the number of trials that were invalid and had to be repeated.
    pub(crate) fn invalid(&self) -> u32 {
        self.outcomes.iter().map(|o| o.invalid).sum()
    }

    /// Returns the throughput at which a measurement of another kind was made, or to which it relates.
    pub(crate) fn determined(&self) -> Option<FrameRate> {
        self.outcomes.iter().find_map(|o| o.load_throughput())
    }

    /// Returns whether the throughput at which the result was measured is only a lower bound.
    pub(crate) fn is_load_at_least(&self) -> bool {
        let own = |o: &&Outcome| {
            o.brackets
                .first()
                .is_some_and(|bracket| bracket.limit != Limit::Dut)
        };
        self.outcomes.iter().any(|o| {
            o.load
                .as_ref()
                .map_or_else(|| own(o), |load| load.is_at_least)
        })
    }

    /// Returns the sample of a quantity in one direction; if there are several loads, that at the lowest.
    pub(crate) fn sample(&self, quantity: Quantity, direction: Direction) -> Option<&PointSample> {
        self.samples
            .iter()
            .find(|s| s.quantity == quantity && s.direction == direction)
    }

    /// Returns the sample of a quantity in its worse direction.
    pub(crate) fn worst(&self, quantity: Quantity) -> Option<&PointSample> {
        let samples = self.samples.iter().filter(|s| s.quantity == quantity);
        if quantity.is_higher_better() {
            samples.min_by(|a, b| a.summary.median.total_cmp(&b.summary.median))
        } else {
            samples.max_by(|a, b| a.summary.median.total_cmp(&b.summary.median))
        }
    }

    pub(crate) fn directions(&self) -> Vec<Direction> {
        let measured =
            |direction: &&Direction| self.samples.iter().any(|s| s.direction == **direction);
        self.test
            .directions
            .each()
            .iter()
            .filter(measured)
            .copied()
            .collect()
    }

    /// Returns the frame loss rate in the worse direction at every rate, ascending, per cent.
    pub(crate) fn losses(&self) -> Vec<(FrameRate, Summary)> {
        let mut worst: BTreeMap<(FrameRate, u32), f64> = BTreeMap::new();
        let values = self
            .outcomes
            .iter()
            .flat_map(|o| o.values.iter().map(|v| (o.repetition, v)));
        for (repetition, value) in values.filter(|(_, v)| v.quantity == Quantity::FrameLossRate) {
            let loss = worst.entry((value.load, repetition)).or_default();
            *loss = loss.max(value.value);
        }
        let mut rates: BTreeMap<FrameRate, Vec<f64>> = BTreeMap::new();
        for ((rate, _), loss) in worst {
            rates.entry(rate).or_default().push(loss);
        }
        rates
            .into_iter()
            .filter_map(|(rate, losses)| Some((rate, Summary::of(&losses)?)))
            .collect()
    }

    /// Returns the main number of each repetition that has one: the throughput, or the measure's first quantity. A repeated rate is not a result.
    pub(crate) fn headlines(&self) -> Vec<(u32, f64)> {
        let headline = |o: &&Outcome| Some((o.repetition, o.headline(&self.test.measure)?));
        self.outcomes
            .iter()
            .filter(|_| !self.repeats_a_rate())
            .filter_map(headline)
            .collect()
    }

    /// Returns the passing trial at the highest load, in which the DUT worked hardest without losses.
    pub(crate) fn highest_passing(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        busiest(&self.records, goal)
    }

    /// Returns the losing trial at the lowest load whose losses are recorded over time.
    pub(crate) fn lowest_losing(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        let placed = |r: &TrialRecord| {
            r.result
                .directions
                .iter()
                .any(|d| !d.lost_by_bin.is_empty())
        };
        let losing = self
            .records
            .iter()
            .filter(|r| r.result.verdict(goal) == Verdict::Lost && placed(r));
        losing.min_by_key(|r| r.result.spec.rate).copied()
    }

    /// Returns the trial whose losses are shown over time. Bursts are too short for this.
    pub(crate) fn losing_trial(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        match (
            self.test.measure.sending(),
            self.test.measure.info().is_steady,
        ) {
            (SendingTime::AtMost(_), _) => None,
            (_, false) => {
                let is_outage = |r: &TrialRecord| {
                    matches!(
                        r.result.spec.kind,
                        TrialKind::Drop { .. } | TrialKind::Reset { .. }
                    )
                };
                let placed = |r: &TrialRecord| {
                    r.result
                        .directions
                        .iter()
                        .any(|d| !d.lost_by_bin.is_empty())
                };
                self.records
                    .iter()
                    .rev()
                    .find(|r| is_outage(r) && placed(r))
                    .copied()
            }
            _ => self.lowest_losing(goal),
        }
    }

    /// Returns the trial for which the DUT's processor is shown. Bursts and outages are not a steady load.
    pub(crate) fn busiest_trial(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        self.highest_passing(goal)
            .filter(|_| self.test.measure.info().is_steady)
    }

    /// Returns the trial whose delays represent the point: for throughput and queries the passing one at the highest load, for delays that of the
    /// repetition nearest the median. `None` for other measures, whose loads are not meant to be forwarded.
    pub(crate) fn delay_trial(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        self.trial_of_delays(goal)
            .filter(|r| r.result.directions.iter().any(|d| !d.delays.is_empty()))
    }

    /// Does the same as [`Self::delay_trial`], even if the trial's delays are not recorded.
    pub(crate) fn trial_of_delays(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        let measure = &self.test.measure;
        match (measure.family().noun(), measure.is_searched_rate()) {
            (Noun::Frames | Noun::Queries, true) => self.highest_passing(goal),
            _ if measure.info().is_of_delay => self.trial_of_the_median(),
            _ => None,
        }
    }

    /// Returns the measuring trial of the repetition whose headline is nearest the median, which is the repetition's last.
    fn trial_of_the_median(&self) -> Option<&'a TrialRecord> {
        let headlines = self.headlines();
        let values: Vec<f64> = headlines.iter().map(|(_, value)| *value).collect();
        let median = Summary::of(&values)?.median;
        let nearest = headlines
            .iter()
            .min_by(|a, b| (a.1 - median).abs().total_cmp(&(b.1 - median).abs()))?;
        self.records
            .iter()
            .filter(|r| r.repetition == nearest.0)
            .max_by_key(|r| r.trial)
            .copied()
    }
}

/// Returns the reason why most invalid trials were invalid; `None` if it was the tester or a disturbance.
fn invalid_reason(records: &[&TrialRecord]) -> Option<InvalidReason> {
    match InvalidCause::find(records) {
        InvalidCause::Connections => Some(InvalidReason::Connections),
        InvalidCause::Names => Some(InvalidReason::Names),
        InvalidCause::Tester
        | InvalidCause::Disturbed
        | InvalidCause::TesterDisturbed
        | InvalidCause::Link => None,
    }
}

fn brackets(outcomes: &[&Outcome], goal: usize) -> impl Iterator<Item = Bracket> {
    outcomes
        .iter()
        .filter_map(move |o| o.brackets.get(goal).copied())
}

fn samples(outcomes: &[&Outcome]) -> Vec<PointSample> {
    let mut found: BTreeMap<(Quantity, Direction, FrameRate), Vec<Value>> = BTreeMap::new();
    // The numbers of connections held during the search for a capacity are its steps, and have a separate table.
    for value in outcomes
        .iter()
        .flat_map(|o| &o.values)
        .filter(|v| v.quantity != Quantity::ConnectionsHeld)
    {
        found
            .entry((value.quantity, value.direction, value.load))
            .or_default()
            .push(*value);
    }
    found
        .into_iter()
        .filter_map(|((quantity, direction, load), values)| {
            PointSample::new(quantity, direction, load, &values)
        })
        .collect()
}
