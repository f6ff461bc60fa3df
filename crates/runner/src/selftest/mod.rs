//! Measures the performance of the tester itself, first in memory, then over a veth pair without a DUT between its ports.

mod accuracy;
mod ceiling;
mod connections;
mod distance;
mod dns;
mod queries;
mod reception;
mod result;
mod subscribers;
mod wire;

pub use accuracy::{DelayRow, QuietestTrial, accuracy};
pub use ceiling::{Ceiling, ceiling};
pub use distance::{CoreDistance, core_distance};
pub use queries::{QueryFigures, QueryLoop, SENDING_COLUMNS, SendingAccuracy};
pub use result::{QueryRateSummary, SelftestResult, table};

use crate::RunError;
use crate::ends::ports::open as open_port;
use sixbench_engine::frames::profile::{AddressVariation, TrafficProfile};
use sixbench_engine::frames::selftest;
use sixbench_engine::{FrameTester, Layout, MeasureError};
use sixbench_io::clock::Clock;
use sixbench_io::thread::allowed_cores;
use sixbench_io::{Backend, PortOptions, PortSpec};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{AddressPart, Ports, Profile, ValueOrder, ValueRange};
use sixbench_method::search::{self, SearchSettings, Start};
use sixbench_method::terms::{Direction, Directions, FrameRate, FrameSize, LossRatio};
use sixbench_method::trial::{Measurer, TrialResult, TrialSpec, Verdict};
use sixbench_plan::standard_search;
use sixbench_testbed::namespace::{Namespace, name};
use sixbench_testbed::{Cores, Shell, TestbedError, sweep};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use wire::{FRAMES, add_veth, trial_settings, wire};

/// Measures how fast one core generates frames and handles connections, which needs neither root nor a link. Takes about a minute.
///
/// # Errors
/// There are none in a build that passes its tests.
pub fn sending() -> Result<Vec<SelftestResult>, RunError> {
    let mut figures = generation()?;
    figures.extend(subscribers::figures(&Clock::new())?);
    figures.extend(connections::figures(&Clock::new())?);
    Ok(figures)
}

/// Measures how fast one core receives and verifies frames, which needs neither root nor a link. Takes about half a minute.
///
/// # Errors
/// There are none in a build that passes its tests.
pub fn reception() -> Result<Vec<SelftestResult>, RunError> {
    reception::figures(&Clock::new())
}

/// Measures the performance of the DNS tester over the loopback interface.
///
/// # Errors
/// The tester cannot be set up, or `stop` was set.
pub fn dns(stop: &Arc<AtomicBool>) -> Result<Vec<SelftestResult>, RunError> {
    dns::figures(stop)
}

/// Measures how accurately DNS queries are sent, over the loopback interface, and how many can be looped depending on the timeout for an answer, over the
/// loopback interface or between two interfaces.
///
/// # Errors
/// The tester or the interfaces cannot be set up, or `stop` was set.
pub fn queries(of: &QueryLoop, stop: &Arc<AtomicBool>) -> Result<QueryFigures, RunError> {
    queries::figures(of, stop)
}

/// Measures how fast one core generates frames in memory, that is, the send path without a port.
fn generation() -> Result<Vec<SelftestResult>, RunError> {
    let clock = Clock::new();
    let ends = [
        ("IPv4, 64 octets", "198.18.0.2", "198.19.0.2"),
        ("IPv6, 84 octets", "2001:2::2", "2001:2:0:8000::2"),
    ];
    let kinds = [
        ("fixed ports", ValueOrder::Fixed, AddressVariation::None),
        (
            "random ports",
            ValueOrder::Pseudorandom,
            AddressVariation::None,
        ),
        ("random addresses", ValueOrder::Fixed, all_addresses()),
        (
            "random ports and addresses",
            ValueOrder::Pseudorandom,
            all_addresses(),
        ),
    ];
    let mut figures = Vec::new();
    for (name, source, destination) in ends {
        for (kind, order, variation) in kinds {
            let base = wire(source, destination, FrameSize(84));
            let forward_ports = Ports::in_order(order);
            let profile = TrafficProfile {
                forward_ports,
                left_variation: variation,
                right_variation: variation,
                ..base
            };
            let rate = selftest::generate(&profile, Direction::Forward, FRAMES, &clock)?;
            let what = format!("generation, one core: {name}, {kind}");
            figures.push(SelftestResult::new(what, rate.0, "frames/s"));
        }
    }
    Ok(figures)
}

/// Returns a variation of 16 bits of both addresses over all values (draft-lencse-bmwg-multiple-ip-addresses).
fn all_addresses() -> AddressVariation {
    let range = ValueRange {
        first: 0,
        last: 65535,
        order: ValueOrder::Pseudorandom,
    };
    let (ipv4_offset, ipv6_offset) = (AddressPart::IPV4_OFFSET, AddressPart::IPV6_OFFSET);
    AddressVariation::Part(AddressPart {
        range,
        ipv4_offset,
        ipv6_offset,
    })
}

