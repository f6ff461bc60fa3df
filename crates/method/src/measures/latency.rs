//! Latency, RFC 8219 section 7.2: typical and worst-case latency of tagged frames.

use super::clauses::{DETERMINED, at_throughput, determined, lasts, twenty_times};
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
use crate::clause::numbers::{SECOND_NS, count, seconds};
use crate::plan::{Profile, Stateful};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::trial::{Tagging, TrialKind, TrialResult, TrialSpec};
use crate::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 8219 section 7.2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Latency {
    /// The load at which it is measured.
    pub load: Load,
    /// Time of sending, nanoseconds; at least 120 s by the RFC.
    pub duration_ns: u64,
    /// No frame is tagged before this time, nanoseconds; 60 s by the RFC.
    pub tag_after_ns: u64,
    /// Frames to be tagged, evenly spread over the rest; at least 500 by the RFC. With fewer than 1000 the worst-case latency is the maximum.
    pub tagged: u64,
}

impl Bounded for Latency {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("duration-ns", NumberBound::TIME_NS),
            ("tag-after-ns", NumberBound::TIME_NS),
            ("tagged", NumberBound::FRAMES),
        ],
        tables: &[("load", &Load::BOUNDS)],
        ..TableBounds::NONE
    };
}

const LATENCY: &str = "RFC 8219 section 7.2";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "latency",
        definition: "Typical latency: the median latency of the tagged frames. Worst-case latency: their 99.9th percentile.",
        clause: "RFC 8219 section 7.2; latency of store-and-forward devices by RFC 1242 section 3.8",
        here: "A stream at the throughput (or a load of its own); frames due after `tag-after` are tagged, evenly spread. Time \
               stamps are taken in software: from handing a frame to the port until the receiver sees it. A trial in which the \
               receiver read more than 0.05 % of the frames late is invalid.",
        unit: "milliseconds",
    },
    summary: "typical and worst-case latency of tagged frames (RFC 8219 section 7.2)",
    family: Family::Frames,
    traffic: TrafficRequirements::All,
    demand: None,
    is_steady: true,
    is_of_delay: true,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[Quantity::TypicalLatency, Quantity::WorstCaseLatency],
    headline: Some(Quantity::TypicalLatency),
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

/// The default number of tagged frames: the RFC's 500 would make the 99.9th percentile a maximum.
const TAGGED: u64 = 50_000;

impl Latency {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        let (load, duration_ns) = (
            Load::read(keys),
            time(keys, "duration", 2 * defaults.trial_ns),
        );
        let tag_after_ns = keys
            .value("tag-after", units::duration_ns)
            .unwrap_or(duration_ns / 2);
        if tag_after_ns >= duration_ns {
            keys.mistake(
                "tag-after",
                "no frame would be tagged: `tag-after` must be shorter than `duration`",
            );
        }
        let tagged = keys.number("tagged", units::frames).unwrap_or(TAGGED);
        Self {
            load,
            duration_ns,
            tag_after_ns,
            tagged,
        }
    }
}

impl Measurement for Latency {
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
        (self.duration_ns, self.tag_after_ns) = (2 * trial_ns, trial_ns);
    }

    fn lengthen(&mut self) {
        (self.duration_ns, self.tag_after_ns) = (120_000_000_000, 60_000_000_000);
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let (how, is_determined) = determined(self.load);
        let determines = Clause::should(LATENCY, DETERMINED, how, is_determined);
        let mut clauses = at_throughput(test, self.load, LATENCY, determines);
        clauses.push(lasts(
            LATENCY,
            "a stream of at least 120 s",
            self.duration_ns,
            120,
        ));
        clauses.extend(tags(self));
        clauses.extend([
            Clause::should(LATENCY, "TL = median of the latencies", "median", true),
            Clause::should(
                LATENCY,
                "WCL = 99.9th percentile of the latencies",
                worst_case(self),
                true,
            ),
            twenty_times(
                test.repetitions,
                LATENCY,
                "at least 20 repetitions, the median of their TL and WCL reported",
            ),
            Clause::must(
                LATENCY,
                "the definition of latency in RFC 1242 is stated",
                "store and forward, by software time stamps",
                true,
            ),
            Clause::may(
                LATENCY,
                "1st and 99th percentile of the repetitions",
                "reported, with their number",
            ),
        ]);
        clauses
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let (latency, conditions) = (*self, context.conditions());
        let tagged = move |rate| {
            let spec = TrialSpec::constant(rate, latency.duration_ns);
            // The wait before the first tagged frame begins when the last flow has started: before that the load is not the one asked for.
            let ramp_ns = conditions.apply(spec).duration_ns - latency.duration_ns;
            let tagging = Tagging {
                after_ns: latency.tag_after_ns + ramp_ns,
                frames: latency.tagged,
            };
            TrialSpec {
                tagging: Some(tagging),
                ..spec
            }
        };
        context.delays_at(self.load, tagged, read)
    }
}

/// TL and WCL (RFC 8219 section 7.2).
fn read(result: &TrialResult) -> Reading {
    delays(result, TAIL_SHARE, |direction| {
        let tagged = direction.tagged.as_ref()?;
        let bounds = tagged.bounds;
        Some(vec![
            DelayValue::of_delay(
                Quantity::TypicalLatency,
                tagged.median_ns,
                bounds.map(|of| of.median_ns),
            ),
            DelayValue::of_delay(
                Quantity::WorstCaseLatency,
                tagged.p999_ns,
                bounds.map(|of| of.p999_ns),
            ),
        ])
    })
}

fn tags(latency: &Latency) -> Vec<Clause> {
    let window_ns = latency.duration_ns.saturating_sub(latency.tag_after_ns);
    let actual = format!(
        "{} after {}",
        count(latency.tagged, "tag"),
        seconds(latency.tag_after_ns)
    );
    let is_met = latency.tagged >= 500 && latency.tag_after_ns >= 60 * SECOND_NS && window_ns > 0;
    vec![
        Clause::should(
            LATENCY,
            "tags in at least 500 frames after 60 s",
            actual,
            is_met,
        ),
        Clause::should(
            LATENCY,
            "the identifier stands after the UDP header",
            "in the first octets after it",
            true,
        ),
        Clause::must(
            "RFC 2544 section 26.2",
            "the receiver recognises the tag",
            "by its number",
            true,
        ),
    ]
}

fn worst_case(latency: &Latency) -> &'static str {
    if latency.tagged < 1000 {
        "99.9th percentile: of fewer than 1000 the maximum"
    } else {
        "99.9th percentile"
    }
}
