//! Frame loss rate, RFC 2544 section 26.3: from the highest rate down, each as long as a trial lasts.

use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults};
use super::procedure::Conditions;
use super::procedure::reading::EXCUSABLE_SHARE;
use super::{Findings, Info, Measurement, Noun, Procedure, ProcedureContext, Quantity, SendingTime, Term, Value, theoretical};
use crate::conformance::{self, Clause};
use crate::plan::{Plan, Test};
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{DirectionResult, TrialResult, TrialSpec, Verdict};
use crate::units;
use serde::{Deserialize, Serialize};

/// RFC 2544 section 26.3: from the highest rate down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LossScan {
    /// The rates, frames per second per direction, in the order of the trials. None: the maximum of each frame size, nine tenths of it,
    /// and so on down to one tenth; the medium's maximum where the plan knows the medium, else that of its search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<FrameRate>,
    /// True if two successive trials without loss end the scan, as in the RFC; otherwise every rate is tried.
    pub until_lossless: bool,
}

impl LossScan {
    /// From the highest rate of each frame size down in tenths of it, until two successive trials lose nothing: as the RFC has it.
    pub const RFC_2544: Self = Self { rates: Vec::new(), until_lossless: true };

    /// The rates at a frame size whose highest rate is `maximum`.
    pub fn rates_from(&self, maximum: FrameRate) -> Vec<FrameRate> {
        if self.rates.is_empty() {
            return (1..=10).rev().map(|tenth| FrameRate((maximum.0 * tenth / 10).max(1))).collect();
        }
        self.rates.clone()
    }
}

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "frame-loss-rate",
        definition: "The share of frames that a DUT does not forward for lack of resources, at each of several loads.",
        clause: "RFC 1242 section 3.6, RFC 2544 section 26.3, RFC 8219 section 7.4",
        here: "From the highest rate of the frame size down in tenths of it, until two successive trials lose nothing; or at \
               the rates in the plan. A rate that the tester cannot offer has no value.",
        unit: "per cent of the offered frames",
    },
    summary: "the loss at each of several rates (RFC 2544 section 26.3, RFC 8219 section 7.4)",
    noun: Noun::Frames,
    searched: None,
    quantities: &[Quantity::FrameLossRate],
    headline: None,
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl LossScan {
    /// Returns the rates that the key `rates` of a test asks for, as a list or as a range in steps; those of the RFC, where it is missing.
    pub(super) fn read(keys: &impl Keys, _: &MeasureDefaults) -> Self {
        if let Some(range) = keys.table("rates", "rates") {
            let rate = |key| range.required(key, units::rate).map_or(0, |rate| rate.0);
            let (from, to, step) = (rate("from"), rate("to"), rate("step").max(1));
            let (high, low) = (from.max(to), from.min(to));
            let count = (high - low) / step;
            if count > 1000 {
                range.mistake("step", format!("{count} rates are too many: choose a larger step"));
                return Self { rates: Vec::new(), until_lossless: false };
            }
            range.finish();
            let rates = (0..=count).map(|i| FrameRate(high - i * step)).collect();
            return Self { rates, until_lossless: false };
        }
        if let Some(mut rates) = keys.list("rates", units::rate) {
            rates.sort_by(|a, b| b.cmp(a));
            rates.dedup();
            return Self { rates, until_lossless: false };
        }
        Self::RFC_2544
    }
}

impl Measurement for LossScan {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn highest_rate(&self, plan: &Plan, test: &Test) -> FrameRate {
        // The scan goes down from what the medium can.
        let medium = test.frame_sizes.iter().filter_map(|size| theoretical(plan, test, *size)).max();
        self.rates.iter().copied().max().or(medium).unwrap_or(plan.search.maximum)
    }

    fn ends_when_lossless(&self) -> bool {
        self.until_lossless
    }

    fn finds_a_limit(&self) -> bool {
        true
    }

    fn own_rates(&self) -> &[FrameRate] {
        &self.rates
    }

