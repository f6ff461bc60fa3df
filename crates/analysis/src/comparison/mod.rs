//! Two measurements side by side, A and B: what B is to A, quantity by quantity, with the interval that the repetitions leave open; and
//! one verdict of it all.

mod anomalies;
mod compared_value;
mod doubts;
mod gaps;
mod requirements;
mod samples;
mod sessions;
#[cfg(test)]
mod tests;

pub use anomalies::OneSidedAnomaly;
pub use compared_value::ComparedValue;
pub use doubts::RunOrder;
pub use gaps::{ComparedSide, MeasurementGap, UnfitPoint};
pub(crate) use requirements::{
    FindingKey, RequirementFinding, findings, is_told, requirement_change,
};
pub use requirements::{RequirementChange, RequirementComparison, RequirementTurn};
pub(crate) use samples::samples_of;
pub use sessions::{Reference, SESSIONS_DIFFER};

use crate::gate::Gate;
use doubts::Doubt;
use gaps::PointSamples;
use samples::Sample;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::terms::FrameSize;
use sixbench_stats::{
    Censored, CensoredTest, ComparisonTerms, LEVEL, Shift, Summary, holm, is_significant, least_p,
};

/// One side of a comparison: tests of a plan, and what was measured of them.
#[derive(Clone, Debug)]
pub struct Compared<'a> {
    /// The side this is: A or B.
    pub which: ComparedSide,
    /// The tests to be compared.
    pub tests: Vec<&'a Test>,
    /// For each run the outcomes of these tests; outcomes of other tests are ignored. Where a side has several runs, each run of either side counts once, by
    /// its median: repetitions of one run share the state that the machine and the device were in.
    pub runs: Vec<&'a [Outcome]>,
}

/// What a row counts as one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedUnit {
    /// A repetition: each side is one run.
    Repetitions,
    /// A run, by the median of its repetitions.
    Runs,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison<'a> {
    /// What a row counts as one value.
    pub unit: ComparedUnit,
    /// The points both sides have.
    pub points: Vec<PointComparison<'a>>,
    /// The points, quantities and repetitions that were not measured.
    pub missing: Vec<MeasurementGap>,
    /// The cases in which the tester was not fit, so that something could not be compared.
    pub unfit: Vec<UnfitPoint>,
    /// The reference device that both sides measured beside the others; `None` if there is none, or none is needed.
    pub reference: Option<Reference>,
    /// The anomalous frames that one side had and the other had not, for the user to know: they do not change the verdict.
    pub anomalies: Vec<OneSidedAnomaly<'a>>,
    /// The requirements of RFCs that became wrong or right, test by test: see [`Comparison::with_requirements`].
    pub requirements: Vec<RequirementComparison>,
}

/// The rows of one test and frame size.
#[derive(Clone, Debug, PartialEq)]
pub struct PointComparison<'a> {
    /// A's test.
    pub a: &'a Test,
    /// B's test.
    pub b: &'a Test,
    /// The frame size; it says nothing of tests whose frames are the kernel's.
    pub frame_size: FrameSize,
    /// Quantity by quantity.
    pub rows: Vec<ComparisonRow>,
}

/// One quantity of A and B.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ComparisonRow {
    /// The rate or value that is compared.
    pub subject: ComparedValue,
    /// Of A and of B the value of every repetition, run by run.
    pub values: [Vec<Vec<f64>>; 2],
    /// The repetitions of A, or the medians of its runs.
    pub a: Summary,
    /// The same of B.
    pub b: Summary,
    /// True if A's true median may be higher: the tester, the plan or other work cut repetitions off, and the median depends on them.
    pub is_a_at_least: bool,
    /// The same of B.
    pub is_b_at_least: bool,
    /// True if A's true median may be lower: the tester, or other work on the machine, made delays too long, and the median depends on them.
    pub is_a_at_most: bool,
    /// The same of B.
    pub is_b_at_most: bool,
    /// The factor by which B is larger, with the 95 % interval of this row alone, whose ends are 0 and infinite where repetitions that were cut
    /// off leave them open; `None` where the samples are too small for 95 %, or hold zeroes.
    pub shift: Option<Shift>,
    /// The p-value of the difference, adjusted by Holm's procedure for the number of rows that are compared at once.
    pub p_value: f64,
    /// An estimate of the correlation of a repetition with the one before it, 0..1, where interval and p-value are widened for it: of fewer than
    /// 15 repetitions where it is shown, of more wherever it is positive.
    pub autocorrelation: Option<f64>,
    /// True if chance would make as much autocorrelation of independent repetitions in at most one of a hundred cases.
    pub is_autocorrelation_shown: bool,
    /// The share by which a drift of the machine that the repetitions do not rule out may have made B larger, or smaller where B is: a difference
    /// within it is not shown. `None` where A and B took turns, or where no drift is left open.
    pub drift: Option<f64>,
    /// The conclusion about B, with differences up to the tolerance not counted.
    pub finding: ComparisonFinding,
}

