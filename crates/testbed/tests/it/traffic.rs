//! Sends the kernel's own datagrams through every recipe in both directions: the device must do what its recipe says, and decrement the hop limit
//! as stated. These tests need root, and fail rather than skip without it.
//!
//! The tester's ends have addresses here, each in its own namespace. No socket listens: the kernel counts complete and correct datagrams for closed
//! ports, and this counter serves as the receiver.

use crate::common::{is_for_hosts, library, tried_here};
use sixbench_testbed::recipe::{DeviceSide, Recipe, RecipeTraffic};
use sixbench_testbed::{Cores, Devices, DutOptions, Hosts, LinkSettings, Shell, Topology};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// A device, or several in a row, between two hosts. Fields are dropped in the order of declaration.
struct Rig {
    _devices: Devices,
    hosts: Hosts,
    topology: Topology,
}

/// A host on one link.
struct Host {
    shell: Shell,
    link: &'static str,
}

impl Rig {
    fn build(recipe: &Recipe, run: &str) -> Self {
        let shell = Shell::new();
        let cores = Cores {
            tester: vec![0],
            dut: vec![1],
        };
        let topology = Topology::build_chain(
            &shell,
            run,
            cores,
            LinkSettings::of_mtu(1500),
            recipe.parts.len(),
        );
        let topology = topology.expect("a testbed (these tests need root)");
        let devices =
            Devices::bring_up(recipe, &topology, &DutOptions::default()).expect("a device");
        let hosts = Hosts::settle(&topology, recipe, run, (&[], &[]), &shell).expect("hosts");
        Self {
            _devices: devices,
            hosts,
            topology,
        }
    }

    fn left(&self) -> Host {
        Host {
            shell: self.topology.tester().shell(),
            link: "left",
        }
    }

    fn right(&self) -> Host {
        Host {
            shell: Shell::new().within(&self.hosts.namespaces().1),
            link: "right",
        }
    }

    /// Checks that both directions pass with exactly the number of hops in the recipe. For a stateful device, only the Initiator's direction is
    /// checked: the other one needs a connection, which `runner` tests with the tester's own frames.
    fn check(&self, what: &str, traffic: &RecipeTraffic, initiator: Option<DeviceSide>) {
        let (left, right) = (self.left(), self.right());
        let forward = (
            &left,
            traffic.left.destination,
            &right,
            traffic.right.destination,
        );
        let reverse = (&right, traffic.right.source, &left, traffic.left.source);
        let ways = [
            ("forward", forward, DeviceSide::Left),
            ("reverse", reverse, DeviceSide::Right),
        ];
        for (direction, (from, to, receiver, seen_as), _) in ways
            .into_iter()
            .filter(|(_, _, side)| initiator.is_none_or(|initiator| initiator == *side))
        {
            let passes = |limit: u8| from.passes(to, limit, receiver, seen_as);
            // The first datagram may be lost during neighbour resolution, and a busy machine may be slow.
            let passes_at_last = |limit: u8| (0..20).any(|_| passes(limit));
            assert!(passes_at_last(64), "{what}, {direction}: nothing arrives");
            assert!(
                passes_at_last(traffic.hops + 1),
                "{what}, {direction}: more than {} hops",
                traffic.hops
            );
            assert!(
                !passes(traffic.hops),
                "{what}, {direction}: fewer than {} hops",
                traffic.hops
            );
        }
    }
}

impl Host {
    fn passes(&self, to: IpAddr, hop_limit: u8, receiver: &Host, seen_as: IpAddr) -> bool {
        let limit = hop_limit.to_string();
        self.shell
            .set("/proc/sys/net/ipv4/ip_default_ttl", &limit)
            .expect("a switch");
        self.shell
            .set(
                &format!("/proc/sys/net/ipv6/conf/{}/hop_limit", self.link),
                &limit,
            )
            .expect("a switch");
        let before = receiver.arrived(seen_as);
        self.shell
            .run(&["bash", "-c", &format!("echo test > /dev/udp/{to}/4000")])
            .expect("sent");
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end {
            if receiver.arrived(seen_as) > before {
                return true;
            }
        }
        false
    }

