//! Back-to-back frames, RFC 9004 section 6.2: the longest burst without loss, by binary search over its length.

use super::keys::{Keys, MeasureDefaults, time};
use super::loads::Loads;
use super::loads::NumberSearch;
use super::procedure::Conditions;
use super::{
    Family, Findings, Info, Measurement, PeerTest, Procedure, ProcedureContext, Quantity,
    SendingTime, Term, TestContext, TrafficRequirements, Value,
};
use crate::clause::Clause;
use crate::clause::numbers::{
    ETHERNET, SECOND_NS, count, list, missing_sizes, repetitions, seconds,
};
use crate::plan::{Profile, Stateful};
use crate::terms::FrameSize;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialKind, TrialResult, TrialSpec, Verdict};
use crate::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 9004.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BackToBack {
    /// The rate within the burst, frames per second per direction: the medium's maximum by the RFC.
    pub rate: FrameRate,
    /// The longest burst, nanoseconds; up to 30 s must be possible.
    pub longest_ns: u64,
    /// The search ends when it knows the burst to so many frames.
    pub step_frames: u64,
}

impl Bounded for BackToBack {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("rate", FrameRate::OF_MEDIUM),
            ("longest-ns", LONGEST_BURST_NS),
            ("step-frames", NumberBound::FRAMES),
        ],
        ..TableBounds::NONE
    };
}

const PREREQUISITES: &str = "RFC 9004 section 5";
const SINGLE_SIZE: &str = "RFC 9004 section 6.2";
const REPORTING: &str = "RFC 9004 section 7";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "back-to-back",
        definition: "The longest burst of frames at the minimum gap that the DUT forwards without loss.",
        clause: "RFC 9004, RFC 2544 section 26.4, RFC 8219 section 7.5",
        here: "Binary search over the length of the burst at the medium's maximum rate, or that of the plan where there is no \
               medium. Corrected buffer time = implied - implied * throughput / maximum rate.",
        unit: "frames; seconds of buffer",
    },
    summary: "the longest burst at the minimum gap that is forwarded without loss (RFC 9004, RFC 8219 section 7.5)",
    family: Family::Frames,
    traffic: TrafficRequirements::All,
    demand: None,
    is_steady: false,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    // RFC 2544 section 26.4; RFC 9004 leaves the number to the tester.
    repetitions: 50,
    searched: None,
    quantities: &[Quantity::BackToBackFrames],
    headline: Some(Quantity::BackToBackFrames),
    is_averaged: true,
    axis: "throughput",
    open_end: "the longest burst of the plan passed",
}];

/// The default number of frames to which a search is exact.
const STEP: u64 = 16;
/// The default length of the longest burst, nanoseconds: a longer one has met no limit.
const LONGEST_NS: u64 = 2_000_000_000;
/// The length of the longest burst, nanoseconds. RFC 9004 section 6.2 asks for up to 30 s.
const LONGEST_BURST_NS: NumberBound = NumberBound::new(1.0, 60e9);

impl BackToBack {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        // Where the medium is known its maximum is the rate, size by size, and caps this one.
        let otherwise = if defaults.is_medium_known {
            FrameRate(1_000_000_000)
        } else {
            defaults.maximum
        };
        let longest_ns = time(keys, "longest-burst", LONGEST_NS);
        if longest_ns > 0 && !LONGEST_BURST_NS.contains(longest_ns as f64) {
            keys.mistake(
                "longest-burst",
                "RFC 9004 requires bursts of up to 30 s; more than 60 s is refused",
            );
        }
        Self {
            rate: keys.value("burst-rate", units::rate).unwrap_or(otherwise),
            longest_ns,
            step_frames: keys.number("step", units::frames).unwrap_or(STEP),
        }
    }
}

impl Measurement for BackToBack {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Number(NumberSearch {
            rate: Some(self.rate),
            most: self.rate.frames_in(self.longest_ns) as f64,
            keys: "`burst-rate` and `longest-burst`",
            phase_one: None,
        })
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AtMost(self.longest_ns)
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let mut clauses = throughput(test);
        clauses.extend(burst(test, self));
        clauses.extend(waiting(test, self));
        clauses.extend(search(self));
        clauses.extend(repetition(test));
        clauses.extend(reporting(test, self));
        clauses
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let rate = context
            .theoretical()
            .map_or(self.rate, |most| self.rate.min(most));
        Box::new(BackToBackSearch::new(
            self,
            rate,
            context.tries(),
            context.conditions(),
        ))
    }
}

