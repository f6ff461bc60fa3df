//! Interfaces of a machine, cabled to a device that was set up separately: frames, connections and queries through it have results. Rates are as low as
//! possible, so that nothing depends on the speed of the machine. Needs root and Unbound; without them these tests fail, they do not skip.

use crate::common::plans::{self, MAXIMUM};
use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, facts, signal, start_to_be_killed, sweep_after, text,
    wait_until, with_environment,
};
use serde_json::Value;
use sixbench_testbed::Shell;
use sixbench_testbed::namespace::{Namespace, name};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const LINKS: [&str; 2] = ["nic0", "nic1"];

/// The exit code of a run whose tester was not fit.
const TESTER_UNFIT: i32 = 4;
const TRIES: u32 = 10;

/// A machine and a device whose kernels keep their default behaviour: the device detects duplicate addresses whenever its links come up, and solicits
/// routers. Before a run, the left interface of the machine is up and the right one is down.
struct Cabled {
    machine: Namespace,
    device: Namespace,
    daemon: Option<Child>,
}

impl Cabled {
    /// Builds a device that forwards, with these addresses on its left and its right link.
    fn build(run: &str, addresses: [&[&str]; 2]) -> Self {
        let shell = Shell::new();
        let [machine, device] = ["machine", "device"].map(|role| {
            Namespace::new(&shell, &name(run, role)).expect("a namespace (needs root)")
        });
        for switch in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            device
                .shell()
                .set(&format!("/proc/sys/net/{switch}"), "1")
                .expect("a switch");
        }
        for (link, addresses) in LINKS.into_iter().zip(addresses) {
            let add = format!(
                "ip link add {link} netns {} type veth peer name {link} netns {}",
                machine.name(),
                device.name()
            );
            shell.line(&add).expect("a link");
            device
                .shell()
                .line(&format!("ip link set {link} up"))
                .expect("up");
            for address in addresses {
                device
                    .shell()
                    .line(&format!("ip address add {address} dev {link}"))
                    .expect("an address");
            }
        }
        machine
            .shell()
            .line(&format!("ip link set {} up", LINKS[0]))
            .expect("up");
        Self {
            machine,
            device,
            daemon: None,
        }
    }

    /// Waits until the device may use its addresses on the left link, whose other end is up.
    fn wait_for_addresses(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        let tentative = ["ip", "-6", "address", "show", "dev", LINKS[0], "tentative"];
        while !self
            .device
            .shell()
            .look(&tentative)
            .expect("it is there")
            .trim()
            .is_empty()
        {
            assert!(
                Instant::now() < end,
                "duplicate address detection takes a second or two"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Starts a program on the device.
    fn start(&mut self, words: &[&str]) {
        let daemon = Command::new("ip")
            .args(["netns", "exec", self.device.name()])
            .args(words)
            .stdin(Stdio::null())
            .spawn();
        self.daemon = Some(daemon.expect("a program"));
    }

    fn run(&self, plan: &str, results: &str) -> Output {
        self.command(plan, results).output().expect("sixbench")
    }

    fn command(&self, plan: &str, results: &str) -> Command {
        let mut command = with_environment(Command::new("ip"));
        command.args([
            "netns",
            "exec",
            self.machine.name(),
            env!("CARGO_BIN_EXE_sixbench"),
        ]);
        command.args(["run", plan, "-o", results]);
        command
    }

    /// Returns the flags and the addresses of the machine's interfaces.
    fn interfaces(&self) -> Vec<String> {
        let look = |words: &[&str]| self.machine.shell().look(words).expect("they are there");
        let link = |link: &&str| {
            let described = look(&["ip", "-o", "link", "show", "dev", link]);
            let flags = described
                .split_once('<')
                .and_then(|(_, rest)| rest.split_once('>'))
                .expect("flags")
                .0
                .to_owned();
            flags
                + &look(&[
                    "ip", "-brief", "address", "show", "dev", link, "scope", "global",
                ])
        };
        LINKS.iter().map(link).collect()
    }

    /// Returns ethtool's output on the offloads of the machine's interfaces.
    fn offloads(&self) -> [String; 2] {
        LINKS.map(|link| {
            self.machine
                .shell()
                .look(&["ethtool", "-k", link])
                .expect("ethtool")
        })
    }

    /// Returns the number of datagrams that the device has forwarded.
    fn forwarded(&self) -> u64 {
        let counters = self
            .device
            .shell()
            .look(&["cat", "/proc/net/snmp6"])
            .expect("counters");
        let line = counters
            .lines()
            .find(|line| line.starts_with("Ip6OutForwDatagrams"))
            .expect("a counter");
        line.split_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .expect("a number")
    }
}

impl Drop for Cabled {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Runs the test on the device's links: it must succeed, with a rate that passed, and give the interfaces back unchanged.
fn assert_measured(cabled: &Cabled, name: &str, test: &str) {
    let scratch = Scratch::new(&format!("cabled-{name}"));
    let (before, plan) = (
        cabled.interfaces(),
        scratch.write("plan.toml", &plans::through(LINKS, test)),
    );
    let run = |attempt| {
        let results = scratch.path(&format!("results-{attempt}"));
        (cabled.run(&plan, &results), results)
    };
    // A tester without enough time on this machine reports it, and the test measures again.
    let is_fit = |(output, _): &(Output, String)| output.status.code() != Some(TESTER_UNFIT);
    let (output, results) = (1..TRIES)
        .map(run)
        .find(is_fit)
        .unwrap_or_else(|| run(TRIES));
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{name}: {said}");
    let json = fs::read_to_string(Path::new(&results).join("results.json")).expect("results");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    // A tester without enough time on this machine may not get beyond the lowest load.
    let value = json["points"][0]["result"]["value"]
        .as_f64()
        .unwrap_or_default();
    assert!(
        value >= (MAXIMUM / 2) as f64,
        "{name}: {said}\n{}",
        json["points"][0]
    );
    assert_eq!(
        cabled.interfaces(),
        before,
        "{name}: given back as they were"
    );
}

const ROUTER: [&[&str]; 2] = [&["2001:2::1/112"], &["2001:2:0:8000::1/112"]];

#[test]
fn frames_through_a_router_have_a_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let cabled = Cabled::build("frames", ROUTER);
    assert_measured(
        &cabled,
        "frames",
        "dut = \"linux-ipv6\"\nframe-sizes = [84]\n",
    );
    assert!(
        cabled.forwarded() >= MAXIMUM / 5,
        "both directions of a trial: {}",
        cabled.forwarded()
    );
}

#[test]
fn tcp_connections_through_a_router_have_a_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let cabled = Cabled::build("tcp", ROUTER);
    assert_measured(
        &cabled,
        "tcp",
        "dut = \"linux-ipv6\"\nmeasure = \"tcp-establishment-rate\"\ntime-limit = \"900ms\"\n",
    );
    assert!(
        cabled.forwarded() > 4 * MAXIMUM / 5,
        "a connection is more than eight: {}",
        cabled.forwarded()
    );
}

#[test]
fn queries_through_a_router_to_the_testers_authority_have_a_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let cabled = Cabled::build("queries", ROUTER);
    assert_measured(
        &cabled,
        "queries",
        "dut = \"linux-ipv6\"\nmeasure = \"dns-queries\"\ntimeout = \"900ms\"\n",
    );
    assert!(
        cabled.forwarded() >= MAXIMUM / 5,
        "queries and answers: {}",
        cabled.forwarded()
    );
}