    /// Returns the number of datagrams for closed ports so far, in the family of `address`.
    fn arrived(&self, address: IpAddr) -> u64 {
        let (file, skipped, column) = if address.is_ipv4() {
            ("snmp", "Udp: InDatagrams", 2)
        } else {
            ("snmp6", "", 1)
        };
        let start = if address.is_ipv4() {
            "Udp:"
        } else {
            "Udp6NoPorts"
        };
        let text = self
            .shell
            .look(&["cat", &format!("/proc/net/{file}")])
            .expect("counters");
        let mut lines = text
            .lines()
            .filter(|l| l.starts_with(start) && (skipped.is_empty() || !l.starts_with(skipped)));
        let line = lines.next().expect("a counter");
        line.split_whitespace()
            .nth(column)
            .expect("a column")
            .parse()
            .expect("a number")
    }
}

#[test]
fn every_recipe_passes_its_traffic_both_ways_with_the_hops_it_says() {
    let library = library();
    for recipe in tried_here(&library)
        .into_iter()
        .filter(|recipe| is_for_hosts(recipe))
    {
        let rig = Rig::build(recipe, &format!("t-{}", recipe.name));
        rig.check(
            &format!("{}, foreground", recipe.name),
            &recipe.foreground,
            recipe.state.as_ref().map(|state| state.initiator),
        );
        if let Some(background) = &recipe.background {
            rig.check(&format!("{}, background", recipe.name), background, None);
        }
    }
}

/// Linux drops a neighbour that it cannot solicit again: without a link-local address on the DUT's links, IPv6 trials lost everything after the
/// first 8 seconds.
#[test]
fn the_device_can_ask_its_neighbours_again() {
    let library = library();
    let recipe = library.get("linux-ipv6").expect("a recipe");
    let rig = Rig::build(recipe, "nd");
    rig.check("before", &recipe.foreground, None);
    let mac = rig
        .right()
        .shell
        .line("cat /sys/class/net/right/address")
        .expect("an address");
    let dut = rig.topology.duts()[0].shell();
    let neighbour = recipe.right.tester[0];
    dut.line(&format!(
        "ip neigh replace {neighbour} lladdr {} dev right nud probe",
        mac.trim()
    ))
    .expect("probing");
    let end = Instant::now() + Duration::from_secs(60);
    let mut state = String::new();
    while Instant::now() < end && !state.contains("REACHABLE") {
        state = dut
            .look(&[
                "ip",
                "neigh",
                "show",
                &neighbour.to_string(),
                "dev",
                "right",
            ])
            .expect("a neighbour");
    }
    assert!(state.contains("REACHABLE"), "{state}");
}

/// Has the device advertise itself on the left link as a router with a prefix and a hop limit of 3.
fn advertise(device: &Shell) {
    let script = "from scapy.all import *; sendp(Ether(dst='33:33:00:00:00:01') / IPv6(src='fe80::bad', dst='ff02::1', hlim=255) \
                  / ICMPv6ND_RA(chlim=3, routerlifetime=1800) / ICMPv6NDOptPrefixInfo(prefix='2001:db8:bad::', prefixlen=64), \
                  iface='left', count=3, verbose=0)";
    device
        .run(&["/usr/bin/python3", "-c", script])
        .expect("scapy (python3-scapy)");
}

#[test]
fn a_device_that_advertises_itself_as_a_router_changes_nothing_at_the_testers_ends() {
    let library = library();
    let rig = Rig::build(library.get("linux-ipv6").expect("a recipe"), "advertised");
    let (left, device) = (rig.left(), rig.topology.duts()[0].shell());
    let state = || {
        let look = |words: &[&str]| left.shell.look(words).expect("a state");
        let addresses = look(&["ip", "-6", "-brief", "address", "show", "dev", "left"]);
        addresses
            + &look(&["ip", "-6", "route"])
            + &look(&["cat", "/proc/sys/net/ipv6/conf/left/hop_limit"])
    };
    let before = state();
    advertise(&device);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(state(), before);
    // A host that listens to routers obeys the same frames.
    left.shell
        .set("/proc/sys/net/ipv6/conf/left/accept_ra", "1")
        .expect("a sysctl");
    advertise(&device);
    let end = Instant::now() + Duration::from_secs(60);
    while state() == before {
        assert!(Instant::now() < end, "it was never obeyed: {before}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
