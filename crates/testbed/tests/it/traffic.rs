//! Sends the kernel's own datagrams through every recipe in both directions: the device must do what its recipe says, and decrement the hop limit
//! as stated. These tests need root, and fail rather than skip without it.
//!
//! The tester's ends have addresses here, each in its own namespace. No socket listens: the kernel counts complete and correct datagrams for closed
//! ports, and this counter serves as the receiver.

use crate::common::{assert_nothing_left, is_for_hosts, library, tried_here};
use sixbench_testbed::recipe::{DeviceSide, Recipe, RecipeTraffic};
use sixbench_testbed::{Cores, Devices, DutOptions, Hosts, LinkSettings, Shell, Topology};
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// A device, or several in a row, between two hosts. Fields are dropped in the order of declaration.
struct Rig {
    devices: Devices,
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
            devices,
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
        let forward = Way {
            from: &left,
            to: traffic.left.destination,
            receiver: &right,
            seen_as: traffic.right.destination,
        };
        let reverse = Way {
            from: &right,
            to: traffic.right.source,
            receiver: &left,
            seen_as: traffic.left.source,
        };
        if initiator != Some(DeviceSide::Right) {
            forward.check(&format!("{what}, forward"), traffic.hops);
        }
        if initiator != Some(DeviceSide::Left) {
            reverse.check(&format!("{what}, reverse"), traffic.hops);
        }
    }
}

/// A direction through a device.
struct Way<'a> {
    from: &'a Host,
    to: IpAddr,
    receiver: &'a Host,
    /// The destination after translation, whose family the receiver counts.
    seen_as: IpAddr,
}

/// The octets of two datagrams that the octets received tell apart, with room for headers and for what hosts send by themselves.
const SHORT: usize = 400;
const LONG: usize = 1000;

/// Tries until a datagram arrives: the first may be lost during neighbour resolution, and a busy machine may be slow.
const TRIES: u32 = 20;

impl Way<'_> {
    fn check(&self, what: &str, hops: u8) {
        let passes_at_last = |limit: u8| (0..TRIES).any(|_| self.passes(limit));
        assert!(passes_at_last(64), "{what}: nothing arrives");
        assert!(passes_at_last(hops + 1), "{what}: more than {hops} hops");
        let dropped = (0..TRIES).find_map(|_| self.is_dropped(hops, hops + 1));
        assert_eq!(dropped, Some(true), "{what}: fewer than {hops} hops");
    }

    fn passes(&self, hop_limit: u8) -> bool {
        let before = self.receiver.arrived(self.seen_as);
        self.from.send(self.to, hop_limit, SHORT);
        until(|| self.receiver.arrived(self.seen_as).datagrams > before.datagrams)
    }

    /// Returns whether a datagram with this hop limit is dropped. A longer one behind it, with `enough` hops, shows this without a time to wait: no device
    /// here changes the order, so what has not arrived before that one never will. Returns `None` if that one did not arrive either.
    fn is_dropped(&self, hop_limit: u8, enough: u8) -> Option<bool> {
        let before = self.receiver.arrived(self.seen_as).octets;
        self.from.send(self.to, hop_limit, SHORT);
        self.from.send(self.to, enough, LONG);
        let mut octets = 0;
        let is_over = until(|| {
            octets = self.receiver.arrived(self.seen_as).octets - before;
            octets >= LONG as u64
        });
        is_over.then_some(octets < (SHORT + LONG) as u64)
    }
}

/// Waits until `is_so`, for half a second at most, and returns whether it is.
fn until(mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_millis(500);
    while Instant::now() < end {
        if is_so() {
            return true;
        }
    }
    false
}

/// What a host has received of one family.
#[derive(Clone, Copy)]
struct Arrived {
    /// Complete and correct datagrams for closed ports.
    datagrams: u64,
    /// Octets of all packets.
    octets: u64,
}

impl Host {
    /// Sends a datagram with this hop limit and a payload of so many octets.
    fn send(&self, to: IpAddr, hop_limit: u8, octets: usize) {
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
        let line = format!("printf %{octets}s > /dev/udp/{to}/4000");
        self.shell.run(&["bash", "-c", &line]).expect("sent");
    }

    fn arrived(&self, address: IpAddr) -> Arrived {
        if address.is_ipv4() {
            let text = self.counters(&["/proc/net/snmp", "/proc/net/netstat"]);
            Arrived {
                datagrams: under_heading(&text, "Udp:", "NoPorts"),
                octets: under_heading(&text, "IpExt:", "InOctets"),
            }
        } else {
            let text = self.counters(&["/proc/net/snmp6"]);
            Arrived {
                datagrams: beside_name(&text, "Udp6NoPorts"),
                octets: beside_name(&text, "Ip6InOctets"),
            }
        }
    }

    fn counters(&self, files: &[&str]) -> String {
        let words: Vec<&str> = ["cat"].iter().chain(files).copied().collect();
        self.shell.look(&words).expect("counters")
    }
}

/// Returns a counter of a file that has a line of names before each line of numbers, both of which start with `group`.
fn under_heading(text: &str, group: &str, name: &str) -> u64 {
    let mut lines = text.lines().filter(|line| line.starts_with(group));
    let (names, numbers) = (lines.next(), lines.next());
    let at = names.and_then(|names| names.split_whitespace().position(|word| word == name));
    let number = at.and_then(|at| numbers?.split_whitespace().nth(at)?.parse().ok());
    number.unwrap_or_else(|| panic!("no {group} {name}: {text}"))
}

/// Returns a counter of a file that has a line for each.
fn beside_name(text: &str, name: &str) -> u64 {
    let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
    let number = pairs.find_map(|(named, number)| (named == name).then(|| number.trim().parse()));
    number
        .and_then(Result::ok)
        .unwrap_or_else(|| panic!("no {name}: {text}"))
}

#[test]
fn every_recipe_passes_its_traffic_both_ways_with_the_hops_it_says_and_leaves_nothing() {
    let library = library();
    for recipe in tried_here(&library)
        .into_iter()
        .filter(|recipe| is_for_hosts(recipe))
    {
        let run = format!("t-{}", recipe.name);
        let mut rig = Rig::build(recipe, &run);
        rig.devices.check_alive().expect("alive");
        assert!(!rig.devices.facts().version.is_empty(), "{}", recipe.name);
        rig.check(
            &format!("{}, foreground", recipe.name),
            &recipe.foreground,
            recipe.state.as_ref().map(|state| state.initiator),
        );
        if let Some(background) = &recipe.background {
            rig.check(&format!("{}, background", recipe.name), background, None);
        }
        drop(rig);
        assert_nothing_left(&run);
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