#[test]
fn an_authority_on_the_device_has_a_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let mut cabled = Cabled::build("authority", [&["2001:2::1/64"], &["198.18.0.1/24"]]);
    let listen = [
        "authority",
        "--listen",
        "[2001:2::1]:53",
        "--with-aaaa",
        "100%",
        "--threads",
        "1",
    ];
    cabled.wait_for_addresses();
    cabled.start(&[&[env!("CARGO_BIN_EXE_sixbench")], &listen[..]].concat());
    assert_measured(
        &cabled,
        "authority",
        "dut = \"nsd-authority\"\nmeasure = \"dns-authority\"\n",
    );
}

/// Keys of `[testbed]` that change the defaults of veth.
const OFFLOADS: &str =
    "offloads-off = [\"tx-checksum-ip-generic\"]\noffloads-on = [\"rx-gro-list\"]\n";

/// Returns the path of a plan through the links of a router, with these keys in its `[testbed]`.
fn plan_with(scratch: &Scratch, keys: &str) -> String {
    let plan = plans::through(LINKS, "dut = \"linux-ipv6\"\nframe-sizes = [84]\n");
    scratch.write(
        "plan.toml",
        &plan.replace("[[test]]", &format!("{keys}[[test]]")),
    )
}

#[test]
fn offloads_that_a_plan_sets_are_facts_and_come_back_when_it_ends() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-offloads"));
    let cabled = Cabled::build("offloads", ROUTER);
    let (before, results) = (
        (cabled.interfaces(), cabled.offloads()),
        scratch.path("results"),
    );
    assert_ran(&cabled.run(&plan_with(&scratch, OFFLOADS), &results));
    let facts = facts(&results);
    for link in LINKS {
        let on: Vec<&str> = facts["host"][format!("{link}: offloads")]
            .as_str()
            .expect("a fact")
            .split(", ")
            .collect();
        assert!(
            on.contains(&"rx-gro-list") && !on.contains(&"tx-checksum-ip-generic"),
            "{on:?}"
        );
    }
    assert_eq!((cabled.interfaces(), cabled.offloads()), before);
}

