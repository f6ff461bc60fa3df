//! A tester on two machines with a router between them: this end runs in one namespace, the agent in another, over a real sshd. Rates are low and the
//! stall rule is generous, so that nothing depends on the speed of the machine. Needs root and openssh-server; without them these tests fail, they do
//! not skip.

use crate::common::plans::settings;
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, facts, kill, output, records, start_in, start_to_be_killed,
    sweep_after, text, until_the_first_trial, wait_until,
};
use crate::room::{FAR, Room};
use serde_json::Value;
use sixbench_testbed::Shell;
use sixbench_testbed::namespace::{Namespace, name};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The interface of this end and that of the agent, which are cabled to the router.
const ENDS: [&str; 2] = ["nic0", "nic1"];

/// The machines with the two ends of the tester, and the router between them.
struct Apart {
    room: Room,
    router: Namespace,
}

impl Apart {
    /// Builds the machines. `run` distinguishes several in one process.
    fn build(run: &str) -> Self {
        let (shell, room) = (Shell::new(), Room::build(run));
        let router = Namespace::new(&shell, &name(run, "router"))
            .expect("a namespace (these tests need root)");
        let inside = router.shell();
        let machines = [room.near.name(), room.far.name()];
        for ((end, machine), (link, address)) in ENDS
            .iter()
            .zip(machines)
            .zip([("left", "198.18.0.1"), ("right", "198.19.0.1")])
        {
            let add = format!(
                "ip link add {end} netns {machine} type veth peer name {link} netns {}",
                router.name()
            );
            shell.line(&add).expect("a link");
            shell
                .within(machine)
                .set(&format!("/proc/sys/net/ipv6/conf/{end}/disable_ipv6"), "1")
                .expect("a switch");
            shell
                .within(machine)
                .line(&format!(
                    "ethtool -K {end} tx off rx off tso off gso off gro off"
                ))
                .expect("offloads");
            inside
                .line(&format!("ip address add {address}/30 dev {link}"))
                .expect("an address");
            inside.line(&format!("ip link set {link} up")).expect("up");
        }
        for (network, neighbour) in [
            ("198.18.0.0/16", "198.18.0.2"),
            ("198.19.0.0/16", "198.19.0.2"),
        ] {
            inside
                .line(&format!("ip route add {network} via {neighbour}"))
                .expect("a route");
        }
        inside
            .set("/proc/sys/net/ipv4/ip_forward", "1")
            .expect("a switch");
        Self { room, router }
    }

    /// Returns the path of a plan of this test.
    fn plan(&self, scratch: &Scratch, test: &str) -> String {
        let config = self.room.config_within().display().to_string();
        scratch.write(
            "plan.toml",
            &format!("{}{test}", testbed(&config, "dut", &program())),
        )
    }

    /// Returns the path of a plan whose agent is `program` on `machine`.
    fn plan_with(&self, scratch: &Scratch, machine: &str, program: &str) -> String {
        let config = self.room.config_within().display().to_string();
        scratch.write(
            "plan.toml",
            &format!("{}{ROUTER}", testbed(&config, machine, program)),
        )
    }

    fn run(&self, plan: &str, results: &str) -> Output {
        run_in(&self.room, &["run", plan, "-o", results, "--trust-recipes"])
    }

    /// Returns the state of the interface of each end while no measurement is running.
    fn ends(&self) -> Vec<String> {
        let machines = [&self.room.near, &self.room.far];
        let look = |(machine, end): (&Namespace, &str)| {
            let printed = machine
                .shell()
                .look(&["ip", "-o", "link", "show", "dev", end])
                .expect("it is there");
            printed
                .split(" state ")
                .next()
                .unwrap_or_default()
                .replace("NO-CARRIER,", "")
                .replace(",LOWER_UP", "")
                .replace(",M-DOWN", "")
        };
        machines.into_iter().zip(ENDS).map(look).collect()
    }

    /// Returns the frames of every counter in the router's rules, in order.
    fn counted(&self) -> Vec<u64> {
        let listing = self.router.shell().line("nft list ruleset").expect("rules");
        let after = |text: &str| {
            text.split_whitespace()
                .next()
                .and_then(|number| number.parse().ok())
        };
        listing
            .split("counter packets ")
            .skip(1)
            .filter_map(after)
            .collect()
    }
}

