//! Back-to-back frames, RFC 9004 section 6.2: the longest burst without loss, by binary search over its length.

use super::keys::{Keys, MeasureDefaults, time};
use super::procedure::Conditions;
use super::{Findings, Info, Measurement, Noun, Procedure, ProcedureContext, Quantity, SendingTime, Term, Value};
use crate::conformance::{self, Clause};
use crate::plan::{Plan, Test};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{TrialResult, TrialSpec, Verdict};
use crate::units;
use serde::{Deserialize, Serialize};

/// RFC 9004.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BackToBack {
    /// The rate within the burst, frames per second per direction: the medium's maximum by the RFC.
    pub rate: FrameRate,
    /// The longest burst, nanoseconds; up to 30 s must be possible.
    pub longest_ns: u64,
    /// The search ends when it knows the burst to so many frames.
    pub step_frames: u64,
}

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
    noun: Noun::Frames,
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

impl BackToBack {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        // Where the medium is known its maximum is the rate, size by size, and caps this one.
        let otherwise = if defaults.is_medium_known { FrameRate(1_000_000_000) } else { defaults.maximum };
        let longest_ns = time(keys, "longest-burst", LONGEST_NS);
        if longest_ns > 60_000_000_000 {
            keys.mistake("longest-burst", "RFC 9004 requires bursts of up to 30 s; more than 60 s is refused");
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

    fn sending(&self) -> SendingTime {
        SendingTime::AtMost(self.longest_ns)
    }

    fn highest_rate(&self, _plan: &Plan, _test: &Test) -> FrameRate {
        self.rate
    }

    /// RFC 2544 section 26.4; RFC 9004 leaves the number to the tester.
    fn lengthen(&mut self) -> u32 {
        50
    }

    fn is_steady(&self) -> bool {
        false
    }

    fn most(&self) -> Option<(f64, &'static str)> {
        Some((self.rate.frames_in(self.longest_ns) as f64, "`burst-rate` and `longest-burst`"))
    }

    fn clauses(&self, plan: &Plan, test: &Test) -> Vec<Clause> {
        conformance::burst::clauses(plan, test, self)
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let rate = context.theoretical().map_or(self.rate, |most| self.rate.min(most));
        Box::new(BackToBackSearch::new(self, rate, context.tries(), context.conditions()))
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
        Self { rate, step, longest, tries, conditions, invalid: 0, lower: 0, upper: None, last: None }
    }

    /// The longest first, so that a DUT which never fills its buffer is told apart in one trial.
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
        let directions = self.last.iter().filter(|_| self.next_trial().is_none() && self.invalid < self.tries);
        let value = |direction| Value {
            quantity: Quantity::BackToBackFrames,
            direction,
            load: self.rate,
            value: self.lower as f64,
            is_at_least: self.upper.is_none(),
        };
        // Both directions burst at once; what is lost in either ends the burst of both.
        let values = directions.flat_map(|result| result.directions.iter().map(|d| value(d.direction)));
        Findings { brackets: Vec::new(), values: values.collect() }
    }
}
