//! Plans whose devices stand in a row, each on a machine of its own, over real sshds in namespaces: tester, CE, BR, tester. Slow on purpose:
//! nothing here depends on speed. Needs root and openssh-server; without them these tests fail, they do not skip.

mod common;
#[path = "../../testbed/tests/common/room.rs"]
mod room;

use common::{ONE_AT_A_TIME, Scratch, assert_ran, facts, records, start_in, text};
use room::{FAR, Room};
use serde_json::Value;
use sixbench_testbed::Library;
use std::fs;
use std::path::Path;
use std::process::Output;

/// 464XLAT: CLAT and PLAT by TAYGA, with very few connections.
const XLAT: &str = r#"
[trial]
patience = "0s"
duration = "300ms"
residual = "500ms"
rest = "20ms"
stall = "200ms"

[search]
minimum = "400"
maximum = "1000"
width = "20%"

[[test]]
name = "xlat"
dut = "tayga-464xlat"
frame-sizes = [84]
connections = 100
phase-1-rate = 500
repetitions = 1
"#;

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

/// The size of the connection tracking table is the whole machine's, and cannot be set from a namespace.
fn keep_recipe(scratch: &Scratch) {
    let library = Library::load::<&Path>(&[]).expect("recipes");
    let mut recipe = library.get("tayga-464xlat").expect("a recipe").clone();
    recipe.parts.iter_mut().filter_map(|part| part.state.as_mut()).for_each(|state| state.host.clear());
    for (name, text) in recipe.to_files().expect("recipes") {
        scratch.write(&format!("recipes/{name}"), &text);
    }
}

const HOSTS: &str = "[\"ssh:dut\", \"ssh:second\"]";

fn run(room: &Room, plan: &str, results: &str) -> Output {
    start_in(room.near.name(), &["run", plan, "-o", results]).wait_with_output().expect("ended")
}

/// Returns whether a trial lost nothing in either direction.
fn has_passed(records: &[Value]) -> bool {
    let is_whole = |direction: &Value| direction["offered"].as_u64() > Some(0) && direction["offered"] == direction["received"];
    records.iter().any(|record| {
        let directions = record["result"]["directions"].as_array().expect("directions");
        directions.len() == 2 && directions.iter().all(is_whole)
    })
}

#[test]
fn a_row_over_two_machines_translates_and_leaves_both_as_they_were() {
    let (_guard, scratch, room) = (ONE_AT_A_TIME.lock(), Scratch::new("rows"), Room::build_row("row"));
    let before = room.state();
    let results = scratch.path("results");
    let output = run(&room, &plan(&room, &scratch, HOSTS, XLAT), &results);
    assert_ran(&output);
    let records = records(&results);
    assert!(has_passed(&records), "{}\n{records:?}", text(&output.stderr));
    let counted = records.iter().filter_map(|record| record["result"]["connections"]["counted"].as_u64());
    assert!(counted.into_iter().any(|count| count == 100), "the gateway's own count");
    let watched = records[0]["watch"]["devices"].as_array().expect("devices");
    let devices: Vec<&str> = watched.iter().filter_map(|device| device["device"].as_str()).collect();
    assert_eq!(devices, ["tayga-clat", "tayga-plat"]);
    let machine = &facts(&results)["duts"]["tayga-464xlat"]["machine"];
    assert!(machine["dut: kernel"].is_string() && machine["second: kernel"].is_string(), "{machine}");
    let commands = fs::read_to_string(Path::new(&results).join("commands.sh")).expect("a transcript");
    assert!(commands.contains("from_within second 'ip address add 203.0.113.2/24 dev enp5s0f1"), "{commands}");
    room.assert_is_as(&before);
}
