//! Vectors over a relay in memory that carries IPv6 in IPv4: control frames go through its tunnel.

use crate::conformance::neighbour_answer;
use sixbench_conformance::frame::{PayloadPattern, Side};
use sixbench_conformance::notation::{self, FrameSpec};
use sixbench_conformance::octets::{Resolver, build};
use sixbench_conformance::{
    DeviceSetting, Role, RoleAddresses, SubscriberSetting, Vector, VectorResult,
};
use sixbench_engine::conformance::{VectorPort, VectorTester};
use sixbench_engine::frames::profile::Neighbours;
use sixbench_io::loopback::pair_with;
use sixbench_wire::MacAddress;
use sixbench_wire::ethernet::{EtherType, EthernetHeader, HEADER_LEN};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Octets of the outer header.
const OUTER: usize = 20;
/// The octet of the inner hop limit.
const HOP_LIMIT: usize = 7;

const FILE: &str = r#"rfc = 5969
title = "6rd"
read = "https://www.rfc-editor.org/rfc/rfc5969.txt, 2026-11-27"
technologies = ["6rd"]

[[vector]]
name = "into-the-tunnel"
clause = "9"
level = "stated"
sentence = "A packet to a customer goes to the customer's IPv4 address."
send = "6: ipv6(src=server, dst=subscriber, hlim=33) / udp(sport=4096, dport=4097) / payload(32)"
expect = "4: ipv4(src=relay, dst=subscriber, ttl=outerhlim) / ipv6(src=server, dst=subscriber, hlim=33-hops) / udp(sport=4096, dport=4097) / payload(32)"

[[vector]]
name = "out-of-the-tunnel"
clause = "9"
level = "stated"
sentence = "A packet from a customer leaves the tunnel."
send = "4: ipv4(src=subscriber, dst=relay) / ipv6(src=customer, dst=server, hlim=33) / udp(sport=4096, dport=4097) / payload(32)"
expect = "6: ipv6(src=public, dst=server, hlim=33-hops) / udp(sport=4096, dport=4097) / payload(32)"

[[vector]]
name = "spoofed"
clause = "9.2"
level = "MUST"
sentence = "A packet of another customer is dropped."
send = "4: ipv4(src=subscriber, dst=relay) / ipv6(src=neighbour, dst=server) / udp(sport=4096, dport=4097) / payload(32)"
expect = "nothing"
"#;

fn setting() -> DeviceSetting {
    let role = |role, ipv4: &str, ipv6: &str| RoleAddresses {
        role,
        ipv4: ipv4.parse().ok(),
        ipv6: ipv6.parse().ok(),
    };
    let customer = |name| role(name, "198.18.128.2", "2001:db8:8002::1");
    DeviceSetting {
        roles: vec![
            customer(Role::Subscriber),
            customer(Role::Customer),
            customer(Role::Public),
            role(Role::Neighbour, "198.18.128.3", "2001:db8:8003::1"),
            role(Role::Relay, "198.18.0.1", ""),
            role(Role::Server, "", "2001:2::2"),
        ],
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: Some(SubscriberSetting {
            side: Side::Ipv4,
            is_edge: false,
            outer_hop_limit: Some(64),
            ports: None,
            ranges: None,
        }),
    }
}

/// Returns a datagram in an outer header from the relay to the subscriber.
fn encapsulated(inner: &[u8]) -> Vec<u8> {
    let digits: String = inner.iter().map(|octet| format!("{octet:02x}")).collect();
    let text = format!("4: ipv4(src=relay, dst=subscriber, proto=ipv6) / bytes({digits})");
    let spec = FrameSpec::parse(&text).expect("a frame");
    let setting = setting();
    let resolver = Resolver {
        setting: &setting,
        sent: &spec,
    };
    build(&spec, PayloadPattern { vector: 0 }, &resolver).expect("octets")
}

/// Returns the frame of the relay for one that came from the left, where the tunnels are, or from the right.
fn relayed(frame: &[u8], from_left: bool) -> Option<Vec<u8>> {
    let datagram = &frame[HEADER_LEN..];
    let (mut inner, ether_type) = if from_left {
        (datagram.get(OUTER..)?.to_vec(), EtherType::IPV6)
    } else {
        (datagram.to_vec(), EtherType::IPV4)
    };
    *inner.get_mut(HOP_LIMIT)? -= 1;
    // Octets 4 and 5 of the source tell one customer from another.
    let embedded = [inner[12], inner[13]];
    if from_left && embedded != datagram[14..16] {
        return None;
    }
    let sent = if from_left {
        inner
    } else {
        encapsulated(&inner)
    };
    let mut frame = vec![0; HEADER_LEN];
    EthernetHeader {
        dst: MacAddress([2, 0, 0, 0, 0, if from_left { 2 } else { 1 }]),
        src: MacAddress([2, 0, 0, 0, 0, 9]),
        ether_type,
    }
    .emit(&mut frame);
    frame.extend(sent);
    Some(frame)
}

#[test]
fn a_relay_is_asked_through_its_tunnel_and_its_silence_counts() {
    let (left, right) = pair_with(Box::new(|frame, from_left, out| {
        if let Some(answer) = neighbour_answer(frame) {
            out.push((!from_left, answer));
        } else if let Some(answer) = relayed(frame, from_left) {
            out.push((from_left, answer));
        }
    }));
    let port = |side, port, tester: &str, dut: &str| VectorPort {
        side,
        port,
        neighbours: vec![Neighbours {
            tester: tester.parse().expect("an address"),
            dut: dut.parse().expect("an address"),
        }],
    };
    let ports = [
        port(Side::Ipv4, left, "198.18.0.2", "198.18.0.1"),
        port(Side::Ipv6, right, "2001:2::2", "2001:2::1"),
    ];
    let file = notation::read("relay.toml", FILE).unwrap_or_else(|error| panic!("{error}"));
    let vectors: Vec<&Vector> = file.vectors.iter().collect();
    let records = VectorTester::new(ports, setting(), Arc::new(AtomicBool::new(false)))
        .run(&vectors)
        .expect("outcomes")
        .records;
    for (record, vector) in records.iter().zip(vectors) {
        let judgement = &record.judgement;
        assert_eq!(
            judgement.result,
            VectorResult::Right,
            "{}: {judgement:?}",
            vector.name
        );
    }
}
