//! Plans whose device is another machine, over a real sshd in a namespace. Slow on purpose: nothing here depends on speed. Needs root and
//! openssh-server; without them these tests fail, they do not skip.

mod common;
#[path = "../../testbed/tests/common/room.rs"]
mod room;

use common::plans::{self, REMOTE_TESTS};
use common::{ONE_AT_A_TIME, Scratch, assert_ran, output, records, signal, start_in, start_to_be_killed, text, wait_until};
use room::{FAR, Room};
use serde_json::Value;
use sixbench_testbed::Library;
use sixbench_testbed::{Shell, interfaces};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output};

fn plan(room: &Room, scratch: &Scratch, host: &str, tests: &str) -> String {
    let config = room.config_within().display().to_string();
    let [left, right] = FAR;
    let testbed = format!(
        "name = \"away\"\nrecipes = [\"recipes\"]\n[testbed]\nleft = \"left\"\nright = \"right\"\nhost = \"ssh:{host}\"\n\
         dut-left = \"{left}\"\ndut-right = \"{right}\"\nssh-config = \"{config}\"\n"
    );
    keep_recipe(scratch);
    scratch.write("plan.toml", &(testbed + tests))
}

/// The size of the connection tracking table is the whole machine's, and cannot be set from a namespace.
fn keep_recipe(scratch: &Scratch) {
    let library = Library::load::<&Path>(&[]).expect("recipes");
    let mut recipe = library.get("nft-nat44").expect("a recipe").clone();
    recipe.state.as_mut().expect("stateful").host.clear();
    scratch.write("recipes/nft-nat44.toml", &toml::to_string(&recipe).expect("a recipe"));
}

fn start(room: &Room, arguments: &[&str]) -> Child {
    start_in(room.near.name(), arguments)
}

fn run(room: &Room, plan: &str, results: &str) -> Output {
    start(room, &["run", plan, "-o", results]).wait_with_output().expect("ended")
}

/// Whether a trial of the test lost nothing in either direction.
fn has_passed(records: &[Value], test: &str) -> bool {
    let is_whole = |direction: &Value| direction["offered"].as_u64() > Some(0) && direction["offered"] == direction["received"];
    records.iter().filter(|record| record["point"]["test"] == test).any(|record| {
        let directions = record["result"]["directions"].as_array().expect("directions");
        directions.len() == 2 && directions.iter().all(is_whole)
    })
}

fn until_the_first_trial(child: &mut Child, results: &str) {
    wait_until(child, "first trial", || !records(results).is_empty());
}

#[test]
fn a_plan_runs_on_another_machine_and_leaves_it_as_it_was() {
    let (_guard, scratch, room) = (ONE_AT_A_TIME.lock(), Scratch::new("ssh"), Room::build("run"));
    let before = room.state();
    let results = scratch.path("results");
    let output = run(&room, &plan(&room, &scratch, "dut", REMOTE_TESTS), &results);
    assert_ran(&output);
    let error = text(&output.stderr);
    let records = records(&results);
    for test in ["router", "siit", "nat"] {
        assert!(has_passed(&records, test), "{test}: {error}\n{records:?}");
    }
    let counted = records.iter().filter_map(|record| record["result"]["connections"]["counted"].as_u64());
    assert!(counted.into_iter().any(|count| count == 100), "the gateway's own count");
    let commands = fs::read_to_string(Path::new(&results).join("commands.sh")).expect("a transcript");
    assert!(commands.contains("from_within dut 'ip address add 198.18.0.1/30 dev enp5s0f0'"), "{commands}");
    let facts = fs::read_to_string(Path::new(&results).join("facts.json")).expect("facts");
    assert!(facts.contains("the DUT is the machine dut, set up over ssh"), "{facts}");
    room.assert_is_as(&before);
}

#[test]
fn a_machine_that_cannot_be_reached_is_told_before_anything_is_touched() {
    let (scratch, room) = (Scratch::new("ssh-refused"), Room::build("refused"));
    let before = room.state();
    for (host, what) in [
        ("closed", "Connection refused; is it up, does sshd run there, and is the port right?"),
        ("refusing", "refusing refused our key"),
        ("unknown", "its host key is not known here"),
    ] {
        let output = run(&room, &plan(&room, &scratch, host, REMOTE_TESTS), &scratch.path("results"));
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{host}: {error}");
        assert!(error.contains(what), "{host}: {error}");
    }
    assert!(!Path::new(&scratch.path("results")).exists());
    room.assert_is_as(&before);
}

#[test]
fn cores_that_the_machine_has_not_got_are_told_with_their_test() {
    let (scratch, room) = (Scratch::new("ssh-cores"), Room::build("cores"));
    let test = "[[test]]\nname = \"many\"\ndut = \"linux-ipv4\"\ncores = 9\n";
    let output = run(&room, &plan(&room, &scratch, "dut", test), &scratch.path("results"));
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("test many") && error.contains("requires 9 cores for the DUT, but dut has only 4 online"),
        "{error}"
    );
}

#[test]
fn ctrl_c_undoes_the_machine_and_keeps_the_results() {
    let (_guard, scratch, room) = (ONE_AT_A_TIME.lock(), Scratch::new("ssh-stop"), Room::build("stop"));
    let before = room.state();
    let results = scratch.path("results");
    let mut child = start(&room, &["run", &plan(&room, &scratch, "dut", REMOTE_TESTS), "-o", &results]);
    until_the_first_trial(&mut child, &results);
    signal(&child, "INT");
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    // No waiting here: when the run has ended, all is undone.
    assert_eq!(room.state(), before);
    assert!(Path::new(&results).join("report.html").exists());
}

