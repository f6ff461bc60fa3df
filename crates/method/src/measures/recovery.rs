//! System recovery, RFC 2544 section 26.5 and RFC 8219 section 7.6: how long losses go on after an overload.

use super::clauses::{DETERMINED, is_first_goal_zero};
use super::info::NOT_RECOVERED;
use super::keys::{Keys, MeasureDefaults, time};
use super::load::scaled;
use super::loads::Loads;
use super::procedure::Reading;
use super::procedure::reading::{each, sent_as_asked};
use super::{
    Family, Info, Load, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements,
};
use crate::clause::Clause;
use crate::clause::numbers::{SECOND_NS, percent, repetitions, seconds};
use crate::plan::{Profile, Stateful};
use crate::terms::FrameRate;
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::trial::{DirectionResult, LOSS_BIN_NS, TrialKind, TrialResult, TrialSpec, Verdict};
use crate::units::{ValueError, expected};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 2544 section 26.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recovery {
    /// The overload as a share of the throughput: 1.1 by the RFC.
    pub overload: f64,
    /// Time of overload, nanoseconds; at least 60 s by the RFC.
    pub duration_ns: u64,
    /// Time at half of that rate, nanoseconds: losses are looked for in it.
    pub after_ns: u64,
}

impl Bounded for Recovery {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("overload", OVERLOAD),
            ("duration-ns", NumberBound::TIME_NS),
            ("after-ns", NumberBound::TIME_NS),
        ],
        ..TableBounds::NONE
    };
}

/// The overload as a share of the throughput. Below 1 there would be nothing to recover from.
const OVERLOAD: NumberBound = NumberBound::new(1.0, 10.0);

const RECOVERY: &str = "RFC 2544 section 26.5";

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "recovery",
        definition: "System recovery: from the end of an overload to the last frame lost.",
        clause: "RFC 2544 section 26.5, RFC 8219 section 7.6",
        here: "110 % of the throughput, then half of that rate. The text of the RFC subtracts the wrong way round. A DUT that \
               loses frames until the end of the trial has \"at least\" that time.",
        unit: "milliseconds",
    },
    summary: "how long losses continue after an overload (RFC 2544 section 26.5, RFC 8219 section 7.6)",
    family: Family::Frames,
    traffic: TrafficRequirements::All,
    demand: None,
    is_steady: false,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 20,
    searched: None,
    quantities: &[Quantity::RecoveryTime],
    headline: Some(Quantity::RecoveryTime),
    is_averaged: true,
    axis: "throughput",
    open_end: NOT_RECOVERED,
}];

impl Recovery {
    /// Returns the settings that the keys of a test ask for.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        let (overload, trial_ns) = (
            keys.value("overload", overload).unwrap_or(1.1),
            defaults.trial_ns,
        );
        Self {
            overload,
            duration_ns: time(keys, "duration", trial_ns),
            after_ns: time(keys, "after", trial_ns / 2),
        }
    }
}

fn overload(text: &str) -> Result<f64, ValueError> {
    let share = text
        .trim()
        .strip_suffix('%')
        .and_then(|percent| percent.trim().parse::<f64>().ok())
        .map(|p| p / 100.0);
    let share = share.filter(|share| OVERLOAD.contains(*share));
    share.ok_or_else(|| expected("a share of the throughput from 100% to 1000%", text))
}

impl Measurement for Recovery {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Overload(self.overload)
    }

    fn sending(&self) -> SendingTime {
        SendingTime::For(self.duration_ns + self.after_ns)
    }

    fn follow(&mut self, _profile: Profile, trial_ns: u64) {
        (self.duration_ns, self.after_ns) = (trial_ns, trial_ns / 2);
    }

    fn lengthen(&mut self) {
        self.duration_ns = 60_000_000_000;
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        let limit = match test.link_rate {
            Some(_) => "at most the medium's maximum".to_owned(),
            None => format!("at most {}, the plan's highest load", test.search.maximum),
        };
        let overload = format!("{} of it, {limit}", percent(self.overload));
        let is_overload = (self.overload - 1.1).abs() < 1e-6;
        let lasts = seconds(self.duration_ns);
        let found = if is_first_goal_zero(test) {
            "searched for, in the first repetition"
        } else {
            "a rate with loss is searched for"
        };
        let drop = format!(
            "50 % for {}; the result is B - A, while the RFC's text says A - B",
            seconds(self.after_ns)
        );
        vec![
            Clause::must(RECOVERY, DETERMINED, found, is_first_goal_zero(test)),
            Clause::must(
                RECOVERY,
                "110 % of the throughput, or the medium's maximum if that is lower",
                overload,
                is_overload,
            ),
            Clause::must(
                RECOVERY,
                "overload for at least 60 s",
                lasts,
                self.duration_ns >= 60 * SECOND_NS,
            ),
            Clause::must(
                RECOVERY,
                "at time A down to 50 % of that rate, until the last frame lost at B",
                drop,
                true,
            ),
            Clause::should(
                RECOVERY,
                "repeated a number of times, averaged",
                repetitions(test.repetitions),
                test.repetitions.least() >= 2,
            ),
        ]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let recovery = *self;
        // "110 % of the recorded throughput rate or the maximum rate for the media, whichever is lower".
        let most = context.theoretical().unwrap_or(FrameRate(u64::MAX));
        let dropping = move |rate: FrameRate| {
            let overload = scaled(rate, recovery.overload).min(most);
            let kind = TrialKind::Drop {
                at_ns: recovery.duration_ns,
                // RFC 2544 section 26.5: half of the overload, not of the throughput.
                to: FrameRate((overload.0 / 2).max(1)),
            };
            TrialSpec {
                kind,
                ..TrialSpec::constant(overload, recovery.duration_ns + recovery.after_ns)
            }
        };
        context.single_at(Load::OfThroughput(1.0), dropping, read)
    }
}

/// Reads the time from the drop of the rate to the last frame lost (RFC 2544 section 26.5, whose text subtracts the wrong way
/// round).
fn read(result: &TrialResult) -> Reading {
    let TrialKind::Drop { at_ns, .. } = result.spec.kind else {
        return Reading::new(Verdict::Invalid, Vec::new());
    };
    let mut values = each(result, |direction| {
        // A direction that lost no frames during the overload has nothing to recover from.
        let last_ns = direction
            .last_missing_ns
            .filter(|_| direction.not_received() > missing_from(direction, at_ns))?;
        Some(vec![(
            Quantity::RecoveryTime,
            last_ns.saturating_sub(at_ns) as f64,
        )])
    });
    // A direction that lost a frame in the last hundredth of the time after the overload was still losing when the trial ended, so it may take longer.
    let near_end_ns = (result.spec.duration_ns - at_ns) as f64 * 0.99;
    for value in &mut values {
        value.is_at_least = value.value > near_end_ns;
    }
    // Losses after the overload that the tester's own stalls can explain say nothing of the device.
    let is_the_testers = result.directions.iter().any(|direction| {
        let missing = missing_from(direction, at_ns);
        missing > 0 && missing <= result.excusable(direction.direction)
    });
    Reading::new(
        if is_the_testers {
            Verdict::Invalid
        } else {
            sent_as_asked(result)
        },
        values,
    )
}

/// Returns the number of frames not received that were due after a moment. The bin of 100 ms in which it lies is left out, because it also has losses
/// from before.
fn missing_from(direction: &DirectionResult, at_ns: u64) -> u64 {
    direction
        .lost_by_bin
        .iter()
        .skip((at_ns / LOSS_BIN_NS) as usize + 1)
        .sum()
}