/// Measures the highest rate at which every frame of this size is received over a veth pair with nothing in between. Needs root.
///
/// # Errors
/// The pair or a port cannot be set up, a trial cannot be performed, or `stop` was set.
pub fn over_veth(
    backend: Backend,
    frame_size: FrameSize,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<SelftestResult>, RunError> {
    let shell = Shell::new().stopped_by(stop.clone());
    sweep(&shell)?;
    let pair = veth(&shell, 1)?;
    let settings = PortOptions::new(frame_size.0.into());
    // There is no DUT, so all cores are the tester's. The softirq that receives a frame runs on the core that sent it.
    let cores = Cores::of_tester(&allowed_cores()?);
    let mut figures = Vec::new();
    for directions in [Directions::Forward, Directions::Both] {
        figures.push(over_pair(
            &pair, backend, settings, directions, &cores, stop,
        )?);
    }
    Ok(figures)
}

/// Measures the same in one direction with 1, 2, 4 and so on up to `most` queues, each on its own core as long as there are enough. Needs root.
///
/// # Errors
/// Those of [`over_veth`].
pub fn over_queues(
    backend: Backend,
    frame_size: FrameSize,
    most: NonZeroU32,
    stop: &Arc<AtomicBool>,
) -> Result<Vec<SelftestResult>, RunError> {
    let shell = Shell::new().stopped_by(stop.clone());
    sweep(&shell)?;
    let mut figures = Vec::new();
    let counts = (0..u32::BITS)
        .map(|doublings| 1 << doublings)
        .filter_map(NonZeroU32::new);
    for queues in counts.take_while(|queues| *queues <= most) {
        let cores: Vec<u32> = allowed_cores()?
            .into_iter()
            .take(queues.get() as usize)
            .collect();
        let pair = veth(&shell, queues.get())?;
        let settings = PortOptions {
            queues: Some(queues),
            ..PortOptions::new(frame_size.0.into())
        };
        let figure = over_pair(&pair, backend, settings, Directions::Forward, &cores, stop)?;
        figures.push(SelftestResult {
            what: format!("{}; {} of the tester's cores", figure.what, cores.len()),
            ..figure
        });
    }
    Ok(figures)
}

/// Measures the highest rate at which every frame gets from one end of a pair to the other, or in both directions.
fn over_pair(
    pair: &Namespace,
    backend: Backend,
    settings: PortOptions,
    directions: Directions,
    cores: &[u32],
    stop: &Arc<AtomicBool>,
) -> Result<SelftestResult, RunError> {
    let open = |end: &str| {
        open_port(
            (Some(pair.name()), &PortSpec::parse(end)),
            backend,
            settings,
        )
    };
    let (left, right) = (open("left")?, open("right")?);
    let name = if directions == Directions::Both {
        "both directions"
    } else {
        "one direction"
    };
    let what = format!("veth, no DUT, {name}, {}", left.how);
    let frame_size = FrameSize(settings.longest_frame as u16);
    let profile = TrafficProfile {
        directions,
        ..wire("198.18.0.2", "198.19.0.2", frame_size)
    };
    let layout = Layout {
        cores: cores.to_vec(),
    };
    let tester = FrameTester::new(
        (left, right),
        Isolation::Unknown.admit(profile)?,
        trial_settings(),
        layout,
        stop.clone(),
    );
    let (rate, error) = highest(tester)?;
    Ok(SelftestResult {
        offered_load_error: error,
        ..SelftestResult::new(what, rate.0, "frames/s")
    })
}

fn veth(shell: &Shell, queues: u32) -> Result<Namespace, TestbedError> {
    let namespace = Namespace::new(shell, &name("", "selftest"))?;
    add_veth(&namespace, ["left", "right"], queues)?;
    Ok(namespace)
}

struct BestTrialKeeper {
    tester: FrameTester,
    passed: Option<TrialResult>,
}

impl Measurer for BestTrialKeeper {
    type Error = MeasureError;

    fn measure(&mut self, spec: &TrialSpec) -> Result<TrialResult, MeasureError> {
        let result = self.tester.measure(spec)?;
        let is_higher = self
            .passed
            .as_ref()
            .is_none_or(|best| best.spec.rate < result.spec.rate);
        if is_higher && result.verdict(LossRatio::ZERO) == Verdict::Passed {
            self.passed = Some(result.clone());
        }
        Ok(result)
    }
}

fn highest(tester: FrameTester) -> Result<(FrameRate, Option<f64>), RunError> {
    let settings = SearchSettings {
        maximum: FrameRate(5_000_000),
        ..standard_search(Profile::Smoke)
    };
    let mut search = search::new_search(&settings, &trial_settings(), Start::Cold);
    let mut measurer = BestTrialKeeper {
        tester,
        passed: None,
    };
    search::run(search.as_mut(), &mut measurer)?;
    let found = search
        .brackets()
        .first()
        .and_then(|bracket| bracket.lower)
        .unwrap_or(FrameRate(0));
    let error = measurer.passed.map(|result| {
        let errors = result.directions.iter().map(|d| {
            let (took, nominal) = (d.sending.took_ns as f64, d.sending.nominal_ns.max(1) as f64);
            (took / nominal - 1.0).abs()
        });
        errors.fold(0.0, f64::max)
    });
    Ok((found, error))
}
