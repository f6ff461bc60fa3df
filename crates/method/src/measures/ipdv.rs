//! Inter packet delay variation, RFC 8219 section 7.3.2: the delay of a frame less that of the frame sent before it.

use super::clauses::{stream, twenty_times};
use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults, time};
use super::loads::Loads;
use super::procedure::Reading;
use super::procedure::reading::{DelayValue, delays};
use super::{
    Family, Info, Load, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements,
};
use crate::clause::Clause;
use crate::plan::{Profile, Stateful};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::trial::{TrialKind, TrialResult, TrialSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One stream at one load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct IpdvStream {
    /// The load at which it is measured.
    pub load: Load,
    /// Time of sending, nanoseconds; at least 60 s by the RFC.
    pub duration_ns: u64,
}

impl Bounded for IpdvStream {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[("duration-ns", NumberBound::TIME_NS)],
        tables: &[("load", &Load::BOUNDS)],
        ..TableBounds::NONE
    };
}

const IPDV: &str = "RFC 8219 section 7.3.2";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "ipdv",
        definition: "Inter packet delay variation: the delay of a frame less that of the frame sent before it; minimum, \
                     median, maximum.",
        clause: "RFC 8219 section 7.3.2, RFC 5481",
        here: "Over the frames received together with their predecessor, in whatever order they arrived. A single stall of the \
               tester above the stall bound invalidates the trial, because the extremes are single frames.",
        unit: "milliseconds",
    },
    summary: "inter packet delay variation (RFC 8219 section 7.3.2)",
    family: Family::Frames,
    traffic: TrafficRequirements::All,
    demand: None,
    is_steady: true,
    is_of_delay: true,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[
        Quantity::IpdvMinimum,
        Quantity::IpdvMedian,
        Quantity::IpdvMaximum,
    ],
    headline: Some(Quantity::IpdvMaximum),
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl IpdvStream {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        Self {
            load: Load::read(keys),
            duration_ns: time(keys, "duration", defaults.trial_ns),
        }
    }
}

impl Measurement for IpdvStream {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::At(self.load)
    }

    fn sending(&self) -> SendingTime {
        SendingTime::For(self.duration_ns)
    }

    fn follow(&mut self, _profile: Profile, trial_ns: u64) {
        self.duration_ns = trial_ns;
    }

    fn lengthen(&mut self) {
        self.duration_ns = 60_000_000_000;
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let mut clauses = stream(test, self.load, self.duration_ns, IPDV);
        clauses.extend([
            Clause::may(
                "RFC 8219 section 7.3",
                "IPDV is measured as well",
                "measured",
            ),
            Clause::must(
                IPDV,
                "IPDV(i) = D(i) - D(i-1)",
                "for each frame received with the one before it",
                true,
            ),
            Clause::should(
                IPDV,
                "Dmin, Dmed and Dmax of each measurement",
                "all three",
                true,
            ),
            twenty_times(test.repetitions, IPDV, "at least 20 repetitions"),
            Clause::should(
                IPDV,
                "the median of each of the three values is reported",
                "all three medians",
                true,
            ),
            Clause::should(IPDV, "milliseconds", "milliseconds", true),
        ]);
        clauses
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let duration_ns = self.duration_ns;
        context.delays_at(
            self.load,
            move |rate| TrialSpec::constant(rate, duration_ns),
            read,
        )
    }
}

/// Returns the three values of RFC 8219 section 7.3.2. Its extremes are single frames: one look too late of the tester spoils them.
fn read(result: &TrialResult) -> Reading {
    delays(result, 0.0, |direction| {
        let ipdv = direction.ipdv?;
        Some(vec![
            DelayValue::of_difference(Quantity::IpdvMinimum, ipdv.min_ns as f64),
            DelayValue::of_difference(Quantity::IpdvMedian, ipdv.median_ns as f64),
            DelayValue::of_difference(Quantity::IpdvMaximum, ipdv.max_ns as f64),
        ])
    })
}
