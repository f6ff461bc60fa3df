//! Soak: one load for hours, and whether the device's memory and its connections stay as they are. No RFC has it; leaks are what operators report
//! of translators after days. The load is either frames, or TCP connections that are opened and closed all the time: a device that forgets to free
//! an entry shows it only under new connections.

use super::info::HIGHEST_LOAD_PASSED;
use super::keys::{Keys, MeasureDefaults, time};
use super::loads::Loads;
use super::procedure::Reading;
use super::procedure::reading::{each, sent_as_asked};
use super::{
    Family, Info, Load, Measurement, Procedure, ProcedureContext, Quantity, SendingTime, Term,
    TestContext, TrafficRequirements,
};
use super::{Tcp, Value};
use crate::clause::Clause;
use crate::plan::{Profile, Stateful};
use crate::terms::bounds::{Bounded, NumberBound, TableBounds};
use crate::terms::{Direction, FrameRate};
use crate::trial::{DirectionResult, TrialKind, TrialResult, TrialSpec};
use crate::units;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sixbench_stats::trend;

/// One trial at one load, with the device watched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Soak {
    /// The load.
    pub load: Load,
    /// Time of sending, nanoseconds.
    pub duration_ns: u64,
    /// Time after the first frame while caches fill, so growth is not a leak, nanoseconds.
    pub warm_up_ns: u64,
    /// The way TCP connections are made, where the load is connections per second rather than frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<Tcp>,
}

impl Bounded for Soak {
    const BOUNDS: TableBounds = TableBounds {
        numbers: &[
            ("duration-ns", NumberBound::TIME_NS),
            ("warm-up-ns", NumberBound::TIME_NS),
        ],
        tables: &[("load", &Load::BOUNDS), ("tcp", &Tcp::BOUNDS)],
        ..TableBounds::NONE
    };
}

/// The new connections per second of a test that says nothing: what some thousand subscribers open, and any device can bear for hours.
const USUAL_CONNECTIONS: FrameRate = FrameRate(100);

/// The load of a test that says nothing: a device must be able to bear it for hours.
const USUAL_SHARE: f64 = 0.5;

/// The growth of the device's memory per hour, and the ends of its interval.
const MEMORY: [Quantity; 3] = [
    Quantity::MemoryGrowthRate,
    Quantity::MemoryGrowthLeast,
    Quantity::MemoryGrowthMost,
];

/// The same of the kernel's memory.
const KERNEL: [Quantity; 3] = [
    Quantity::KernelGrowthRate,
    Quantity::KernelGrowthLeast,
    Quantity::KernelGrowthMost,
];

const HOUR_NS: f64 = 3600e9;

/// What is seen of the device itself, whatever the load is.
const WATCHED: [Quantity; 7] = [
    Quantity::MemoryGrowthRate,
    Quantity::MemoryGrowthLeast,
    Quantity::MemoryGrowthMost,
    Quantity::KernelGrowthRate,
    Quantity::KernelGrowthLeast,
    Quantity::KernelGrowthMost,
    Quantity::TableGrowth,
];

pub(super) static INFOS: [Info; 2] = [FRAMES, CONNECTIONS];

const FRAMES: Info = Info {
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
    family: Family::Frames,
    // It follows no RFC.
    traffic: TrafficRequirements::None,
    demand: None,
    is_steady: true,
    is_of_delay: false,
    finds_a_limit: false,
    searches_phase_one: false,
    repetitions: 1,
    searched: None,
    quantities: &[
        Quantity::SoakLoss,
        // A constant list cannot be made of two others.
        WATCHED[0],
        WATCHED[1],
        WATCHED[2],
        WATCHED[3],
        WATCHED[4],
        WATCHED[5],
        WATCHED[6],
    ],
    headline: Some(Quantity::SoakLoss),
    is_averaged: false,
    axis: "throughput",
    open_end: HIGHEST_LOAD_PASSED,
};

