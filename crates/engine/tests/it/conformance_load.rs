//! Vectors under load, on a translator in memory that has two pairs of ports: one for the vectors and one for the load, as two sockets on the same
//! interfaces are.

use crate::common::{ONE_AT_A_TIME, each, ipv4};
use crate::conformance::{
    CONTROL, FILE, SILENCE, TO_IPV6, copies_of_a_right_device, results, tester_at, translator,
};
use sixbench_conformance::notation;
use sixbench_conformance::{Vector, VectorResult};
use sixbench_engine::conformance::{LOAD_PORTS, LoadedRun, VectorLoad, VectorRecord, VectorTester};
use sixbench_engine::frames::profile::TrafficProfile;
use sixbench_engine::{FrameTester, Layout, MeasureError};
use sixbench_io::loopback::{LoopbackDevice, pair_with};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Ports, ValueOrder, ValueRange};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{TrialResult, TrialSettings};
use sixbench_wire::ethernet::HEADER_LEN;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The rate of the load: far above the limit of the rigs, so that a stall of this machine does not take it below.
const RATE: FrameRate = FrameRate(1000);
/// Frames of a second at which a rig breaks.
const LIMIT: usize = 50;
/// Frames of the load to one that the device answers by an error.
const FRAMES_TO_ERROR: u64 = 50;
/// The longest header up to the end of that of UDP.
const CUT: usize = 28;

/// What the device knows of its load, whichever pair of ports it comes from.
#[derive(Clone, Default)]
struct SharedLoad(Arc<Mutex<LoadState>>);

#[derive(Default)]
struct LoadState {
    /// When the frames of the last second came.
    recent: VecDeque<Instant>,
    /// The frames that the other pair of ports sees as well, each with whether it goes to the right.
    seen: VecDeque<(bool, Vec<u8>)>,
}

impl SharedLoad {
    fn locked(&self) -> MutexGuard<'_, LoadState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether more frames came within the last second than a rig bears.
    fn is_high(&self) -> bool {
        let mut state = self.locked();
        while state
            .recent
            .front()
            .is_some_and(|came| came.elapsed() > Duration::from_secs(1))
        {
            state.recent.pop_front();
        }
        state.recent.len() > LIMIT
    }

    /// Returns a wire for the load, whose frames the ports of the vectors see, too, and in addition errors about some, cut behind their UDP header.
    fn wire(&self) -> LoopbackDevice {
        let (load, mut wire) = (self.clone(), each(|_, frame| vec![frame]));
        let mut frames = 0_u64;
        Box::new(move |frame, from_left, out| {
            let mut state = load.locked();
            state.recent.push_back(Instant::now());
            state
                .seen
                .push_back((from_left, to_tester(frame, from_left)));
            frames += 1;
            if frames.is_multiple_of(FRAMES_TO_ERROR) {
                state
                    .seen
                    .push_back((from_left, error_about(frame, from_left)));
            }
            wire(frame, from_left, out);
        })
    }

    /// Returns the device for the vectors: `copies` says how many frames come for a datagram of a vector, quietly and under load.
    fn translator(&self, copies: impl Fn(u16, bool) -> usize + Send + 'static) -> LoopbackDevice {
        let (load, of_copies) = (self.clone(), self.clone());
        let mut translator = translator(move |number| copies(number, of_copies.is_high()));
        Box::new(move |frame, from_left, out| {
            out.extend(load.locked().seen.drain(..));
            translator(frame, from_left, out);
        })
    }
}

/// Returns a frame as the tester's port gets it.
fn to_tester(frame: &[u8], to_right: bool) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, if to_right { 2 } else { 1 }]);
    frame
}

/// Returns a Destination Unreachable about a frame, cut behind the UDP header.
fn error_about(frame: &[u8], to_right: bool) -> Vec<u8> {
    let mut error = to_tester(&frame[..HEADER_LEN + 20], to_right);
    // The protocol of ICMP.
    error[HEADER_LEN + 9] = 1;
    error.extend([3, 3, 0, 0, 0, 0, 0, 0]);
    error.extend(&frame[HEADER_LEN..HEADER_LEN + CUT]);
    error
}

/// Returns the load through a wire; it ends at once if `stop` is set.
fn load(device: LoopbackDevice, stop: bool) -> VectorLoad {
    let range = ValueRange {
        first: *LOAD_PORTS.start(),
        last: *LOAD_PORTS.end(),
        order: ValueOrder::Pseudorandom,
    };
    let ports = Ports {
        source: range,
        destination: range,
    };
    let profile = TrafficProfile {
        forward_ports: ports,
        reverse_ports: ports,
        ..ipv4()
    };
    let settings = TrialSettings {
        duration_ns: 0,
        residual_ns: 500_000_000,
        rest_ns: 0,
        frame_timeout_ns: 0,
        stall_ns: 1_000_000_000,
    };
    // The ports lead to a device in this process, so nothing leaves it.
    let profile = Isolation::Declared.admit(profile).expect("declared");
    let stop = Arc::new(AtomicBool::new(stop));
    let tester = FrameTester::new(
        pair_with(device),
        profile,
        settings,
        Layout::default(),
        stop,
    );
    VectorLoad::new(tester, RATE)
}

