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

    /// Waits until a DNS server on the device answers.
    fn wait_for_server(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        let query = [
            "dig",
            "+time=1",
            "+tries=1",
            "@2001:2::1",
            "CH",
            "TXT",
            "version.bind",
        ];
        while self.device.shell().look(&query).is_err() {
            assert!(Instant::now() < end, "a server starts within seconds");
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

/// The configuration of the recipe `tayga-siit`, without its `data-dir`.
const TAYGA: &str = "tun-device nat64\nipv4-addr 198.19.0.9\nipv6-addr 2001:2::9\nmap 198.18.0.1 2001:2::1\nmap 198.18.0.2 2001:2::2\n\
                     map 198.19.0.1 2001:2:0:1::1\nmap 198.19.0.2 2001:2:0:1::2\n";

/// Builds a device on which TAYGA translates.
fn translator(scratch: &Scratch) -> Cabled {
    let links: [&[&str]; 2] = [&["2001:2::1/64"], &["198.19.0.1/24", "2001:2:0:8000::1/64"]];
    let mut cabled = Cabled::build("conformance", links);
    let data = scratch.path("");
    let file = scratch.write("tayga.conf", &format!("{TAYGA}data-dir {data}\n"));
    for line in [
        &format!("tayga -c {file} --mktun")[..],
        "ip link set nat64 up",
        "ip route add 198.18.0.0/24 dev nat64",
        "ip route add 2001:2:0:1::/64 dev nat64",
    ] {
        cabled.device.shell().line(line).expect("set up");
    }
    cabled.wait_for_addresses();
    cabled.start(&["tayga", "-c", &file, "-n"]);
    cabled
}

/// RFC 6815: the source of the second vector is a multicast address, to which the device's answers would go.
#[test]
fn a_translator_on_the_device_is_asked_all_vectors_but_those_whose_addresses_others_may_have() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-conformance"));
    let cabled = translator(&scratch);
    let vectors = "46-udp,64-udp,46-illegal-source-multicast";
    let judged = asked(&cabled, "tayga-siit", vectors);
    let found: Vec<&Value> = judged.iter().map(|of| &of["result"]).collect();
    assert_eq!(found, ["right", "not-applicable", "right"], "{judged:?}");
    let reason = judged[1]["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("224.0.0.251 lies outside"), "{reason}");
}

/// Asks the device these vectors, none of which may be violated, from the interfaces of the machine, which are given back. Returns the results in the order
/// of the files.
fn asked(cabled: &Cabled, recipe: &str, vectors: &str) -> Vec<Value> {
    let before = cabled.interfaces();
    let mut command = with_environment(Command::new("ip"));
    command.args(["netns", "exec", cabled.machine.name()]);
    command.args([env!("CARGO_BIN_EXE_sixbench"), "conformance", recipe]);
    command.args(["--interfaces", "nic0,nic1", "--vector", vectors, "--json"]);
    let done = command.output().expect("sixbench");
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    let results: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    assert_eq!(cabled.interfaces(), before, "given back as they were");
    results["vectors"].as_array().expect("vectors").clone()
}

/// Returns the result of a vector.
fn result_of<'v>(judged: &'v [Value], name: &str) -> &'v Value {
    let found = judged.iter().find(|vector| vector["name"] == name);
    &found.expect("the vector")["result"]
}

/// The NAT of the recipe `nft-nat44`.
const NAT: &str = "table ip sixbench {\n chain postrouting {\n type nat hook postrouting priority srcnat\n \
                   oifname \"nic1\" meta l4proto { tcp, udp } snat to 198.19.0.1:1024-65535\n \
                   oifname \"nic1\" meta l4proto icmp snat to 198.19.0.1\n }\n}\n";

/// The last vector waits for a share of a timer, which nobody knows of a NAT that somebody else has set up.
#[test]
fn a_nat_on_the_device_is_asked_in_steps_but_for_what_depends_on_its_timers() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-nat"));
    let cabled = Cabled::build("nat", [&["10.0.0.1/30"], &["198.18.0.1/30"]]);
    let rules = scratch.write("nat.nft", NAT);
    for line in [
        "ip route add 10.0.0.0/16 via 10.0.0.2",
        "ip route add 198.18.0.0/15 via 198.18.0.2",
        "ip route add blackhole 198.19.0.1",
        &format!("nft -f {rules}"),
    ] {
        cabled.device.shell().line(line).expect("set up");
    }
    let names = [
        "udp-mapping",
        "udp-reply",
        "tcp-handshake",
        "icmp-query-response",
    ];
    let judged = asked(&cabled, "nft-nat44", &(names.join(",") + ",udp-timer"));
    for name in names {
        assert_eq!(result_of(&judged, name), "right", "{name}: {judged:?}");
    }
    assert_eq!(result_of(&judged, "udp-timer"), "not-applicable");
}