fn run_in(room: &Room, arguments: &[&str]) -> Output {
    start_in(room.near.name(), arguments)
        .wait_with_output()
        .expect("ended")
}

/// Returns the program under test as the far machine, which has its own /root, sees it.
fn program() -> String {
    format!(
        "/proc/{}/root{}",
        std::process::id(),
        env!("CARGO_BIN_EXE_sixbench")
    )
}

fn testbed(config: &str, machine: &str, program: &str) -> String {
    let [own, agents] = ENDS;
    // Both machines are this one: each gets one of its cores, if there are two.
    let cores = sixbench_io::thread::allowed_cores().expect("cores");
    let (first, last) = (cores[0], cores[cores.len() - 1]);
    format!(
        "name = \"apart\"\n[testbed]\nleft = \"{own}\"\nagent = \"ssh:{machine}\"\nagent-right = \"{agents}\"\n\
         agent-program = \"{program}\"\nssh-config = \"{config}\"\ntester-cores = [{first}]\nagent-cores = [{last}]\n{}",
        settings!("400ms" + "500ms", "500" to "1k", "50%")
    )
}

const ROUTER: &str =
    "[[test]]\nname = \"router\"\ndut = \"linux-ipv4\"\nframe-sizes = [84]\nrepetitions = 1\n";

/// Returns the sum of a count of a direction over all trials.
fn sum(records: &[Value], direction: &str, count: impl Fn(&Value) -> u64) -> u64 {
    let all = records.iter().flat_map(|record| {
        record["result"]["directions"]
            .as_array()
            .expect("directions")
    });
    all.filter(|of| of["direction"] == direction)
        .map(count)
        .sum()
}

fn number(of: &Value, name: &str) -> u64 {
    of[name]
        .as_u64()
        .unwrap_or_else(|| panic!("{name} in {of}"))
}

/// Returns the number of frames that did not arrive in any form.
fn lost(of: &Value) -> u64 {
    number(of, "offered")
        - number(of, "received")
        - number(of, "mistranslated")
        - number(of, "corrupt")
        - number(of, "late")
}

#[test]
fn what_a_router_between_two_machines_does_wrong_is_counted_exactly() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent"),
        Apart::build("agent-counts"),
    );
    let rules = [
        "add table netdev rig",
        "add chain netdev rig forward { type filter hook ingress device left priority 0 ; }",
        "add rule netdev rig forward udp sport 1024-65535 numgen inc mod 50 0 counter drop",
        "add chain netdev rig out { type filter hook egress device right priority 0 ; }",
        "add rule netdev rig out udp sport 1024-65535 meta mark 0 numgen inc mod 40 0 counter meta mark set 1 dup to right",
        "add chain netdev rig reverse { type filter hook ingress device right priority 0 ; }",
        "add rule netdev rig reverse udp sport 1024-65535 numgen inc mod 30 0 counter udp dport set 53",
    ];
    for rule in rules {
        apart.router.shell().run(&["nft", rule]).expect("a rule");
    }
    let before = (apart.room.state(), apart.ends());
    let results = scratch.path("results");
    let output = apart.run(&apart.plan(&scratch, ROUTER), &results);
    assert_ran(&output);
    let records = records(&results);
    let [dropped, doubled, rewritten] = apart.counted()[..] else {
        panic!("three rules: {:?}", apart.counted())
    };
    assert!(
        dropped > 0 && doubled > 0 && rewritten > 0,
        "{}",
        text(&output.stderr)
    );
    assert_eq!(sum(&records, "forward", lost), dropped);
    assert_eq!(
        sum(&records, "forward", |of| number(of, "duplicate")),
        doubled
    );
    assert_eq!(
        sum(&records, "forward", |of| number(of, "mistranslated")),
        0
    );
    assert_eq!(
        sum(&records, "reverse", |of| number(of, "mistranslated")),
        rewritten
    );
    assert_eq!(sum(&records, "reverse", lost), 0);
    assert_eq!(sum(&records, "reverse", |of| number(of, "duplicate")), 0);
    let of_clocks = ["delay", "tagged", "delays"];
    let has_delay = |of: &Value| u64::from(of_clocks.iter().any(|key| of.get(key).is_some()));
    assert_eq!(
        sum(&records, "forward", has_delay) + sum(&records, "reverse", has_delay),
        0,
        "no clock says how late a frame was"
    );
    let facts = facts(&results).to_string();
    assert!(facts.contains("its right end nic1 of dut"), "{facts}");
    assert!(facts.contains("dut: kernel"), "{facts}");
    apart.room.assert_is_as(&before.0);
    assert_eq!(apart.ends(), before.1);
}

