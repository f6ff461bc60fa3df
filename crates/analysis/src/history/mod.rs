//! Results of the same measurements over time: a series for each device, measurement and quantity, and the places at which it changed; and the
//! requirements of RFCs that became wrong or right.

mod requirements;

pub use requirements::{DatedRequirementChange, RequirementHistory, requirement_history};

use crate::comparison::{ComparedValue, samples_of};
use serde::Serialize;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::{Plan, Test};
use sixbench_method::record::{Facts, TrialRecord};
use sixbench_method::terms::FrameSize;
use sixbench_stats::{
    Censored, ChangePoint, SeriesLevel, Shift, Summary, autocorrelation, change_points, inflation,
    median, median_interval_95_in_order, percentile, shift,
};

/// The results of one run.
#[derive(Clone, Copy, Debug)]
pub struct HistoryEntry<'a> {
    /// The plan of the run, resolved.
    pub plan: &'a Plan,
    /// The outcomes of the completed repetitions.
    pub outcomes: &'a [Outcome],
    /// The records of its trials.
    pub records: &'a [TrialRecord],
    /// The facts of the run, which say how its devices were joined to the tester.
    pub facts: &'a Facts,
}

/// One quantity of one device at one frame size over the entries that have it.
#[derive(Clone, Debug, PartialEq)]
pub struct HistorySeries<'a> {
    /// The test, as the first of these entries has it.
    pub test: &'a Test,
    /// The frame size; it has no meaning for tests whose frames the kernel forms.
    pub frame_size: FrameSize,
    /// The rate or value.
    pub subject: ComparedValue,
    /// The entries that have a result, in order; never empty.
    pub points: Vec<SeriesPoint>,
    /// The places at which the level changed, in order; none in a series that is not tested.
    pub changes: Vec<LevelChange>,
    /// The factor, above 1, exceeded by the ratio of 5 % of the pairs of entries between two changes; `None` with fewer than ten pairs, or with
    /// values that are not positive.
    pub usual_ratio: Option<f64>,
}

/// One entry of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// The index of the entry in the history.
    pub entry: usize,
    /// The value of each repetition that has one, in the order of the run.
    pub values: Vec<f64>,
    /// The summary of the repetitions.
    pub summary: Summary,
    /// The 95 % interval of the median, from the repetitions of this entry alone; `None` with fewer than six.
    pub interval: Option<(f64, f64)>,
    /// True if the median is only a lower bound.
    pub is_at_least: bool,
    /// True if the median is only an upper bound.
    pub is_at_most: bool,
}

/// A change of the level of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LevelChange {
    /// The index, within the points of the series, of the first point after the change.
    pub at: usize,
    /// The p-value, adjusted for the number of series and of the stretches that were tested.
    pub p_value: f64,
    /// The median of the entries' medians between the previous change and this one.
    pub before: f64,
    /// The median of the entries' medians from this change to the next one.
    pub after: f64,
    /// The factor between these entries with its 95 % interval, from the medians of the entries; `None` if they are too few or include zeroes.
    pub shift: Option<Shift>,
    /// True if the new level is the better one.
    pub is_better: bool,
}

/// Returns the series of a history and their changes, in the order in which the entries first have them. Entries whose plans measure in different
/// ways, or ask something different of a device, do not share a series; nor do those in which a device was joined to the tester in another way.
pub fn history<'a>(entries: &[HistoryEntry<'a>]) -> Vec<HistorySeries<'a>> {
    let mut found: Vec<(HistoryEntry<'a>, HistorySeries<'a>)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        for (test, frame_size) in entry
            .plan
            .tests
            .iter()
            .flat_map(|test| test.frame_sizes.iter().map(move |size| (test, *size)))
        {
            let of_point = |outcome: &&Outcome| {
                outcome.point.test == test.name && outcome.point.frame_size == frame_size
            };
            let outcomes: Vec<&Outcome> = entry.outcomes.iter().filter(of_point).collect();
            for sample in samples_of(test, &outcomes) {
                let Some(point) = SeriesPoint::new(index, &sample.values) else {
                    continue;
                };
                let has_this = |(first, series): &&mut (HistoryEntry<'_>, HistorySeries<'_>)| {
                    series.frame_size == frame_size
                        && series.subject == sample.subject
                        && is_like(series.test, test)
                        && are_alike(first, entry, &test.dut)
                };
                match found.iter_mut().find(has_this) {
                    Some((_, series)) => series.points.push(point),
                    None => found.push((
                        *entry,
                        HistorySeries::new(test, frame_size, sample.subject, point),
                    )),
                }
            }
        }
    }
    let mut all: Vec<HistorySeries<'a>> = found.into_iter().map(|(_, series)| series).collect();
    find_changes(&mut all);
    all
}