/// Returns the configuration of a DNS64 server on the device, which forwards every name to the authority at the tester's right interface.
fn unbound(directory: &str) -> String {
    let server = [
        &format!("directory: \"{directory}\"")[..],
        "chroot: \"\"",
        "username: \"\"",
        "pidfile: \"\"",
        "use-syslog: no",
        "do-daemonize: no",
        "interface: 2001:2::1",
        "access-control: ::/0 allow",
        "module-config: \"dns64 iterator\"",
        "dns64-prefix: 64:ff9b::/96",
        "infra-keep-probing: yes",
        "local-zone: \"test.\" nodefault",
    ];
    let zone = "forward-zone:\n name: \".\"\n forward-addr: 198.18.0.2@53\nremote-control:\n control-enable: no\n";
    format!("server:\n {}\n{zone}", server.join("\n "))
}

#[test]
fn a_dns64_server_on_the_device_is_asked_over_udp_and_tcp() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-dns64"));
    let mut cabled = Cabled::build("dns64", [&["2001:2::1/64"], &["198.18.0.1/24"]]);
    let file = scratch.write("unbound.conf", &unbound(&scratch.path("")));
    // Debian's AppArmor profile is that of the program's path, and lets it read files below /etc alone.
    let program = scratch.path("unbound");
    let shell = cabled.device.shell();
    let found = shell
        .look(&["sh", "-c", "command -v unbound"])
        .expect("Unbound");
    fs::copy(found.trim(), &program).expect("a copy");
    cabled.wait_for_addresses();
    cabled.start(&[&program, "-d", "-c", &file]);
    cabled.wait_for_server();
    let names = ["a-becomes-aaaa", "aaaa-exists", "whole-over-tcp"];
    let judged = asked(&cabled, "unbound-dns64", &names.join(","));
    for name in names {
        assert_eq!(result_of(&judged, name), "right", "{name}: {judged:?}");
    }
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
-x) printf 'RX flow hash indirection table for %s with 2 RX ring(s):\n    0:      0     1     0     1\n' "$2" ;;
-G) echo "$3 $4" >> "$2.log"; echo "$4" > "$2.$3" ;;
-n) echo "UDP flows use these fields:"
    letter "$2.$4" s "IP SA"; letter "$2.$4" d "IP DA"; letter "$2.$4" f "L4 bytes 0 & 1 [TCP/UDP src port]"; letter "$2.$4" n "L4 bytes 2 & 3" ;;
-N) echo "$4 $5" >> "$2.log"; [ -e "$2.stubborn" ] || echo "$5" > "$2.$4" ;;
-c) printf 'Coalesce parameters for %s:\nAdaptive RX: %s  TX: n/a\nrx-usecs:\t%s\ntx-usecs:\tn/a\n' "$2" "$(cat "$2.adaptive-rx")" "$(cat "$2.rx-usecs")" ;;
-C) link=$2; shift 2; echo "$*" >> "$link.log"
    while [ $# -gt 1 ]; do echo "$2" > "$link.$1"; shift 2; done ;;
-a) [ -e "$2.pause-rx" ] || exit 1
    printf 'Pause parameters for %s:\nAutonegotiate:\t%s\nRX:\t\t%s\nTX:\t\t%s\n' "$2" "$(cat "$2.pause-autoneg")" "$(cat "$2.pause-rx")" "$(cat "$2.pause-tx")" ;;
