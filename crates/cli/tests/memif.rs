//! A device at two links in shared memory: `dpdk-testpmd`, which hands frames on. Needs the Debian package dpdk-dev, and no root.

mod common;
#[path = "../../io/tests/memif/device.rs"]
mod device;

use common::{ONE_AT_A_TIME, Scratch, assert_ran, facts, output, records, text, wait_until};
use device::Testpmd;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// Starts the device, and returns it with the names of the tester's ports.
fn start(scratch: &Scratch) -> (Testpmd, [String; 2]) {
    let sockets = ["left.sock", "right.sock"].map(|name| scratch.path(name));
    let mut device = Testpmd::start(&scratch.0, [&sockets[0], &sockets[1]], "socket-abstract=no");
    wait_until(&mut device.0, "socket", || sockets.iter().all(|path| Path::new(path).exists()));
    // Each port of the device has a number of its own.
    let [left, right] = sockets;
    (device, [format!("memif:{left}"), format!("memif:{right},id=1")])
}

/// The count of this name in both directions of a result.
fn counts(result: &Value, name: &str) -> Vec<u64> {
    let directions = result["directions"].as_array().expect("directions");
    directions.iter().map(|direction| direction[name].as_u64().expect("a count")).collect()
}

/// Whether the device listens already, and its interface is not there yet: it is started again.
fn is_too_early(output: &Output) -> bool {
    text(&output.stderr).contains("ID not found")
}

#[test]
fn a_trial_through_dpdk_loses_no_frame_and_finds_each_as_it_was() {
    let _one = ONE_AT_A_TIME.lock();
    // Fewer frames than a ring holds: a busy machine delays them, and loses none.
    let trial = |interfaces: &str| {
        output(&["trial", "testpmd-io", "--interfaces", interfaces, "--rate", "2k", "--for", "500ms", "--json"])
    };
    let attempt = |nth| {
        let scratch = Scratch::new(&format!("memif-trial-{nth}"));
        let (_device, ports) = start(&scratch);
        let output = trial(&ports.join(","));
        if is_too_early(&output) {
            return None;
        }
        assert_ran(&output);
        let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
        for wrong in ["mistranslated", "corrupt", "duplicate", "reordered", "foreign", "misdirected"] {
            assert_eq!(counts(&result, wrong), [0, 0], "{wrong}: {result}");
        }
        // A device that has no core for longer than residual frames are waited for is tried again.
        (counts(&result, "received") == [1000, 1000]).then_some(result)
    };
    let result = (0..5).find_map(attempt).expect("every frame");
    assert_eq!(counts(&result, "offered"), [1000, 1000]);
}

#[test]
fn a_plan_names_the_links_and_its_results_say_how_frames_were_sent() {
    let _one = ONE_AT_A_TIME.lock();
    let attempt = |nth| {
        let scratch = Scratch::new(&format!("memif-plan-{nth}"));
        let (_device, [left, right]) = start(&scratch);
        let plan = format!(
            "name = \"memif\"\nprofile = \"smoke\"\n[testbed]\nleft = \"{left}\"\nright = \"{right}\"\n[search]\nminimum = \"500\"\n\
             maximum = \"1k\"\n[[test]]\nname = \"t\"\ndut = \"testpmd-io\"\nframe-sizes = [84]\nrepetitions = 1\n"
        );
        let (plan, results) = (scratch.write("plan.toml", &plan), scratch.path("out"));
        let output = output(&["run", &plan, "-o", &results]);
        if is_too_early(&output) {
            return None;
        }
        assert_ran(&output);
        let received = |record: &Value| counts(&record["result"], "received").iter().sum::<u64>();
        assert!(records(&results).iter().map(received).sum::<u64>() > 0, "{}", text(&output.stderr));
        let facts = facts(&results).to_string();
        assert!(facts.contains("frames are sent and received by memif, client of DPDK"), "{facts}");
        let cabled = format!("the DUT is cabled to this machine's ports {left} and {right}; it was not set up");
        assert!(facts.contains(&cabled), "{facts}");
        Some(())
    };
    (0..5).find_map(attempt).expect("a device that is ready");
}

#[test]
fn a_device_that_is_not_there_is_an_error_of_the_testbed_that_says_what_to_do() {
    let scratch = Scratch::new("memif-none");
    let ports = ["a", "b"].map(|name| format!("memif:{}", scratch.path(name)));
    let output = output(&["trial", "testpmd-io", "--interfaces", &ports.join(","), "--rate", "1k"]);
    assert_eq!(output.status.code(), Some(3));
    let told = text(&output.stderr);
    assert!(told.contains(&format!("{}: there is no socket {}: start the device", ports[0], scratch.path("a"))), "{told}");
}
