//! The findings of the rules of trust, as data. The line on trust and the notes of reports are both made from them, so neither can say what the other
//! denies.

use crate::plan::Point;
use crate::record::Disturber;
use crate::terms::FrameRate;
use crate::units::show_seconds;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::{Display, Formatter, Result};

/// The finding of one rule, in numbers. Its [`Display`] is the phrase of the line on trust.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum TrustFinding {
    /// The trials that others disturbed.
    DisturbedTrials(DisturbedTrials),
    /// The searches that a disturbance ended.
    DisturbedSearches(DisturbedSearches),
    /// Points whose result is a lower bound because of a disturbance, although it ended none of their searches for the first loss goal.
    DisturbedResults {
        /// The number of these points.
        points: usize,
        /// One of them.
        example: Point,
    },
    /// Points that were tried and have no result.
    WithoutResult {
        /// The number of these points.
        points: usize,
        /// The number of all planned points.
        of: usize,
        /// One of them.
        example: Point,
    },
    /// The quantity whose repetitions are furthest apart.
    Spread(Spread),
    /// Quantities whose repetitions differ while their median is zero, so that no share of it says how far they are apart.
    SpreadOfZero {
        /// The number of these quantities.
        quantities: usize,
        /// One of them, in words.
        example: String,
    },
    /// Points with a quantity that was measured once.
    SingleRepetition {
        /// The number of these points.
        points: usize,
        /// The number of points with any quantity that can be judged.
        of: usize,
    },
    /// Quantities without a value in some of the repetitions of their point.
    MissingValues {
        /// The number of these quantities.
        quantities: usize,
        /// The one that lacks most, in words.
        example: String,
        /// The number of repetitions in which it has a value.
        with_value: usize,
        /// The number of repetitions of its point.
        of: usize,
    },
    /// No quantity of the run can be judged by its repetitions.
    NothingToJudge,
    /// Points whose repetitions drift or have two modes.
    Unsteady {
        /// The number of points that drift.
        drifting: usize,
        /// The number of points with two modes.
        bimodal: usize,
        /// The number of all points with results.
        of: usize,
    },
    /// Searches whose last loss stood in one moment.
    LastLosses {
        /// The number of these searches.
        momentary: usize,
        /// The number of searches that ended with a loss.
        of: usize,
    },
    /// The distance of the cores of tester and device changed.
    MovedCores {
        /// The shortest round trip of a cache line, but for a twentieth of the trials, nanoseconds.
        least_ns: u64,
        /// The longest one, in the same way, nanoseconds.
        most_ns: u64,
    },
    /// The headroom that the tester's self-test certified.
    Headroom {
        /// The certified rate over the highest rate that was measured.
        times: f64,
        /// The name of the device.
        device: String,
    },
    /// Searches that ended while processors of the device were fully used.
    FullProcessors {
        /// The number of these searches.
        full: usize,
        /// The number of searches that the device ended.
        of: usize,
    },
}

/// The trials of a run, by what others did to them. A trial is counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DisturbedTrials {
    /// All trials.
    pub trials: usize,
    /// Disturbed trials that were made again: they decide nothing.
    pub made_again: usize,
    /// Disturbed trials that were not made again and passed.
    pub passed: usize,
    /// Disturbed trials that were not made again and lost frames.
    pub lost: usize,
    /// Disturbed trials that were not made again and are invalid.
    pub invalid: usize,
    /// Trials that are invalid for another reason: the tester fell short.
    pub fell_short: usize,
    /// The point with the largest share of disturbed trials among those that were not made again; `None` if there is no such trial.
    pub worst: Option<DisturbedPoint>,
    /// The disturber that the run waited for longest; `None` if it waited for none.
    pub longest: Option<Disturber>,
}

/// The disturbed trials of one point, those that were made again not counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DisturbedPoint {
    /// The point.
    pub point: Point,
    /// Its disturbed trials.
    pub disturbed: usize,
    /// All of its trials.
    pub trials: usize,
}

impl DisturbedPoint {
    /// Returns the disturbed share of its trials, per cent.
    pub(super) fn percent(&self) -> f64 {
        percent(self.disturbed, self.trials)
    }
}

impl DisturbedTrials {
    /// Returns the number of all disturbed trials.
    pub fn disturbed(&self) -> usize {
        self.made_again + self.not_made_again()
    }

    /// Returns the number of disturbed trials that were not made again, so that they may have decided something.
    pub fn not_made_again(&self) -> usize {
        self.passed + self.lost + self.invalid
    }

    /// Returns the number of trials that were not made again, disturbed or not.
    pub fn deciding(&self) -> usize {
        self.trials - self.made_again
    }

    /// Returns the disturbed share of all trials, per cent.
    pub(super) fn percent(&self) -> f64 {
        percent(self.disturbed(), self.trials)
    }

