//! Tests the look at this machine's load before each device of a run. These tests need root, and fail rather than skip without it.

use super::rigged_tests::ONE_AT_A_TIME;
use crate::results::store::{Store, load};
use crate::{RunRequest, Site, perform};
use sixbench_method::event::Event;
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Plan, Profile, Selection, Test};
use sixbench_method::record::{CoreLoad, Warning};
use sixbench_method::search::{CapacityEstimate, RepetitionStart, SearchMethod, SearchSettings};
use sixbench_method::terms::{FrameRate, LossRatio};
use sixbench_method::trial::TrialSettings;
use sixbench_plan::Links;
use sixbench_testbed::{Library, Shell};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DUTS: [&str; 2] = ["linux-ipv4", "linux-ipv6"];

/// Returns a plan of two devices, one after the other, in short trials that tolerate stalls.
fn plan() -> Plan {
    let search = SearchSettings {
        method: SearchMethod::Binary,
        minimum: FrameRate(500),
        maximum: FrameRate(1_000),
        width: 0.5,
        goals: vec![LossRatio::ZERO],
        max_invalid: 1,
        start: RepetitionStart::Cold,
        estimate: CapacityEstimate::Bounded,
        certainty: None,
    };
    let trial = TrialSettings {
        duration_ns: 100_000_000,
        residual_ns: 50_000_000,
        rest_ns: 0,
        frame_timeout_ns: 0,
        stall_ns: 1_000_000_000,
    };
    let tests = DUTS.map(|dut| Test::new(dut, dut)).to_vec();
    Plan {
        seed: 1,
        patience_ns: 0,
        ..Plan::new("load", Profile::Custom, trial, search, tests)
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the signature of a look at the load"
)]
fn busy(_: &[u32]) -> Option<CoreLoad> {
    Some(busy_core())
}

fn quiet(_: &[u32]) -> Option<CoreLoad> {
    None
}

fn busy_core() -> CoreLoad {
    CoreLoad {
        core: 0,
        busy_percent: 97,
        by: "make, process 7: 97 %".to_owned(),
    }
}

/// A results directory that is removed when dropped.
struct Results(PathBuf);

impl Drop for Results {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the plan on a machine whose load is given by `look_at_load`. Returns the events, and the warnings of `facts.json`.
fn run(look_at_load: fn(&[u32]) -> Option<CoreLoad>) -> (Vec<Event>, Vec<Warning>) {
    let (plan, links, mut events) = (plan(), Links::default(), Vec::<Event>::new());
    let library = Library::load::<&Path>(&[]).expect("recipes");
    let directory =
        Results(std::env::temp_dir().join(format!("sixbench-test-load-{}", std::process::id())));
    let mut store =
        Store::create(&directory.0, &plan, "", &Selection::default()).expect("a results directory");
    let site = Site {
        shell: Shell::new(),
        links: &links,
        stop: Arc::default(),
        isolation: Isolation::Unknown,
        pcap: None,
    };
    let request = RunRequest {
        plan: &plan,
        library: &library,
        trusted: &Default::default(),
        site,
        look_at_load,
        queries: false,
        labels: &[],
        selection: Selection::default(),
        left_out: &[],
        within: None,
        in_words: |error| crate::with_causes(error),
        records: Vec::new(),
        earlier: None,
    };
    let ended = perform(request, &mut store, &mut |event| events.push(event.clone()))
        .expect("a run (these tests need root)");
    assert!(ended.error.is_none(), "{:?}", ended.error);
    drop(store);
    (events, load(&directory.0).expect("results").facts.warnings)
}

fn warning(dut: &str) -> Warning {
    Warning::BusyBeforeSetUp {
        dut: dut.to_owned(),
        load: busy_core(),
    }
}

#[test]
fn other_work_is_looked_for_before_each_device_is_set_up_and_is_the_first_warning() {
    let _guard = ONE_AT_A_TIME.lock();
    let (events, warnings) = run(busy);
    for dut in DUTS {
        let first = |is_it: &dyn Fn(&Event) -> bool| {
            events
                .iter()
                .position(is_it)
                .unwrap_or_else(|| panic!("{events:?}"))
        };
        let warned = first(
            &|event| matches!(event, Event::Warning { text } if *text == warning(dut).to_string()),
        );
        let ready =
            first(&|event| matches!(event, Event::DutReady { dut: name, .. } if name == dut));
        let measured =
            first(&|event| matches!(event, Event::TrialStarted { point, .. } if point.test == dut));
        assert!(
            warned < ready && ready < measured,
            "{dut}: {warned}, {ready}, {measured}"
        );
    }
    // On a busy machine, trials also warn of other work, in the same place.
    let mut of_the_run = warnings
        .iter()
        .filter(|warning| !matches!(warning, Warning::DisturbedTrials { .. }));
    // The later warning is inserted before all others, so that the order shows it.
    assert_eq!(
        [of_the_run.next(), of_the_run.next()],
        [Some(&warning(DUTS[1])), Some(&warning(DUTS[0]))],
        "{warnings:?}"
    );
}

#[test]
fn a_quiet_machine_is_not_warned_of() {
    let _guard = ONE_AT_A_TIME.lock();
    let (_, warnings) = run(quiet);
    assert!(
        !warnings
            .iter()
            .any(|warning| matches!(warning, Warning::BusyBeforeSetUp { .. })),
        "{warnings:?}"
    );
}
