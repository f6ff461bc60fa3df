//! Frame loss rate, RFC 2544 section 26.3: from the highest rate down, each as long as a trial lasts.

use super::clauses::several_times;
use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults};
use super::loads::Loads;
use super::procedure::Conditions;
use super::procedure::reading::EXCUSABLE_SHARE;
use super::{
    Family, Findings, Info, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements, Value,
};
use crate::clause::Clause;
use crate::clause::numbers::list;
use crate::plan::{Profile, Stateful};
use crate::terms::bounds::{Bounded, TableBounds};
use crate::terms::{FrameRate, FrameSize, LossRatio};
use crate::trial::{DirectionResult, TrialKind, TrialResult, TrialSpec, Verdict};
use crate::units;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 2544 section 26.3: from the highest rate down.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LossScan {
    /// The rates, frames per second per direction, in the order of the trials. None: the maximum of each frame size, nine tenths of it,
    /// and so on down to one tenth; the medium's maximum where the plan knows the medium, else that of its search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<FrameRate>,
    /// True if two successive trials without loss end the scan, as in the RFC; otherwise every rate is tried.
    pub until_lossless: bool,
}

impl Bounded for LossScan {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[("rates", FrameRate::OF_MEDIUM)],
        ..TableBounds::NONE
    };
}

impl LossScan {
    /// From the highest rate of each frame size down in tenths of it, until two successive trials lose nothing: as the RFC has it.
    pub const RFC_2544: Self = Self {
        rates: Vec::new(),
        until_lossless: true,
    };

    /// Returns the rates at a frame size whose highest rate is `maximum`.
    pub fn rates_from(&self, maximum: FrameRate) -> Vec<FrameRate> {
        if self.rates.is_empty() {
            return (1..=10)
                .rev()
                .map(|tenth| FrameRate((u128::from(maximum.0) * tenth / 10).max(1) as u64))
                .collect();
        }
        self.rates.clone()
    }
}

const LOSS: &str = "RFC 2544 section 26.3";

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
    family: Family::Frames,
    traffic: TrafficRequirements::All,
    demand: None,
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: true,
    searches_phase_one: false,
    repetitions: 20,
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
                range.mistake(
                    "step",
                    format!("{count} rates are too many: choose a larger step"),
                );
                return Self {
                    rates: Vec::new(),
                    until_lossless: false,
                };
            }
            range.finish();
            let rates = (0..=count).map(|i| FrameRate(high - i * step)).collect();
            return Self {
                rates,
                until_lossless: false,
            };
        }
        if let Some(mut rates) = keys.list("rates", units::rate) {
            // The RFC begins with the highest rate.
            rates.sort_by(|a, b| b.cmp(a));
            rates.dedup();
            return Self {
                rates,
                until_lossless: false,
            };
        }
        Self::RFC_2544
    }
}

impl Measurement for LossScan {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::Listed {
            rates: &self.rates,
            end_when_lossless: self.until_lossless,
        }
    }

    fn sending(&self) -> SendingTime {
        SendingTime::AsPlanned
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        TrialKind::Constant
    }

    fn follow(&mut self, _profile: Profile, _trial_ns: u64) {}

    fn lengthen(&mut self) {}

    fn clauses(&self, test: &TestContext<'_>) -> Vec<Clause> {
        vec![
            Clause::must(
                LOSS,
                "loss = (input - output) * 100 / input",
                "by sequence numbers, of the frames that left the tester",
                true,
            ),
            from_the_maximum(test, self),
            granularity(test, self),
            until_lossless(self),
            axes(test),
            several_times(test.repetitions, "RFC 8219 section 12"),
        ]
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let maximum = context.theoretical().unwrap_or(context.test.search.maximum);
        Box::new(Scan::new(
            self,
            maximum,
            context.test.trial.duration_ns,
            context.tries(),
            context.conditions(),
        ))
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
    fn new(
        settings: &LossScan,
        maximum: FrameRate,
        duration_ns: u64,
        tries: u32,
        conditions: Conditions,
    ) -> Self {
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
        self.values.extend(
            result
                .directions
                .iter()
                .map(|direction| loss_rate(result, direction)),
        );
        self.lossless = if result.not_received() == 0 {
            self.lossless + 1
        } else {
            0
        };
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
        is_at_most: false,
    }
}

/// Returns the losses that are the DUT's, in a trial in which those of another may be the tester's.
fn losses_of_the_dut(result: &TrialResult) -> Vec<Value> {
    let lossy = result
        .directions
        .iter()
        .filter(|direction| direction.not_received() > 0);
    let of_the_dut =
        lossy.filter(|direction| result.is_loss_of_the_dut_in(direction, EXCUSABLE_SHARE));
    if result.is_as_asked() {
        of_the_dut
            .map(|direction| loss_rate(result, direction))
            .collect()
    } else {
        Vec::new()
    }
}

impl Procedure for Scan {
    fn next_trial(&self) -> Option<TrialSpec> {
        let is_over = self.until_lossless && self.lossless >= 2;
        let rate = self.rates.get(self.at).filter(|_| !is_over)?;
        Some(
            self.conditions
                .apply(TrialSpec::constant(*rate, self.duration_ns)),
        )
    }

