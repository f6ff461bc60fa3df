//! A request to stop while the testbed waits for something that never comes: the run ends soon, and undoes what it has set up. These tests
//! need root; without it they fail, they do not skip.

mod common;

use common::{ONE_AT_A_TIME, Scratch, namespaces_of, plans, signal, start, text};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
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

/// Runs the plan with `recipe`, requests a stop by `name` as soon as a wait that contains `waiting` is told, and looks at how the run ends.
fn stopped_while(waiting: &str, recipe: &str, name: &str) {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new(&format!("stop-{name}"));
    scratch.write("recipes/rigged.toml", recipe);
    let plan = scratch.write("plan.toml", plans::STATEFUL);
    let (recipes, results) = (scratch.path("recipes"), scratch.path("results"));
    let arguments = ["run", &plan, "--recipes", &recipes, "-o", &results];
    let mut child = start(&arguments);
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
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
    assert!(rest.iter().any(|line| line.contains("sixbench run --resume")), "{rest:?}");
    let commands = std::fs::read(Path::new(&results).join("commands.sh")).expect("the commands are kept");
    assert!(text(&commands).contains("ip netns add"));
}

#[test]
fn a_run_that_waits_for_a_table_that_never_gets_empty_ends_on_ctrl_c() {
    stopped_while("waiting for rigged to be empty: 5343 entries left", RECIPE, "INT");
}

#[test]
fn a_run_that_waits_for_a_command_that_does_not_end_ends_on_sigterm() {
    let recipe = RECIPE.replace("[version]", "[[setup]]\nrun = \"sleep 29\"\n[version]");
    stopped_while("sleep 29`", &recipe, "TERM");
}
