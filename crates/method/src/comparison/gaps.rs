//! What a comparison lacks: tests, points, repetitions and quantities that one side has not measured.

use super::samples::{Sample, SampleKey, is_below_the_scan};
use super::{Compared, Subject};
use crate::measures::Outcome;
use crate::plan::Test;
use crate::replay;
use crate::terms::FrameSize;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// One of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Which {
    /// The side that is compared with.
    A,
    /// The side that is judged.
    B,
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// B has no test like this one of A; `other` is B's test that stands in its place and asks something else.
    Test {
        /// The name of the test.
        test: String,
        /// The name of the other one.
        other: Option<String>,
    },
    /// B's test has not this frame size.
    Point(String),
    /// A run ended before it had all repetitions.
    Repetitions {
        /// The side whose run it is.
        side: Which,
        /// The point.
        point: String,
        /// Repetitions that came to their end.
        made: usize,
        /// The number of repetitions in the plan, at least.
        planned: u32,
    },
    /// The repetitions did not come to this quantity.
    Quantity {
        /// The side it is missing on.
        side: Which,
        /// The point.
        point: String,
        /// The quantity that is missing.
        subject: Subject,
    },
    /// Both have results, but none in common.
    Everything(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Test { test, other: None } => write!(f, "B has no test {test}"),
            Self::Test { test, other: Some(other) } => {
                write!(
                    f,
                    "B's test {other} does not measure what A's test {test} does: measure, traffic, directions or timeouts differ"
                )
            }
            Self::Point(point) => write!(f, "B does not measure {point}"),
            Self::Repetitions { side, point, made: 0, .. } => {
                write!(f, "{side} was interrupted: it has no repetition of {point}")
            }
            Self::Repetitions { side, point, made, planned } => {
                write!(f, "{side} was interrupted: it has {made} of {planned} repetitions of {point}")
            }
            Self::Quantity { side, point, subject } => write!(f, "{side} has no result for {subject}, of {point}"),
            Self::Everything(point) => write!(f, "A and B have no quantity of {point} in common"),
        }
    }
}

impl Serialize for Missing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A point at which the tester never managed valid trials.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfit {
    /// The side whose tester was not fit.
    pub side: Which,
    /// The point.
    pub point: String,
    /// Repetitions without a valid trial, or without valid ones where they were needed.
    pub unfit: usize,
    /// Repetitions made.
    pub made: usize,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { side, point, unfit, made } = self;
        write!(f, "the tester of {side} was not fit in {unfit} of {made} repetitions of {point}")
    }
}

impl Serialize for Unfit {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One point of one side.
pub(super) struct Measured<'a> {
    pub(super) which: Which,
    pub(super) test: &'a Test,
    pub(super) size: FrameSize,
    pub(super) outcomes: Vec<&'a Outcome>,
    pub(super) samples: BTreeMap<SampleKey, Sample>,
}

impl<'a> Measured<'a> {
    pub(super) fn new(side: &Compared<'a>, test: &'a Test, size: FrameSize) -> Self {
        let is_of_point = |outcome: &&Outcome| outcome.point.test == test.name && outcome.point.frame_size == size;
        let outcomes: Vec<&Outcome> = side.outcomes.iter().filter(is_of_point).collect();
        let samples = super::samples::samples(test, &outcomes);
        Self { which: side.which, test, size, outcomes, samples }
    }

    pub(super) fn label(&self) -> String {
        self.test.label(self.size)
    }

    /// Returns the missing repetitions if the run ended too early, else `None`.
    pub(super) fn interruption(&self) -> Option<Missing> {
        let made: Vec<Outcome> = self.outcomes.iter().map(|outcome| (*outcome).clone()).collect();
        let (side, point) = (self.which, self.label());
        let planned = self.test.repetitions.least().max(made.len() as u32 + 1);
        let missing = Missing::Repetitions { side, point, made: made.len(), planned };
        replay::wants_more(self.test, &made).then_some(missing)
    }

    pub(super) fn unfit(&self) -> Option<Unfit> {
        let unfit = self.outcomes.iter().filter(|outcome| outcome.is_unfit(&self.test.measure)).count();
        (unfit > 0).then(|| Unfit { side: self.which, point: self.label(), unfit, made: self.outcomes.len() })
    }

    /// Returns the quantities that the other side has and this one lacks.
    pub(super) fn lacks(&self, other: &Measured<'_>) -> Vec<Missing> {
        let absent = other.samples.iter().filter(|(key, _)| !self.samples.contains_key(key));
        let absent = absent.filter(|(key, _)| !is_below_the_scan(self.test, key, &self.samples));
        let missing =
            |(_, sample): (_, &Sample)| Missing::Quantity { side: self.which, point: self.label(), subject: sample.subject };
        absent.map(missing).collect()
    }
}