#[test]
fn a_ring_that_an_interface_has_not_is_told_and_the_interfaces_are_given_back() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-ring"));
    let cabled = Cabled::build("ring", ROUTER);
    let before = (cabled.interfaces(), cabled.offloads());
    let output = cabled.run(
        &plan_with(&scratch, &format!("{OFFLOADS}rx-ring = 512\n")),
        &scratch.path("results"),
    );
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(
        error.contains("cannot set the ring rx of interface nic0 to 512: it has no such setting"),
        "{error}"
    );
    assert_eq!((cabled.interfaces(), cabled.offloads()), before);
}

/// Replaces ethtool for a NIC with rings and RSS, which veth lacks: a file for each setting, and a log of what was set.
const ETHTOOL: &str = r#"#!/bin/sh
cd "$(dirname "$0")/state"
letter() { case $(cat "$1") in *"$2"*) echo "$3" ;; esac; }
case $1 in
-g) printf 'Pre-set maximums:\nRX:\t4096\nTX:\t4096\nCurrent hardware settings:\nRX:\t%s\nTX:\t%s\n' "$(cat "$2.rx")" "$(cat "$2.tx")" ;;
-G) echo "$3 $4" >> "$2.log"; echo "$4" > "$2.$3" ;;
-n) echo "UDP flows use these fields:"
    letter "$2.$4" s "IP SA"; letter "$2.$4" d "IP DA"; letter "$2.$4" f "L4 bytes 0 & 1 [TCP/UDP src port]"; letter "$2.$4" n "L4 bytes 2 & 3" ;;
-N) echo "$4 $5" >> "$2.log"; [ -e "$2.stubborn" ] || echo "$5" > "$2.$4" ;;
esac
"#;

const RINGS: &str = "rx-ring = 4096\nrss-hash = \"sdfn\"\n";

/// Writes the replacement to a directory; returns a PATH that starts with it.
fn stand_in(scratch: &Scratch) -> String {
    let ethtool = scratch.write("bin/ethtool", ETHTOOL);
    fs::set_permissions(&ethtool, fs::Permissions::from_mode(0o755)).expect("a program");
    for link in LINKS {
        for (file, content) in [
            ("rx", "512"),
            ("tx", "1024"),
            ("udp4", "sd"),
            ("udp6", "sdfn"),
        ] {
            scratch.write(&format!("bin/state/{link}.{file}"), content);
        }
    }
    format!(
        "{}:{}",
        scratch.path("bin"),
        std::env::var("PATH").expect("a PATH")
    )
}

