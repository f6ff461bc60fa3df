//! Soak: one load for hours, and whether the device's memory and its connections stay as they are. No RFC has it; leaks are what operators report
//! of translators after days.

use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults, time};
use super::procedure::Reading;
use super::procedure::reading::{each, sent_as_asked};
use super::{Info, Load, Measurement, Noun, Procedure, ProcedureContext, Quantity, SendingTime, Term, TestContext};
use super::{TrafficRequirements, Value};
use crate::conformance::Clause;
use crate::plan::Profile;
use crate::record::Watch;
use crate::stats::trend;
use crate::terms::Direction;
use crate::trial::{TrialResult, TrialSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One trial at one load, with the device watched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Soak {
    /// The load.
    pub load: Load,
    /// Time of sending, nanoseconds.
    pub duration_ns: u64,
    /// The time from the first frame on in which caches fill and growth is none of a leak, nanoseconds.
    pub warm_up_ns: u64,
}

/// The load of a test that says nothing: a device must be able to bear it for hours.
const USUAL_SHARE: f64 = 0.5;

/// The growth of the device's memory per hour, and the ends of its interval.
const MEMORY: [Quantity; 3] = [Quantity::MemoryGrowthRate, Quantity::MemoryGrowthLeast, Quantity::MemoryGrowthMost];

/// The same of the kernel's memory.
const KERNEL: [Quantity; 3] = [Quantity::KernelGrowthRate, Quantity::KernelGrowthLeast, Quantity::KernelGrowthMost];

const HOUR_NS: f64 = 3600e9;

pub(super) static INFOS: [Info; 1] = [Info {
    term: Term {
        name: "soak",
        definition: "Soak test: one load for hours, and whether the device's memory grows and its connections stay.",
        clause: "none; a measure of this project",
        here: "One trial at the load `rate`. The resident memory of the device's processes (of a virtual machine that of its \
               processes, of another machine all that is in use) and the memory of this machine's kernel that cannot be \
               reclaimed are sampled all the time. A line is laid through the means of 20 equal parts of the time after \
               `warm-up`; its slope is the growth per hour, with an interval of 95 % that allows for means that follow each \
               other. The kernel's memory is that of the whole machine. Connections are those in the kernel's table at the \
               end, less those after `warm-up`.",
        unit: "per cent of the frames; kB per hour; connections",
    },
    summary: "loss, growth of memory and connections over hours at one load (no RFC)",
    noun: Noun::Frames,
    searched: None,
    quantities: &[
        Quantity::SoakLoss,
        Quantity::MemoryGrowthRate,
        Quantity::MemoryGrowthLeast,
        Quantity::MemoryGrowthMost,
        Quantity::KernelGrowthRate,
        Quantity::KernelGrowthLeast,
        Quantity::KernelGrowthMost,
        Quantity::TableGrowth,
    ],
    headline: Some(Quantity::SoakLoss),
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
}];

impl Soak {
    /// Returns the settings that the keys of a test ask for: half of the throughput, for as long as the profile has it.
    pub(super) fn read(keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        let load = if keys.is_given("rate") { Load::read(keys) } else { Load::OfThroughput(USUAL_SHARE) };
        let duration_ns = time(keys, "duration", usual_ns(defaults.profile));
        let warm_up_ns = keys.value("warm-up", crate::units::duration_ns).unwrap_or(duration_ns / 4);
        if warm_up_ns >= duration_ns {
            keys.mistake("warm-up", "`warm-up` must be shorter than `duration`");
        }
        Self { load, duration_ns, warm_up_ns }
    }
}

/// The time of sending of a test that says nothing, nanoseconds. Leaks show after hours; what shows in seconds is only that the test works.
fn usual_ns(profile: Profile) -> u64 {
    let seconds = match profile {
        Profile::Smoke => 20,
        Profile::Draft | Profile::Custom => 600,
        Profile::Rfc => 4 * 3600,
    };
    seconds * 1_000_000_000
}

impl Measurement for Soak {
    fn info(&self) -> &'static Info {
        &INFOS[0]
    }

    fn load(&self) -> Option<Load> {
        Some(self.load)
    }

    fn sending(&self) -> SendingTime {
        SendingTime::For(self.duration_ns)
    }

    fn follow(&mut self, profile: Profile, _trial_ns: u64) {
        self.duration_ns = usual_ns(profile);
        self.warm_up_ns = self.duration_ns / 4;
    }

    fn lengthen(&mut self) -> u32 {
        self.follow(Profile::Rfc, 0);
        1
    }

    /// It follows no RFC.
    fn traffic_requirements(&self) -> TrafficRequirements {
        TrafficRequirements::None
    }

    fn clauses(&self, _test: &TestContext<'_>) -> Vec<Clause> {
        Vec::new()
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let duration_ns = self.duration_ns;
        context.single_at(self.load, move |rate| TrialSpec::constant(rate, duration_ns), read)
    }

    fn watched(&self, result: &TrialResult, watch: &Watch) -> Vec<Value> {
        let growth_of = |samples: &[u64]| growth(&self.after(samples, result, watch), watch);
        let (memory, kernel) = (growth_of(&device_memory(watch)), growth_of(&watch.kernel_memory));
        let connections = self.after(&watch.connections, result, watch);
        let table = connections.first().zip(connections.last()).map(|(first, last)| *last as f64 - *first as f64);
        let found = MEMORY.into_iter().zip(memory).chain(KERNEL.into_iter().zip(kernel));
        let found = found.chain(table.map(|table| (Quantity::TableGrowth, table)));
        // What is of the device as a whole stands with the forward direction.
        let (direction, load) = (Direction::Forward, result.spec.rate);
        found.map(|(quantity, value)| Value { quantity, direction, load, value, is_at_least: false }).collect()
    }
}