#[test]
fn a_translator_on_a_third_machine_is_set_up_and_judged_from_both_sides() {
    let (_guard, scratch, room) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-siit"),
        Room::build("agent-siit"),
    );
    // The agent is on the device's machine here: its interface is connected to the device's right one.
    let shell = Shell::new();
    room.near
        .shell()
        .line("ip link del right")
        .expect("removed");
    let far = room.far.name();
    shell
        .line(&format!(
            "ip link add {} netns {far} type veth peer name {} netns {far}",
            FAR[1], ENDS[1]
        ))
        .expect("a link");
    room.far
        .shell()
        .line(&format!(
            "ethtool -K {} tx off rx off tso off gso off gro off",
            ENDS[1]
        ))
        .expect("offloads");
    room.far
        .shell()
        .set(
            &format!("/proc/sys/net/ipv6/conf/{}/disable_ipv6", ENDS[1]),
            "1",
        )
        .expect("a switch");
    let before = room.state();
    let of_device = format!(
        "left = \"left\"\nhost = \"ssh:dut\"\ndut-left = \"{}\"\ndut-right = \"{}\"\n",
        FAR[0], FAR[1]
    );
    let plan = testbed(
        &room.config_within().display().to_string(),
        "dut",
        &program(),
    )
    .replace("left = \"nic0\"\n", &of_device);
    let test = "[[test]]\nname = \"siit\"\ndut = \"tayga-siit\"\nframe-sizes = [84]\nrepetitions = 1\nbackground = \"10%\"\n";
    let (results, plan) = (
        scratch.path("results"),
        scratch.write("plan.toml", &(plan + test)),
    );
    let output = run_in(&room, &["run", &plan, "-o", &results, "--trust-recipes"]);
    assert_ran(&output);
    let records = records(&results);
    for direction in ["forward", "reverse"] {
        assert_eq!(
            sum(&records, direction, |of| number(of, "mistranslated")
                + number(of, "corrupt")),
            0,
            "{records:?}"
        );
        // A stall of this machine may cost frames; a wrong translation would cost nearly all.
        assert!(
            sum(&records, direction, |of| number(of, "received")) > sum(&records, direction, lost),
            "{records:?}"
        );
    }
    assert!(
        facts(&results)
            .to_string()
            .contains("the DUT is the machine dut, set up over ssh by its recipe")
    );
    room.assert_is_as(&before);
}

/// Returns the path of a program with these lines of shell, for a machine that sees this one's files.
fn script(scratch: &Scratch, name: &str, lines: &str) -> String {
    let path = scratch.write(name, &format!("#!/bin/sh\n{lines}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    path
}

#[test]
fn an_agent_that_is_missing_or_of_another_version_is_refused_before_anything_is_touched() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-refused"),
        Apart::build("agent-refused"),
    );
    let before = (apart.room.state(), apart.ends());
    let newer = script(
        &scratch,
        "newer",
        "echo Welcome; echo 'sixbench-agent 99.0.0 (abcdef0 2030-01-01)'; exec cat >/dev/null",
    );
    let older = script(
        &scratch,
        "older",
        "[ \"$1\" = --version ] && echo 'sixbench 0.0.1' && exit 0\necho \"error: unrecognized subcommand '$1'\" >&2; exit 2",
    );
    let strange = script(&scratch, "strange", "echo 'no such thing here' >&2; exit 1");
    for (machine, program, what) in [
        (
            "dut",
            newer.as_str(),
            "dut runs sixbench 99.0.0 (abcdef0 2030-01-01), but this is sixbench ",
        ),
        (
            "dut",
            &older,
            "dut runs sixbench 0.0.1, but this is sixbench ",
        ),
        ("dut", &strange, "no such thing here"),
        (
            "dut",
            "sixbench-is-not-here",
            "dut has no program sixbench-is-not-here: copy this one there (scp ",
        ),
        (
            "closed",
            &newer,
            "Connection refused; is it up, does sshd run there, and is the port right?",
        ),
    ] {
        let output = apart.run(
            &apart.plan_with(&scratch, machine, program),
            &scratch.path("results"),
        );
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{program}: {error}");
        assert!(error.contains(what), "{program}: {error}");
    }
    assert!(!Path::new(&scratch.path("results")).exists());
    apart.room.assert_is_as(&before.0);
    assert_eq!(apart.ends(), before.1);
}