const CONNECTIONS: Info = Info {
    term: Term {
        name: "tcp-soak",
        definition: "Soak test with new connections: TCP connections opened and closed at one rate for hours, and whether the \
                     device's memory and table grow.",
        clause: "none; a measure of this project, with the connections of RFC 3511 section 5.3",
        here: "One trial: connection i is attempted at start + i / `rate`, carries a GET of HTTP/1.1 and is closed. Memory and \
               table are sampled all the time, and growth is computed as for `soak`. A closed connection stays in the table \
               until the device's own timeout, so the table is level when `warm-up` is longer than that (Linux: two minutes).",
        unit: "per cent of the connections; connections per second; kB per hour; connections",
    },
    summary: "the same with TCP connections that are opened and closed at one rate (no RFC)",
    family: Family::Tcp,
    quantities: &[
        Quantity::FailedConnections,
        Quantity::ConnectionsOpened,
        Quantity::ConnectionsClosed,
        WATCHED[0],
        WATCHED[1],
        WATCHED[2],
        WATCHED[3],
        WATCHED[4],
        WATCHED[5],
        WATCHED[6],
        Quantity::TableLargest,
    ],
    headline: Some(Quantity::FailedConnections),
    axis: "TCP connections",
    ..FRAMES
};

impl Soak {
    /// Returns the settings that the keys of a test ask for: half of the throughput, or a few connections per second, for as long as the profile
    /// has it.
    pub(super) fn read(name: &str, keys: &impl Keys, defaults: &MeasureDefaults) -> Self {
        let tcp = (name == CONNECTIONS.term.name).then(|| Tcp::read(keys, defaults));
        let load = match tcp {
            Some(_) => Load::Rate(keys.value("rate", units::rate).unwrap_or(USUAL_CONNECTIONS)),
            None if keys.is_given("rate") => Load::read(keys),
            None => Load::OfThroughput(USUAL_SHARE),
        };
        let duration_ns = time(keys, "duration", usual_ns(defaults.profile));
        let warm_up_ns = keys
            .value("warm-up", units::duration_ns)
            // In the profile draft 150 s, which is longer than Linux keeps closed connections (two minutes). Three quarters are left for the line whose
            // slope is the growth: its standard error is 1.5 times that over the whole time, as it falls with the power 1.5 of the time.
            .unwrap_or(duration_ns / 4);
        if warm_up_ns >= duration_ns {
            keys.mistake("warm-up", "`warm-up` must be shorter than `duration`");
        }
        Self {
            load,
            duration_ns,
            warm_up_ns,
            tcp,
        }
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
        &INFOS[usize::from(self.tcp.is_some())]
    }

    fn loads(&self) -> Loads<'_> {
        Loads::At(self.load)
    }

    fn sending(&self) -> SendingTime {
        SendingTime::For(self.duration_ns)
    }

    fn largest_kind(&self, _stateful: Option<Stateful>) -> TrialKind {
        self.kind()
    }

    fn follow(&mut self, profile: Profile, _trial_ns: u64) {
        self.duration_ns = usual_ns(profile);
        self.warm_up_ns = self.duration_ns / 4;
    }

    fn lengthen(&mut self) {
        self.follow(Profile::Rfc, 0);
    }

    fn clauses(&self, _test: &TestContext<'_>) -> Vec<Clause> {
        Vec::new()
    }

    fn procedure(&self, context: &ProcedureContext<'_>) -> Box<dyn Procedure> {
        let (duration_ns, kind) = (self.duration_ns, self.kind());
        context.single_at(
            self.load,
            move |rate| TrialSpec {
                kind,
                ..TrialSpec::constant(rate, duration_ns)
            },
            read,
        )
    }

    fn watched(&self, result: &TrialResult, watch: &Watch) -> Vec<Value> {
        let growth_of = |samples: &[u64]| growth(&self.after(samples, result, watch), watch);
        let (memory, kernel) = (
            growth_of(&watch.device_memory()),
            growth_of(&watch.kernel_memory),
        );
        let connections = self.after(&watch.connections, result, watch);
        let table = connections
            .first()
            .zip(connections.last())
            .map(|(first, last)| *last as f64 - *first as f64);
        let largest = watch
            .connections
            .iter()
            .max()
            .filter(|_| self.tcp.is_some());
        let found = MEMORY
            .into_iter()
            .zip(memory)
            .chain(KERNEL.into_iter().zip(kernel));
        let found = found.chain(table.map(|table| (Quantity::TableGrowth, table)));
        let found = found.chain(largest.map(|largest| (Quantity::TableLargest, *largest as f64)));
        // Device-wide values are stored with the forward direction.
        let (direction, load) = (Direction::Forward, result.spec.rate);
        found
            .map(|(quantity, value)| Value {
                quantity,
                direction,
                load,
                value,
                is_at_least: false,
                is_at_most: false,
            })
            .collect()
    }
}