/// The outcomes without load and under it.
struct Outcomes {
    quiet: Vec<VectorRecord>,
    loaded: LoadedRun,
}

/// Sends the vectors with these numbers to a device, quietly and under load.
fn outcomes(
    numbers: &[u16],
    copies: impl Fn(u16, bool) -> usize + Send + 'static,
) -> Result<Outcomes, MeasureError> {
    let shared = SharedLoad::default();
    // A vector has its number in what is sent, and that in the file here.
    let of_file = numbers.to_vec();
    let copies = move |number: u16, is_high| {
        let place = of_file.get(usize::from(number));
        copies(place.copied().unwrap_or(number), is_high)
    };
    run(
        &mut tester_at(shared.translator(copies)),
        &mut load(shared.wire(), false),
        numbers,
    )
}

fn run(
    tester: &mut VectorTester,
    load: &mut VectorLoad,
    numbers: &[u16],
) -> Result<Outcomes, MeasureError> {
    let _guard = ONE_AT_A_TIME.lock();
    let file = notation::read("rigged.toml", FILE).unwrap_or_else(|error| panic!("{error}"));
    let vectors: Vec<&Vector> = numbers
        .iter()
        .map(|number| &file.vectors[usize::from(*number)])
        .collect();
    let quiet = tester.run(&vectors)?.records;
    let loaded = tester.run_under_load(&vectors, &quiet, load)?;
    Ok(Outcomes { quiet, loaded })
}

/// Every vector of the file.
const ALL: [u16; 3] = [0, TO_IPV6, SILENCE];

fn assert_nothing_lost(trials: &[TrialResult]) {
    assert!(!trials.is_empty());
    for direction in trials.iter().flat_map(|trial| &trial.directions) {
        assert!(direction.offered > 0);
        assert_eq!(
            (direction.received, direction.mistranslated),
            (direction.offered, 0),
            "{direction:?}"
        );
    }
}

#[test]
fn a_device_that_is_right_when_idle_and_breaks_a_clause_above_a_rate_is_found() {
    let breaking = |number, is_high: bool| {
        copies_of_a_right_device(number) * usize::from(number != TO_IPV6 || !is_high)
    };
    let found = outcomes(&ALL, breaking).expect("outcomes");
    assert_eq!(results(&found.quiet), [VectorResult::Right; 3]);
    let records = &found.loaded.records;
    assert_eq!(
        results(records),
        [
            VectorResult::Right,
            VectorResult::NoAnswer,
            VectorResult::Right
        ]
    );
    let attempts: Vec<u32> = records.iter().map(|record| record.attempts).collect();
    assert_eq!(
        attempts,
        [1, 5, 2],
        "an answer is asked for again and again"
    );
    assert_nothing_lost(&found.loaded.trials);
}

#[test]
fn frames_of_the_load_and_errors_about_them_belong_to_no_vector() {
    let found = outcomes(&ALL, |number, _| copies_of_a_right_device(number)).expect("outcomes");
    assert_eq!(results(&found.loaded.records), [VectorResult::Right; 3]);
    for (quiet, loaded) in found.quiet.iter().zip(&found.loaded.records) {
        assert_eq!(loaded.capture.len(), quiet.capture.len());
    }
}

#[test]
fn a_vector_whose_control_frames_the_load_costs_is_unknown_and_never_wrong() {
    let losing = |number, is_high: bool| copies_of_a_right_device(number) * usize::from(!is_high);
    let found = outcomes(&[TO_IPV6], losing).expect("outcomes");
    assert_eq!(results(&found.quiet), [VectorResult::Right]);
    assert_eq!(results(&found.loaded.records), [VectorResult::Unknown]);
    // What comes although control frames do not is known.
    let losing = |number, is_high: bool| usize::from(!is_high || number != CONTROL);
    let found = outcomes(&[TO_IPV6], losing).expect("outcomes");
    assert_eq!(results(&found.loaded.records), [VectorResult::Right]);
}

#[test]
fn vectors_end_with_a_load_that_ends_early() {
    let shared = SharedLoad::default();
    let mut tester = tester_at(shared.translator(|number, _| copies_of_a_right_device(number)));
    let ended = run(&mut tester, &mut load(shared.wire(), true), &ALL);
    assert!(matches!(ended, Err(MeasureError::Interrupted)));
}