    fn verdict(&self, result: &TrialResult) -> Verdict {
        match result.verdict(LossRatio::ZERO) {
            // The loss is the result, so the tester's own share must be negligible.
            Verdict::Lost if !result.is_loss_of_the_dut(EXCUSABLE_SHARE) => Verdict::Invalid,
            verdict => verdict,
        }
    }

    fn learn(&mut self, result: &TrialResult) {
        match self.verdict(result) {
            Verdict::Passed | Verdict::Lost => self.note(result),
            Verdict::Invalid => {
                let losses = losses_of_the_dut(result);
                self.partial = if losses.is_empty() {
                    std::mem::take(&mut self.partial)
                } else {
                    losses
                };
                // As in searches, a load that the tester clearly could not offer is tried half as often.
                self.invalid += if result.is_beyond_tester() { 2 } else { 1 };
                if self.invalid >= self.tries {
                    self.values.append(&mut self.partial);
                    self.go_on();
                }
            }
        }
    }

    fn findings(&self) -> Findings {
        Findings {
            brackets: Vec::new(),
            values: self.values.clone(),
        }
    }
}

fn from_the_maximum(test: &TestContext<'_>, scan: &LossScan) -> Clause {
    let requirement = "the first trial at 100 % of the medium's rate for the frame size";
    let Some(first) = scan.rates.first() else {
        let actual = match test.link_rate {
            Some(_) => "from 100 % of it, size by size".to_owned(),
            None => format!(
                "from {}; the plan does not know the rate of the medium",
                test.search.maximum
            ),
        };
        return Clause::should(LOSS, requirement, actual, test.link_rate.is_some());
    };
    let short = |size: &FrameSize| {
        test.theoretical(*size)
            .is_some_and(|most| !has_maximum(scan, most))
    };
    let short: Vec<FrameSize> = test.frame_sizes.iter().copied().filter(short).collect();
    let actual = match test.link_rate {
        None => format!("from {first}; the plan does not know the rate of the medium"),
        Some(_) if short.is_empty() => format!("from {first}"),
        Some(_) => format!("from {first}; not the maximum at {}", list(&short)),
    };
    Clause::should(
        LOSS,
        requirement,
        actual,
        test.link_rate.is_some() && short.is_empty(),
    )
}

/// Returns whether the highest rate of the scan that the medium carries is the medium's maximum, within 1 %.
fn has_maximum(scan: &LossScan, most: FrameRate) -> bool {
    let carried = scan.rates.iter().filter(|&&rate| rate <= most).max();
    carried.is_some_and(|rate| rate.0 as f64 >= 0.99 * most.0 as f64)
}

fn granularity(test: &TestContext<'_>, scan: &LossScan) -> Clause {
    let requirement = "steps of at most 10 % of the maximum rate";
    if scan.rates.is_empty() {
        return Clause::must(LOSS, requirement, "steps of 10 % of it", true);
    }
    let highest = scan.rates.iter().max().copied().unwrap_or(FrameRate(1));
    // Of the frame sizes the largest has the lowest maximum, so its steps are the coarsest.
    let maximum = test
        .frame_sizes
        .iter()
        .filter_map(|&size| test.theoretical(size))
        .min()
        .unwrap_or(highest)
        .min(highest);
    let widest = scan
        .rates
        .windows(2)
        .map(|pair| pair[0].0.abs_diff(pair[1].0))
        .max()
        .unwrap_or(0);
    let coarsest = 100.0 * widest as f64 / maximum.0.max(1) as f64;
    let actual = format!("steps of at most {coarsest:.1} % of {maximum}");
    // Rates are whole frames per second: a tenth may be rounded up.
    Clause::must(LOSS, requirement, actual, coarsest <= 10.0 + 1e-2)
}

fn until_lossless(scan: &LossScan) -> Clause {
    let requirement = "at ever lower rates until two successive trials lose nothing";
    if scan.rates.is_empty() {
        return Clause::should(
            LOSS,
            requirement,
            "until then, or down to a tenth of the maximum",
            scan.until_lossless,
        );
    }
    let descends = scan.rates.windows(2).all(|pair| pair[0] > pair[1]);
    let (highest, last) = (scan.rates.iter().max(), scan.rates.last());
    let reaches_down = highest
        .zip(last)
        .is_some_and(|(highest, last)| last.0 as f64 <= 0.1001 * highest.0 as f64);
    let how = if scan.until_lossless {
        "until then, or down to"
    } else {
        "every rate is tried, down to"
    };
    let actual = format!("{how} {}", last.copied().unwrap_or(FrameRate(0)));
    Clause::should(LOSS, requirement, actual, descends && reaches_down)
}

fn axes(test: &TestContext<'_>) -> Clause {
    let requirement = "a graph of the loss in per cent over the rate in per cent of the theoretical one, both from 0 to 100 %";
    let actual = match test.link_rate {
        Some(_) => "both axes from 0 to 100 %",
        None => {
            "rate in per cent of the highest rate tried; the plan does not know the rate of the medium"
        }
    };
    Clause::must(LOSS, requirement, actual, test.link_rate.is_some()).or_in_part(true)
}
