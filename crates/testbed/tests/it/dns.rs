//! Tests DNS servers as set up by their recipes, with queries from `dig` at the tester's left end and with NSD or Knot DNS as the authority on the
//! right. They need root and the servers, and fail rather than skip without them.

use crate::common::{library, tried_here};
use sixbench_testbed::recipe::{Recipe, Technology};
use sixbench_testbed::{
    Cores, Devices, DutOptions, Hosts, Library, LinkSettings, RealAuthority, Shell, Topology, Zone,
};
use std::net::{IpAddr, SocketAddr};

const ZONE: &str = "$ORIGIN dns64perf.test.
$TTL 3600
@ SOA ns root 1 3600 600 86400 3600
@ NS ns
ns A 198.18.0.2
010-000-000-001 A 10.0.0.1
both A 10.0.0.2
both AAAA 2001:db8::2
";

/// The port of the authority. It is not 53, so that a recipe that ignores the port is detected.
const AUTHORITY_PORT: u16 = 5300;

/// Two hosts and the topology between them. Fields are dropped in the order of declaration.
struct Rig {
    hosts: Hosts,
    topology: Topology,
}

impl Rig {
    fn build(recipe: &Recipe, run: &str, dut_cores: &[u32]) -> Self {
        let shell = Shell::new();
        let cores = Cores {
            tester: vec![0],
            dut: dut_cores.to_vec(),
        };
        let topology = Topology::build_chain(&shell, run, cores, LinkSettings::of_mtu(1500), 1)
            .expect("a testbed (these tests need root)");
        let hosts = Hosts::settle(&topology, recipe, run, (&[], &[]), &shell).expect("hosts");
        Self { hosts, topology }
    }

    fn authority(&self, recipe: &Recipe, at: (IpAddr, u16)) -> RealAuthority {
        let at = SocketAddr::from(at);
        RealAuthority::bring_up(recipe, &self.hosts, at, &zone()).expect("an authority")
    }

    /// Checks every thread in the device's namespace: Knot DNS would choose core 0 by itself.
    fn assert_kept_to_its_core(&self, name: &str) {
        let processes = self.topology.duts()[0].shell().outside().look(&[
            "ip",
            "netns",
            "pids",
            self.topology.duts()[0].name(),
        ]);
        for process in processes.expect("processes").split_whitespace() {
            let threads = std::fs::read_dir(format!("/proc/{process}/task"))
                .into_iter()
                .flatten()
                .flatten();
            let states = threads
                .filter_map(|thread| std::fs::read_to_string(thread.path().join("status")).ok());
            for state in states {
                assert!(state.contains("Cpus_allowed_list:\t1\n"), "{name}: {state}");
            }
        }
    }

    fn ask(&self, server: IpAddr, port: u16, name: &str, kind: &str) -> String {
        let line =
            format!("dig +short +time=3 +tries=1 @{server} -p {port} {name}.dns64perf.test {kind}");
        self.topology
            .tester()
            .shell()
            .line(&line)
            .expect("an answer")
            .trim()
            .to_owned()
    }
}

fn zone() -> Zone {
    Zone {
        text: Some(ZONE.into()),
        authority_port: AUTHORITY_PORT,
        ..Zone::default()
    }
}

fn servers(library: &Library, technology: Technology) -> Vec<&Recipe> {
    tried_here(library)
        .into_iter()
        .filter(|recipe| recipe.technology == technology)
        .collect()
}

fn options() -> DutOptions {
    DutOptions {
        zone: Some(zone()),
        ..DutOptions::default()
    }
}

#[test]
fn every_dns64_server_synthesises_what_the_authority_has_only_in_ipv4() {
    let library = library();
    for recipe in servers(&library, Technology::Dns64) {
        let name = &recipe.name;
        let rig = Rig::build(recipe, name, &[1]);
        // Started before its authority, as in a run, which it must tolerate.
        let mut dut = Devices::bring_up(recipe, &rig.topology, &options()).expect("a DNS64 server");
        let nsd = library.get("nsd-authority").expect("a recipe");
        let authority = rig.authority(nsd, (recipe.foreground.right.destination, AUTHORITY_PORT));
        assert!(
            authority.facts().version.contains("nsd"),
            "{}",
            authority.facts().version
        );
        let ask =
            |name: &str, kind: &str| rig.ask(recipe.foreground.left.destination, 53, name, kind);
        assert_eq!(ask("010-000-000-001", "AAAA"), "64:ff9b::a00:1", "{name}");
        assert_eq!(ask("both", "AAAA"), "2001:db8::2", "{name}");
        assert_eq!(ask("both", "A"), "10.0.0.2", "{name}");
        assert_eq!(ask("nobody", "AAAA"), "", "{name}");
        rig.assert_kept_to_its_core(name);
        dut.restart().expect("a DNS64 server again");
        rig.assert_kept_to_its_core(name);
        assert_eq!(
            ask("010-000-000-001", "AAAA"),
            "64:ff9b::a00:1",
            "{name}, started anew"
        );
        dut.check_alive().expect("alive");
        assert!(
            !dut.facts().version.is_empty()
                && dut
                    .facts()
                    .files
                    .values()
                    .any(|text| text.contains("64:ff9b::"))
        );
    }
}

