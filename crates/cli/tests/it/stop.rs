//! A request to stop while the testbed waits for something that never happens, or during a trial over a link that is down: the run ends soon, and
//! undoes its set-up. These tests need root; without it they fail, they do not skip.

use crate::common::{
    ONE_AT_A_TIME, Scratch, facts, namespaces_of, plans, records, signal, start, text, wait_until,
};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A stateful gateway that does nothing.
const RECIPE: &str = r#"
name = "rigged"
title = "A gateway that does nothing"
technology = "nat44"
source = "a test"

[left]
dut = ["10.0.0.1/30"]
tester = ["10.0.0.2"]
routes = ["10.0.0.0/16"]
[right]
dut = ["198.18.0.1/30"]
tester = ["198.18.0.2"]
routes = ["198.18.0.0/15"]
[foreground]
left = { source = "10.0.0.2", destination = "198.18.0.2" }
right = { source = "198.19.0.1", destination = "198.18.0.2" }

[state]
pool = ["198.19.0.1"]
pool-ports = "1024-65535"
count = { run = "echo 5343" }
flush = [{ run = "true" }]

[version]
run = "uname -sr"
"#;

/// Runs the plan with `recipe`, sends the signal `name` as soon as a message contains `waiting`, and checks how the run ends.
fn stopped_while(waiting: &str, recipe: &str, name: &str) {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new(&format!("stop-{name}"));
    scratch.write("recipes/rigged.toml", recipe);
    let plan = scratch.write("plan.toml", plans::STATEFUL);
    let (recipes, results) = (scratch.path("recipes"), scratch.path("results"));
    let arguments = ["run", &plan, "--recipes", &recipes, "-o", &results];
    let mut child = start(&arguments);
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"))
        .lines()
        .map_while(Result::ok);
    let mut told = String::new();
    let is_waiting = lines.by_ref().any(|line| {
        told += &format!("{line}\n");
        line.contains(waiting)
    });
    assert!(is_waiting, "{told}");
    assert!(!namespaces_of(child.id()).is_empty(), "{told}");
    let asked = Instant::now();
    signal(&child, name);
    let rest: Vec<String> = lines.collect();
    let (status, took) = (child.wait().expect("ended"), asked.elapsed());
    assert_eq!(status.code(), Some(130), "{told}{rest:?}");
    // The shortest of the waits would have lasted 30 s.
    assert!(took < Duration::from_secs(25), "{took:?}");
    assert!(namespaces_of(child.id()).is_empty(), "{rest:?}");
    assert!(
        rest.iter()
            .any(|line| line.contains("sixbench run --resume")),
        "{rest:?}"
    );
    let commands =
        std::fs::read(Path::new(&results).join("commands.sh")).expect("the commands are kept");
    assert!(text(&commands).contains("ip netns add"));
}

#[test]
fn a_run_that_waits_for_a_table_that_never_gets_empty_ends_on_ctrl_c() {
    stopped_while(
        "waiting for rigged to be empty: 5343 entries left",
        RECIPE,
        "INT",
    );
}

#[test]
fn a_run_that_waits_for_a_command_that_does_not_end_ends_on_sigterm() {
    let recipe = RECIPE.replace("[version]", "[[setup]]\nrun = \"sleep 29\"\n[version]");
    stopped_while("sleep 29`", &recipe, "TERM");
}

/// The sending time of the trial in the second test of [`plans::SHORT_THEN_LONG`], nanoseconds.
const LONG_NS: u64 = 60_000_000_000;

/// Runs `ip` in a namespace of this run; returns its output.
fn ip(run: u32, role: &str, arguments: &str) -> String {
    let namespaces = namespaces_of(run);
    let namespace = namespaces
        .iter()
        .find(|name| name.ends_with(role))
        .expect("a namespace (these tests need root)");
    let output = Command::new("ip")
        .args(["-n", namespace])
        .args(arguments.split_whitespace())
        .output()
        .expect("ip");
    assert!(
        output.status.success(),
        "ip -n {namespace} {arguments}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// Returns the number of frames that the device has received on its left link.
fn received(run: u32) -> u64 {
    let links: Value =
        serde_json::from_str(&ip(run, "-dut", "-s -j link show dev left")).expect("JSON");
    links[0]["stats64"]["rx"]["packets"]
        .as_u64()
        .expect("a count")
}

/// Takes down the device's end of a link in the middle of a trial, and sends the signal `name` while the trial continues.
fn stopped_over_a_dead_link(backend: &str, name: &str) {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new(&format!("dead-{name}"));
    let (plan, results) = (
        scratch.write(
            "plan.toml",
            &plans::SHORT_THEN_LONG.replace("BACKEND", backend),
        ),
        scratch.path("results"),
    );
    let mut child = start(&["run", &plan, "-o", &results, "--json"]);
    let lines = BufReader::new(child.stdout.take().expect("a pipe"))
        .lines()
        .map_while(Result::ok);
    let mut events = lines.map(|line| serde_json::from_str::<Value>(&line).expect("an event"));
    let is_long = |event: &Value| {
        event["event"] == "trial-started" && event["spec"]["duration_ns"] == LONG_NS
    };
    assert!(
        events.any(|event| is_long(&event)),
        "no long trial (this test needs root)"
    );
    let run = child.id();
    // The frames of the trial, not those that resolve its neighbours.
    let before = received(run);
    wait_until(&mut child, "load", || received(run) > before + 100);
    ip(run, "-dut", "link set left down");
    assert!(ip(run, "-tester", "link show dev left").contains("NO-CARRIER"));
    let asked = Instant::now();
    signal(&child, name);
    let rest: Vec<Value> = events.collect();
    let (output, took) = (child.wait_with_output().expect("ended"), asked.elapsed());
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    // Far less than the rest of the trial, but enough for a busy machine.
    assert!(took < Duration::from_secs(15), "{took:?}");
    let last = rest.last().expect("an end");
    assert_eq!(
        (&last["event"], &last["interrupted"]),
        (&"run-ended".into(), &true.into())
    );
    let kept: Vec<Value> = records(&results)
        .iter()
        .map(|record| record["point"]["test"].clone())
        .collect();
    assert!(
        !kept.is_empty() && kept.iter().all(|test| test == "short"),
        "{kept:?}"
    );
    assert_eq!(facts(&results)["runs"][0]["ending"]["kind"], "interrupted");
    assert!(Path::new(&results).join("report.html").exists());
}

#[test]
fn a_trial_of_the_packet_backend_over_a_dead_link_ends_on_ctrl_c() {
    stopped_over_a_dead_link("packet", "INT");
}

#[test]
fn a_trial_of_the_xdp_backend_over_a_dead_link_ends_on_sigterm() {
    stopped_over_a_dead_link("xdp", "TERM");
}
