//! Plans whose devices form a row, each on a separate machine, over real sshds in namespaces: tester, CE, BR, tester. Rates are low, so that nothing
//! depends on the speed of the machine. Needs root and openssh-server; without them these tests fail, they do not skip.

use crate::common::plans::settings;
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, facts, kill, records, signal, start_in, start_to_be_killed,
    text, until_the_first_trial, wait_until,
};
use crate::room::{FAR, Room};
use serde_json::Value;
use sixbench_testbed::Library;
use std::fs;
use std::path::Path;
use std::process::Output;

/// 464XLAT: CLAT and PLAT with TAYGA, with very few connections.
const XLAT: &str = concat!(
    settings!("300ms" + "500ms", "400" to "1000", "20%"),
    r#"[[test]]
name = "xlat"
dut = "tayga-464xlat"
frame-sizes = [84]
connections = 100
phase-1-rate = 500
repetitions = 3
"#
);

fn plan(room: &Room, scratch: &Scratch, hosts: &str, tests: &str) -> String {
    let config = room.config_within().display().to_string();
    let [left, right] = FAR;
    let testbed = format!(
        "name = \"row\"\nrecipes = [\"recipes\"]\n[testbed]\nleft = \"left\"\nright = \"right\"\nhost = {hosts}\ndut-left = \"{left}\"\n\
         dut-right = \"{right}\"\nssh-config = \"{config}\"\n"
    );
    keep_recipe(scratch);
    scratch.write("plan.toml", &(testbed + tests))
}

/// Writes recipes that do not set the size of the connection tracking table, which is global and cannot be set from a namespace.
fn keep_recipe(scratch: &Scratch) {
    let library = Library::load::<&Path>(&[]).expect("recipes");
    let mut recipe = library.get("tayga-464xlat").expect("a recipe").clone();
    recipe
        .parts
        .iter_mut()
        .filter_map(|part| part.state.as_mut())
        .for_each(|state| state.host.clear());
    for (name, text) in recipe.to_files().expect("recipes") {
        scratch.write(&format!("recipes/{name}"), &text);
    }
}

const HOSTS: &str = "[\"ssh:dut\", \"ssh:second\"]";

fn run(room: &Room, plan: &str, results: &str) -> Output {
    start_in(
        room.near.name(),
        &["run", plan, "-o", results, "--trust-recipes"],
    )
    .wait_with_output()
    .expect("ended")
}

/// Returns whether any trial lost nothing in either direction.
fn has_passed(records: &[Value]) -> bool {
    let is_whole = |direction: &Value| {
        direction["offered"].as_u64() > Some(0) && direction["offered"] == direction["received"]
    };
    records.iter().any(|record| {
        let directions = record["result"]["directions"]
            .as_array()
            .expect("directions");
        directions.len() == 2 && directions.iter().all(is_whole)
    })
}

/// Returns whether the gateway itself counted all connections in any trial.
fn has_counted_connections(records: &[Value]) -> bool {
    let counted = records
        .iter()
        .filter_map(|record| record["result"]["connections"]["counted"].as_u64());
    counted.into_iter().any(|count| count == 100)
}

#[test]
fn a_row_over_two_machines_translates_after_a_kill_and_a_resume_and_leaves_both_as_they_were() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("rows"),
        Room::build_row("row"),
    );
    let before = room.state();
    let results = scratch.path("results");
    let plan = plan(
        &room,
        &scratch,
        HOSTS,
        &XLAT.replace("repetitions = 3", "repetitions = 1000"),
    );
    let mut child = start_to_be_killed(
        room.near.name(),
        &["run", &plan, "-o", &results, "--trust-recipes"],
    );
    until_the_first_trial(&mut child, &results);
    assert_eq!(
        room.processes()
            .iter()
            .filter(|process| *process == "tayga")
            .count(),
        2
    );
    kill(&mut child);
    room.assert_is_as(&before);
    let killed = records(&results).len();
    let mut resumed = start_in(
        room.near.name(),
        &["run", "--resume", &results, "--trust-recipes"],
    );
    // A tester without enough time on a busy machine measures again.
    let is_whole =
        |records: &[Value]| has_passed(&records[killed..]) && has_counted_connections(records);
    wait_until(&mut resumed, "trial without loss", || {
        is_whole(&records(&results))
    });
    signal(&resumed, "INT");
    let output = resumed.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let records = records(&results);
    let watched = records[0]["watch"]["devices"].as_array().expect("devices");
    let devices: Vec<[&str; 2]> = watched
        .iter()
        .map(|of| ["device", "machine"].map(|key| of[key].as_str().unwrap_or("")))
        .collect();
    assert_eq!(devices, [["tayga-clat", "dut"], ["tayga-plat", "second"]]);
    assert!(
        watched.iter().all(|device| device["cores"]
            .as_array()
            .is_some_and(|cores| !cores.is_empty())),
        "{watched:?}"
    );
    let machine = &facts(&results)["duts"]["tayga-464xlat"]["machine"];
    assert!(
        machine["dut: kernel"].is_string() && machine["second: kernel"].is_string(),
        "{machine}"
    );
    let commands =
        fs::read_to_string(Path::new(&results).join("commands.sh")).expect("a transcript");
    assert!(
        commands.contains("from_within second 'ip address add 203.0.113.2/24 dev enp5s0f1"),
        "{commands}"
    );
    room.assert_is_as(&before);
}

