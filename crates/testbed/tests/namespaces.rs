//! The testbed in real namespaces. Needs root; without it these tests fail, they do not skip.

use sixbench_testbed::namespace::{self, Namespace};
use sixbench_testbed::{Cores, Dut, Library, Shell, Topology};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

fn cores() -> Cores {
    Cores { tester: vec![0], dut: vec![1] }
}

fn build(shell: &Shell, run: &str) -> Topology {
    Topology::build(shell, run, cores(), 1500).expect("a testbed (these tests need root)")
}

fn library() -> Library {
    Library::load::<&Path>(&[]).expect("recipes")
}

fn exists(name: &str) -> bool {
    Path::new("/run/netns").join(name).exists()
}

#[test]
fn a_topology_is_built_quiet_and_gone_afterwards() {
    let shell = Shell::new();
    let topology = build(&shell, "top");
    let dut = topology.dut().shell();
    let mask = dut.look(&["cat", "/sys/class/net/left/queues/rx-0/rps_cpus"]).expect("mask");
    assert_eq!(mask.trim().trim_start_matches('0'), "2");
    let forwarding = dut.look(&["cat", "/proc/sys/net/ipv6/conf/left/forwarding"]).expect("switch");
    assert_eq!(forwarding.trim(), "1");
    let addresses = topology.tester().shell().look(&["ip", "-brief", "address"]).expect("addresses");
    assert!(!addresses.contains("fe80"), "the tester's kernel must be silent: {addresses}");
    let names = [topology.dut().name().to_owned(), topology.tester().name().to_owned()];
    assert!(names.iter().all(|name| exists(name)));
    drop(topology);
    assert!(!names.iter().any(|name| exists(name)));
}

#[test]
fn every_recipe_comes_up_and_leaves_nothing() {
    for recipe in library().iter() {
        let shell = Shell::new();
        let topology = build(&shell, &format!("r-{}", &recipe.name[..5]));
        let mut dut = Dut::bring_up(recipe, &topology).expect("a device");
        dut.check_alive().expect("alive");
        assert!(!dut.facts().version.is_empty(), "{}", recipe.name);
        let name = topology.dut().name().to_owned();
        let directory = std::env::temp_dir().join(&name);
        assert!(directory.exists());
        drop(dut);
        drop(topology);
        assert!(!exists(&name) && !directory.exists());
    }
}

#[test]
fn a_panic_in_the_middle_leaves_nothing() {
    let shell = Shell::new();
    let name = namespace::name("panic", "dut");
    let result = catch_unwind(AssertUnwindSafe(|| {
        let topology = build(&shell, "panic");
        let _dut = Dut::bring_up(library().get("tayga-siit").expect("a recipe"), &topology).expect("a device");
        assert!(exists(&name));
        panic!("in the middle");
    }));
    assert!(result.is_err());
    assert!(!exists(&name));
}

#[test]
fn a_step_that_fails_is_told_and_undone() {
    let shell = Shell::new();
    let topology = build(&shell, "fail");
    let mut recipe = library().get("linux-ipv4").expect("a recipe").clone();
    recipe.setup.push(toml::from_str("run = \"ip link set nosuch up\"").expect("a step"));
    let error = Dut::bring_up(&recipe, &topology).expect_err("an error").to_string();
    assert!(error.contains("ip link set nosuch up` failed") && error.contains("nosuch"), "{error}");
    assert!(!std::env::temp_dir().join(topology.dut().name()).exists());
}

#[test]
fn a_daemon_that_dies_is_noticed_with_its_last_words() {
    let shell = Shell::new();
    let topology = build(&shell, "dead");
    let mut recipe = library().get("linux-ipv4").expect("a recipe").clone();
    recipe.daemon = Some(toml::from_str("run = \"ls /no/such/file\"").expect("a step"));
    let mut dut = Dut::bring_up(&recipe, &topology).expect("a device");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let error = dut.check_alive().expect_err("dead").to_string();
    assert!(error.contains("ended by itself") && error.contains("/no/such/file"), "{error}");
}

#[test]
fn what_a_killed_run_left_is_swept_up_with_its_processes() {
    let shell = Shell::new();
    // A process that has ended has left its number behind, as a killed run has.
    let mut child = std::process::Command::new("true").spawn().expect("true");
    let dead = child.id();
    child.wait().expect("ended");
    let name = format!("sb-{dead}-dut");
    std::mem::forget(Namespace::new(&shell, &name).expect("a namespace"));
    let mut sleeper = std::process::Command::new("ip").args(["netns", "exec", &name, "sleep", "60"]).spawn().expect("sleep");
    while shell.look(&["ip", "netns", "pids", &name]).expect("pids").trim().is_empty() {
        std::thread::yield_now();
    }
    let swept = namespace::sweep(&shell).expect("swept");
    assert!(swept.contains(&name));
    assert!(!exists(&name));
    assert!(!sleeper.wait().expect("ended").success());
}

#[test]
fn a_rehearsal_writes_the_same_commands_and_does_nothing() {
    let rehearsal = Shell::rehearsal();
    let topology = build(&rehearsal, "reh");
    let _dut = Dut::bring_up(library().get("tayga-siit").expect("a recipe"), &topology).expect("rehearsed");
    assert!(!exists(topology.dut().name()));
    let script = rehearsal.transcript().text();
    assert!(script.contains("tayga -c") && script.contains("cat > "), "{script}");
}
