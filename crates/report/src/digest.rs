//! Records and outcomes, gathered by point: what every view of a run draws from.

use crate::{Input, ReportError};
use sixbench_method::plan::{Point, Test};
use sixbench_method::record::{FORMAT, Outcome, TrialRecord};
use sixbench_method::search::{Bracket, Limit};
use sixbench_method::stats::Summary;
use sixbench_method::terms::LossRatio;
use sixbench_method::trial::Verdict;

/// A run, by point, in the order of the plan.
pub(crate) struct Digest<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) points: Vec<PointDigest<'a>>,
}

/// What is known of one point.
pub(crate) struct PointDigest<'a> {
    pub(crate) test: &'a Test,
    pub(crate) point: Point,
    pub(crate) records: Vec<&'a TrialRecord>,
    pub(crate) outcomes: Vec<&'a Outcome>,
    /// One for each goal of the plan, in its order.
    pub(crate) goals: Vec<GoalDigest>,
}

/// The repetitions of one point for one goal.
pub(crate) struct GoalDigest {
    pub(crate) goal: LossRatio,
    /// Of the relevant lower bounds, frames per second per direction. A repetition in which the DUT lost frames even at
    /// the lowest load counts as 0: leaving it out would flatter the DUT. `None` when no repetition came to a result.
    pub(crate) summary: Option<Summary>,
    /// The lowest lower bound and the highest upper bound: where the true values lie.
    pub(crate) span: (u64, u64),
    /// Repetitions that count as 0.
    pub(crate) below_minimum: u32,
    /// Repetitions that are no result, since the tester fell short at every load.
    pub(crate) unmeasured: u32,
    pub(crate) limits: Limits,
}

/// How many repetitions were limited by what.
#[derive(Clone, Copy, Default)]
pub(crate) struct Limits {
    pub(crate) dut: u32,
    pub(crate) tester: u32,
    pub(crate) maximum: u32,
}

impl<'a> Digest<'a> {
    pub(crate) fn new(input: &'a Input<'a>) -> Self {
        let points = input.plan.tests.iter().flat_map(|test| test.points().map(move |point| (test, point)));
        Self { input, points: points.map(|(test, point)| PointDigest::new(input, test, point)).collect() }
    }

    /// The first goal of the plan: the one headlines quote.
    pub(crate) fn goal(&self) -> LossRatio {
        self.input.plan.search.goals.first().copied().unwrap_or(LossRatio::ZERO)
    }

    /// The verdict of a trial for the first goal.
    pub(crate) fn verdict(&self, record: &TrialRecord) -> Verdict {
        record.result.verdict(self.goal())
    }

    /// Measurements the plan asks for: repetitions of points.
    pub(crate) fn planned(&self) -> u32 {
        self.points.iter().map(|p| p.test.repetitions).sum()
    }

    /// The title of the DUT of a test; the name of its recipe where the facts have none.
    pub(crate) fn dut_title(&self, test: &'a Test) -> &'a str {
        let title = self.input.facts.duts.get(&test.dut).map(|d| d.title.as_str());
        title.filter(|t| !t.is_empty()).unwrap_or(&test.dut)
    }
}

/// A record of a newer format is refused rather than misread.
pub(crate) fn check_formats(records: &[TrialRecord]) -> Result<(), ReportError> {
    match records.iter().map(|r| r.format).find(|&f| f > FORMAT) {
        Some(found) => Err(ReportError::Format { found, known: FORMAT }),
        None => Ok(()),
    }
}

impl<'a> PointDigest<'a> {
    fn new(input: &'a Input<'a>, test: &'a Test, point: Point) -> Self {
        let records = input.records.iter().filter(|r| r.point == point).collect();
        let outcomes: Vec<&Outcome> = input.outcomes.iter().filter(|o| o.point == point).collect();
        let goals = input.plan.search.goals.iter().enumerate();
        let goals = goals.map(|(i, &goal)| GoalDigest::new(goal, brackets(&outcomes, i))).collect();
        Self { test, point, records, outcomes, goals }
    }

    /// The summary for the first goal, if there is a result.
    pub(crate) fn headline(&self) -> Option<&Summary> {
        self.goals.first().and_then(|g| g.summary.as_ref())
    }

    /// What ended the searches for the first goal.
    pub(crate) fn limits(&self) -> Limits {
        self.goals.first().map(|g| g.limits).unwrap_or_default()
    }

    /// Trials that were invalid and had to be repeated.
    pub(crate) fn invalid(&self) -> u32 {
        self.outcomes.iter().map(|o| o.invalid).sum()
    }

    /// The passing trial at the highest load: where the DUT worked hardest without losing.
    pub(crate) fn highest_passing(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        let passing = self.records.iter().filter(|r| r.result.verdict(goal) == Verdict::Passed);
        passing.max_by_key(|r| r.result.spec.rate).copied()
    }

    /// The losing trial at the lowest load whose losses have a place in time.
    pub(crate) fn lowest_losing(&self, goal: LossRatio) -> Option<&'a TrialRecord> {
        let placed = |r: &TrialRecord| r.result.directions.iter().any(|d| !d.lost_by_bin.is_empty());
        let losing = self.records.iter().filter(|r| r.result.verdict(goal) == Verdict::Lost && placed(r));
        losing.min_by_key(|r| r.result.spec.rate).copied()
    }
}

fn brackets(outcomes: &[&Outcome], goal: usize) -> impl Iterator<Item = Bracket> {
    outcomes.iter().filter_map(move |o| o.brackets.get(goal).copied())
}

impl GoalDigest {
    fn new(goal: LossRatio, brackets: impl Iterator<Item = Bracket>) -> Self {
        let mut digest =
            Self { goal, summary: None, span: (u64::MAX, 0), below_minimum: 0, unmeasured: 0, limits: Limits::default() };
        let values: Vec<f64> = brackets.filter_map(|bracket| digest.add(bracket)).map(|rate| rate as f64).collect();
        digest.summary = Summary::of(&values);
        digest
    }

    /// Takes a repetition into account; the value it adds to the sample.
    fn add(&mut self, bracket: Bracket) -> Option<u64> {
        let lower = match (bracket.lower, bracket.limit) {
            (Some(rate), _) => rate.0,
            (None, Limit::Tester) => {
                self.unmeasured += 1;
                return None;
            }
            (None, _) => {
                self.below_minimum += 1;
                0
            }
        };
        let upper = bracket.upper.map_or(lower, |rate| rate.0);
        self.span = (self.span.0.min(lower), self.span.1.max(upper));
        match bracket.limit {
            Limit::Dut => self.limits.dut += 1,
            Limit::Tester => self.limits.tester += 1,
            Limit::Maximum => self.limits.maximum += 1,
        }
        Some(lower)
    }
}

impl Limits {
    /// Whether the DUT may be better than the number: something else ended a search.
    pub(crate) fn open_above(self) -> bool {
        self.tester + self.maximum > 0
    }

    /// What limited the result, in words for a table cell.
    pub(crate) fn words(self) -> String {
        let kinds = [(self.dut, "DUT"), (self.tester, "tester"), (self.maximum, "maximum of the plan")];
        let present: Vec<_> = kinds.iter().filter(|(n, _)| *n > 0).collect();
        match present.as_slice() {
            [] => "–".to_owned(),
            [(_, name)] => (*name).to_owned(),
            several => several.iter().map(|(n, name)| format!("{name} {n}×")).collect::<Vec<_>>().join(", "),
        }
    }
}
