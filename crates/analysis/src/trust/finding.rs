//! The findings of the rules of trust, as data. The line on trust and the notes of reports are both made from them, so neither can say what the other
//! denies.

use super::TrustLevel;
use schemars::JsonSchema;
use serde::Serialize;
use sixbench_method::plan::Point;
use sixbench_method::record::Disturber;
use sixbench_method::terms::FrameRate;
use sixbench_method::text::verb_for;
use sixbench_method::units::{counted, part_of, show_seconds};
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
    /// Searches whose last loss was a single event.
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

    fn level(&self) -> TrustLevel {
        TrustLevel::from_share(self.percent(), [20.0, 50.0])
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
    fn percent(&self) -> f64 {
        percent(self.disturbed(), self.trials)
    }

    /// Returns the level by the disturbed share of all trials.
    fn level_of_run(&self) -> TrustLevel {
        TrustLevel::from_share(self.percent(), [10.0, 30.0])
    }

    /// Returns the level: that by the share of all trials, or that by the share of the trials that decide at one point, whichever is lower.
    pub(super) fn level(&self) -> TrustLevel {
        let of_point = self.worst.as_ref().map(DisturbedPoint::level);
        of_point.map_or(self.level_of_run(), |level| level.max(self.level_of_run()))
    }

    /// Returns the point whose share of disturbed trials makes the level lower than the share of all trials does; `None` if there is no such point.
    pub fn deciding_point(&self) -> Option<&DisturbedPoint> {
        let worst = self.worst.as_ref();
        worst.filter(|worst| worst.level() > self.level_of_run())
    }

    /// Returns what became of the disturbed trials: `: 2 repeated, 5 passed anyway`; empty if all of them were made again or are invalid, which is what
    /// becomes of a disturbed trial as a rule.
    fn outcomes(&self) -> String {
        if self.passed + self.lost == 0 {
            return String::new();
        }
        let outcomes = [
            (self.made_again, "repeated"),
            (self.passed, "passed anyway"),
            (self.lost, "lost frames"),
            (self.invalid, "invalid"),
        ];
        let words = outcomes
            .iter()
            .filter(|(trials, _)| *trials > 0)
            .map(|(trials, outcome)| format!("{trials} {outcome}"));
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

/// Returns the phrase of [`TrustFinding::Unsteady`].
fn unsteady(drifting: usize, bimodal: usize, of: usize) -> String {
    let drift = verb_for(drifting, "drifts", "drift");
    let have = verb_for(bimodal, "has", "have");
    let bimodal = if bimodal == 0 {
        "none".to_owned()
    } else {
        bimodal.to_string()
    };
    format!(
        "{} {drift}, and {bimodal} {have} two modes",
        part_of(drifting, of, "point")
    )
}

impl Display for TrustFinding {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::DisturbedTrials(found) => found.fmt(f),
            Self::DisturbedSearches(found) => found.fmt(f),
            Self::DisturbedResults { points, example } => {
                let verb = verb_for(*points, "is a lower bound", "are lower bounds");
                write!(
                    f,
                    "{} {verb} because of a disturbance, such as {example}",
                    counted(*points as u64, "more result")
                )
            }
            Self::WithoutResult {
                points,
                of,
                example,
            } => {
                let verbs = verb_for(*points, "was tried and has", "were tried and have");
                write!(
                    f,
                    "{} {verbs} no result, such as {example}",
                    part_of(*points, *of, "point")
                )
            }
            Self::Spread(spread) => spread.fmt(f),
            Self::SpreadOfZero {
                quantities,
                example,
            } => {
                let number = counted(*quantities as u64, "quantity");
                write!(
                    f,
                    "the repetitions of {number} differ around a median of zero, such as {example}"
                )
            }
            Self::SingleRepetition { points, of } => {
                let have = verb_for(*points, "has", "have");
                write!(
                    f,
                    "{} {have} a single repetition, which shows no spread",
                    part_of(*points, *of, "point")
                )
            }
            Self::MissingValues {
                example,
                with_value,
                of,
                ..
            } => {
                write!(
                    f,
                    "some repetitions lack a result, such as {example}, with one in {}",
                    part_of(*with_value, *of, "repetition")
                )
            }
            Self::NothingToJudge => {
                f.write_str("no result was repeated, so the spread is not known")
            }
            Self::Unsteady {
                drifting,
                bimodal,
                of,
            } => f.write_str(&unsteady(*drifting, *bimodal, *of)),
            Self::LastLosses { momentary, of } => {
                write!(
                    f,
                    "the loss that ended the search fell within one moment in {}",
                    part_of(*momentary, *of, "search")
                )
            }
            Self::MovedCores { least_ns, most_ns } => write!(
                f,
                "a cache line took {least_ns} to {most_ns} ns from the tester's core to the device's and back: the host moves \
                 them, and rates change"
            ),
            Self::Headroom { times, device } => {
                write!(
                    f,
                    "the tester's self-test certified {times:.1} times the rate measured of {device}"
                )
            }
            Self::FullProcessors { full, of } => {
                write!(
                    f,
                    "the device's processors were full in {} that the device ended",
                    part_of(*full, *of, "search")
                )
            }
        }
    }
}

impl Display for DisturbedTrials {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (disturbed, share) = (self.disturbed(), self.percent());
        let trials = part_of(disturbed, self.trials, "trial");
        let of_point = self.deciding_point().map(|worst| {
            let DisturbedPoint {
                point,
                disturbed,
                trials,
            } = worst;
            format!("; {disturbed} of the {trials} that decide at {point}")
        });
        let share = if disturbed == 0 {
            String::new()
        } else {
            format!(" ({share:.0} %{})", of_point.unwrap_or_default())
        };
        write!(f, "other work disturbed {trials}{share}{}", self.outcomes())?;
        if self.fell_short > 0 {
            let were = verb_for(self.fell_short, "was", "were");
            write!(
                f,
                ", and {} {were} invalid because the tester fell short",
                self.fell_short
            )?;
        }
        if let Some(longest) = self.longest.as_ref().filter(|_| disturbed > 0) {
            let seconds = show_seconds(longest.waited_ms.div_ceil(1000));
            write!(
                f,
                "; the run waited longest for {} ({seconds})",
                longest.describe()
            )?;
        }
        Ok(())
    }
}

impl DisturbedSearches {
    /// Returns what became of the disturbed searches alone: `their results are lower bounds`.
    pub fn those_are_bounds(&self) -> &'static str {
        verb_for(
            self.disturbed,
            "its result is a lower bound",
            "their results are lower bounds",
        )
    }
}

impl Display for DisturbedSearches {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self {
            disturbed,
            searches,
            point,
            at_point,
            of_point,
        } = self;
        let searches = part_of(*disturbed, *searches, "search");
        let those = self.those_are_bounds();
        write!(f, "a disturbance ended {searches}, so {those}")?;
        if at_point < disturbed {
            write!(f, " ({at_point} of {of_point} at {point})")?;
        } else {
            write!(f, " (at {point})")?;
        }
        Ok(())
    }
}

impl Display for Spread {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Self {
            percent,
            point,
            quantity,
            load,
            is_loss,
            n,
        } = self;
        let median = if *is_loss {
            "the median, or of ten percentage points"
        } else {
            "the median"
        };
        let quantity = if quantity.is_empty() {
            String::new()
        } else {
            format!(", {quantity}")
        };
        let load = load.map_or_else(String::new, |load| format!(" at {load}"));
        write!(
            f,
            "the repetitions of a point spread by up to {percent:.0} % of {median} ({point}{quantity}{load}, n = {n})"
        )
    }
}
