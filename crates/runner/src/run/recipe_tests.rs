//! Sends the tester's own frames through real tunnels, gateways of subscribers, CLATs and rows of devices: none may be lost or wrong. These tests
//! need root, and build the kernel lab if it does not exist. Without either, they fail rather than skip.

#[path = "../../../testbed/tests/it/common/mod.rs"]
mod common;

use super::rigged_tests::ONE_AT_A_TIME;
use super::session::Session;
use crate::profile;
use crate::request::{SessionRequest, Site};
use common::{assert_nothing_left, is_for_hosts, is_for_the_tester, library, tried_here};
use sixbench_method::isolation::Isolation;
use sixbench_method::plan::{Profile, Stateful, Test};
use sixbench_method::terms::{FrameRate, FrameSize};
use sixbench_method::trial::{TrialResult, TrialSettings, TrialSpec};
use sixbench_plan::{Links, standard_trial};
use sixbench_testbed::recipe::DeviceHost;
use sixbench_testbed::{Recipe, Shell};
use std::sync::Arc;

/// A rate so low that all frames of a trial fit into any queue on the way.
const RATE: FrameRate = FrameRate(1_000);
const DURATION_NS: u64 = 300_000_000;
const CONNECTIONS: u64 = 200;

/// Two seconds for residual frames (RFC 2544 section 23). A device that has to wait for its core has frames in its queues.
const RESIDUAL_NS: u64 = 2_000_000_000;

/// The timeout for the frames of phase 1: a device whose core others use may have to wait half a second for it.
const PHASE_1_TIMEOUT_NS: u64 = 1_000_000_000;

/// A machine that stalls may lose frames in some trials, but a faulty device does so in all.
const ATTEMPTS: usize = 20;

/// Returns the test of a recipe and its trial: connections first if the device is stateful, then frames in both directions.
fn test_and_trial(recipe: &Recipe) -> (Test, TrialSpec) {
    let stateful = recipe
        .state
        .as_ref()
        .map(|_| Stateful::new(CONNECTIONS, RATE, PHASE_1_TIMEOUT_NS));
    let test = Test {
        stateful,
        frame_sizes: vec![FrameSize(128)],
        ..Test::new("t", &recipe.name)
    };
    let phase_one = stateful.map(|stateful| stateful.phase_one());
    (
        test,
        TrialSpec {
            phase_one,
            ..TrialSpec::constant(RATE, DURATION_NS)
        },
    )
}

/// Repeats trials through a recipe until one loses nothing; returns the last.
fn best_result(recipe: &Recipe) -> TrialResult {
    let (test, spec) = test_and_trial(recipe);
    let links = Links::default();
    let site = Site {
        shell: Shell::new(),
        links: &links,
        stop: Arc::default(),
        isolation: Isolation::Unknown,
        pcap: None,
    };
    let size = test.frame_sizes[0];
    let settings = TrialSettings {
        residual_ns: RESIDUAL_NS,
        ..standard_trial(Profile::Smoke)
    };
    let job = profile::job(recipe, &test, size, 42, settings).expect("a job");
    let session = Session::open(&site, &SessionRequest::alone(recipe, size), job);
    let mut session = session.unwrap_or_else(|failed| panic!("{}: {failed}", recipe.name));
    let mut attempt = || {
        session
            .measure(&spec)
            .unwrap_or_else(|error| panic!("{}: {error:?}", recipe.name))
            .0
    };
    let mut result = attempt();
    for _ in 1..ATTEMPTS {
        assert_nothing_wrong(recipe, &result);
        if lost(&result) == 0 {
            break;
        }
        result = attempt();
    }
    result
}

/// Returns the number of frames sent but not received: all of phase 2 if it did not start.
fn lost(result: &TrialResult) -> u64 {
    let of_phase_1 = result
        .phase_one_result()
        .map_or(0, |connections| connections.lost());
    of_phase_1 + result.not_received()
}

/// No stall of this machine changes frames.
fn assert_nothing_wrong(recipe: &Recipe, result: &TrialResult) {
    for direction in &result.directions {
        let wrong = (
            direction.mistranslated,
            direction.corrupt,
            direction.misdirected,
        );
        assert_eq!(
            wrong,
            (0, 0, 0),
            "{}: {:?}",
            recipe.name,
            direction.examples
        );
    }
}

#[test]
fn every_tunnel_subscriber_and_row_brings_every_frame_back_right_and_leaves_nothing() {
    let _guard = ONE_AT_A_TIME.lock();
    let library = library();
    let tried: Vec<&Recipe> = tried_here(&library)
        .into_iter()
        .filter(|recipe| is_for_the_tester(recipe))
        .collect();
    assert!(!tried.is_empty());
    let others = |recipe: &&Recipe| {
        recipe
            .other_hosts
            .iter()
            .map(|host| format!("{}@{}", recipe.name, host.name()))
            .collect::<Vec<_>>()
    };
    let elsewhere: Vec<String> = tried.iter().flat_map(others).collect();
    for recipe in tried
        .into_iter()
        .chain(elsewhere.iter().filter_map(|name| library.get(name)))
    {
        let result = best_result(recipe);
        assert_nothing_left("");
        assert_nothing_wrong(recipe, &result);
        assert_eq!(lost(&result), 0, "{}: {result:?}", recipe.name);
        assert_eq!(result.directions.len(), 2, "{}: {result:?}", recipe.name);
        // It is not the device's fault if the tester fell short, but the tester must have tried.
        assert!(
            result
                .directions
                .iter()
                .all(|way| way.offered * 2 > way.intended),
            "{}: {result:?}",
            recipe.name
        );
        let opened = result
            .phase_one_result()
            .map(|connections| connections.established);
        assert_eq!(
            opened.is_some_and(|opened| opened > 0),
            recipe.state.is_some(),
            "{}: {opened:?}",
            recipe.name
        );
    }
}

#[test]
fn a_wire_from_port_to_port_brings_every_frame_back_unchanged_and_no_device_is_there() {
    let _guard = ONE_AT_A_TIME.lock();
    let library = library();
    for name in ["wire-ipv4", "wire-ipv6"] {
        let recipe = library.get(name).expect("a recipe");
        assert!(recipe.is_bare_wire() && library.get(&format!("{name}@lab")).is_none());
        let result = best_result(recipe);
        assert_nothing_wrong(recipe, &result);
        assert_eq!(
            (lost(&result), result.directions.len()),
            (0, 2),
            "{name}: {result:?}"
        );
    }
}

/// With the testbed's own tests between hosts: this fails for a new recipe that neither covers. A recipe that is part of a row is tested in that
/// row.
#[test]
fn every_recipe_that_forwards_is_tried_by_hosts_or_by_the_tester() {
    let library = library();
    let is_in_a_row = |recipe: &&Recipe| {
        library
            .iter()
            .any(|row| row.parts.iter().any(|part| part.name == recipe.name))
    };
    // Devices that the user sets up have their own tests.
    let is_ours = |recipe: &&Recipe| !recipe.untested && recipe.host != DeviceHost::Manual;
    let forwards = library
        .iter()
        .filter(is_ours)
        .filter(|recipe| !recipe.technology.is_dns() && !is_in_a_row(recipe));
    let left_out: Vec<&str> = forwards
        .filter(|recipe| !is_for_hosts(recipe) && !is_for_the_tester(recipe))
        .map(|recipe| recipe.name.as_str())
        .collect();
    assert_eq!(left_out, Vec::<&str>::new());
}