#[test]
fn a_tester_that_is_killed_leaves_the_machine_as_it_was() {
    let (_guard, scratch, room) = (ONE_AT_A_TIME.lock(), Scratch::new("ssh-kill"), Room::build("kill"));
    let before = room.state();
    let results = scratch.path("results");
    let siit = REMOTE_TESTS.replace("dut = \"linux-ipv4\"", "dut = \"tayga-siit\"");
    let plan = plan(&room, &scratch, "dut", &siit);
    let mut child = start_to_be_killed(room.near.name(), &["run", &plan, "-o", &results]);
    until_the_first_trial(&mut child, &results);
    assert!(room.processes().contains(&"tayga".to_owned()));
    child.kill().expect("killed");
    child.wait().expect("ended");
    // The next run gives the interfaces of ours back, and removes the namespaces they were in.
    let mut returned = interfaces::give_back_stale(&Shell::new());
    returned.sort();
    assert_eq!(returned, ["left", "right"]);
    for side in ["left", "right"] {
        Shell::new().line(&format!("ip netns del sb-{}-{side}", child.id())).expect("removed");
    }
    room.assert_is_as(&before);
    // Here an empty directory is left, for the next sweep.
    let ours = format!("sb-{}-ssh-", child.id());
    let entries = fs::read_dir(std::env::temp_dir()).expect("a directory").filter_map(Result::ok);
    let left = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&ours));
    left.for_each(|entry| fs::remove_dir(entry.path()).expect("empty"));
}

#[test]
fn a_connection_that_breaks_ends_the_run_and_keeps_the_results() {
    let (_guard, scratch, room) = (ONE_AT_A_TIME.lock(), Scratch::new("ssh-break"), Room::build("break"));
    let before = room.state();
    let results = scratch.path("results");
    let mut child = start(&room, &["run", &plan(&room, &scratch, "dut", REMOTE_TESTS), "-o", &results]);
    until_the_first_trial(&mut child, &results);
    // Of sshd the sessions alone: who listens goes on, so that the machine could be reached again.
    let pids = room.far.shell().look(&["ip", "netns", "pids", room.far.name()]).expect("processes");
    let is_session = |pid: &&str| fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().starts_with("sshd: ");
    let sessions: Vec<&str> = pids.split_whitespace().filter(is_session).collect();
    assert!(!sessions.is_empty());
    let _ = Command::new("sh").args(["-c", &format!("kill -s KILL {}", sessions.join(" "))]).status();
    let output = child.wait_with_output().expect("ended");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("the connection to dut is lost"), "{error}");
    assert!(error.contains("kept in"), "{error}");
    room.assert_is_as(&before);
}

#[test]
fn a_recipe_that_nobody_has_tried_says_so_and_needs_its_machine() {
    let listed = text(&output(&["list", "duts"]).stdout);
    let line = listed.lines().find(|line| line.starts_with("openbsd-pf-nat64")).expect("a recipe");
    assert!(line.contains("(untested recipe)") && line.contains("runs on OpenBSD, over ssh"), "{line}");
    let scratch = Scratch::new("ssh-system");
    let test = plans::of_test("dut = \"openbsd-pf-nat64\"\nconnections = \"1k\"");
    let output = output(&["run", &scratch.write("plan.toml", &test), "-o", &scratch.path("results")]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("openbsd-pf-nat64 needs a machine of its own that runs OpenBSD"), "{error}");
}

#[test]
fn the_commands_for_another_machine_are_shown_without_reaching_it() {
    let (scratch, room) = (Scratch::new("ssh-shell"), Room::build("shell"));
    let output = output(&["plan", "--shell", &plan(&room, &scratch, "dut", REMOTE_TESTS)]);
    let script = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(script.contains("dut 'ip link del nat64'") && script.contains("dut 'nft delete table ip sixbench'"), "{script}");
}

#[test]
fn a_machine_that_another_tester_uses_is_refused_with_its_name_until_that_is_killed() {
    let (_guard, scratch, room) = (ONE_AT_A_TIME.lock(), Scratch::new("ssh-lock"), Room::build("lock"));
    let before = room.state();
    let (plan, first, second) = (plan(&room, &scratch, "dut", REMOTE_TESTS), scratch.path("first"), scratch.path("second"));
    let mut holder = start_to_be_killed(room.near.name(), &["run", &plan, "-o", &first]);
    until_the_first_trial(&mut holder, &first);
    // A tester on another machine: what it locks there is none of the first one's. Before its interfaces are looked at, which are away.
    let mut other = Command::new("ip");
    other.args(["netns", "exec", room.near.name(), env!("CARGO_BIN_EXE_sixbench"), "run", &plan, "-o", &second]);
    let other = other.env("SIXBENCH_LOCKS", scratch.path("locks")).output().expect("sixbench");
    let error = text(&other.stderr);
    assert_eq!(other.status.code(), Some(3), "{error}");
    let words = format!("(process {}, results in {first}) since 20", holder.id());
    assert!(error.contains("the machine dut is used by `away` of ") && error.contains(&words), "{error}");
    assert!(error.trim_end().ends_with("; --wait waits until it has ended") && !Path::new(&second).exists(), "{error}");
    holder.kill().expect("killed");
    holder.wait().expect("its end");
    interfaces::give_back_stale(&Shell::new());
    for side in ["left", "right"] {
        Shell::new().line(&format!("ip netns del sb-{}-{side}", holder.id())).expect("removed");
    }
    // The lock is gone as soon as the sshd there notices.
    room.assert_is_as(&before);
    let mut again = start(&room, &["run", "--resume", &first]);
    let made = records(&first).len();
    wait_until(&mut again, "record", || records(&first).len() > made);
    signal(&again, "INT");
    assert_eq!(again.wait_with_output().expect("its end").status.code(), Some(130));
}