/// The search of one repetition.
#[derive(Clone, Debug)]
struct BackToBackSearch {
    rate: FrameRate,
    step: u64,
    longest: u64,
    tries: u32,
    conditions: Conditions,
    invalid: u32,
    /// The longest burst without loss and the shortest with, frames.
    lower: u64,
    upper: Option<u64>,
    last: Option<TrialResult>,
}

impl BackToBackSearch {
    /// Bursts at `rate`, which is the settings' or the medium's maximum below it.
    fn new(settings: &BackToBack, rate: FrameRate, tries: u32, conditions: Conditions) -> Self {
        let longest = rate.frames_in(settings.longest_ns).max(1);
        let (step, tries) = (settings.step_frames.max(1), tries.max(1));
        Self {
            rate,
            step,
            longest,
            tries,
            conditions,
            invalid: 0,
            lower: 0,
            upper: None,
            last: None,
        }
    }

    /// The longest first, so that a DUT which never fills its buffer is recognised in one trial.
    fn next_burst(&self) -> Option<u64> {
        match self.upper {
            None => (self.lower < self.longest).then_some(self.longest),
            Some(upper) => (upper - self.lower > self.step).then(|| self.lower.midpoint(upper)),
        }
    }
}

impl Procedure for BackToBackSearch {
    fn next_trial(&self) -> Option<TrialSpec> {
        let burst = self.next_burst().filter(|_| self.invalid < self.tries)?;
        Some(self.conditions.apply(TrialSpec::burst(self.rate, burst)))
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        result.verdict(LossRatio::ZERO)
    }

    fn learn(&mut self, result: &TrialResult) {
        let frames = result.spec.frames();
        match self.verdict(result) {
            Verdict::Passed => self.lower = frames,
            Verdict::Lost => self.upper = Some(frames),
            Verdict::Invalid => {
                self.invalid += 1;
                return;
            }
        }
        self.invalid = 0;
        self.last = Some(result.clone());
    }

    fn findings(&self) -> Findings {
        let directions = self
            .last
            .iter()
            .filter(|_| self.next_trial().is_none() && self.invalid < self.tries);
        let value = |direction| Value {
            quantity: Quantity::BackToBackFrames,
            direction,
            load: self.rate,
            value: self.lower as f64,
            is_at_least: self.upper.is_none(),
            is_at_most: false,
        };
        // Both directions burst at once; what is lost in either ends the burst of both.
        let values =
            directions.flat_map(|result| result.directions.iter().map(|d| value(d.direction)));
        Findings {
            brackets: Vec::new(),
            values: values.collect(),
        }
    }
}

/// Returns the clauses on the throughput: only the throughput can tell which frame sizes fill a buffer at all.
fn throughput(test: &TestContext<'_>) -> Vec<Clause> {
    let requirement = "the throughput of all frame sizes is known";
    let Some(other) = test
        .peers
        .iter()
        .filter(|other| other.has_same_device && other.is_throughput)
        .max_by_key(|other| other.has_same_traffic)
    else {
        return vec![Clause::must(
            PREREQUISITES,
            requirement,
            "the plan measures no throughput of this device",
            false,
        )];
    };
    let mut missing = missing_sizes(other.frame_sizes, &ETHERNET);
    missing.extend(
        missing_sizes(other.frame_sizes, test.frame_sizes)
            .into_iter()
            .filter(|size| !ETHERNET.contains(size)),
    );
    let alike = if other.has_same_traffic {
        "the same traffic"
    } else {
        "other directions or other traffic"
    };
    let goals = list(&test.search.goals);
    let is_zero_loss = test.search.goals.is_empty() || test.search.goals.contains(&LossRatio::ZERO);
    vec![
        Clause::must(
            PREREQUISITES,
            requirement,
            known(other, &missing),
            missing.is_empty(),
        )
        .or_in_part(true),
        Clause::must(
            PREREQUISITES,
            "throughput and bursts are measured with the same traffic",
            alike,
            other.has_same_traffic,
        ),
        Clause::must(
            PREREQUISITES,
            "the throughput is measured without loss",
            format!("goals: {goals} of loss"),
            is_zero_loss,
        ),
    ]
}

fn known(other: &PeerTest<'_>, missing: &[FrameSize]) -> String {
    let but = if missing.is_empty() {
        String::new()
    } else {
        format!(", but not of {}", list(missing))
    };
    format!("measured by {}{but}", other.name)
}