impl Soak {
    fn kind(&self) -> TrialKind {
        if self.tcp.is_some() {
            TrialKind::TcpRate
        } else {
            TrialKind::Constant
        }
    }

    /// Returns the samples after the warm-up, which begins with the first frame of phase 2, up to the last frame.
    fn after(&self, samples: &[u64], result: &TrialResult, watch: &Watch) -> Vec<u64> {
        let opening_ns = result
            .phase_one_result()
            .map_or(0, |connections| connections.delay_ns);
        let index = |ns: u64| (ns / watch.interval_ns.max(1)) as usize;
        let (first, last) = (
            index(opening_ns + self.warm_up_ns),
            index(opening_ns + self.duration_ns),
        );
        samples.iter().take(last).skip(first).copied().collect()
    }
}

/// Returns the growth per hour, and the lower and the upper end of its interval; nothing of too few samples.
fn growth(samples: &[u64], watch: &Watch) -> Vec<f64> {
    let samples: Vec<f64> = samples.iter().map(|octets| *octets as f64).collect();
    trend(&samples).map_or_else(Vec::new, |found| {
        [found.slope, found.low, found.high]
            .map(|slope| slope * HOUR_NS / watch.interval_ns.max(1) as f64)
            .to_vec()
    })
}

/// Returns the loss of each direction, or what became of the connections. A tester that sent as asked is enough: pauses of some milliseconds decide
/// nothing over hours.
fn read(result: &TrialResult) -> Reading {
    let values = match result.spec.kind {
        TrialKind::TcpRate => each(result, |opened| Some(cycled(result, opened))),
        _ => each(result, |direction| {
            Some(vec![(Quantity::SoakLoss, direction.loss_ratio().0 * 100.0)])
        }),
    };
    Reading::new(sent_as_asked(result), values)
}