#[test]
fn an_interface_that_the_agent_may_not_take_is_told_with_its_machine() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-busy"),
        Apart::build("agent-busy"),
    );
    apart
        .room
        .far
        .shell()
        .line(&format!("ip address add 10.1.1.1/24 dev {}", ENDS[1]))
        .expect("an address");
    let before = apart.ends();
    let output = apart.run(&apart.plan(&scratch, ROUTER), &scratch.path("results"));
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("dut: interface nic1 has addresses of this host (10.1.1.1/24)"),
        "{error}"
    );
    assert_eq!(apart.ends(), before);
}

/// A test whose trial lasts two minutes.
const LONG: &str = "[[test]]\nname = \"long\"\ndut = \"linux-ipv4\"\nframe-sizes = [84]\nrepetitions = 1\nmeasure = \"soak\"\n\
                    rate = \"100\"\nduration = \"120s\"\n";

fn until_the_long_trial(apart: &Apart, child: &mut Child, results: &str) {
    until_the_first_trial(child, results);
    // The agent moves its interface before each device, and holds it during the trial.
    let is_taken = || {
        apart
            .room
            .far
            .shell()
            .look(&["ip", "link", "show", "dev", ENDS[1]])
            .is_err()
    };
    wait_until(child, "agent at work", is_taken);
}

/// Starts a run and waits until it is in its long trial.
fn start_long_trial(apart: &Apart, scratch: &Scratch, results: &str) -> Child {
    let plan = apart.plan(scratch, &format!("{ROUTER}{LONG}"));
    let mut child = start_in(
        apart.room.near.name(),
        &["run", &plan, "-o", results, "--trust-recipes"],
    );
    until_the_long_trial(apart, &mut child, results);
    child
}

#[test]
fn an_agent_whose_machine_goes_down_ends_the_run_and_another_run_goes_on() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-down"),
        Apart::build("agent-down"),
    );
    let before = (apart.room.state(), apart.ends());
    let results = scratch.path("results");
    let child = start_long_trial(&apart, &scratch, &results);
    let made = records(&results).len();
    assert!(Room::end_sessions(&apart.room.far) > 0);
    let output = child.wait_with_output().expect("ended");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("lost contact with the agent on dut") && error.contains("kept in"),
        "{error}"
    );
    // No message tells the agent to end: it must notice by itself.
    apart.room.assert_is_as(&before.0);
    assert_eq!(apart.ends(), before.1);
    resume_and_stop(&apart, &results, made);
    // No waiting here: when the run has ended, everything must have been given back.
    assert_eq!(apart.ends(), before.1);
}

/// Resumes a run that has made this many trials, and interrupts it once the agent is at work again.
fn resume_and_stop(apart: &Apart, results: &str, made: usize) {
    let mut resumed = start_in(
        apart.room.near.name(),
        &["run", "--resume", results, "--trust-recipes"],
    );
    while apart
        .room
        .far
        .shell()
        .look(&["ip", "link", "show", "dev", ENDS[1]])
        .is_ok()
    {
        if resumed.try_wait().expect("a state").is_some() {
            let output = resumed.wait_with_output().expect("ended");
            panic!(
                "it ended before the agent was at work: {}{}",
                text(&output.stdout),
                text(&output.stderr)
            );
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    crate::common::signal(&resumed, "INT");
    let output = resumed.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(records(results).len() >= made, "what was measured is kept");
}

#[test]
fn an_agent_whose_connection_hangs_ends_the_run_and_another_run_goes_on() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-hangs"),
        Apart::build("agent-hangs"),
    );
    let before = (apart.room.state(), apart.ends());
    let results = scratch.path("results");
    let child = start_long_trial(&apart, &scratch, &results);
    let made = records(&results).len();
    // Nothing is closed: the process that serves the connection just stops.
    assert!(Room::signal_sessions(&apart.room.far, "STOP") > 0);
    let begun = Instant::now();
    let output = child.wait_with_output().expect("ended");
    let error = text(&output.stderr);
    let took = begun.elapsed();
    assert!(Room::signal_sessions(&apart.room.far, "CONT") > 0);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("lost contact with the agent on dut")
            && error.contains("sixbench run --resume"),
        "{error}"
    );
    // ssh gives up after 20 s without signs of life, the agent after 30 s; a busy machine may take longer.
    assert!(took < Duration::from_secs(90), "{took:?}");
    apart.room.assert_is_as(&before.0);
    assert_eq!(apart.ends(), before.1);
    resume_and_stop(&apart, &results, made);
    assert_eq!(apart.ends(), before.1);
}

