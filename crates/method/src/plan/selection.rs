//! The part of a plan that a run measures: all of it, or what one of several runs of a campaign was given.

use super::{Plan, Point, Test};
use crate::repeat::Repetition;
use crate::terms::FrameSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// One point of a plan, or one repetition of it: `test/84`, `test/84/3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct MeasurementKey {
    /// The test and frame size.
    pub point: Point,
    /// The number of the repetition, from 1; `None` for all of them.
    pub repetition: Option<u32>,
}

/// The measurements that a run makes of its plan; without any key, all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Selection {
    keys: BTreeSet<MeasurementKey>,
}

impl fmt::Display for MeasurementKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.repetition {
            Some(repetition) => write!(f, "{}/{repetition}", self.point),
            None => self.point.fmt(f),
        }
    }
}

/// The text does not name a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no measurement")]
pub struct KeyError(String);

impl FromStr for MeasurementKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut parts = text.split('/');
        let wrong = || KeyError(text.to_owned());
        let number = |part: Option<&str>| part.map(str::parse).transpose().map_err(|_| wrong());
        let (test, size, repetition) = (
            parts.next().unwrap_or_default(),
            number(parts.next())?,
            number(parts.next())?,
        );
        match (size.and_then(|size| u16::try_from(size).ok()), parts.next()) {
            (Some(size), None) if !test.is_empty() => {
                let point = Point {
                    test: test.to_owned(),
                    frame_size: FrameSize(size),
                };
                Ok(Self { point, repetition })
            }
            _ => Err(wrong()),
        }
    }
}

impl From<MeasurementKey> for String {
    fn from(key: MeasurementKey) -> Self {
        key.to_string()
    }
}

impl TryFrom<String> for MeasurementKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<Self, KeyError> {
        text.parse()
    }
}

impl FromIterator<MeasurementKey> for Selection {
    fn from_iter<I: IntoIterator<Item = MeasurementKey>>(keys: I) -> Self {
        Self {
            keys: keys.into_iter().collect(),
        }
    }
}

impl Selection {
    /// Returns whether the run makes all measurements of its plan.
    pub fn is_all(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys, sorted.
    pub fn keys(&self) -> impl Iterator<Item = &MeasurementKey> {
        self.keys.iter()
    }

    /// Returns whether the run makes this repetition of the point.
    pub fn contains(&self, point: &Point, repetition: u32) -> bool {
        let has = |repetition| {
            self.keys.contains(&MeasurementKey {
                point: point.clone(),
                repetition,
            })
        };
        self.is_all() || has(None) || has(Some(repetition))
    }

    /// Returns the most repetitions of a point that the run makes.
    pub fn repetitions(&self, test: &Test, point: &Point) -> u32 {
        self.ordinal(point, test.repetitions.most())
    }

    /// Returns the number of a repetition among those that the run makes of the point, from 1.
    pub fn ordinal(&self, point: &Point, repetition: u32) -> u32 {
        if self.is_all()
            || self.keys.contains(&MeasurementKey {
                point: point.clone(),
                repetition: None,
            })
        {
            return repetition;
        }
        // Not one repetition after the other: a file may say that there are billions.
        self.keys
            .iter()
            .filter(|key| {
                key.point == *point
                    && key
                        .repetition
                        .is_some_and(|of| (1..=repetition).contains(&of))
            })
            .count() as u32
    }

    /// Returns the plan with only what the run measures of it, for estimates.
    pub fn narrowed(&self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        if self.is_all() {
            return plan;
        }
        for test in &mut plan.tests {
            let kept: Vec<(FrameSize, u32)> = test
                .points()
                .map(|point| (point.frame_size, self.repetitions(test, &point)))
                .filter(|kept| kept.1 > 0)
                .collect();
            test.frame_sizes = kept.iter().map(|(size, _)| *size).collect();
            let most = kept
                .iter()
                .map(|(_, repetitions)| *repetitions)
                .max()
                .unwrap_or(0);
            if most < test.repetitions.most() {
                test.repetitions = Repetition::Fixed(most);
            }
        }
        plan.retain_tests(|test| !test.frame_sizes.is_empty());
        plan
    }
}
