//! A device with two links in shared memory: `dpdk-testpmd`, which forwards frames unchanged, set up by hand or started by sixbench. Needs the Debian
//! package dpdk-dev, but no root; as root it also checks that none is needed.

use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, directories, facts, kill, output, records, text, wait_until,
};
use crate::device::Testpmd;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Starts the device, and returns it with the names of the tester's ports.
fn start(scratch: &Scratch) -> (Testpmd, [String; 2]) {
    let sockets = ["left.sock", "right.sock"].map(|name| scratch.path(name));
    let mut device = Testpmd::start(&scratch.0, [&sockets[0], &sockets[1]], "socket-abstract=no");
    wait_until(&mut device.0, "socket", || {
        sockets.iter().all(|path| Path::new(path).exists())
    });
    // Each port of the device has a different number.
    let [left, right] = sockets;
    (
        device,
        [format!("memif:{left}"), format!("memif:{right},id=1")],
    )
}

/// Returns the count with this name in both directions of a result.
fn counts(result: &Value, name: &str) -> Vec<u64> {
    let directions = result["directions"].as_array().expect("directions");
    directions
        .iter()
        .map(|direction| direction[name].as_u64().expect("a count"))
        .collect()
}

/// Returns whether the device was already listening before its interface existed, in which case it is started again.
fn is_too_early(output: &Output) -> bool {
    text(&output.stderr).contains("ID not found")
}

/// Fewer frames than fit into a ring, so that a busy machine delays them but loses none.
const SMALL: [&str; 5] = ["--rate", "2k", "--for", "500ms", "--json"];

/// Returns the result of a trial in which no frame was wrong.
fn judged(output: &Output) -> Value {
    assert_ran(output);
    let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
    for wrong in [
        "mistranslated",
        "corrupt",
        "duplicate",
        "reordered",
        "foreign",
        "misdirected",
    ] {
        assert_eq!(counts(&result, wrong), [0, 0], "{wrong}: {result}");
    }
    result
}

#[test]
fn a_trial_through_dpdk_loses_no_frame_and_finds_each_as_it_was() {
    let _one = ONE_AT_A_TIME.lock();
    let trial = |interfaces: &str| {
        output(
            &[
                &["trial", "testpmd-io", "--interfaces", interfaces][..],
                &SMALL,
            ]
            .concat(),
        )
    };
    let attempt = |nth| {
        let scratch = Scratch::new(&format!("memif-trial-{nth}"));
        let (_device, ports) = start(&scratch);
        let output = trial(&ports.join(","));
        if is_too_early(&output) {
            return None;
        }
        let result = judged(&output);
        // If the device had no core for longer than the wait for residual frames, the trial is repeated.
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
            "name = \"memif\"\nprofile = \"smoke\"\n[testbed]\nleft = \"{left}\"\nright = \"{right}\"\n[trial]\npatience = \"0s\"\nduration = \"200ms\"\n[search]\nminimum = \"500\"\n\
             maximum = \"1k\"\n[[test]]\nname = \"t\"\ndut = \"testpmd-io\"\nframe-sizes = [84]\nrepetitions = 1\n"
        );
        let (plan, results) = (scratch.write("plan.toml", &plan), scratch.path("out"));
        let output = output(&["run", &plan, "-o", &results]);
        if is_too_early(&output) {
            return None;
        }
        assert_ran(&output);
        let received = |record: &Value| counts(&record["result"], "received").iter().sum::<u64>();
        assert!(
            records(&results).iter().map(received).sum::<u64>() > 0,
            "{}",
            text(&output.stderr)
        );
        let facts = facts(&results).to_string();
        assert!(
            facts.contains("frames are sent and received by memif, client of DPDK"),
            "{facts}"
        );
        let cabled = format!(
            "the DUT is cabled to this machine's ports {left} and {right}; it was not set up"
        );
        assert!(facts.contains(&cabled), "{facts}");
        Some(())
    };
    (0..5).find_map(attempt).expect("a device that is ready");
}