    /// Returns what became of the disturbed trials: `: 2 were made again, 5 passed`; empty if all of them were made again or are invalid, which is what
    /// becomes of a disturbed trial as a rule.
    fn fates(&self) -> String {
        if self.passed + self.lost == 0 {
            return String::new();
        }
        let fates = [
            (self.made_again, "made again"),
            (self.passed, "passed all the same"),
            (self.lost, "lost frames"),
            (self.invalid, "invalid"),
        ];
        let words = fates.iter().filter(|(trials, _)| *trials > 0).map(|(trials, fate)| format!("{trials} {fate}"));
        format!(": {}", words.collect::<Vec<_>>().join(", "))
    }
}

/// The searches that a disturbance ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct DisturbedSearches {
    /// The number of these searches.
    pub disturbed: usize,
    /// The number of all searches.
    pub searches: usize,
    /// A point with such searches: one where they are at least half of all, if there is one.
    pub point: Point,
    /// The disturbed searches of this point.
    pub at_point: usize,
    /// All searches of this point.
    pub of_point: usize,
}

impl DisturbedSearches {
    /// Returns whether at least half of the searches of the point are disturbed.
    pub(super) fn is_most_of_point(&self) -> bool {
        2 * self.at_point >= self.of_point
    }
}

/// How far the repetitions of one quantity are apart.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Spread {
    /// The highest value less the lowest, in per cent of the median; of a loss in per cent of the median or of ten percentage points, whichever is more.
    pub percent: f64,
    /// The point.
    pub point: Point,
    /// The quantity, in words; empty for a rate that was searched for and its first loss goal.
    pub quantity: String,
    /// The rate at which it was measured, where a quantity has a value at each of several rates.
    pub load: Option<FrameRate>,
    /// True if the value is a loss, whose median may be next to zero.
    pub is_loss: bool,
    /// The number of repetitions.
    pub n: usize,
}

/// Returns a part in per cent of a whole; zero of nothing.
pub(super) fn percent(part: usize, of: usize) -> f64 {
    100.0 * part as f64 / of.max(1) as f64
}

impl Display for TrustFinding {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::DisturbedTrials(found) => found.fmt(f),
            Self::DisturbedSearches(found) => found.fmt(f),
            Self::DisturbedResults { points, example } => {
                write!(f, "{points} of the results are lower bounds because others disturbed their trials, such as {example}")
            }
            Self::WithoutResult { points, of, example } => {
                write!(f, "{points} of {of} points were tried and have no result, such as {example}")
            }
            Self::Spread(spread) => spread.fmt(f),
            Self::SpreadOfZero { quantities, example } => {
                let number = if *quantities == 1 { "one quantity".to_owned() } else { format!("{quantities} quantities") };
                write!(f, "the repetitions of {number} differ around a median of zero, such as {example}")
            }
            Self::SingleRepetition { points, of } => {
                write!(f, "{points} of {of} points have a result of one repetition: nothing is known of its spread")
            }
            Self::MissingValues { example, with_value, of, .. } => {
                write!(f, "some repetitions lack a result: {example} has one in {with_value} of {of}")
            }
            Self::NothingToJudge => f.write_str("no result was repeated: nothing is known of the spread"),
            Self::Unsteady { drifting, bimodal, of } => {
                write!(f, "of {of} points {drifting} drift and {bimodal} have two modes")
            }
            Self::LastLosses { momentary, of } => write!(
                f,
                "the loss that ended a search stood in one moment in {momentary} of {of} searches, and all along in the others"
            ),
            Self::MovedCores { least_ns, most_ns } => write!(
                f,
                "a cache line took {least_ns} to {most_ns} ns from the tester's core to the device's and back: the host moves \
                 them, and rates change"
            ),
            Self::Headroom { times, device } => {
                write!(f, "the tester's self-test certified {times:.1} times the rate measured of {device}")
            }
            Self::FullProcessors { full, of } => {
                write!(f, "the device's processors were full in {full} of {of} searches that it ended")
            }
        }
    }
}

impl Display for DisturbedTrials {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (disturbed, all, share) = (self.disturbed(), self.trials, self.percent());
        write!(f, "others disturbed {disturbed} of {all} trials ({share:.0} %){}", self.fates())?;
        if self.fell_short > 0 {
            write!(f, ", and {} were invalid because the tester fell short", self.fell_short)?;
        }
        if let Some(longest) = self.longest.as_ref().filter(|_| disturbed > 0) {
            let seconds = show_seconds(longest.waited_ms.div_ceil(1000));
            write!(f, "; the run waited longest for {} ({seconds}, last at {})", longest.words(), longest.last)?;
        }
        Ok(())
    }
}

impl Display for DisturbedSearches {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { disturbed, searches, point, at_point, of_point } = self;
        write!(f, "a disturbance ended {disturbed} of {searches} searches; at {point} {at_point} of {of_point}: a lower bound")
    }
}

impl Display for Spread {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self { percent, point, quantity, load, is_loss, n } = self;
        let median = if *is_loss { "the median, or of ten percentage points" } else { "the median" };
        let quantity = if quantity.is_empty() { String::new() } else { format!(", {quantity}") };
        let load = load.map_or_else(String::new, |load| format!(" at {load}"));
        write!(f, "the repetitions of a point spread by up to {percent:.0} % of {median} ({point}{quantity}{load}, n = {n})")
    }
}
