//! Searches: which load to try next, and when to stop. A search only decides; it never acts, sleeps or reads a clock.
//! Resuming a run is feeding the recorded results to `learn` again.

use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{Measurer, TrialResult, TrialSettings, TrialSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_stats::CensoredValue;

pub mod binary;
mod certainty;
pub mod goal;
mod invalid_trials;
pub mod load_stat;
pub mod multiple_loss_ratio;
mod range;
mod selector;
mod start;

pub use binary::BinarySearch;
pub use certainty::{AcceptedLoss, Certainty};
pub use goal::Goal;
pub use multiple_loss_ratio::MultipleLossRatioSearch;
pub use range::{Bounds, LoadRange};
pub use start::start_for;

/// The algorithm of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchMethod {
    /// Halving the interval; one goal.
    Binary,
    /// Multiple Loss Ratio search, RFC 9971; several goals at once.
    Mlrsearch,
}

/// What the rest of the program must know of an algorithm.
pub struct SearchInfo {
    /// The word for it in plan files.
    pub word: &'static str,
    /// Its name where a plan is shown.
    pub name: &'static str,
    /// Its name in a sentence.
    pub title: &'static str,
    /// True if it searches for several loss goals at once.
    pub takes_several_goals: bool,
    /// True if trials on its way may be shorter than the plan's.
    pub has_shorter_trials: bool,
    /// Returns the number of trials it takes, cold or near the result of an earlier one; `None`: found by making it on a simulated device.
    pub trials: Option<fn(&SearchSettings, bool) -> f64>,
    /// Makes a search, with every final trial as long as the trial settings say.
    pub new: fn(&SearchSettings, &TrialSettings, Start) -> Box<dyn Search>,
}

impl SearchMethod {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::Binary, Self::Mlrsearch];

    /// Returns what is to be known of it.
    pub fn info(self) -> &'static SearchInfo {
        match self {
            Self::Binary => &binary::INFO,
            Self::Mlrsearch => &multiple_loss_ratio::INFO,
        }
    }
}

/// The settings of searches for loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SearchSettings {
    /// The algorithm.
    pub method: SearchMethod,
    /// The lowest load tried, frames per second per direction.
    pub minimum: FrameRate,
    /// The highest load tried, frames per second per direction.
    pub maximum: FrameRate,
    /// The search ends when upper and lower bound are no further apart than this share of the upper bound.
    pub width: f64,
    /// The loss goals. The first is the one headlines quote.
    pub goals: Vec<LossRatio>,
    /// The number of invalid trials in a row at one load after which the load counts as beyond the tester.
    pub max_invalid: u32,
    /// The load at which the search of a later repetition begins.
    #[serde(default)]
    pub start: RepetitionStart,
    /// The estimate of the DUT's capacity that an overloaded trial gives; only MLRsearch asks for one.
    #[serde(default)]
    pub estimate: CapacityEstimate,
    /// The trials that classify a load; `None`: one trial of full length, as RFC 2544 has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
}

impl Bounded for SearchSettings {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("minimum", FrameRate::BOUND),
            ("maximum", FrameRate::BOUND),
            ("width", SearchSettings::WIDTH),
            ("goals", NumberBound::BELOW_ONE),
            ("max-invalid", SearchSettings::MAX_INVALID),
        ],
        tables: &[("certainty", &Certainty::BOUNDS)],
        ordered: &[("minimum", "maximum")],
    };
}

impl SearchSettings {
    /// The width of the interval in which a search ends, as a share of the maximum.
    pub const WIDTH: NumberBound = NumberBound::new(0.00001, 0.5);
    /// The number of invalid trials.
    pub const MAX_INVALID: NumberBound = NumberBound::new(1.0, 1000.0);

    /// Returns the first loss goal, zero loss if there is none: the one by which headlines, and trials without a search, are judged.
    pub fn first_goal(&self) -> LossRatio {
        self.goals.first().copied().unwrap_or(LossRatio::ZERO)
    }

    /// Returns the trials that classify a load, if the method has such attributes: a binary search makes one trial at each.
    fn attributes(&self) -> Option<Certainty> {
        self.certainty
            .filter(|_| self.method.info().takes_several_goals)
    }

    /// Returns what a load must meet by the loss goal `loss_ratio`.
    pub fn accepted(&self, loss_ratio: LossRatio) -> AcceptedLoss {
        AcceptedLoss {
            loss_ratio,
            exceed_ratio: self
                .attributes()
                .map_or(0.0, |certainty| certainty.exceed_ratio),
        }
    }

    /// Returns whether a load may meet a goal although a trial at it lost more than the goal accepts. What is found is then no throughput of RFC 2544,
    /// which requires that no frame is lost.
    pub fn tolerates_lossy_trials(&self) -> bool {
        self.accepted(LossRatio::ZERO).exceed_ratio > 0.0
    }
}

/// The load at which the search of a later repetition of a point begins; the first repetition is always cold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepetitionStart {
    /// As the first one: at the maximum of the range. Every repetition is independent of the others.
    Cold,
    /// At a pseudorandom load within 8 widths of the median of the repetitions before. It saves more than half of the trials.
    /// At the median itself all repetitions would end at the same few loads, whatever the noise of the device between them.
    Dithered,
    /// At the median of the repetitions before: what results recorded before the key existed were made with. No plan asks for it.
    #[default]
    Median,
}

