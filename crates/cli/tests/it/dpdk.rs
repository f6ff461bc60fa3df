//! Trials over DPDK ports: through `dpdk-testpmd`, which forwards frames unchanged, and through Linux forwarding, whose addresses must be resolved.
//! Needs root, Debian's package dpdk-dev, and the shim: `scripts/build-dpdk-shim debug`, which `make test` calls.

use crate::common::{
    ONE_AT_A_TIME, Scratch, assert_ran, facts, output, records, sixbench, text, wait_until,
    with_environment,
};
use crate::device::Testpmd;
use serde_json::Value;
use sixbench_testbed::Shell;
use sixbench_testbed::namespace::{Namespace, name};
use std::fs;
use std::process::{Command, Output};

/// Attempts, since a busy machine may leave the tester or the device no time.
const TRIES: u32 = 5;
const LINKS: [&str; 2] = ["nic0", "nic1"];

/// Starts the device, and returns it with the names of the tester's ports.
fn start(scratch: &Scratch) -> (Testpmd, [String; 2]) {
    let sockets = ["left.sock", "right.sock"].map(|name| scratch.path(name));
    let mut device = Testpmd::start(&scratch.0, [&sockets[0], &sockets[1]], "socket-abstract=no");
    // A DPDK client that connects before the device is ready does not try again.
    let log = scratch.path("testpmd.log");
    wait_until(&mut device.0, "forwarding", || {
        fs::read_to_string(&log).is_ok_and(|log| log.contains("io packet forwarding - ports=2"))
    });
    let port = |nth: usize| {
        let socket = &sockets[nth];
        format!(
            "dpdk:net_memif{nth},role=client,id={nth},socket={socket},socket-abstract=no,rsize=10"
        )
    };
    (device, [port(0), port(1)])
}

/// Returns the count with this name in both directions of a result.
fn counts(result: &Value, name: &str) -> Vec<u64> {
    let directions = result["directions"].as_array().expect("directions");
    directions
        .iter()
        .map(|direction| direction[name].as_u64().expect("a count"))
        .collect()
}

/// Returns the result of a trial in which every frame came back; fails if any came back wrong.
fn complete(output: &Output, frames: u64) -> Option<Value> {
    assert_ran(output);
    let result: Value = serde_json::from_slice(&output.stdout).expect("a result");
    for wrong in [
        "mistranslated",
        "corrupt",
        "duplicate",
        "reordered",
        "misdirected",
    ] {
        assert_eq!(counts(&result, wrong), [0, 0], "{wrong}: {result}");
    }
    // If the device had no core for longer than the wait for residual frames, the trial is repeated.
    (counts(&result, "received") == [frames, frames]).then_some(result)
}

#[test]
fn a_trial_through_testpmd_loses_no_frame_and_finds_each_as_it_was() {
    let _one = ONE_AT_A_TIME.lock();
    let attempt = |nth| {
        let scratch = Scratch::new(&format!("dpdk-trial-{nth}"));
        let (_device, ports) = start(&scratch);
        // Fewer frames than fit into a ring, so that a busy machine delays them but loses none.
        let words = ["--rate", "1k", "--for", "500ms", "--json"];
        let output = output(
            &[
                &["trial", "testpmd-io", "--interfaces", &ports.join(",")][..],
                &words,
            ]
            .concat(),
        );
        complete(&output, 500)
    };
    let result = (0..TRIES).find_map(attempt).expect("every frame");
    assert_eq!(
        (counts(&result, "offered"), counts(&result, "foreign")),
        (vec![500, 500], vec![0, 0])
    );
}

#[test]
fn a_plan_names_its_ports_and_its_results_say_how_frames_were_sent() {
    let _one = ONE_AT_A_TIME.lock();
    let scratch = Scratch::new("dpdk-plan");
    let (_device, [left, right]) = start(&scratch);
    let plan = format!(
        "name = \"dpdk\"\nprofile = \"smoke\"\n[testbed]\nleft = \"{left}\"\nright = \"{right}\"\n[trial]\npatience = \"0s\"\nduration = \"200ms\"\n[search]\nminimum = \"500\"\n\
         maximum = \"1k\"\n[[test]]\nname = \"t\"\ndut = \"testpmd-io\"\nframe-sizes = [84]\nrepetitions = 1\n"
    );
    let (plan, results) = (scratch.write("plan.toml", &plan), scratch.path("out"));
    let output = output(&["run", &plan, "-o", &results, "--trust-recipes"]);
    assert_ran(&output);
    let received = |record: &Value| counts(&record["result"], "received").iter().sum::<u64>();
    assert!(
        records(&results).iter().map(received).sum::<u64>() > 0,
        "{}",
        text(&output.stderr)
    );
    let facts = facts(&results).to_string();
    assert!(
        facts.contains("frames are sent and received by DPDK 2")
            && facts.contains(" with net_memif (rings"),
        "{facts}"
    );
}

/// A machine with two interfaces, cabled to a device that forwards.
struct Cabled {
    machine: Namespace,
    _device: Namespace,
}