-A) link=$2; shift 2; echo "$*" >> "$link.pauses"
    case "$*" in *autoneg*) [ ! -e "$link.fixed" ] || { echo "netlink error: Operation not supported" >&2; exit 1; } ;; esac
    while [ $# -gt 1 ]; do echo "$2" > "$link.pause-$1"; shift 2; done ;;
esac
"#;

const RINGS: &str = "rx-ring = 4096\nrx-usecs = 0\nrss-hash = \"sdfn\"\n";

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
            ("adaptive-rx", "on"),
            ("rx-usecs", "50"),
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
fn rings_delays_and_hash_fields_are_set_where_they_differ_and_set_back() {
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
    let page = fs::read_to_string(scratch.path("results/report.html")).expect("a page");
    assert!(page.contains("tester nic0"), "the cables are drawn");
    for link in LINKS {
        assert_eq!(
            facts["host"][format!("{link}: ring sizes")],
            "RX 4096 of 4096, TX 1024 of 4096"
        );
        assert_eq!(
            facts["host"][format!("{link}: RSS hash fields of udp4")],
            "sdfn"
        );
        assert_eq!(
            facts["host"][format!("{link}: interrupt coalescing")],
            "rx-usecs 0"
        );
        let log =
            fs::read_to_string(scratch.path(&format!("bin/state/{link}.log"))).expect("a log");
        assert_eq!(
            log,
            "rx 4096\nadaptive-rx off rx-usecs 0\nudp4 sdfn\nrx 512\nrx-usecs 50\nadaptive-rx on\nudp4 sd\n"
        );
    }
}

/// Gives the replaced NICs flow control, which is on.
fn with_flow_control(scratch: &Scratch) {
    for link in LINKS {
        for name in ["autoneg", "rx", "tx"] {
            scratch.write(&format!("bin/state/{link}.pause-{name}"), "on");
        }
    }
}

/// Returns the commands that set flow control of an interface, one a line.
fn pauses(scratch: &Scratch, link: &str) -> String {
    fs::read_to_string(scratch.path(&format!("bin/state/{link}.pauses"))).unwrap_or_default()
}

#[test]
fn flow_control_is_off_while_a_device_is_measured_unless_the_plan_keeps_it() {
    let (_guard, scratch) = (ONE_AT_A_TIME.lock(), Scratch::new("cabled-pause"));
    let (cabled, path) = (Cabled::build("pause", ROUTER), stand_in(&scratch));
    with_flow_control(&scratch);
    scratch.write("bin/state/nic0.udp6", "sd");
    // The driver of the right NIC does not let its negotiation be turned off.
    scratch.write("bin/state/nic1.fixed", "");
    let run = |keys: &str, name: &str| {
        let results = scratch.path(name);
        let output = cabled
            .command(&plan_with(&scratch, keys), &results)
            .env("PATH", &path)
            .output()
            .expect("sixbench");
        assert_ran(&output);
        facts(&results)
    };
    let kept = run("flow-control = \"keep\"\n", "kept");
    assert_eq!(
        kept["host"]["nic0: flow control"],
        "autoneg on, rx on, tx on"
    );
    assert_eq!(LINKS.map(|link| pauses(&scratch, link)), ["", ""]);
    let warnings = kept["warnings"].as_array().expect("warnings").iter();
    let of_queues: Vec<_> = warnings
        .filter(|warning| warning["kind"] == "one-receive-queue")
        .collect();
    assert_eq!(
        of_queues,
        [&serde_json::json!({"kind": "one-receive-queue", "interface": "nic0", "flows": ["udp6"]})]
    );
    let off = run("", "off");
    assert_eq!(
        off["host"]["nic0: flow control"],
        "autoneg off, rx off, tx off"
    );
    assert_eq!(
        off["host"]["nic1: flow control"],
        "autoneg on, rx off, tx off"
    );
    assert_eq!(
        pauses(&scratch, "nic0"),
        "autoneg off rx off tx off\nautoneg on rx on tx on\n"
    );
    assert_eq!(
        pauses(&scratch, "nic1"),
        "autoneg off rx off tx off\nrx off tx off\nrx on tx on\n"
    );
}

/// The times of a trial and of a link that goes down while frames are sent.
struct Cut {
    name: &'static str,
    sends_for: &'static str,
    is_down_for: Duration,
}

/// Cuts a link in the middle of a trial, which must be invalid and name it.
fn cut(times: &Cut) {
    let _guard = ONE_AT_A_TIME.lock();
    let cabled = Cabled::build(times.name, ROUTER);
    let mut command = with_environment(Command::new("nsenter"));
    command
        .arg(format!("--net=/run/netns/{}", cabled.machine.name()))
        .arg(env!("CARGO_BIN_EXE_sixbench"))
        .args(["trial", "linux-ipv6", "--interfaces", "nic0,nic1"])
        .args(["--rate", "200", "--for", times.sends_for]);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sixbench");
    let before = cabled.forwarded();
    wait_until(&mut child, "traffic", || cabled.forwarded() > before + 100);
    let device = cabled.device.shell();
    for state in ["down", "up"] {
        device
            .line(&format!("ip link set nic1 {state}"))
            .expect("the link");
        std::thread::sleep(times.is_down_for);
    }
    let output = child.wait_with_output().expect("ended");
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(TESTER_UNFIT), "{said}");
    assert!(
        said.contains("the link of nic1 went down once during the trial: a cable, a transceiver"),
        "{said}"
    );
}

#[test]
fn a_link_that_goes_down_in_the_middle_makes_the_trial_invalid_and_is_named() {
    cut(&Cut {
        name: "cut",
        sends_for: "6s",
        is_down_for: Duration::from_millis(200),
    });
}

#[test]
fn a_link_that_comes_back_after_the_end_of_the_trial_is_waited_for_and_ends_no_run() {
    cut(&Cut {
        name: "cut-long",
        sends_for: "2s",
        is_down_for: Duration::from_secs(6),
    });
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