impl Soak {
    /// Returns the samples after the warm-up, which begins with the first frame of phase 2, up to the last frame.
    fn after(&self, samples: &[u64], result: &TrialResult, watch: &Watch) -> Vec<u64> {
        let opening_ns = result.phase_one_result().map_or(0, |connections| connections.delay_ns);
        let index = |ns: u64| (ns / watch.interval_ns.max(1)) as usize;
        let (first, last) = (index(opening_ns + self.warm_up_ns), index(opening_ns + self.duration_ns));
        samples.iter().take(last).skip(first).copied().collect()
    }
}

/// Returns the memory of the device at each sample, octets: of its own machines where it has some, else of its processes.
fn device_memory(watch: &Watch) -> Vec<u64> {
    let own: Vec<&Vec<u64>> = watch.devices.iter().map(|device| &device.memory).filter(|memory| !memory.is_empty()).collect();
    let length = own.iter().map(|memory| memory.len()).min();
    length
        .map_or_else(|| watch.memory.clone(), |length| (0..length).map(|i| own.iter().map(|memory| memory[i]).sum()).collect())
}

/// Returns the growth per hour, and the lower and the upper end of its interval; nothing of too few samples.
fn growth(samples: &[u64], watch: &Watch) -> Vec<f64> {
    let samples: Vec<f64> = samples.iter().map(|octets| *octets as f64).collect();
    let per_hour = |slope: f64| slope * HOUR_NS / watch.interval_ns.max(1) as f64;
    trend(&samples).map_or_else(Vec::new, |found| [found.slope, found.low, found.high].map(per_hour).to_vec())
}

/// Returns the loss of each direction. A tester that sent as asked is enough: pauses of some milliseconds decide nothing over hours.
fn read(result: &TrialResult) -> Reading {
    let values = each(result, |direction| Some(vec![(Quantity::SoakLoss, direction.loss_ratio().0 * 100.0)]));
    Reading::new(sent_as_asked(result), values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::SplitMix64;
    use crate::terms::FrameRate;
    use crate::trial::DirectionResult;

    const HOUR: u64 = 3_600_000_000_000;

    fn soak() -> Soak {
        Soak { load: Load::Rate(FrameRate(1000)), duration_ns: 2 * HOUR, warm_up_ns: HOUR / 2 }
    }

    fn result() -> TrialResult {
        let spec = TrialSpec::constant(FrameRate(1000), 2 * HOUR);
        TrialResult::new(spec, vec![DirectionResult::counted(Direction::Forward, 7_200_000, 7_199_280)], vec![])
    }

    /// A device whose memory fills a cache of 3 MB in ten minutes and then leaks so many octets per hour, seen every second with some noise.
    fn watch(leak: f64, seed: u64) -> Watch {
        let mut random = SplitMix64::new(seed);
        let sample = |second: u32| {
            let cache = 3e6 * (f64::from(second) / 600.0).min(1.0);
            (20e6 + cache + leak * f64::from(second) / 3600.0 + 4096.0 * random.gaussian()) as u64
        };
        Watch { interval_ns: 1_000_000_000, memory: (0..7205).map(sample).collect(), ..Watch::default() }
    }

    fn found(watch: &Watch, quantity: Quantity) -> Option<f64> {
        soak().watched(&result(), watch).iter().find(|value| value.quantity == quantity).map(|value| value.value)
    }

    #[test]
    fn a_device_that_leaks_is_found_out_and_one_that_fills_its_cache_is_not_accused() {
        let ends = |leak, seed| {
            let watch = watch(leak, seed);
            let of = |quantity| found(&watch, quantity).expect("a value");
            (of(Quantity::MemoryGrowthLeast), of(Quantity::MemoryGrowthRate), of(Quantity::MemoryGrowthMost))
        };
        let leaks = (0..200).filter(|seed| ends(100_000.0, *seed).0 > 90_000.0).count();
        assert_eq!(leaks, 200, "100 kB/h");
        let accused = (0..200).filter(|seed| ends(0.0, *seed).0 > 0.0).count();
        assert!(accused <= 12, "{accused} of 200 where 5 are due");
        let (low, rate, high) = ends(100_000.0, 1);
        assert!(low < rate && rate < high && (rate - 100_000.0).abs() < 2_000.0, "{low} {rate} {high}");
    }

    #[test]
    fn the_kernels_memory_and_the_connections_have_values_of_their_own() {
        let connections = (0..7205).map(|second| 1000 + second / 2000).collect();
        let leaking = watch(50_000.0, 3);
        let watch = Watch { kernel_memory: leaking.memory, connections, memory: vec![], ..leaking };
        assert_eq!(found(&watch, Quantity::MemoryGrowthRate), None, "the device has no process");
        assert!(found(&watch, Quantity::KernelGrowthLeast).is_some_and(|low| low > 40_000.0));
        assert_eq!(found(&watch, Quantity::TableGrowth), Some(3.0));
    }

    #[test]
    fn the_loss_is_that_of_the_whole_time_and_faults_of_a_moment_do_not_spoil_it() {
        let reading = read(&result());
        assert_eq!(reading.values[0].quantity, Quantity::SoakLoss);
        assert!((reading.values[0].value - 0.01).abs() < 1e-9);
    }
}