fn burst(test: &TestContext<'_>, settings: &BackToBack) -> Vec<Clause> {
    let speed = match test.link_rate {
        Some(rate) => format!("{} Mbit/s", rate as f64 / 1e6),
        None => "the plan does not know the rate of the medium".to_owned(),
    };
    let most = test.highest_theoretical();
    let gap = match most {
        Some(most) if settings.rate >= most => {
            "at the medium's maximum of each frame size".to_owned()
        }
        Some(most) => format!(
            "at {} or the medium's maximum below it, which is {most} at the smallest size",
            settings.rate
        ),
        None => format!(
            "at {}; whether the medium carries more is not known",
            settings.rate
        ),
    };
    let is_at_maximum = most.is_some_and(|most| settings.rate >= most);
    vec![
        Clause::must(
            PREREQUISITES,
            "the maximum frame rate is computed from the speed of the links",
            speed,
            test.link_rate.is_some(),
        ),
        Clause::must(
            SINGLE_SIZE,
            "a burst after idle time, with the minimum gap between frames",
            gap,
            is_at_maximum,
        )
        .or_in_part(most.is_none()),
        Clause::must(
            "RFC 9004 section 3",
            "no mixture of frame sizes",
            "one size in each burst",
            true,
        ),
    ]
}

fn waiting(test: &TestContext<'_>, settings: &BackToBack) -> Vec<Clause> {
    let residual_ns = test.trial.residual_ns;
    let actual = format!("{} after the last frame received", seconds(residual_ns));
    let is_enough = residual_ns >= 2 * SECOND_NS;
    let mut clauses = vec![
        Clause::must(
            SINGLE_SIZE,
            "at least 2 s more than the burst takes to be received",
            actual.clone(),
            is_enough,
        ),
        Clause::must(
            "RFC 2544 section 26.4",
            "a trial of at least 2 s",
            actual,
            is_enough,
        ),
    ];
    if settings.longest_ns > 2 * SECOND_NS {
        let actual = format!(
            "{} after the last frame received, for up to {}",
            seconds(residual_ns),
            seconds(settings.longest_ns)
        );
        let longer = Clause::must(
            SINGLE_SIZE,
            "a longer wait where bursts take more than 2 s",
            actual,
            residual_ns > 2 * SECOND_NS,
        );
        // The wait begins again with every frame, so it does grow with the buffer.
        clauses.push(longer.or_in_part(is_enough));
    }
    clauses
}

fn search(settings: &BackToBack) -> Vec<Clause> {
    let longest = format!("up to {}", seconds(settings.longest_ns));
    let step = count(settings.step_frames, "frame");
    vec![
        Clause::must(
            SINGLE_SIZE,
            "the longest burst can be set to as much as 30 s",
            longest,
            true,
        ),
        Clause::must(
            SINGLE_SIZE,
            "binary search, its parameters reported",
            "binary search; both are in the plan",
            true,
        ),
        Clause::must(SINGLE_SIZE, "the step size is reported", step, true),
    ]
}

fn repetition(test: &TestContext<'_>) -> Vec<Clause> {
    let actual = repetitions(test.repetitions);
    vec![
        Clause::should(
            "RFC 2544 section 26.4",
            "at least 50 repetitions, averaged",
            actual.clone(),
            test.repetitions.least() >= 50,
        ),
        Clause::must(
            "RFC 9004 section 6.3",
            "N independent searches, every value kept",
            actual.clone(),
            test.repetitions.least() >= 1,
        ),
        Clause::must(REPORTING, "N is reported", actual, true),
    ]
}

fn reporting(test: &TestContext<'_>, settings: &BackToBack) -> Vec<Clause> {
    let is_known = test.link_rate.is_some();
    let buffer = if is_known {
        "calculated from burst, throughput and maximum rate"
    } else {
        "not without the rate of the medium"
    };
    let sizes = list(test.frame_sizes);
    vec![
        Clause::should(
            REPORTING,
            "a row for each frame size, with the average count",
            format!("a row for each of {sizes}"),
            true,
        ),
        Clause::should(
            REPORTING,
            "minimum, maximum and standard deviation",
            "beside the average",
            true,
        ),
        Clause::should(REPORTING, "the corrected DUT buffer time", buffer, is_known),
        Clause::should(
            REPORTING,
            "a limit of the burst length is reported",
            format!(
                "{}; a value there is \"at least\"",
                seconds(settings.longest_ns)
            ),
            true,
        ),
    ]
}