#[test]
fn a_killed_run_leaves_no_agent_and_both_interfaces_come_back() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-killed"),
        Apart::build("agent-killed"),
    );
    let before = (apart.room.state(), apart.ends());
    let results = scratch.path("results");
    let plan = apart.plan(&scratch, &format!("{ROUTER}{LONG}"));
    let mut child = start_to_be_killed(
        apart.room.near.name(),
        &["run", &plan, "-o", &results, "--trust-recipes"],
    );
    until_the_long_trial(&apart, &mut child, &results);
    assert!(apart.room.processes().contains(&"sixbench".to_owned()));
    kill(&mut child);
    apart.room.assert_is_as(&before.0);
    sweep_after(&child);
    apart.room.assert_near_has(&[ENDS[0]]);
    assert_eq!(apart.ends(), before.1);
}

#[test]
fn an_agent_that_hears_nothing_ends_by_itself_although_its_input_is_open() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sixbench"));
    let mut agent = command
        .args(["agent", "--silence", "1s"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("an agent");
    let held = agent.stdin.take();
    let status = agent.wait().expect("ended");
    drop(held);
    let mut said = String::new();
    agent
        .stderr
        .take()
        .expect("piped")
        .read_to_string(&mut said)
        .expect("text");
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(
        said.contains("no sign of life from the controlling machine for 1 s"),
        "{said}"
    );
}

#[test]
fn the_command_of_the_agent_is_explained_but_not_in_the_list() {
    let list = text(&output(&["--help"]).stdout);
    assert!(!list.contains("agent "), "{list}");
    let help = output(&["help", "agent"]);
    let shown = text(&help.stdout);
    assert!(
        help.status.success() && shown.contains("opens no network"),
        "{shown}"
    );
}

/// A test of one trial that measures the delay of every frame.
const DELAYS: &str = "[[test]]\nname = \"delays\"\ndut = \"linux-ipv4\"\nframe-sizes = [84]\nrepetitions = 1\nmeasure = \"pdv\"\n\
                      rate = \"500\"\nduration = \"400ms\"\n";

/// Runs a test with a chronyc on both machines that executes `says`; the agent starts with these environment variables.
fn run_with_chrony(
    apart: &Apart,
    scratch: &Scratch,
    (name, says): (&str, &str),
    (variables, test): (&str, &str),
    results: &str,
) -> Output {
    script(scratch, &format!("{name}/chronyc"), says);
    let path = format!(
        "{}:{}",
        scratch.path(name),
        std::env::var("PATH").expect("a path")
    );
    let lines = format!(
        "PATH={path}; export PATH; exec env {variables} {} \"$@\"",
        program()
    );
    let agent = script(scratch, &format!("{name}/agent"), &lines);
    let config = apart.room.config_within().display().to_string();
    let plan = scratch.write(
        "plan.toml",
        &format!("{}{test}", testbed(&config, "dut", &agent)),
    );
    let mut command = crate::common::with_environment(Command::new("ip"));
    command.args([
        "netns",
        "exec",
        apart.room.near.name(),
        env!("CARGO_BIN_EXE_sixbench"),
    ]);
    command
        .args(["run", &plan, "-o", results, "--trust-recipes"])
        .env("PATH", &path)
        .output()
        .expect("sixbench")
}

#[test]
fn delays_between_two_machines_are_measured_only_where_chrony_says_how_right_both_clocks_are() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-clocks"),
        Apart::build("agent-clocks"),
    );
    let results = scratch.path("results");
    let run = |name: &str, says: &str| {
        run_with_chrony(&apart, &scratch, (name, says), ("", DELAYS), &results)
    };
    let output = run("silent", "echo '506 Cannot talk to daemon'; exit 1");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    let why = "delays are not measured: the clocks of two machines have no stated bound (this machine: chronyd does not answer";
    assert!(
        error.contains("test delays: ") && error.contains(why),
        "{error}"
    );
    assert!(!Path::new(&results).exists());
    // Each clock is off by at most 10 us + 20 us + 40 us / 2, since both are this machine's.
    let output = run("kept", &format!("echo {TRACKING}"));
    assert_ran(&output);
    let records = records(&results);
    assert!(!records.is_empty(), "{}", text(&output.stderr));
    for direction in records.iter().flat_map(|record| {
        record["result"]["directions"]
            .as_array()
            .expect("directions")
    }) {
        assert_eq!(
            direction["delay"]["count"], direction["received"],
            "{direction}"
        );
        let bound_ns = number(direction, "clock_bound_ns");
        // Twice 50 us, the time to read the clocks, and their drift: far less than a second here.
        assert!((100_000..1_000_000_000).contains(&bound_ns), "{direction}");
    }
    let facts = facts(&results).to_string();
    assert!(
        facts.contains("one-way delays are measured by the clocks of both machines, which chrony keeps within 100."),
        "{facts}"
    );
}