#[test]
fn a_device_that_is_not_there_is_an_error_of_the_testbed_that_says_what_to_do() {
    let scratch = Scratch::new("memif-none");
    let ports = ["a", "b"].map(|name| format!("memif:{}", scratch.path(name)));
    let output = output(&[
        "trial",
        "testpmd-io",
        "--interfaces",
        &ports.join(","),
        "--rate",
        "1k",
    ]);
    assert_eq!(output.status.code(), Some(3));
    let told = text(&output.stderr);
    assert!(
        told.contains(&format!(
            "{}: there is no socket {}: start the device",
            ports[0],
            scratch.path("a")
        )),
        "{told}"
    );
}

/// Returns the directories of the shared-memory devices that a process has started.
fn directories_of(pid: u32) -> Vec<PathBuf> {
    directories::of_process(pid, |role| role == "memif")
}

/// Returns the process IDs of the servers whose sockets are in a directory.
fn servers_in(directory: &Path) -> Vec<String> {
    let socket = format!("socket={}", directory.join("left.sock").display());
    let names = fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let serves = |pid: &String| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&socket))
    };
    names.filter(serves).collect()
}

#[test]
fn a_device_that_sixbench_starts_itself_hands_on_every_frame_and_is_gone_afterwards() {
    let _one = ONE_AT_A_TIME.lock();
    let attempt = |_| {
        let child = crate::common::start(&[&["trial", "testpmd-io"][..], &SMALL].concat());
        let pid = child.id();
        let result = judged(&child.wait_with_output().expect("ended"));
        assert_eq!(directories_of(pid), Vec::<PathBuf>::new());
        (counts(&result, "received") == [1000, 1000]).then_some(result)
    };
    (0..5).find_map(attempt).expect("every frame");
}

#[test]
fn a_plan_with_a_device_in_memory_says_where_it_ran_and_that_it_polls() {
    let _one = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("memif-started");
    let plan = "name = \"memif\"\nprofile = \"smoke\"\n[search]\nminimum = \"500\"\nmaximum = \"1k\"\n\
                [[test]]\nname = \"t\"\ndut = \"testpmd-io\"\nframe-sizes = [84]\nrepetitions = 1\n";
    let (plan, results) = (scratch.write("plan.toml", plan), scratch.path("out"));
    assert_ran(&output(&["run", &plan, "-o", &results]));
    let records = records(&results);
    let of_device = |record: &Value| {
        record["watch"]["polling"] == true && record["watch"]["process_ms"].as_u64() > Some(0)
    };
    assert!(
        !records.is_empty() && records.iter().all(of_device),
        "{records:?}"
    );
    let facts = facts(&results).to_string();
    assert!(
        facts.contains("joined by two links in shared memory (memif)"),
        "{facts}"
    );
    assert!(!facts.contains("set up by hand"), "{facts}");
    let commands = fs::read_to_string(Path::new(&results).join("commands.sh")).expect("commands");
    assert!(
        commands.contains("setpriv --pdeathsig KILL sh /tmp/sb-"),
        "{commands}"
    );
    assert!(!commands.contains("ip netns"), "{commands}");
}