#[test]
fn rings_and_hash_fields_are_set_where_they_differ_and_set_back() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-rings"));
    let (cabled, path) = (Cabled::build("rings", ROUTER), stand_in(&scratch));
    let results = scratch.path("results");
    assert_ran(
        &cabled
            .command(&plan_with(&scratch, RINGS), &results)
            .env("PATH", path)
            .output()
            .expect("sixbench"),
    );
    let facts = facts(&results);
    for link in LINKS {
        assert_eq!(
            facts["host"][format!("{link}: ring sizes")],
            "RX 4096 of 4096, TX 1024 of 4096"
        );
        assert_eq!(
            facts["host"][format!("{link}: RSS hash fields of udp4")],
            "sdfn"
        );
        let log =
            fs::read_to_string(scratch.path(&format!("bin/state/{link}.log"))).expect("a log");
        assert_eq!(log, "rx 4096\nudp4 sdfn\nrx 512\nudp4 sd\n");
    }
}

#[test]
fn hash_fields_that_a_driver_ignores_end_the_run() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-stubborn"));
    let (cabled, path) = (Cabled::build("stubborn", ROUTER), stand_in(&scratch));
    scratch.write("bin/state/nic0.stubborn", "");
    let output = cabled
        .command(&plan_with(&scratch, RINGS), &scratch.path("results"))
        .env("PATH", path)
        .output();
    let (error, code) = output
        .map(|output| (text(&output.stderr), output.status.code()))
        .expect("sixbench");
    assert_eq!(code, Some(3), "{error}");
    assert!(
        error.contains(
            "the RSS hash fields of udp4 of interface nic0 to sdfn: the driver does not take them"
        ),
        "{error}"
    );
    assert_eq!(
        fs::read_to_string(scratch.path("bin/state/nic0.rx"))
            .expect("a ring")
            .trim(),
        "512"
    );
}

#[test]
fn offloads_come_back_after_ctrl_c_and_by_the_next_run_after_a_kill() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-stop"));
    let cabled = Cabled::build("stopped", ROUTER);
    let before = (cabled.interfaces(), cabled.offloads());
    let plan = fs::read_to_string(plan_with(&scratch, OFFLOADS)).expect("a plan");
    let plan = scratch.write("plan.toml", &plans::that_lasts(&plan));
    for name in ["INT", "KILL"] {
        let results = scratch.path(name);
        let mut child = start_to_be_killed(cabled.machine.name(), &["run", &plan, "-o", &results]);
        let insides =
            ["left", "right"].map(|side| Shell::new().within(&format!("sb-{}-{side}", child.id())));
        let is_set = |inside: &Shell, link| {
            inside
                .look(&["ethtool", "-k", link])
                .is_ok_and(|printed| printed.contains("rx-gro-list: on"))
        };
        wait_until(&mut child, "offload", || {
            insides
                .iter()
                .zip(LINKS)
                .all(|(inside, link)| is_set(inside, link))
        });
        signal(&child, name);
        child.wait().expect("ended");
        if name == "KILL" {
            sweep_after(&child);
        }
        assert_eq!((cabled.interfaces(), cabled.offloads()), before, "{name}");
    }
}

/// The same configuration as in the recipe.
const UNBOUND: &str = r#"
server:
    directory: "/"
    chroot: ""
    username: ""
    pidfile: ""
    use-syslog: no
    do-daemonize: no
    num-threads: 1
    interface: 2001:2::1@53
    access-control: ::/0 allow
    module-config: "dns64 iterator"
    dns64-prefix: 64:ff9b::/96
    infra-keep-probing: yes
    local-zone: "test." nodefault
forward-zone:
    name: "dns64perf.test"
    forward-addr: 198.18.0.2@53
remote-control:
    control-enable: no
"#;

#[test]
fn a_dns64_server_on_the_device_has_a_result() {
    let _guard = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("cabled-unbound");
    let mut cabled = Cabled::build("dns64", [&["2001:2::1/64"], &["198.18.0.1/24"]]);
    cabled.wait_for_addresses();
    // AppArmor's profile applies to the program's original path, and only lets it read files below /etc.
    let program = scratch.path("unbound");
    fs::copy("/usr/sbin/unbound", &program).expect("Unbound (apt-get install unbound)");
    cabled.start(&[
        &program,
        "-d",
        "-c",
        &scratch.write("unbound.conf", UNBOUND),
    ]);
    assert_measured(
        &cabled,
        "dns64",
        "dut = \"unbound-dns64\"\nmeasure = \"dns64\"\n",
    );
}