/// The conclusion of a row about B compared with A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum ComparisonFinding {
    /// B is better by more than the tolerance.
    Better,
    /// B is worse by more than the tolerance.
    Worse,
    /// A difference could have been shown, and was not. Not the same as "equal": a larger sample might show more.
    NoDifferenceShown,
    /// The repetitions are too few to show a difference between so many rows, however large it is.
    TooFewRepetitions {
        /// The number of repetitions, of A and of B each, that could show one.
        needed: usize,
    },
    /// No difference is shown, but one might be if the repetitions that the tester, the plan's maximum or other work cut off, or whose delays they made
    /// too long, were known.
    CutOff,
    /// Repetitions follow those before them, or seem to, so closely that what they show is less than a difference.
    Dependent,
    /// A and B were measured one after the other, and a drift of the machine that their repetitions do not rule out explains as much.
    Drifting,
    /// A and B were measured one after the other, no reference device tells a change of the machine between them from one of the device, and the
    /// difference is no larger than [`SESSIONS_DIFFER`].
    NotInTurns,
    /// The difference is no larger than the change of the machine between A and B that the reference device leaves open.
    WithinReference,
    /// The reference device shows that the machine changed between A and B.
    MachineChanged,
}

impl ComparisonFinding {
    /// Returns the verdict that this finding implies for the whole comparison.
    pub fn gate(self) -> Gate {
        match self {
            Self::Better | Self::NoDifferenceShown => Gate::Passed,
            Self::Worse => Gate::Worse,
            Self::TooFewRepetitions { .. }
            | Self::CutOff
            | Self::Dependent
            | Self::Drifting
            | Self::NotInTurns
            | Self::WithinReference
            | Self::MachineChanged => Gate::Inconclusive,
        }
    }
}

impl Comparison<'_> {
    /// Returns the rows of all points.
    pub fn rows(&self) -> impl Iterator<Item = &ComparisonRow> {
        self.points.iter().flat_map(|point| &point.rows)
    }

    /// Returns the points with values. Requirements are compared one by one instead.
    pub fn measured_points(&self) -> impl Iterator<Item = &PointComparison<'_>> {
        self.points
            .iter()
            .filter(|point| point.a.measure.result_kind().varies())
    }

    /// Adds the requirements that changed between the sides. `records` are the runs of A and of B; of several runs, or repetitions, of one side the
    /// worst finding of a vector counts.
    #[must_use]
    pub fn with_requirements(mut self, records: [&[&[TrialRecord]]; 2]) -> Self {
        let points = self.points.iter();
        self.requirements = points
            .filter_map(|point| RequirementComparison::new(point.a, point.b, records))
            .collect();
        self
    }

    /// Returns the most serious of what was found.
    pub fn gate(&self) -> Gate {
        let of_rows = self
            .rows()
            .map(|row| row.finding.gate())
            .max()
            .unwrap_or_default();
        let missing = if self.missing.is_empty() {
            Gate::Passed
        } else {
            Gate::Missing
        };
        let unfit = if self.unfit.is_empty() {
            Gate::Passed
        } else {
            Gate::TesterUnfit
        };
        let changes = self
            .requirements
            .iter()
            .flat_map(|of_test| &of_test.changes);
        let of_requirements = changes
            .map(|change| change.change.gate())
            .max()
            .unwrap_or_default();
        of_rows.max(missing).max(unfit).max(of_requirements)
    }
}