#[test]
fn a_run_that_is_killed_takes_its_device_with_it_and_the_next_removes_its_directory() {
    let _one = ONE_AT_A_TIME.lock();
    let mut child = crate::common::start(&["trial", "testpmd-io", "--rate", "1k", "--for", "60s"]);
    let pid = child.id();
    let servers = || {
        directories_of(pid)
            .iter()
            .flat_map(|path| servers_in(path))
            .collect::<Vec<String>>()
    };
    wait_until(&mut child, "device", || !servers().is_empty());
    kill(&mut child);
    let end = Instant::now() + Duration::from_secs(60);
    while !servers().is_empty() {
        assert!(Instant::now() < end, "the device is still there");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(directories_of(pid).len(), 1);
    let swept = output(&["sweep"]);
    assert!(
        text(&swept.stdout).contains(&format!("removed sb-{pid}.")),
        "{}",
        text(&swept.stdout)
    );
    assert_eq!(directories_of(pid), Vec::<PathBuf>::new());
}

#[test]
fn who_is_not_root_can_measure_a_device_in_memory() {
    let _one = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("memif-nobody");
    // Another user may have no access to the directory of the binary.
    let binary = scratch.path("sixbench");
    fs::copy(env!("CARGO_BIN_EXE_sixbench"), &binary).expect("a copy");
    let is_root =
        fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let user = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let words: Vec<&str> = user
        .into_iter()
        .filter(|_| is_root)
        .chain([&binary, "trial", "testpmd-io"])
        .chain(SMALL)
        .collect();
    let output = Command::new(words[0])
        .args(&words[1..])
        .current_dir("/")
        .output()
        .expect("a command");
    judged(&output);
}

/// Writes a recipe of `testpmd-io` with a change, and runs a trial with it.
fn tried(scratch: &Scratch, from: &str, to: &str) -> Output {
    let text = include_str!("../../../../recipes/testpmd-io.toml");
    assert!(text.contains(from), "{from}");
    scratch.write(
        "recipes/changed.toml",
        &text
            .replace("name = \"testpmd-io\"", "name = \"changed\"")
            .replace(from, to),
    );
    output(&[
        "trial",
        "changed",
        "--recipes",
        &scratch.path("recipes"),
        "--rate",
        "1k",
    ])
}

#[test]
fn what_keeps_a_device_from_serving_its_sockets_is_told() {
    let _one = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("memif-wrong");
    let missing = tried(
        &scratch,
        "program = \"dpdk-testpmd\"",
        "program = \"sb-no-such-program\"",
    );
    assert_eq!(missing.status.code(), Some(3));
    assert!(
        text(&missing.stderr).contains("sb-no-such-program"),
        "{}",
        text(&missing.stderr)
    );
    let ended = tried(&scratch, "--forward-mode=$(cat mode)", "--no-such-option");
    assert_eq!(ended.status.code(), Some(3));
    assert!(
        text(&ended.stderr).contains("DPDK testpmd, io forwarding ended by itself ("),
        "{}",
        text(&ended.stderr)
    );
    let elsewhere = tried(&scratch, "socket={left},", "socket={dir}/other,");
    assert_eq!(elsewhere.status.code(), Some(3));
    let told = text(&elsewhere.stderr);
    assert!(
        told.contains("DPDK testpmd, io forwarding does not serve /tmp/sb-")
            && told.contains("left.sock after 5 s"),
        "{told}"
    );
}

#[test]
fn what_cannot_be_measured_in_memory_is_refused_before_anything_is_touched() {
    let scratch = Scratch::new("memif-refused");
    let refused = |name: &str, plan: &str, words: &str| {
        let plan = scratch.write(name, &format!("name = \"t\"\nprofile = \"smoke\"\n{plan}"));
        let output = output(&["run", &plan, "-o", &scratch.path("out")]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains(words),
            "{}",
            text(&output.stderr)
        );
        assert!(!Path::new(&scratch.path("out")).exists());
    };
    let test = |dut: &str, more: &str| {
        format!("[[test]]\nname = \"{dut}\"\ndut = \"{dut}\"\nframe-sizes = [84]\n{more}")
    };
    let io = |more| test("testpmd-io", more);
    refused(
        "reset.toml",
        &io("measure = \"reset\"\n"),
        "links in shared memory would end with the process of its [daemon]",
    );
    let both = format!("interleave = true\n{}{}", io(""), test("linux-ipv4", ""));
    refused(
        "both.toml",
        &both,
        "testpmd-io polls, so it would take the cores of the other devices: set interleave = false",
    );
}

#[test]
fn a_device_of_vpp_that_was_not_built_names_the_command_that_builds_it() {
    let scratch = Scratch::new("memif-vpp");
    let mut command = crate::common::sixbench(&["trial", "vpp-map-e", "--rate", "1k"]);
    let output = command
        .env("SIXBENCH_LAB", scratch.path("lab"))
        .output()
        .expect("sixbench");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        text(&output.stderr)
            .contains("build it from its source (sixbench lab build --vpp DIR|ARCHIVE)"),
        "{}",
        text(&output.stderr)
    );
    assert!(!Path::new(&scratch.path("lab")).exists());
}