impl Cabled {
    /// Builds a device with these addresses on its left and its right link.
    fn build(run: &str, addresses: [&str; 2]) -> Self {
        let shell = Shell::new();
        let [machine, device] = ["machine", "device"].map(|role| {
            Namespace::new(&shell, &name(run, role)).expect("a namespace (needs root)")
        });
        for sysctl in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            device
                .shell()
                .set(&format!("/proc/sys/net/{sysctl}"), "1")
                .expect("a sysctl");
        }
        for (link, address) in LINKS.into_iter().zip(addresses) {
            let add = format!(
                "ip link add {link} netns {} type veth peer name {link} netns {}",
                machine.name(),
                device.name()
            );
            shell.line(&add).expect("a link");
            // The machine's kernel stays silent on the links, since it has no addresses there.
            machine
                .shell()
                .line(&format!("ip link set {link} addrgenmode none"))
                .expect("no address");
            machine
                .shell()
                .line(&format!("ip link set {link} up"))
                .expect("up");
            device
                .shell()
                .line(&format!("ip link set {link} up"))
                .expect("up");
            let nodad = if address.contains(':') { " nodad" } else { "" };
            device
                .shell()
                .line(&format!("ip address add {address} dev {link}{nodad}"))
                .expect("an address");
        }
        Self {
            machine,
            _device: device,
        }
    }

    fn trial(&self, recipe: &str) -> Output {
        let ports = [0, 1].map(|nth| format!("dpdk:net_af_packet{nth},iface={}", LINKS[nth]));
        with_environment(Command::new("ip"))
            .args([
                "netns",
                "exec",
                self.machine.name(),
                env!("CARGO_BIN_EXE_sixbench"),
                "trial",
                recipe,
            ])
            .args([
                "--interfaces",
                &ports.join(","),
                "--rate",
                "500",
                "--for",
                "500ms",
                "--json",
            ])
            .output()
            .expect("sixbench")
    }
}

#[test]
fn a_router_of_linux_is_asked_for_its_addresses_and_asks_for_ours() {
    let _one = ONE_AT_A_TIME.lock();
    let routers = [
        ("linux-ipv6", ["2001:2::1/112", "2001:2:0:8000::1/112"]),
        ("linux-ipv4", ["198.18.0.1/24", "198.19.0.1/24"]),
    ];
    for (recipe, addresses) in routers {
        // The device knows no neighbours at first, so each attempt resolves addresses again.
        let attempt = |nth| {
            complete(
                &Cabled::build(&format!("dpdk{nth}"), addresses).trial(recipe),
                250,
            )
        };
        (0..TRIES)
            .find_map(attempt)
            .unwrap_or_else(|| panic!("every frame through {recipe}"));
    }
}

#[test]
fn an_interface_of_the_kernel_that_a_device_of_dpdk_uses_must_not_lead_to_this_machines_network() {
    let _one = ONE_AT_A_TIME.lock();
    let cabled = Cabled::build("dpdk-used", ["198.18.0.1/24", "198.19.0.1/24"]);
    cabled
        .machine
        .shell()
        .line(&format!("ip route add default dev {}", LINKS[0]))
        .expect("a route");
    let refused = cabled.trial("linux-ipv4");
    let error = text(&refused.stderr);
    assert!(
        refused.status.code() == Some(3) && error.contains("carries the default route"),
        "{error}"
    );
}

#[test]
fn a_name_that_is_no_device_and_a_device_that_cannot_be_opened_are_errors_of_the_testbed() {
    let told = |interfaces: &str| {
        let output = output(&[
            "trial",
            "testpmd-io",
            "--interfaces",
            interfaces,
            "--rate",
            "1k",
        ]);
        (output.status.code(), text(&output.stderr))
    };
    let (code, error) = told("dpdk:e0,dpdk:net_null1");
    assert!(
        code == Some(3)
            && error.contains("dpdk:e0: \"e0\" is no device; expected a PCI device as in"),
        "{error}"
    );
    let (code, error) = told("dpdk:ffff:ff:1f.7,dpdk:net_null1");
    assert!(
        code == Some(3)
            && error.contains("there is no PCI device ffff:ff:1f.7: `lspci -D` lists them"),
        "{error}"
    );
    let (code, error) = told("dpdk:net_null0,size=64,no-rx=1");
    assert!(
        code == Some(2) && error.contains("--interfaces takes two names: LEFT,RIGHT"),
        "{error}"
    );
    let missing = sixbench(&[
        "trial",
        "testpmd-io",
        "--interfaces",
        "dpdk:net_null0,dpdk:net_null1",
        "--rate",
        "1k",
    ])
    .env("SIXBENCH_DPDK", "/nowhere/x.so")
    .output()
    .expect("sixbench");
    let error = text(&missing.stderr);
    assert!(
        missing.status.code() == Some(3)
            && error.contains("there is no /nowhere/x.so: `make build`"),
        "{error}"
    );
}
