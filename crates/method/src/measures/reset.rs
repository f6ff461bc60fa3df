//! Reset, RFC 6201 and RFC 8219 section 7.7: how long the DUT forwards nothing around a reset.

use super::clauses::{is_first_goal_zero, several_times};
use super::info::NOT_RECOVERED;
use super::keys::{Keys, MeasureDefaults, time};
use super::loads::Loads;
use super::procedure::Reading;
use super::procedure::reading::{EXCUSABLE_SHARE, each, sent_as_asked};
use super::{
    Demand, Family, Info, Load, Measurement, Procedure, ProcedureContext, Quantity, SendingTime,
    Term, TestContext, TrafficRequirements,
};
use crate::clause::Clause;
use crate::clause::numbers::{SECOND_NS, list, percent, seconds};
use crate::plan::{Profile, Stateful};
use crate::terms::FrameSize;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::trial::{DirectionResult, TrialKind, TrialResult, TrialSpec, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 6201 section 4: the DUT forwards for at least 15 s before it is reset.
const BEFORE_NS: u64 = 15_000_000_000;

/// RFC 6201.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Reset {
    /// The load at which it is measured.
    pub load: Load,
    /// Time before the reset, nanoseconds; at least 15 s by RFC 6201 section 4.
    pub before_ns: u64,
    /// Time after the reset, nanoseconds: the DUT must be back within it.
    pub after_ns: u64,
}

impl Bounded for Reset {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("before-ns", NumberBound::TIME_NS),
            ("after-ns", NumberBound::TIME_NS),
        ],
        tables: &[("load", &Load::BOUNDS)],
        ..TableBounds::NONE
    };
}

const PROCESS: &str = "RFC 6201 section 4.2.2";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "reset",
        definition: "How long a DUT forwards nothing around a reset.",
        clause: "RFC 6201, RFC 8219 section 7.7",
        here: "In the middle of a trial the recipe's daemon is killed and restarted, or its `[[reset]]` commands run. Measured \
               as the frames lost divided by the rate, and by the time stamps of the last frame before and the first frame \
               after.",
        unit: "milliseconds",
    },
    summary: "how long the DUT forwards nothing around a reset (RFC 6201, RFC 8219 section 7.7)",
    family: Family::Frames,
    // It is measured only at the smallest size: RFC 6201 section 4.2.
    traffic: TrafficRequirements::AnySize,
    demand: Some(Demand::Reset),
    is_steady: false,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[Quantity::ResetTimeByLoss, Quantity::ResetTimeByTimestamps],
    headline: Some(Quantity::ResetTimeByLoss),
    is_averaged: true,
    axis: "throughput",
    open_end: NOT_RECOVERED,
}];

impl Reset {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        let (before_ns, after_ns) = durations_of(defaults.profile, defaults.trial_ns);
        Self {
            load: Load::read(keys),
            before_ns: time(keys, "before", before_ns),
            after_ns: time(keys, "after", after_ns),
        }
    }
}

/// Returns the times before and after the reset, nanoseconds, in a profile whose trials last `trial_ns`.
fn durations_of(profile: Profile, trial_ns: u64) -> (u64, u64) {
    let before_ns = if profile == Profile::Rfc {
        BEFORE_NS
    } else {
        trial_ns
    };
    (before_ns, before_ns.max(2_000_000_000))
}

impl Measurement for Reset {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::At(self.load)
    }

    fn sending(&self) -> SendingTime {
        SendingTime::For(self.before_ns + self.after_ns)
    }

    fn follow(&mut self, profile: Profile, trial_ns: u64) {
        (self.before_ns, self.after_ns) = durations_of(profile, trial_ns);
    }

    fn lengthen(&mut self) {
        self.before_ns = self.before_ns.max(BEFORE_NS);
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let before = seconds(self.before_ns);
        let is_smallest = test.frame_sizes == [FrameSize::MINIMUM];
        vec![
            Clause::may(
                PROCESS,
                "a process reset",
                "the device's processes, as its recipe says",
            ),
            Clause::must(
                PROCESS,
                "at least 15 s of forwarding before the reset",
                before,
                self.before_ns >= 15 * SECOND_NS,
            ),
            Clause::should(
                PROCESS,
                "the minimum frame size",
                list(test.frame_sizes),
                is_smallest,
            ),
            full_load(test, self.load),
            Clause::should(
                "RFC 6201 section 1.3",
                "the frame-loss or the timestamp method, whichever is more accurate",
                "both; sending continues whatever the link does",
                true,
            ),
            Clause::must(
                "RFC 6201 section 1.4",
                "set-up and methods that may influence the result are listed",
                "facts, recipe and commands",
                true,
            ),
            several_times(test.repetitions, "RFC 6201 section 1.4"),
        ]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let reset = *self;
        let resetting = move |rate| {
            let kind = TrialKind::Reset {
                at_ns: reset.before_ns,
            };
            TrialSpec {
                kind,
                ..TrialSpec::constant(rate, reset.before_ns + reset.after_ns)
            }
        };
        context.single_at(self.load, resetting, read)
    }
}

/// Reads the times by both methods of RFC 6201 section 1.3. A DUT that does not come back has no first frame after the reset,
/// hence no time by timestamps.
fn read(result: &TrialResult) -> Reading {
    let mut values = each(result, |direction| {
        let mut found = vec![(Quantity::ResetTimeByLoss, by_loss_ns(direction, result))];
        if !is_gone_to_the_end(direction, result) {
            found.push((Quantity::ResetTimeByTimestamps, by_timestamps_ns(direction)));
        }
        Some(found)
    });
    for value in &mut values {
        let of = result
            .directions
            .iter()
            .find(|direction| direction.direction == value.direction);
        value.is_at_least = of.is_some_and(|direction| is_gone_to_the_end(direction, result));
    }
    let is_the_duts = result.is_loss_of_the_dut(EXCUSABLE_SHARE);
    Reading::new(
        if is_the_duts {
            sent_as_asked(result)
        } else {
            Verdict::Invalid
        },
        values,
    )
}

fn by_loss_ns(direction: &DirectionResult, result: &TrialResult) -> f64 {
    direction.not_received() as f64 / result.spec.rate.0.max(1) as f64 * 1e9
}

fn by_timestamps_ns(direction: &DirectionResult) -> f64 {
    let silence = direction.silence.filter(|_| direction.not_received() > 0);
    silence.map_or(0, |silence| silence.to_ns - silence.from_ns) as f64
}

/// Returns whether the last frames of the trial were lost as well, because the DUT did not come back. A stray loss near the
/// end does not count: then the frames lost at the reset leave a silence between two others.
fn is_gone_to_the_end(direction: &DirectionResult, result: &TrialResult) -> bool {
    let end_ns = result.spec.duration_ns as f64 * 0.999;
    let is_lossy_at_the_end = direction
        .last_missing_ns
        .is_some_and(|last_ns| last_ns as f64 > end_ns);
    is_lossy_at_the_end && by_timestamps_ns(direction) < by_loss_ns(direction, result) / 2.0
}

fn full_load(test: &TestContext<'_>, load: Load) -> Clause {
    let actual = match load {
        Load::OfThroughput(share) => format!("{} of the throughput", percent(share)),
        Load::Rate(rate) => format!("{rate}, as the plan says"),
    };
    let is_full =
        matches!(load, Load::OfThroughput(share) if share >= 1.0) && is_first_goal_zero(test);
    Clause::should(
        PROCESS,
        "a rate at which the DUT reaches its maximum forwarding",
        actual,
        is_full,
    )
}