/// Compares tests of the same name that ask the same of their devices, or where each side has a single one, these, in everything both have;
/// `tolerance` is a share, 0.01 for 1 %. `None` where no test of A has its like in B.
///
/// The chance that any row is called better or worse though A and B are alike is at most 5 % for all rows together. Samples with zeroes or
/// negative values have no ratio; they are compared by their differences, and the tolerance does not apply. Repetitions that the tester, the
/// plan or other work on the machine cut off count as what suits a claim least: as infinite where it says that the other side is higher. Delays that
/// are only upper bounds count as nothing where it says that the other side is lower.
///
/// Repetitions that depend on those before them, and drifts where A and B did not take turns (`order`), are allowed for where six repetitions
/// or more show them; what they may explain is inconclusive.
pub fn compare<'a>(
    a: &Compared<'a>,
    b: &Compared<'a>,
    tolerance: f64,
    order: RunOrder,
) -> Option<Comparison<'a>> {
    let (couples, mut missing) = couples(a, b);
    if couples.is_empty() {
        return None;
    }
    let unit = if a.runs.len().max(b.runs.len()) > 1 {
        ComparedUnit::Runs
    } else {
        ComparedUnit::Repetitions
    };
    let measured = measured_points(a, b, couples, unit, &mut missing);
    let candidates: Vec<Candidate<'_>> = measured
        .iter()
        .enumerate()
        .flat_map(|(index, (a, b))| candidates_of(index, a, b, tolerance, order))
        .collect();
    let mut rows = judge(&candidates).into_iter().zip(&candidates).peekable();
    let (mut points, mut unfit) = (Vec::new(), Vec::new());
    for (index, (a, b)) in measured.iter().enumerate() {
        // The candidates, and so their rows, are in the order of the points.
        let of_point = std::iter::from_fn(|| {
            rows.next_if(|(_, candidate)| candidate.point == index)
                .map(|(row, _)| row)
        });
        let rows: Vec<ComparisonRow> = of_point.collect();
        let (lacking, not_fit) = gaps_of(a, b, &rows);
        missing.extend(lacking);
        unfit.extend(not_fit);
        points.push(PointComparison {
            a: a.test,
            b: b.test,
            frame_size: a.size,
            rows,
        });
    }
    Some(Comparison {
        unit,
        points,
        missing,
        unfit,
        reference: None,
        anomalies: Vec::new(),
        requirements: Vec::new(),
    })
}

/// Returns the samples of A and B at the points that both tests of each couple have, and adds to `missing` those that only A's has.
fn measured_points<'a>(
    a: &Compared<'a>,
    b: &Compared<'a>,
    couples: Vec<(&'a Test, &'a Test)>,
    unit: ComparedUnit,
    missing: &mut Vec<MeasurementGap>,
) -> Vec<(PointSamples<'a>, PointSamples<'a>)> {
    let mut measured = Vec::new();
    for (x, y) in couples {
        let (common, only_a): (Vec<_>, Vec<_>) = x
            .frame_sizes
            .iter()
            .partition(|size| y.frame_sizes.contains(size));
        missing.extend(
            only_a
                .into_iter()
                .map(|&size| MeasurementGap::Point(x.label(size))),
        );
        measured.extend(common.into_iter().map(|&size| {
            (
                PointSamples::new(a, x, size, unit),
                PointSamples::new(b, y, size, unit),
            )
        }));
    }
    measured
}

/// Returns what both sides measured at a point, quantity by quantity.
fn candidates_of<'a>(
    point: usize,
    a: &'a PointSamples<'_>,
    b: &'a PointSamples<'_>,
    tolerance: f64,
    order: RunOrder,
) -> impl Iterator<Item = Candidate<'a>> {
    a.samples
        .iter()
        .filter_map(|(key, sample)| Some((sample, b.samples.get(key)?)))
        .filter_map(move |(a, b)| Candidate::new(point, a, b, tolerance, order))
}