/// Returns the share of the connections that failed, and how many were opened and closed per second.
fn cycled(result: &TrialResult, opened: &DirectionResult) -> Vec<(Quantity, f64)> {
    let unclosed = result.tcp().map_or(0, |tcp| tcp.connections.unclosed);
    let per_second =
        |connections: u64| connections as f64 * 1e9 / result.spec.duration_ns.max(1) as f64;
    vec![
        (Quantity::FailedConnections, opened.loss_ratio().0 * 100.0),
        (Quantity::ConnectionsOpened, per_second(opened.received)),
        (
            Quantity::ConnectionsClosed,
            per_second(opened.received.saturating_sub(unclosed)),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{Behaviour, SimulatedDut};
    use crate::trial::Measurer as _;
    use crate::trial::tcp::Close;
    use sixbench_stats::SplitMix64;

    const HOUR: u64 = 3_600_000_000_000;

    fn soak() -> Soak {
        Soak {
            load: Load::Rate(FrameRate(1000)),
            duration_ns: 2 * HOUR,
            warm_up_ns: HOUR / 2,
            tcp: None,
        }
    }

    fn result() -> TrialResult {
        let spec = TrialSpec::constant(FrameRate(1000), 2 * HOUR);
        TrialResult::new(
            spec,
            vec![DirectionResult::counted(
                Direction::Forward,
                7_200_000,
                7_199_280,
            )],
            vec![],
        )
    }

    /// A device whose memory fills a cache of 3 MB in ten minutes and then leaks so many octets per hour, seen every second with some noise.
    fn watch(leak: f64, seed: u64) -> Watch {
        let mut random = SplitMix64::new(seed);
        let sample = |second: u32| {
            let cache = 3e6 * (f64::from(second) / 600.0).min(1.0);
            (20e6 + cache + leak * f64::from(second) / 3600.0 + 4096.0 * random.gaussian()) as u64
        };
        Watch {
            interval_ns: 1_000_000_000,
            memory: (0..7205).map(sample).collect(),
            ..Watch::default()
        }
    }

    fn found(watch: &Watch, quantity: Quantity) -> Option<f64> {
        soak()
            .watched(&result(), watch)
            .iter()
            .find(|value| value.quantity == quantity)
            .map(|value| value.value)
    }

    #[test]
    fn a_device_that_leaks_is_found_out_and_one_that_fills_its_cache_is_not_accused() {
        let ends = |leak, seed| {
            let watch = watch(leak, seed);
            let of = |quantity| found(&watch, quantity).expect("a value");
            (
                of(Quantity::MemoryGrowthLeast),
                of(Quantity::MemoryGrowthRate),
                of(Quantity::MemoryGrowthMost),
            )
        };
        let leaks = (0..200)
            .filter(|seed| ends(100_000.0, *seed).0 > 90_000.0)
            .count();
        assert_eq!(leaks, 200, "100 kB/h");
        let accused = (0..200).filter(|seed| ends(0.0, *seed).0 > 0.0).count();
        assert!(accused <= 12, "{accused} of 200 where 5 are due");
        let (low, rate, high) = ends(100_000.0, 1);
        assert!(
            low < rate && rate < high && (rate - 100_000.0).abs() < 2_000.0,
            "{low} {rate} {high}"
        );
    }

    #[test]
    fn the_kernels_memory_and_the_connections_have_values_of_their_own() {
        let connections = (0..7205).map(|second| 1000 + second / 2000).collect();
        let leaking = watch(50_000.0, 3);
        let watch = Watch {
            kernel_memory: leaking.memory,
            connections,
            memory: vec![],
            ..leaking
        };
        assert_eq!(
            found(&watch, Quantity::MemoryGrowthRate),
            None,
            "the device has no process"
        );
        assert!(found(&watch, Quantity::KernelGrowthLeast).is_some_and(|low| low > 40_000.0));
        assert_eq!(found(&watch, Quantity::TableGrowth), Some(3.0));
    }

    #[test]
    fn the_loss_is_that_of_the_whole_time_and_faults_of_a_moment_do_not_spoil_it() {
        let reading = read(&result());
        assert_eq!(reading.values[0].quantity, Quantity::SoakLoss);
        assert!((reading.values[0].value - 0.01).abs() < 1e-9);
    }

    fn cycling() -> Soak {
        let tcp = Tcp {
            object_octets: 64,
            time_limit_ns: 900_000_000,
            close: Close::ServerFirst,
            server_ports: (80, 80),
        };
        Soak {
            tcp: Some(tcp),
            ..soak()
        }
    }

    #[test]
    fn connections_that_a_simulated_device_cannot_open_have_failed_and_the_others_are_counted_per_second()
     {
        for (capacity, failed, opened) in [(5_000, 0.0, 1_000.0), (800, 20.0, 800.0)] {
            let mut dut = SimulatedDut::new(Behaviour::HardLimit, FrameRate(capacity), 1);
            let Ok(result) = dut.measure(&TrialSpec {
                kind: cycling().kind(),
                ..TrialSpec::constant(FrameRate(1_000), HOUR)
            });
            let value = |quantity| {
                read(&result)
                    .values
                    .iter()
                    .find(|value| value.quantity == quantity)
                    .map(|value| value.value)
            };
            assert!(
                value(Quantity::FailedConnections)
                    .is_some_and(|found| (found - failed).abs() < 0.1),
                "{capacity}"
            );
            for quantity in [Quantity::ConnectionsOpened, Quantity::ConnectionsClosed] {
                assert!(
                    value(quantity).is_some_and(|found| (found - opened).abs() < 1.0),
                    "{capacity}: {quantity:?}"
                );
            }
        }
    }

    #[test]
    fn a_table_that_keeps_closed_connections_gains_and_one_that_frees_them_after_two_minutes_does_not()
     {
        let grown = |table: fn(u64) -> u64| {
            let watch = Watch {
                interval_ns: 1_000_000_000,
                connections: (0..7205).map(table).collect(),
                ..Watch::default()
            };
            let values = cycling().watched(&result(), &watch);
            let of = |quantity| {
                values
                    .iter()
                    .find(|value| value.quantity == quantity)
                    .map(|value| value.value)
            };
            (of(Quantity::TableGrowth), of(Quantity::TableLargest))
        };
        assert_eq!(
            grown(|second| 100 * second.min(120)),
            (Some(0.0), Some(12_000.0))
        );
        // One in a thousand is never freed.
        assert_eq!(
            grown(|second| 100 * second.min(120) + second / 10),
            (Some(539.0), Some(12_720.0))
        );
    }
}
