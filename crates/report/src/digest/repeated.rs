//! Tests that repeat one trial at a rate found by other tests, as Lencse and Nagy did for the idle time of each core, and how often it passed.

use super::{Digest, PointDigest};
use crate::wording::numbers::{enumerated, grouped, percentage, three_digits};
use sixbench_method::lists::each_once;
use sixbench_method::measures::{LoadSource, Outcome};
use sixbench_method::plan::Test;
use sixbench_method::record::TrialRecord;
use sixbench_method::trial::Verdict;

/// The most cores of a device that are listed individually; if there are more, only the least and the most idle are.
const MOST_CORES: usize = 4;

/// The repeated trials of a point.
pub(crate) struct RepeatedRate<'a> {
    /// The rate of the first and of the last repetition: if the tests of a plan take turns, the median may still change.
    rates: [u64; 2],
    is_at_least: bool,
    /// The tests whose searches found the rate.
    found_by: Vec<&'a str>,
    pub(crate) passed: usize,
    /// The trials that say something about the device.
    pub(crate) trials: Vec<&'a TrialRecord>,
    /// Repetitions without such a trial.
    invalid: usize,
}

impl<'a> PointDigest<'a> {
    /// Returns whether the point's test repeats the rate of another test, so that its results are not rates themselves.
    pub(crate) fn repeats_a_rate(&self) -> bool {
        self.test.measure.result_kind().repeats_a_rate()
    }

    /// Returns the results of its repetitions at a known rate; `None` if there are none yet.
    pub(crate) fn repeated(&self) -> Option<RepeatedRate<'a>> {
        let is_at_known_rate = |outcome: &&Outcome| self.repeats_a_rate() && outcome.load.is_some();
        let outcomes: Vec<&Outcome> = self
            .outcomes
            .iter()
            .copied()
            .filter(is_at_known_rate)
            .collect();
        let loads: Vec<&LoadSource> = outcomes
            .iter()
            .filter_map(|outcome| outcome.load.as_ref())
            .collect();
        let rates = [loads.first()?.throughput.0, loads.last()?.throughput.0];
        Some(RepeatedRate {
            rates,
            is_at_least: loads.iter().any(|load| load.is_at_least),
            found_by: each_once(
                loads
                    .iter()
                    .flat_map(|load| &load.searches)
                    .map(|search| search.test.as_str()),
            ),
            passed: outcomes
                .iter()
                .filter(|outcome| outcome.throughput().is_some())
                .count(),
            trials: self.trials_at_known_rate(),
            invalid: outcomes
                .iter()
                .filter(|outcome| {
                    outcome
                        .brackets
                        .iter()
                        .all(|bracket| bracket.known().is_none())
                })
                .count(),
        })
    }

    /// Returns the trials at a rate found by other tests, except those that say nothing about the device.
    pub(super) fn trials_at_known_rate(&self) -> Vec<&'a TrialRecord> {
        let is_sound = |record: &&TrialRecord| {
            record.load.is_some() && record.result.verdict(self.first_goal()) != Verdict::Invalid
        };
        self.records.iter().copied().filter(is_sound).collect()
    }
}

impl RepeatedRate<'_> {
    /// Returns the rate: `3,699`, `≥ 3,699`.
    pub(crate) fn rate(&self) -> String {
        let sign = if self.is_at_least { "≥\u{a0}" } else { "" };
        let rates = each_once(self.rates.map(|rate| grouped(rate as f64)));
        format!("{sign}{}", rates.join(" to "))
    }

    /// Returns the names of the tests that found the rate, as in the plan.
    pub(crate) fn found_by(&self) -> String {
        enumerated(&self.found_by)
    }

    /// Returns whether the test itself found the rate, because no other test with the same queries had.
    pub(crate) fn is_found_by(&self, test: &Test) -> bool {
        self.found_by == [test.name.as_str()]
    }

    /// Returns how many trials passed, of those that say something about the device: `8 of 8`.
    pub(crate) fn passed_of(&self) -> String {
        format!("{} of {}", self.passed, self.trials.len())
    }

    /// Returns the part of a sentence about invalid repetitions; empty if there are none.
    pub(crate) fn invalid_words(&self) -> String {
        match self.invalid {
            0 => String::new(),
            n => format!(
                " ({n} more {} invalid)",
                if n == 1 { "was" } else { "were" }
            ),
        }
    }

    /// Returns the largest share of queries that a trial left without a correct answer, per cent.
    pub(crate) fn worst_loss(&self) -> String {
        percentage(
            self.trials
                .iter()
                .map(|record| 100.0 * record.result.loss_ratio().0)
                .fold(0.0, f64::max),
        )
    }
}

impl<'a> Digest<'a> {
    /// Returns the points whose tests repeat a rate, in the order of the plan.
    pub(crate) fn repeated_points(
        &self,
    ) -> impl Iterator<Item = (&PointDigest<'a>, RepeatedRate<'a>)> {
        self.points
            .iter()
            .filter_map(|point| Some((point, point.repeated()?)))
    }

    /// Returns the mean idle time of each core of each device in these trials: `Unbound: core 2 12 %`, or for many cores `jool-plat: 16 cores 3 to 34
    /// %`; empty if nothing was watched.
    pub(crate) fn idle_words(&self, point: &PointDigest<'a>, trials: &[&TrialRecord]) -> String {
        let device = |idle: super::DeviceIdle| {
            let cores: Vec<(u32, f64)> = idle
                .cores
                .iter()
                .map(|core| (core.core, core.mean_percent()))
                .collect();
            let percent = |(_, percent): &(u32, f64)| three_digits(*percent);
            let words = if cores.len() <= MOST_CORES {
                cores
                    .iter()
                    .map(|core| format!("core\u{a0}{} {}\u{a0}%", core.0, percent(core)))
                    .collect::<Vec<_>>()
                    .join(", ")
            } else {
                let by_idle = |a: &&(u32, f64), b: &&(u32, f64)| a.1.total_cmp(&b.1);
                let ends = [cores.iter().min_by(by_idle), cores.iter().max_by(by_idle)]
                    .map(|core| core.map_or(String::new(), percent));
                format!("{}\u{a0}cores {}\u{a0}%", cores.len(), ends.join(" to "))
            };
            format!("{}: {words}", idle.device)
        };
        let devices = point.idle_devices(trials, self.dut_title(point.test));
        devices
            .into_iter()
            .map(device)
            .collect::<Vec<_>>()
            .join("; ")
    }
}