#[test]
fn a_machine_of_a_row_that_is_started_anew_ends_the_run_which_is_resumed() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("rows-anew"),
        Room::build_row("anew"),
    );
    let before = room.state();
    let results = scratch.path("results");
    let router = XLAT
        .replace("tayga-464xlat", "linux-ipv4-row")
        .replace("connections = 100\nphase-1-rate = 500\n", "");
    let cores = router + "cores = { second = [1, 2], dut = \"all\" }\n";
    let mut child = start_in(
        room.near.name(),
        &[
            "run",
            &plan(&room, &scratch, HOSTS, &cores),
            "-o",
            &results,
            "--trust-recipes",
        ],
    );
    until_the_first_trial(&mut child, &results);
    assert!(Room::end_sessions(room.machines()[1]) > 0);
    let output = child.wait_with_output().expect("ended");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("the connection to second is lost")
            && error.contains("sixbench run --resume"),
        "{error}"
    );
    room.assert_is_as(&before);
    let output = start_in(
        room.near.name(),
        &["run", "--resume", &results, "--trust-recipes"],
    )
    .wait_with_output()
    .expect("ended");
    assert_ran(&output);
    let records = records(&results);
    let cores = |test: &str, device: usize| {
        let of_test = records
            .iter()
            .filter(|record| record["point"]["test"] == test);
        let counts = of_test.map(|record| {
            record["watch"]["devices"][device]["cores"]
                .as_array()
                .map_or(0, Vec::len)
        });
        counts.max().unwrap_or(0)
    };
    // Files simulate the switches of its cores, since the kernel's real ones are this machine's.
    assert!(
        cores("xlat.cores1", 0) > 0 && cores("xlat.cores2", 1) > 0,
        "{records:?}"
    );
    let commands =
        fs::read_to_string(Path::new(&results).join("commands.sh")).expect("a transcript");
    let offline = |machine: &str, core: u32| {
        commands.contains(&format!(
            "{machine} 'sh -c '\\''echo 0 > /sys/devices/system/cpu/cpu{core}/online"
        ))
    };
    assert!(
        offline("second", 1) && offline("second", 2) && !offline("dut", 1),
        "{commands}"
    );
    room.assert_is_as(&before);
}

#[test]
fn cores_of_a_device_that_is_none_of_the_row_are_refused() {
    let (scratch, room) = (Scratch::new("rows-cores"), Room::build_row("cores"));
    let test = "[[test]]\nname = \"t\"\ndut = \"linux-ipv4-row\"\ncores = { jool-plat = 2 }\n";
    let output = run(
        &room,
        &plan(&room, &scratch, HOSTS, test),
        &scratch.path("results"),
    );
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("`cores` names jool-plat, which is neither a machine nor a device of linux-ipv4-row: dut, second,"),
        "{error}"
    );
    let few = test.replace("jool-plat = 2", "second = 9");
    let error = text(
        &run(
            &room,
            &plan(&room, &scratch, HOSTS, &few),
            &scratch.path("results"),
        )
        .stderr,
    );
    assert!(
        error.contains("requires 9 cores for the DUT, but second has only 4 online"),
        "{error}"
    );
}