fn couples<'a>(
    a: &Compared<'a>,
    b: &Compared<'a>,
) -> (Vec<(&'a Test, &'a Test)>, Vec<MeasurementGap>) {
    // Of single tests there is no doubt which belong together, whatever they are called in the two plans.
    let are_single = a.tests.len() == 1 && b.tests.len() == 1;
    let (mut couples, mut missing) = (Vec::new(), Vec::new());
    for &test in &a.tests {
        let like = b
            .tests
            .iter()
            .copied()
            .find(|other| are_single || other.name == test.name);
        match like {
            Some(other) if test.asks_the_same_as(other) => couples.push((test, other)),
            other => missing.push(MeasurementGap::Test {
                test: test.name.clone(),
                other: other.map(|other| other.name.clone()),
            }),
        }
    }
    (couples, missing)
}

fn gaps_of(
    a: &PointSamples<'_>,
    b: &PointSamples<'_>,
    rows: &[ComparisonRow],
) -> (Vec<MeasurementGap>, Vec<UnfitPoint>) {
    let interrupted: Vec<MeasurementGap> = a.interruptions().chain(b.interruptions()).collect();
    let is_interrupted = !interrupted.is_empty();
    let lacking = b.lacks(a);
    let is_short = rows.is_empty()
        || rows
            .iter()
            .any(|row| matches!(row.finding, ComparisonFinding::TooFewRepetitions { .. }));
    let unfit: Vec<UnfitPoint> = [a.unfit(), b.unfit()]
        .into_iter()
        .flatten()
        .filter(|_| is_short || !lacking.is_empty())
        .collect();
    let mut missing = interrupted;
    // An interruption, or a tester that was not fit, explains what is not there.
    if !is_interrupted && unfit.is_empty() {
        missing.extend(lacking);
        if rows.is_empty() && missing.is_empty() && a.test.measure.result_kind().varies() {
            missing.push(MeasurementGap::Everything(a.label()));
        }
    }
    (missing, unfit)
}

/// A row before it is judged among the others.
struct Candidate<'s> {
    point: usize,
    a: &'s Sample,
    b: &'s Sample,
    summaries: (Summary, Summary),
    doubt: Doubt,
    /// The test that takes the repetitions as independent.
    plain: CensoredTest,
    /// The test with what must be allowed for.
    test: CensoredTest,
}

impl<'s> Candidate<'s> {
    fn new(
        point: usize,
        a: &'s Sample,
        b: &'s Sample,
        tolerance: f64,
        order: RunOrder,
    ) -> Option<Self> {
        let doubt = Doubt::between(a, b, tolerance, order);
        let plain = rank_test(a, b, &doubt.plain())?;
        let test = if doubt.terms == doubt.plain() {
            plain
        } else {
            rank_test(a, b, &doubt.terms)?
        };
        let summaries = (
            Summary::of(a.values.values())?,
            Summary::of(b.values.values())?,
        );
        Some(Self {
            point,
            a,
            b,
            summaries,
            doubt,
            plain,
            test,
        })
    }

    fn row(&self, p_value: f64, finding: ComparisonFinding) -> ComparisonRow {
        ComparisonRow {
            subject: self.a.subject,
            values: [self.a.runs.clone(), self.b.runs.clone()],
            a: self.summaries.0,
            b: self.summaries.1,
            is_a_at_least: self.a.values.is_median_open(),
            is_b_at_least: self.b.values.is_median_open(),
            is_a_at_most: self.a.values.is_median_at_most(),
            is_b_at_most: self.b.values.is_median_at_most(),
            shift: Censored::shift(&self.a.values, &self.b.values, &self.doubt.terms),
            p_value,
            autocorrelation: self.doubt.autocorrelation.map(|found| found.estimate),
            is_autocorrelation_shown: self
                .doubt
                .autocorrelation
                .is_some_and(|found| found.is_shown),
            drift: self.doubt.drift(self.plain.claim().0),
            finding,
        }
    }

    fn shown(&self) -> ComparisonFinding {
        let (is_higher, _) = self.test.claim();
        if is_higher == self.a.subject.is_higher_better() {
            ComparisonFinding::Better
        } else {
            ComparisonFinding::Worse
        }
    }