impl RepetitionStart {
    /// Returns the word for it in plan files and results.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Dithered => "dithered",
            Self::Median => "median",
        }
    }

    /// Returns how repetitions start, as the part of a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Cold => "every repetition starts cold, where the first one does",
            Self::Dithered => {
                "later repetitions start dithered, at a pseudorandom load around the median of those before"
            }
            Self::Median => "later repetitions start at the median of those before",
        }
    }
}

/// The estimate of the DUT's capacity that a search takes from the rate which the DUT forwarded at a load that failed, as long as none has passed. It decides
/// only where the search goes on: bounds come from the verdicts on trials alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityEstimate {
    /// The rate forwarded, but no less than a sixteenth of the load: a DUT far above its capacity may forward hardly anything, since it is busy with receiving
    /// frames that it then drops. A load that the tester could not offer gives an estimate at once, and is tried again only if the search returns to it.
    Bounded,
    /// The rate forwarded, however low, and only once the load is known to be too high: what results recorded before the key existed were made with. No plan
    /// asks for it.
    #[default]
    Literal,
}

/// A decision machine over loads.
pub trait Search {
    /// The trial wanted next, `None` when the search has ended. The same until `learn` is called.
    fn next_trial(&self) -> Option<TrialSpec>;

    /// Takes in the result of the trial that was wanted.
    fn learn(&mut self, result: &TrialResult);

    /// Returns the knowledge so far, one bracket for each loss goal, in the order of the goals.
    fn brackets(&self) -> Vec<Bracket>;
}

/// The knowledge of a search about one loss goal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bracket {
    /// The loss that is accepted.
    pub goal: LossRatio,
    /// The relevant lower bound: the highest load known to meet the goal below every load known to miss it. With a goal of zero
    /// this is the throughput of RFC 2544 section 26.1.
    pub lower: Option<FrameRate>,
    /// The relevant upper bound.
    pub upper: Option<FrameRate>,
    /// The reason why the result is not higher.
    pub limit: Limit,
    /// The goal exceed ratio of RFC 9971 section 4.6.4: the share of the trials at a load that may lose more than `goal`, 0 if no trial may.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub exceed_ratio: f64,
    /// The conditional throughput of RFC 9971 section 4.8.3, if the search computes one: the rate that is typically forwarded at the lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditional_throughput: Option<FrameRate>,
}

impl Bracket {
    /// The ratio of the bounds of a search that the DUT did not end, above which its lower bound is not a result.
    const WIDEST: u64 = 2;

    /// Returns what a load must meet to be the lower bound.
    pub fn accepted(&self) -> AcceptedLoss {
        AcceptedLoss {
            loss_ratio: self.goal,
            exceed_ratio: self.exceed_ratio,
        }
    }

    /// Returns the rate that the search found, frames per second per direction, as a value of a sample: a bound where something else than the DUT kept
    /// it from being higher, and 0 where the DUT lost frames even at the lowest load. `None` where no trial says anything of the DUT, as the
    /// tester fell short, or others disturbed, at every load; and where the rate was not found ([`Self::is_not_found`]).
    pub fn value(&self) -> Option<CensoredValue> {
        self.known().filter(|_| !self.is_not_found())
    }

    /// Returns whether something other than the DUT ended the search while its bounds were still more than 2:1 apart: a number anywhere between them
    /// would be a guess.
    pub fn is_not_found(&self) -> bool {
        let is_wide =
            |(lower, upper): (FrameRate, FrameRate)| upper.0 > lower.0.saturating_mul(Self::WIDEST);
        self.limit != Limit::Dut && self.lower.zip(self.upper).is_some_and(is_wide)
    }

    /// Does the same as [`Self::value`], even where the rate was not found: all that is known is that it is at least this. Loads follow from it, and
    /// claims that hold whatever the true value is.
    pub fn known(&self) -> Option<CensoredValue> {
        match (self.lower, self.limit) {
            (Some(rate), limit) => Some(CensoredValue {
                is_at_least: limit != Limit::Dut,
                ..CensoredValue::exact(rate.0 as f64)
            }),
            (None, Limit::Tester | Limit::Disturbed) => None,
            (None, Limit::Dut | Limit::Maximum) => Some(CensoredValue::exact(0.0)),
        }
    }
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

/// The reason why a result is not higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The DUT lost frames at the upper bound: the result is the DUT's.
    Dut,
    /// Every trial at the upper bound was invalid: the tester could not go there. The DUT may be better than this.
    Tester,
    /// The highest load allowed by the plan met the goal.
    Maximum,
    /// Other work had the DUT's processors in the trials that decided, or the loss was an accident on the machine: the DUT may be better
    /// than this. No search says so; it follows from the records of its trials.
    Disturbed,
}

/// The knowledge of a search before its first trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Nothing: the first trial is at the maximum.
    Cold,
    /// An earlier repetition ended near this load, frames per second per direction. It saves trials; bounds still come
    /// from this search's own trials alone.
    Near(FrameRate),
}

/// Returns the search that `settings` ask for, with every final trial as long as `trial` says.
pub fn new_search(
    settings: &SearchSettings,
    trial: &TrialSettings,
    start: Start,
) -> Box<dyn Search> {
    (settings.method.info().new)(settings, trial, start)
}

/// Drives `search` to its end and returns the number of trials, invalid ones included.
///
/// # Errors
///
/// The measurer's, as soon as a trial cannot be performed; the search then still wants that trial.
pub fn run<M: Measurer>(search: &mut dyn Search, measurer: &mut M) -> Result<u32, M::Error> {
    let mut trials = 0;
    while let Some(spec) = search.next_trial() {
        search.learn(&measurer.measure(&spec)?);
        trials += 1;
    }
    Ok(trials)
}
