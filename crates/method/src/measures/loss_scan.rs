//! Frame loss rate, RFC 2544 section 26.3: from the highest rate down, each as long as a trial lasts.

use super::conditions::Conditions;
use super::read::EXCUSABLE_SHARE;
use super::{Findings, Procedure, Quantity, Value};
use crate::plan::LossScan;
use crate::terms::{FrameRate, LossRatio};
use crate::trial::{DirectionResult, TrialResult, TrialSpec, Verdict};

/// The scan. A rate the tester cannot offer has no value.
#[derive(Clone, Debug)]
pub(super) struct Scan {
    rates: Vec<FrameRate>,
    until_lossless: bool,
    duration_ns: u64,
    tries: u32,
    conditions: Conditions,
    /// Which rate is next.
    at: usize,
    /// Invalid trials at this rate so far.
    invalid: u32,
    /// Successive rates without loss.
    lossless: u32,
    /// What holds of a trial at this rate that gave the loss of one direction only.
    partial: Vec<Value>,
    values: Vec<Value>,
}

impl Scan {
    /// Trials of `duration_ns` at the rates below `maximum`; after `tries` invalid ones the next rate is tried.
    pub(super) fn new(settings: &LossScan, maximum: FrameRate, duration_ns: u64, tries: u32, conditions: Conditions) -> Self {
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
