//! Anomalous frames of only one side of a comparison: no row of values tells that one device sends frames twice and the other does not.

use super::{ComparedSide, Comparison, PointComparison};
use sixbench_method::anomaly::{AnomalyShare, shares};
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;

/// Frames of one kind that one side had in the trials of a test, and the other had not.
#[derive(Clone, Debug, PartialEq)]
pub struct OneSidedAnomaly<'a> {
    /// The side that had them.
    pub which: ComparedSide,
    /// Its test.
    pub test: &'a Test,
    /// The frames, in all trials at the frame sizes that both sides have.
    pub frames: AnomalyShare,
}

impl Comparison<'_> {
    /// Notes the anomalies that only one side has in the trials of compared points. `records` are the runs of A and of B. Frames that are nothing
    /// but lost are not noted, because the loss tells them.
    #[must_use]
    pub fn with_anomalies(mut self, records: [&[&[TrialRecord]]; 2]) -> Self {
        // The points of a test follow each other.
        let tests = self
            .points
            .chunk_by(|one, other| one.a.name == other.a.name && one.b.name == other.b.name);
        self.anomalies = tests
            .flat_map(|points| one_sided(points, records))
            .collect();
        self
    }
}

/// Returns the anomalies of the points of one test.
fn one_sided<'a>(
    points: &[PointComparison<'a>],
    [of_a, of_b]: [&[&[TrialRecord]]; 2],
) -> Vec<OneSidedAnomaly<'a>> {
    let Some(PointComparison { a, b, .. }) = points.first() else {
        return Vec::new();
    };
    let shares_of = |test: &Test, runs: &[&[TrialRecord]]| {
        let is_of_test = |record: &&TrialRecord| record.point.test == test.name;
        let is_compared = |record: &&TrialRecord| {
            points
                .iter()
                .any(|point| point.frame_size == record.point.frame_size)
        };
        shares(
            runs.iter()
                .copied()
                .flatten()
                .filter(|record| is_of_test(record) && is_compared(record)),
        )
    };
    let (in_a, in_b) = (shares_of(a, of_a), shares_of(b, of_b));
    let alone = |which,
                 test: &&'a Test,
                 frames: Vec<AnomalyShare>,
                 others: &[AnomalyShare]|
     -> Vec<OneSidedAnomaly<'a>> {
        let is_alone = |one: &AnomalyShare| {
            !one.kind.is_plain_loss() && others.iter().all(|other| other.kind != one.kind)
        };
        frames
            .into_iter()
            .filter(is_alone)
            .map(|frames| OneSidedAnomaly {
                which,
                test,
                frames,
            })
            .collect()
    };
    [
        alone(ComparedSide::A, a, in_a.clone(), &in_b),
        alone(ComparedSide::B, b, in_b, &in_a),
    ]
    .concat()
}
