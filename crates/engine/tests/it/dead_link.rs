//! Links that go down during a trial: every trial ends and reports the reason.

use crate::common::*;
use sixbench_engine::frames::profile::{Neighbours, TrafficProfile};
use sixbench_engine::{FrameTester, Layout, MeasureError};
use sixbench_io::loopback::pair;
use sixbench_io::{Fill, Flushed, Halves, Port, PortError, Sent, Transmit};
use sixbench_method::isolation::{Admitted, Isolation};
use sixbench_method::terms::FrameRate;
use sixbench_method::trial::{Measurer, TrialSettings, TrialSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The treatment of frames by a port whose link is down.
#[derive(Clone, Copy, PartialEq)]
enum Dead {
    /// It has room for none, like a NIC whose queue does not drain.
    TakesNone,
    /// It takes them and holds them forever.
    KeepsThem,
    /// It refuses them all.
    Refuses,
    /// It has a bug.
    Panics,
}

struct DeadTransmit(Box<dyn Transmit>, Dead);

/// Returns the port with its link down for the frames of trials; neighbours still answer.
fn dead_link(port: Port, dead: Dead) -> Port {
    let dying = |Halves { transmit, receive }| Halves {
        transmit: Box::new(DeadTransmit(transmit, dead)),
        receive,
    };
    Port {
        name: "dead".to_owned(),
        queues: port.queues.into_iter().map(dying).collect(),
        ..port
    }
}

impl Transmit for DeadTransmit {
    fn slots(&self) -> usize {
        self.0.slots()
    }

    fn transmit(&mut self, wanted: usize, fill: &mut Fill<'_>) -> Result<Sent, PortError> {
        assert!(self.1 != Dead::Panics, "a bug");
        let taken = if self.1 == Dead::TakesNone { 0 } else { wanted };
        let mut buffer = vec![0; 2048];
        let _octets: usize = (0..taken).map(|slot| fill(slot, &mut buffer)).sum();
        Ok(Sent {
            taken,
            refused: if self.1 == Dead::Refuses { taken } else { 0 },
        })
    }

    fn flush(&mut self) -> Result<Flushed, PortError> {
        Ok(Flushed {
            is_empty: self.1 != Dead::KeepsThem,
            refused: 0,
        })
    }

    fn check_link(&self) -> Result<(), PortError> {
        Err(PortError::LinkDown {
            interface: "dead".to_owned(),
        })
    }
}

const SETTINGS: TrialSettings = TrialSettings {
    duration_ns: 200_000_000,
    residual_ns: 100_000_000,
    rest_ns: 0,
    frame_timeout_ns: 0,
    stall_ns: 1_000_000_000,
};

fn admitted(profile: TrafficProfile) -> Admitted<TrafficProfile> {
    Isolation::Declared.admit(profile).expect("declared")
}

fn tester(dead: Dead, stop: Arc<AtomicBool>) -> FrameTester {
    tester_on(Layout::default(), dead, stop)
}

fn tester_on(layout: Layout, dead: Dead, stop: Arc<AtomicBool>) -> FrameTester {
    let (left, right) = pair();
    FrameTester::new(
        (dead_link(left, dead), right),
        admitted(ipv4()),
        SETTINGS,
        layout,
        stop,
    )
}

#[test]
fn a_trial_over_a_dead_link_ends_and_names_it() {
    let _guard = ONE_AT_A_TIME.lock();
    let load = TrialSpec::constant(FrameRate(5_000), 200_000_000);
    for dead in [Dead::TakesNone, Dead::KeepsThem, Dead::Refuses] {
        for spec in [load, TrialSpec::response(FrameRate(5_000), 200_000_000)] {
            let error = tester(dead, Arc::default())
                .measure(&spec)
                .expect_err("no result");
            assert!(
                matches!(error, MeasureError::Port(PortError::LinkDown { .. })),
                "{error}"
            );
        }
    }
}

#[test]
fn a_panic_in_one_thread_of_a_trial_ends_the_others() {
    let _guard = ONE_AT_A_TIME.lock();
    let spec = TrialSpec::constant(FrameRate(5_000), 200_000_000);
    let core = sixbench_io::thread::allowed_cores().expect("cores")[0];
    let (ended, end) = std::sync::mpsc::channel();
    let trial = std::thread::spawn(move || {
        let mut tester = tester_on(
            Layout {
                cores: vec![core; 2],
            },
            Dead::Panics,
            Arc::default(),
        );
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            tester.measure(&spec).is_ok()
        }));
        let _ = ended.send(outcome.is_err());
    });
    let has_panicked = end
        .recv_timeout(std::time::Duration::from_secs(60))
        .expect("an end");
    assert!(has_panicked);
    trial.join().expect("a thread");
}

#[test]
fn a_request_to_stop_ends_the_search_for_neighbours() {
    let stop = Arc::new(AtomicBool::new(false));
    let mut tester = tester(Dead::TakesNone, stop.clone());
    let address = |text: &str| text.parse().expect("address");
    let silent = Neighbours {
        tester: address("198.18.0.2"),
        dut: address("198.18.0.1"),
    };
    tester.set_profile(
        admitted(TrafficProfile {
            left: vec![silent],
            ..ipv4()
        }),
        SETTINGS,
    );
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(tester.resolve(), Err(MeasureError::Interrupted)));
}
