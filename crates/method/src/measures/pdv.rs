//! Packet delay variation, RFC 8219 section 7.3.1: the 99.9th percentile of the delays of all frames less the smallest.

use super::clauses::{stream, twenty_times};
use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults, time};
use super::loads::Loads;
use super::procedure::Reading;
use super::procedure::reading::{DelayValue, TAIL_SHARE, delays};
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
pub struct PdvStream {
    /// The load at which it is measured.
    pub load: Load,
    /// Time of sending, nanoseconds; at least 60 s by the RFC.
    pub duration_ns: u64,
}

impl Bounded for PdvStream {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[("duration-ns", NumberBound::TIME_NS)],
        tables: &[("load", &Load::BOUNDS)],
        ..TableBounds::NONE
    };
}

const PDV: &str = "RFC 8219 section 7.3.1";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "pdv",
        definition: "Packet delay variation: the 99.9th percentile of the one-way delay of all frames minus the smallest.",
        clause: "RFC 8219 section 7.3.1, RFC 5481",
        here: "The delay of every received frame goes into a histogram that is exact to 0.1 %; if the stream has loss, the \
               loss is reported as well.",
        unit: "milliseconds",
    },
    summary: "packet delay variation of all frames (RFC 8219 section 7.3.1)",
    family: Family::Frames,
    traffic: TrafficRequirements::All,
    demand: None,
    is_steady: true,
    is_of_delay: true,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[Quantity::Pdv, Quantity::MinimumDelay, Quantity::HighDelay],
    headline: Some(Quantity::Pdv),
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl PdvStream {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        Self {
            load: Load::read(keys),
            duration_ns: time(keys, "duration", defaults.trial_ns),
        }
    }
}

impl Measurement for PdvStream {
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
        let mut clauses = stream(test, self.load, self.duration_ns, PDV);
        clauses.extend([
            Clause::should("RFC 8219 section 7.3", "PDV is measured", "measured", true),
            Clause::must(
                PDV,
                "PDV = D99.9 - Dmin, over all frames of the stream",
                "as asked, over all frames received",
                true,
            ),
            twenty_times(
                test.repetitions,
                PDV,
                "at least 20 repetitions, their median reported",
            ),
            Clause::should(
                PDV,
                "1st and 99th percentile of the repetitions",
                "reported, with their number",
                true,
            ),
            Clause::should(PDV, "milliseconds", "milliseconds", true),
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

/// PDV with the two delays it is the difference of (RFC 8219 section 7.3.1).
fn read(result: &TrialResult) -> Reading {
    delays(result, TAIL_SHARE, |direction| {
        let delay = direction.delay.as_ref()?;
        let bounds = delay.bounds;
        Some(vec![
            DelayValue::of_difference(Quantity::Pdv, delay.pdv_ns() as f64),
            DelayValue::of_delay(
                Quantity::MinimumDelay,
                delay.min_ns,
                bounds.map(|of| of.min_ns),
            ),
            DelayValue::of_delay(
                Quantity::HighDelay,
                delay.p999_ns,
                bounds.map(|of| of.p999_ns),
            ),
        ])
    })
}