/// A clock that is off by at most 50 us, in chronyc's format.
const TRACKING: &str = "C0A80101,ntp1.example,2,1795451234.1,-0.000010000,0.0,0.0,1.0,0.0,0.2,0.000040000,0.000020000,64.2,Normal";

/// The agent's system clock is an hour ahead, but its monotonic clock is not (libfaketime; Debian: faketime).
const AN_HOUR_AHEAD: &str = "LD_PRELOAD=$(echo /usr/lib/*/faketime/libfaketimeMT.so.1) FAKETIME=+3600 DONT_FAKE_MONOTONIC=1";

#[test]
fn a_clock_an_hour_ahead_changes_no_count_and_is_found_out_where_delays_are_measured() {
    let (_guard, scratch, apart) = (
        ONE_AT_A_TIME.lock(),
        Scratch::new("agent-hour"),
        Apart::build("agent-hour"),
    );
    let before = (apart.room.state(), apart.ends());
    let shown = Command::new("sh")
        .args(["-c", &format!("exec env {AN_HOUR_AHEAD} date +%s")])
        .output()
        .expect("a clock");
    let ahead = text(&shown.stdout).trim().parse::<i64>().expect("seconds") - now_s();
    assert!(
        (3590..=3610).contains(&ahead),
        "libfaketime (package faketime) is needed: {}",
        text(&shown.stderr)
    );
    let run = |test: &str, results: &str| {
        run_with_chrony(
            &apart,
            &scratch,
            ("hour", &format!("echo {TRACKING}")),
            (AN_HOUR_AHEAD, test),
            results,
        )
    };
    let results = scratch.path("results");
    let output = run(ROUTER, &results);
    assert_ran(&output);
    let records = records(&results);
    for direction in ["forward", "reverse"] {
        let [received, wrong] = ["received", "mistranslated"]
            .map(|count| sum(&records, direction, |of| number(of, count)));
        // A stall of this machine may cost frames; a trial that starts an hour too early or too late would cost all.
        assert!(
            received > sum(&records, direction, lost) && wrong == 0,
            "{records:?}"
        );
    }
    let refused = scratch.path("refused");
    let output = run(DELAYS, &refused);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    let claim = "the clock of dut and that of this machine claim to be within ";
    assert!(
        error.contains("test delays: ") && error.contains(claim),
        "{error}"
    );
    let apart_ms = error
        .split("shows that they are ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
    assert!(
        apart_ms.is_some_and(|ms| (3_590_000..3_610_000).contains(&ms)),
        "{error}"
    );
    apart.room.assert_is_as(&before.0);
    assert_eq!(apart.ends(), before.1);
}

/// Returns the time of this machine, seconds since 1970.
fn now_s() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_secs() as i64
}