    /// Returns whether an allowance makes this row show less. An allowance for other rows does so, too, through the number of
    /// rows that are left, but that casts no doubt on this row's repetitions.
    fn is_doubtful(&self) -> bool {
        self.test.claim() != self.plain.claim()
    }

    /// Returns the reason why these repetitions do not show what independent ones would: the drift, if allowing for it alone changes the claim, and
    /// otherwise the autocorrelation.
    fn doubtful(&self) -> ComparisonFinding {
        let drift_alone = ComparisonTerms {
            inflation: 1.0,
            ..self.doubt.terms
        };
        let is_drift = rank_test(self.a, self.b, &drift_alone)
            .is_some_and(|test| test.claim() != self.plain.claim());
        if is_drift {
            ComparisonFinding::Drifting
        } else {
            ComparisonFinding::Dependent
        }
    }
}

fn rank_test(a: &Sample, b: &Sample, terms: &ComparisonTerms) -> Option<CensoredTest> {
    Censored::rank_test(&a.values, &b.values, terms)
}

/// Judges all rows at once. Rows whose samples are too small for any difference are not tests, and cost the others nothing: that depends on
/// their sizes alone.
fn judge(candidates: &[Candidate<'_>]) -> Vec<ComparisonRow> {
    let (plain, adjusted) = (
        adjusted(candidates, |c| &c.plain),
        adjusted(candidates, |c| &c.test),
    );
    let is_shown = |p: &Option<f64>| p.is_some_and(is_significant);
    // Holm's procedure ends at the first row that is not significant. It multiplies the p-value of that row by the number of rows left, so this
    // number decides whether any of them could have shown a difference.
    let left = adjusted
        .iter()
        .filter(|p| !is_shown(p) && p.is_some())
        .count();
    let needed = needed(adjusted.iter().filter(|p| !is_shown(p)).count());
    let can_show = |test: &CensoredTest| is_significant(test.least() * left as f64);
    let finding = |candidate: &Candidate<'_>, plain: &Option<f64>, p: &Option<f64>| match p {
        Some(p) if is_significant(*p) => candidate.shown(),
        _ if is_shown(plain) && candidate.is_doubtful() => candidate.doubtful(),
        _ if candidate.plain.is_cut_off() => ComparisonFinding::CutOff,
        Some(_) if can_show(&candidate.test) => ComparisonFinding::NoDifferenceShown,
        Some(_) if can_show(&candidate.plain) => ComparisonFinding::Dependent,
        _ => ComparisonFinding::TooFewRepetitions { needed },
    };
    let judged = candidates.iter().zip(plain.iter().zip(&adjusted));
    judged
        .map(|(candidate, (plain, p))| {
            candidate.row(p.unwrap_or(1.0), finding(candidate, plain, p))
        })
        .collect()
}

/// Returns the p-values of one of the tests of each row, adjusted for their number; `None` for rows that are not tests.
fn adjusted<'s>(
    candidates: &[Candidate<'s>],
    test: for<'c> fn(&'c Candidate<'s>) -> &'c CensoredTest,
) -> Vec<Option<f64>> {
    // A row whose samples are too small to show anything cannot show something by chance either, so it does not count as a test: it would only make
    // the others' p-values larger.
    let can_show = |candidate: &&Candidate<'_>| is_significant(candidate.plain.least());
    let p_values: Vec<f64> = candidates
        .iter()
        .filter(can_show)
        .map(|candidate| test(candidate).claim().1)
        .collect();
    let mut adjusted = holm(&p_values).into_iter();
    candidates
        .iter()
        .map(|candidate| can_show(&candidate).then(|| adjusted.next()).flatten())
        .collect()
}

/// Returns the fewest repetitions of A and of B that can show a difference in one of so many rows. The smallest p-value falls to about a quarter with each
/// repetition, so no number of rows needs as many as 1,000.
fn needed(rows: usize) -> usize {
    (1..1000)
        .find(|&n| least_p(n, n) * rows.max(1) as f64 <= LEVEL)
        .unwrap_or(1000)
}
