//! What a comparison lacks: tests, points, repetitions and quantities that one side has not measured.

use super::samples::{Sample, SampleKey, is_below_the_scan, of_runs, samples};
use super::{Compared, ComparedUnit, ComparedValue};
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::measures::Outcome;
use sixbench_method::plan::Test;
use sixbench_method::replay;
use sixbench_method::terms::FrameSize;
use sixbench_method::text::part_of;
use std::collections::BTreeMap;
use std::fmt;

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum ComparedSide {
    /// The side that is compared with.
    A,
    /// The side that is judged.
    B,
}

impl fmt::Display for ComparedSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
// The message over each variant says what its fields are.
#[allow(missing_docs)]
pub enum MeasurementGap {
    /// B has no test like this one of A; `other` is B's test at the same position, which measures something else.
    #[error("{}", no_test(test, other.as_deref()))]
    Test { test: String, other: Option<String> },
    /// B's test lacks this frame size.
    #[error("B does not measure {0}")]
    Point(String),
    /// A run ended before it had all repetitions of a point; `planned` is their number in the plan, at least.
    #[error("{side} was interrupted: it has {} of {point}", repetitions(*made, *planned))]
    Repetitions {
        side: String,
        point: String,
        made: usize,
        planned: u32,
    },
    /// The repetitions did not come to this quantity.
    #[error("{side} has no result for {subject}, of {point}")]
    Quantity {
        side: ComparedSide,
        point: String,
        subject: ComparedValue,
    },
    /// Both have results, but none in common.
    #[error("A and B have no quantity of {0} in common")]
    Everything(String),
}

fn no_test(test: &str, other: Option<&str>) -> String {
    other.map_or_else(
        || format!("B has no test {test}"),
        |other| {
            format!(
                "B's test {other} does not measure what A's test {test} does: measure, traffic, directions or timeouts differ"
            )
        },
    )
}

fn repetitions(made: usize, planned: u32) -> String {
    if made == 0 {
        "no repetition".to_owned()
    } else {
        part_of(made, planned as usize, "repetition")
    }
}

impl Serialize for MeasurementGap {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A point at which the tester never managed valid trials.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the tester of {side} was not fit in {} of {point}", part_of(*.unfit, *.made, "repetition"))]
pub struct UnfitPoint {
    /// The side whose tester was not fit.
    pub side: ComparedSide,
    /// The point.
    pub point: String,
    /// Repetitions without a valid trial, or without valid ones where they were needed.
    pub unfit: usize,
    /// Repetitions made.
    pub made: usize,
}

impl Serialize for UnfitPoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

pub(super) struct PointSamples<'a> {
    pub(super) which: ComparedSide,
    pub(super) test: &'a Test,
    pub(super) size: FrameSize,
    /// The outcomes of the point, run by run.
    runs: Vec<Vec<&'a Outcome>>,
    pub(super) samples: BTreeMap<SampleKey, Sample>,
}

impl<'a> PointSamples<'a> {
    pub(super) fn new(
        side: &Compared<'a>,
        test: &'a Test,
        size: FrameSize,
        unit: ComparedUnit,
    ) -> Self {
        let is_of_point = |outcome: &&Outcome| {
            outcome.point.test == test.name && outcome.point.frame_size == size
        };
        let runs: Vec<Vec<&Outcome>> = side
            .runs
            .iter()
            .map(|run| run.iter().filter(is_of_point).collect())
            .collect();
        let samples = match unit {
            // Requirements are compared one by one: their numbers hide what changed.
            _ if !test.measure.result_kind().varies() => BTreeMap::new(),
            ComparedUnit::Repetitions => samples(test, &runs.concat()),
            ComparedUnit::Runs => of_runs(test, &runs),
        };
        Self {
            which: side.which,
            test,
            size,
            runs,
            samples,
        }
    }

    pub(super) fn label(&self) -> String {
        self.test.label(self.size)
    }

    /// Returns the missing repetitions of each run that ended too early.
    pub(super) fn interruptions(&self) -> impl Iterator<Item = MeasurementGap> {
        self.runs.iter().zip(1..).filter_map(|(run, number)| {
            let made: Vec<Outcome> = run.iter().map(|outcome| (*outcome).clone()).collect();
            // A test that repeats until its interval is narrow states no number, but if it is not done it wants at least one more.
            let planned = self.test.repetitions.least().max(made.len() as u32 + 1);
            let side = if self.runs.len() == 1 {
                self.which.to_string()
            } else {
                format!("run {number} of {}", self.which)
            };
            let missing = MeasurementGap::Repetitions {
                side,
                point: self.label(),
                made: made.len(),
                planned,
            };
            replay::wants_more(self.test, &made).then_some(missing)
        })
    }

    pub(super) fn unfit(&self) -> Option<UnfitPoint> {
        let outcomes = || self.runs.iter().flatten();
        let unfit = outcomes()
            .filter(|outcome| outcome.is_unfit(&self.test.measure))
            .count();
        (unfit > 0).then(|| UnfitPoint {
            side: self.which,
            point: self.label(),
            unfit,
            made: outcomes().count(),
        })
    }

    pub(super) fn lacks(&self, other: &PointSamples<'_>) -> Vec<MeasurementGap> {
        let absent = other
            .samples
            .iter()
            .filter(|(key, _)| !self.samples.contains_key(key));
        let absent = absent.filter(|(key, _)| !is_below_the_scan(self.test, key, &self.samples));
        let missing = |(_, sample): (_, &Sample)| MeasurementGap::Quantity {
            side: self.which,
            point: self.label(),
            subject: sample.subject,
        };
        absent.map(missing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repetition_is_told_in_the_singular() {
        assert_eq!(repetitions(1, 1), "1 of 1 repetition");
        assert_eq!(repetitions(1, 10), "1 of 10 repetitions");
        let unfit = UnfitPoint {
            side: ComparedSide::A,
            point: "siit".to_owned(),
            unfit: 1,
            made: 1,
        };
        assert_eq!(
            unfit.to_string(),
            "the tester of A was not fit in 1 of 1 repetition of siit"
        );
    }
}