/// Tests the series for changes, all at once, since the p-values account for their number.
fn find_changes(all: &mut [HistorySeries<'_>]) {
    let mut tested: Vec<&mut HistorySeries<'_>> =
        all.iter_mut().filter(|series| series.is_tested()).collect();
    let levels: Vec<Vec<SeriesLevel>> = tested.iter().map(|series| series.levels()).collect();
    for (series, places) in tested.iter_mut().zip(change_points(&levels)) {
        let at: Vec<usize> = places.iter().map(|place| place.at).collect();
        let stretches = series.stretches(&at);
        series.changes = places
            .iter()
            .zip(stretches.windows(2))
            .map(|(place, sides)| series.change(place, [&sides[0][..], &sides[1][..]]))
            .collect();
        series.usual_ratio = usual_ratio(&stretches);
    }
}

/// Returns whether two entries measure this device in the same way, joined to the tester by the same links.
fn are_alike(a: &HistoryEntry<'_>, b: &HistoryEntry<'_>, dut: &str) -> bool {
    a.facts.link_group(dut) == b.facts.link_group(dut) && a.plan.ways_unlike(b.plan).is_empty()
}

/// Returns whether two tests of different runs are the same: they have the same name and device and ask the same.
fn is_like(a: &Test, b: &Test) -> bool {
    a.name == b.name && a.dut == b.dut && a.asks_the_same_as(b) && a.shares_throughput_with(b)
}

impl SeriesPoint {
    fn new(entry: usize, sample: &Censored) -> Option<Self> {
        let values = sample.values();
        Some(Self {
            entry,
            values: values.to_vec(),
            summary: Summary::of(values)?,
            interval: median_interval_95_in_order(values),
            is_at_least: sample.is_median_open(),
            is_at_most: sample.is_median_at_most(),
        })
    }
}

impl<'a> HistorySeries<'a> {
    fn new(
        test: &'a Test,
        frame_size: FrameSize,
        subject: ComparedValue,
        point: SeriesPoint,
    ) -> Self {
        Self {
            test,
            frame_size,
            subject,
            points: vec![point],
            changes: Vec::new(),
            usual_ratio: None,
        }
    }

    /// Returns whether its changes may be chance, so that they are tested. Counts of requirements are not: a single run shows a change of them, and
    /// [`requirement_history`] names it.
    pub fn is_tested(&self) -> bool {
        self.test.measure.result_kind().varies()
    }

    fn levels(&self) -> Vec<SeriesLevel> {
        let level = |&SeriesPoint {
                         summary,
                         is_at_least,
                         is_at_most,
                         ..
                     }: &SeriesPoint| SeriesLevel {
            value: summary.median,
            is_at_least,
            is_at_most,
        };
        self.points.iter().map(level).collect()
    }

    /// Returns the medians of the entries in each stretch between changes.
    fn stretches(&self, changes: &[usize]) -> Vec<Vec<f64>> {
        let ends: Vec<usize> = std::iter::once(0)
            .chain(changes.iter().copied())
            .chain([self.points.len()])
            .collect();
        let medians = |ends: &[usize]| {
            self.points[ends[0]..ends[1]]
                .iter()
                .map(|point| point.summary.median)
                .collect()
        };
        ends.windows(2).map(medians).collect()
    }

    /// Returns a change between these two stretches.
    fn change(&self, place: &ChangePoint, [a, b]: [&[f64]; 2]) -> LevelChange {
        let correlation = autocorrelation(&[a, b]).map_or(0.0, |found| found.allowed);
        let (before, after) = (median(a).unwrap_or(0.0), median(b).unwrap_or(0.0));
        // A change moves the median, so the two differ.
        let is_better = (after > before) == self.subject.is_higher_better();
        LevelChange {
            at: place.at,
            p_value: place.p_value,
            before,
            after,
            shift: shift(a, b, inflation(correlation, a.len(), b.len())),
            is_better,
        }
    }
}

/// Returns the 95th percentile of the ratios of any two values of one stretch, the larger over the smaller.
fn usual_ratio(stretches: &[Vec<f64>]) -> Option<f64> {
    // The pairs of five values of one level.
    const LEAST_PAIRS: usize = 10;
    if stretches.iter().flatten().any(|value| *value <= 0.0) {
        return None;
    }
    let pairs = |stretch: &Vec<f64>| {
        let ratio = |a: f64, b: f64| (a / b).max(b / a);
        (0..stretch.len())
            .flat_map(|j| (0..j).map(move |i| (i, j)))
            .map(|(i, j)| ratio(stretch[i], stretch[j]))
            .collect::<Vec<_>>()
    };
    let ratios: Vec<f64> = stretches.iter().flat_map(pairs).collect();
    percentile(&ratios, 0.95).filter(|_| ratios.len() >= LEAST_PAIRS)
}