#[test]
fn every_authority_serves_its_zone_as_device_under_test_and_at_the_right_end() {
    let library = library();
    for recipe in servers(&library, Technology::DnsAuthority) {
        let rig = Rig::build(recipe, &recipe.name, &[1]);
        let (left, right) = rig.hosts.loop_back().expect("a loop");
        assert_eq!(
            (left.to_string(), right.to_string()),
            ("2001:2:0:fffe::1".to_owned(), "2001:2:0:fffe::2".to_owned())
        );
        let mut dut = Devices::bring_up(recipe, &rig.topology, &options()).expect("a server");
        let mut authority = rig.authority(recipe, (right, AUTHORITY_PORT));
        for (server, port) in [
            (recipe.foreground.left.destination, 53),
            (right, AUTHORITY_PORT),
        ] {
            assert_eq!(
                rig.ask(server, port, "010-000-000-001", "A"),
                "10.0.0.1",
                "{} at {server}",
                recipe.name
            );
            assert_eq!(
                rig.ask(server, port, "010-000-000-001", "AAAA"),
                "",
                "{} at {server}",
                recipe.name
            );
        }
        rig.assert_kept_to_its_core(&recipe.name);
        dut.restart().expect("a server again");
        rig.assert_kept_to_its_core(&recipe.name);
        assert_eq!(
            rig.ask(recipe.foreground.left.destination, 53, "both", "AAAA"),
            "2001:db8::2"
        );
        assert!(
            !authority.facts().files.contains_key("zone"),
            "a zone may be of many megabytes"
        );
        authority.check_alive().expect("alive");
    }
}

/// Servers whose processes or threads share a port must actually do so: each query comes from a different port.
#[test]
fn every_server_answers_with_a_thread_on_each_of_its_cores() {
    let library = library();
    for recipe in tried_here(&library)
        .into_iter()
        .filter(|recipe| recipe.technology.is_dns())
    {
        let rig = Rig::build(recipe, &format!("m-{}", recipe.name), &[0, 1]);
        let dut = Devices::bring_up(recipe, &rig.topology, &options()).expect("a server");
        let nsd = library.get("nsd-authority").expect("a recipe");
        let _authority = rig.authority(nsd, (recipe.foreground.right.destination, AUTHORITY_PORT));
        for _ in 0..10 {
            let answer = rig.ask(recipe.foreground.left.destination, 53, "both", "A");
            assert_eq!(answer, "10.0.0.2", "{}", recipe.name);
        }
        drop(dut);
        let left = rig.topology.duts()[0]
            .shell()
            .line("ss -Hlun")
            .expect("sockets");
        assert_eq!(left, "", "{}: its processes hold the port", recipe.name);
    }
}

#[test]
fn a_large_zone_is_waited_for_and_not_repeated() {
    let library = library();
    let recipe = library.get("nsd-authority").expect("a recipe");
    let rig = Rig::build(recipe, "large", &[1]);
    let name = |n: u32| format!("010-{:03}-{:03}-{:03}", n >> 16, n >> 8 & 255, n & 255);
    let names: String = (2..100_000)
        .map(|n| {
            format!(
                "{} A 10.{}.{}.{}\n",
                name(n),
                n >> 16,
                n >> 8 & 255,
                n & 255
            )
        })
        .collect();
    let zone = Zone {
        text: Some(format!("{ZONE}{names}").into()),
        ..zone()
    };
    let at = SocketAddr::new(recipe.foreground.right.destination, AUTHORITY_PORT);
    let nsd = RealAuthority::bring_up(recipe, &rig.hosts, at, &zone).expect("an authority");
    assert!(nsd.facts().files.values().map(String::len).sum::<usize>() < 10_000);
    let dut = rig.topology.duts()[0].shell();
    dut.line("ip address add 198.18.0.1/24 dev right")
        .expect("an address");
    let line = format!(
        "dig +short +time=3 @198.18.0.2 -p {AUTHORITY_PORT} {}.dns64perf.test A",
        name(99_999)
    );
    assert_eq!(dut.line(&line).expect("an answer").trim(), "10.1.134.159");
    assert!(dut.transcript().text().len() < 20_000);
}

#[test]
fn what_is_no_authority_is_refused() {
    let library = library();
    let recipe = library.get("unbound-dns64").expect("a recipe");
    let rehearsal = Shell::rehearsal();
    let topology = Topology::build_chain(
        &rehearsal,
        "",
        Cores {
            tester: vec![0],
            dut: vec![1],
        },
        LinkSettings::of_mtu(1500),
        1,
    )
    .expect("rehearsed");
    let hosts = Hosts::settle(&topology, recipe, "", (&[], &[]), &rehearsal).expect("rehearsed");
    let at = "198.18.0.2:53".parse().expect("an address");
    let error = RealAuthority::bring_up(recipe, &hosts, at, &Zone::default())
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("unbound-dns64 is not an authority, its technology is DNS64 server"),
        "{error}"
    );
}

#[test]
fn a_rehearsal_needs_no_zone() {
    let library = library();
    let rehearsal = Shell::rehearsal();
    let cores = Cores {
        tester: vec![0],
        dut: vec![1],
    };
    let topology =
        Topology::build_chain(&rehearsal, "dnsreh", cores, LinkSettings::of_mtu(1500), 1)
            .expect("rehearsed");
    for name in ["knot-authority", "knotres-dns64"] {
        Devices::bring_up(
            library.get(name).expect("a recipe"),
            &topology,
            &DutOptions::default(),
        )
        .expect("rehearsed");
    }
    let script = rehearsal.transcript().text();
    assert!(
        script.contains("/zone <<'END'\n$ORIGIN dns64perf.test.\n"),
        "{script}"
    );
    assert!(
        script.contains("FORWARD({'198.18.0.2@53'}), {todname('dns64perf.test')}"),
        "{script}"
    );
}
