//! Profiles and devices in memory, shared by the tests of the whole tester.
#![allow(dead_code, reason = "`hostile_tcp` uses a part of it")]

pub(crate) mod by_number;
pub(crate) mod dns;
pub(crate) mod dns64;
pub(crate) mod floods;
pub(crate) mod nat;
pub(crate) mod segments;
pub(crate) mod veth;

use sixbench_engine::frames::profile::{AddressPair, Encapsulation, Path, Paths, TrafficProfile};
use sixbench_engine::{FrameTester, Layout, MeasureError};
use sixbench_io::Port;
use sixbench_io::loopback::{LoopbackDevice, pair_with};
use sixbench_method::isolation::Isolation;
use sixbench_method::terms::{FrameRate, FrameSize, Share};
use sixbench_method::trial::{Measurer, TrialResult, TrialSettings, TrialSpec};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(crate) const FRAMES: u64 = 1000;

pub(crate) fn ends(source: &str, destination: &str) -> AddressPair {
    AddressPair {
        source: source.parse().expect("address"),
        destination: destination.parse().expect("address"),
    }
}

/// Returns the path of a wire, on which frames arrive as they were sent.
pub(crate) fn unchanged(source: &str, destination: &str) -> Path {
    let datagram = Encapsulation::plain(ends(source, destination));
    Path {
        sent: datagram,
        expected: datagram,
        hops: 0,
    }
}

pub(crate) fn ipv4() -> TrafficProfile {
    let address = |text: &str| text.parse().expect("address");
    TrafficProfile::identity(address("198.18.0.2"), address("198.19.0.2"), FrameSize(84))
}

pub(crate) fn ipv6_with_background(share: Share) -> TrafficProfile {
    let paths = |a: [&str; 2], b: [&str; 2]| Paths {
        foreground: unchanged(a[0], b[0]),
        background: Some(unchanged(a[1], b[1])),
    };
    let (left, right) = (
        ["2001:2::2", "2001:2::3"],
        ["2001:2:0:8000::2", "2001:2:0:8000::3"],
    );
    let base = ipv4();
    TrafficProfile {
        forward: paths(left, right),
        reverse: paths(right, left),
        share,
        ..base
    }
}

/// Returns a trial of a fifth of a second through `device`.
pub(crate) fn trial(profile: TrafficProfile, device: LoopbackDevice) -> TrialResult {
    trial_of(
        profile,
        device,
        TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000),
    )
}

pub(crate) fn trial_of(
    profile: TrafficProfile,
    device: LoopbackDevice,
    spec: TrialSpec,
) -> TrialResult {
    measure(profile, device, spec, 0)
}

/// Does the same as [`trial`], where a frame later than `timeout` does not count as received.
pub(crate) fn trial_with_timeout(
    profile: TrafficProfile,
    device: LoopbackDevice,
    timeout: Duration,
) -> TrialResult {
    trial_with(
        profile,
        device,
        TrialSpec::constant(FrameRate(FRAMES * 5), 200_000_000),
        timeout,
    )
}

/// Does the same as [`trial_of`], where a frame later than `timeout` does not count as received.
pub(crate) fn trial_with(
    profile: TrafficProfile,
    device: LoopbackDevice,
    spec: TrialSpec,
    timeout: Duration,
) -> TrialResult {
    measure(profile, device, spec, timeout.as_nanos() as u64)
}

/// Every trial keeps a core busy: trials in parallel would starve each other on a small machine, and a tester that is half a second behind gives up.
pub(crate) static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Does the same as [`trial_of`], for trials that cannot be performed.
pub(crate) fn try_trial(
    profile: TrafficProfile,
    device: LoopbackDevice,
    spec: TrialSpec,
) -> Result<TrialResult, MeasureError> {
    try_measure(profile, device, spec, 0)
}

fn measure(
    profile: TrafficProfile,
    device: LoopbackDevice,
    spec: TrialSpec,
    frame_timeout_ns: u64,
) -> TrialResult {
    try_measure(profile, device, spec, frame_timeout_ns).expect("a trial")
}

fn try_measure(
    profile: TrafficProfile,
    device: LoopbackDevice,
    spec: TrialSpec,
    frame_timeout_ns: u64,
) -> Result<TrialResult, MeasureError> {
    try_between(pair_with(device), profile, spec, frame_timeout_ns)
}

/// Returns a trial between two ports, with anything between them.
pub(crate) fn trial_between(
    ports: (Port, Port),
    profile: TrafficProfile,
    spec: TrialSpec,
) -> TrialResult {
    try_between(ports, profile, spec, 0).expect("a trial")
}

/// Returns a trial with threads on these cores.
pub(crate) fn trial_on(
    layout: Layout,
    ports: (Port, Port),
    profile: TrafficProfile,
    spec: TrialSpec,
) -> TrialResult {
    try_on(layout, ports, profile, spec, 0).expect("a trial")
}

/// A trial between two ports whose device may take its time: it ends when all frames have come, however busy this machine is.
pub(crate) fn patient_trial_between(
    ports: (Port, Port),
    profile: TrafficProfile,
    spec: TrialSpec,
) -> TrialResult {
    let settings = TrialSettings {
        residual_ns: 30_000_000_000,
        ..settings(spec, 0)
    };
    try_with(Layout::default(), ports, profile, (spec, settings)).expect("a trial")
}

fn try_between(
    ports: (Port, Port),
    profile: TrafficProfile,
    spec: TrialSpec,
    frame_timeout_ns: u64,
) -> Result<TrialResult, MeasureError> {
    try_on(Layout::default(), ports, profile, spec, frame_timeout_ns)
}

fn try_on(
    layout: Layout,
    ports: (Port, Port),
    profile: TrafficProfile,
    spec: TrialSpec,
    frame_timeout_ns: u64,
) -> Result<TrialResult, MeasureError> {
    try_with(
        layout,
        ports,
        profile,
        (spec, settings(spec, frame_timeout_ns)),
    )
}

/// Counts are what is tested here, not timing: a stall of this busy machine must not get into the way.
fn settings(spec: TrialSpec, frame_timeout_ns: u64) -> TrialSettings {
    TrialSettings {
        duration_ns: spec.duration_ns,
        residual_ns: 500_000_000,
        rest_ns: 0,
        frame_timeout_ns,
        stall_ns: 10_000_000_000,
    }
}

fn try_with(
    layout: Layout,
    ports: (Port, Port),
    profile: TrafficProfile,
    (spec, settings): (TrialSpec, TrialSettings),
) -> Result<TrialResult, MeasureError> {
    let _guard = ONE_AT_A_TIME.lock();
    let stop = Arc::new(AtomicBool::new(false));
    // The ports lead to a device in this process, so nothing leaves it.
    let profile = Isolation::Declared.admit(profile).expect("declared");
    let mut tester = FrameTester::new(ports, profile, settings, layout, stop);
    tester.measure(&spec)
}

/// Returns a device that passes every frame through `change`, together with its number among those of its direction, and sends all resulting
/// frames on the far side.
pub(crate) fn each(
    mut change: impl FnMut(u64, Vec<u8>) -> Vec<Vec<u8>> + Send + 'static,
) -> LoopbackDevice {
    let mut counts = [0, 0];
    Box::new(move |frame, from_left, out| {
        let count: &mut u64 = &mut counts[usize::from(from_left)];
        out.extend(
            change(*count, frame.to_vec())
                .into_iter()
                .map(|frame| (from_left, frame)),
        );
        *count += 1;
    })
}