    fn clauses(&self, plan: &Plan, test: &Test) -> Vec<Clause> {
        conformance::rate::frame_loss_rate(plan, test, self)
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let maximum = context.theoretical().unwrap_or(context.plan.search.maximum);
        Box::new(Scan::new(self, maximum, context.plan.trial.duration_ns, context.tries(), context.conditions()))
    }
}

/// The scan. A rate the tester cannot offer has no value.
#[derive(Clone, Debug)]
struct Scan {
    rates: Vec<FrameRate>,
    until_lossless: bool,
    duration_ns: u64,
    tries: u32,
    conditions: Conditions,
    /// The index of the next rate.
    at: usize,
    /// Invalid trials at this rate so far.
    invalid: u32,
    /// Successive rates without loss.
    lossless: u32,
    /// The valid values of a trial at this rate that gave the loss of one direction only.
    partial: Vec<Value>,
    values: Vec<Value>,
}

impl Scan {
    /// Trials of `duration_ns` at the rates below `maximum`; after `tries` invalid ones the next rate is tried.
    fn new(settings: &LossScan, maximum: FrameRate, duration_ns: u64, tries: u32, conditions: Conditions) -> Self {
        Self {
            rates: settings.rates_from(maximum),
            until_lossless: settings.until_lossless,
            duration_ns,
            tries: tries.max(1),
            conditions,
            at: 0,
            invalid: 0,
            lossless: 0,
            partial: Vec::new(),
            values: Vec::new(),
        }
    }

    fn go_on(&mut self) {
        self.at += 1;
        self.invalid = 0;
        self.partial.clear();
    }

    fn note(&mut self, result: &TrialResult) {
        self.values.extend(result.directions.iter().map(|direction| loss_rate(result, direction)));
        self.lossless = if result.not_received() == 0 { self.lossless + 1 } else { 0 };
        self.go_on();
    }
}

fn loss_rate(result: &TrialResult, direction: &DirectionResult) -> Value {
    Value {
        quantity: Quantity::FrameLossRate,
        direction: direction.direction,
        load: result.spec.rate,
        value: direction.loss_ratio().0 * 100.0,
        is_at_least: false,
    }
}

/// The losses of the directions that are the DUT's, in a trial in which those of another may be the tester's.
fn of_those_that_hold(result: &TrialResult) -> Vec<Value> {
    let lossy = result.directions.iter().filter(|direction| direction.not_received() > 0);
    let holding = lossy.filter(|direction| result.is_loss_of_the_dut_in(direction, EXCUSABLE_SHARE));
    if result.is_as_asked() { holding.map(|direction| loss_rate(result, direction)).collect() } else { Vec::new() }
}

impl Procedure for Scan {
    fn next_trial(&self) -> Option<TrialSpec> {
        let is_over = self.until_lossless && self.lossless >= 2;
        let rate = self.rates.get(self.at).filter(|_| !is_over)?;
        Some(self.conditions.apply(TrialSpec::constant(*rate, self.duration_ns)))
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        match result.verdict(LossRatio::ZERO) {
            // The loss is the result: what the tester did must not be a part of it worth the name.
            Verdict::Lost if !result.is_loss_of_the_dut(EXCUSABLE_SHARE) => Verdict::Invalid,
            verdict => verdict,
        }
    }

    fn learn(&mut self, result: &TrialResult) {
        match self.verdict(result) {
            Verdict::Passed | Verdict::Lost => self.note(result),
            Verdict::Invalid => {
                let holding = of_those_that_hold(result);
                self.partial = if holding.is_empty() { std::mem::take(&mut self.partial) } else { holding };
                self.invalid += if result.is_beyond_tester() { 2 } else { 1 };
                if self.invalid >= self.tries {
                    self.values.append(&mut self.partial);
                    self.go_on();
                }
            }
        }
    }

    fn findings(&self) -> Findings {
        Findings { brackets: Vec::new(), values: self.values.clone() }
    }
}
