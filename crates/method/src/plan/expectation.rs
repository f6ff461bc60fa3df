//! What a test is expected to come to.

use crate::measures::Quantity;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{FrameRate, FrameSize};
use schemars::JsonSchema;
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A bound, or two, for the median of the repetitions: a run that misses one says so, and so does its exit code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Expectation {
    /// The quantity that is bounded, each direction by itself; without it the rate that is searched for, for the first loss
    /// goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Quantity>,
    /// The frame size; without it every size of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_size: Option<FrameSize>,
    /// The load that an expected frame loss rate belongs to, frames per second per direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<FrameRate>,
    /// The median is not below this, in the unit the quantity is stored in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The median is not above this, in the same unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

impl Bounded for Expectation {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("frame-size", FrameSize::BOUND),
            ("rate", FrameRate::OF_MEDIUM),
            ("at-least", NumberBound::ANY),
            ("at-most", NumberBound::ANY),
        ],
        ..TableBounds::NONE
    };
}

impl Expectation {
    /// Returns a searched rate of at least this, at every frame size.
    pub fn at_least(rate: f64) -> Self {
        Self {
            quantity: None,
            frame_size: None,
            rate: None,
            at_least: Some(rate),
            at_most: None,
        }
    }

    /// Returns whether the expectation applies to this frame size.
    pub fn is_for(&self, frame_size: FrameSize) -> bool {
        self.frame_size.is_none_or(|size| size == frame_size)
    }
}

/// Reads the expectations of a resolved plan; one of an earlier version has a single number, the searched rate that is expected at least.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Expectation>, D::Error> {
    deserializer.deserialize_any(NumberOrList)
}

struct NumberOrList;

impl<'de> Visitor<'de> for NumberOrList {
    type Value = Vec<Expectation>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of frames per second, or a list of expectations")
    }

    fn visit_u64<E: de::Error>(self, rate: u64) -> Result<Self::Value, E> {
        Ok(vec![Expectation::at_least(rate as f64)])
    }

    fn visit_i64<E: de::Error>(self, rate: i64) -> Result<Self::Value, E> {
        Ok(vec![Expectation::at_least(rate as f64)])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        std::iter::from_fn(|| list.next_element().transpose()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Series, SeriesBy, Test};

    #[test]
    fn expectations_stand_in_a_resolved_plan_and_come_back_from_it() {
        let latency = Expectation {
            quantity: Some(Quantity::TypicalLatency),
            frame_size: Some(FrameSize(84)),
            rate: None,
            at_least: None,
            at_most: Some(300_000.0),
        };
        let series = Some(Series {
            name: "t".to_owned(),
            by: SeriesBy::Cores,
            at: 1.0,
            device: None,
        });
        let test = Test {
            expect: vec![Expectation::at_least(1e5), latency],
            series,
            ..Test::new("t", "d")
        };
        let text = toml::to_string(&test).expect("text");
        assert!(text.contains("quantity = \"typical-latency\""), "{text}");
        assert_eq!(toml::from_str::<Test>(&text).expect("a test"), test);
        assert!(
            !toml::to_string(&Test::new("t", "d"))
                .expect("text")
                .contains("expect")
        );
    }

    #[test]
    fn the_number_of_an_earlier_version_is_still_read() {
        let text = toml::to_string(&Test::new("t", "d")).expect("text");
        let (own, tables) = text.split_at(text.find("\n[").expect("a table"));
        let read: Test =
            toml::from_str(&format!("{own}\nexpect = 100000\n{tables}")).expect("a test");
        assert_eq!(read.expect, [Expectation::at_least(100_000.0)]);
    }
}
