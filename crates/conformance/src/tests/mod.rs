//! Tests of several modules: files with their mistakes, octets against independent programs, and the comparison of every field.

mod comparison;
mod dns;
mod edges;
mod mistakes;
mod nat;
mod octets;
mod patterns;
mod results;
mod rigs;
mod robustness;
mod steps;
mod tunnels;

use crate::frame::PayloadPattern;
use crate::notation::{self, Vector};
use crate::setting::{DeviceSetting, Role, RoleAddresses};

const PATTERN: PayloadPattern = PayloadPattern { vector: 7 };

/// The vectors of these tests, in the form of a file.
const FILE: &str = r#"rfc = 7915
title = "IP/ICMP Translation Algorithm"
read = "https://datatracker.ietf.org/doc/rfc7915, 2026-11-27"
technologies = ["siit"]

[[vector]]
name = "udp-traffic-class"
clause = "4.1"
level = "MUST"
sentence = "The Traffic Class is a copy of the Type of Service octet, all eight bits."
send = "4: ipv4(src=host4, dst=host6, tos=0xb8) / udp(sport=4096, dport=4097) / payload(32)"
expect = "6: ipv6(src=host4, dst=host6, tc=0xb8, hlim=ttl-hops) / udp(sport=4096, dport=4097) / payload(32)"

[[vector]]
name = "source-quench"
clause = "4.2"
level = "MUST"
sentence = "A source quench is silently dropped."
send = "4: ipv4(src=host4, dst=host6) / icmp(type=4) / ipv4(src=host6, dst=host4, ttl=60) / udp / payload(32)"
expect = "nothing"

[[vector]]
name = "zero-checksum"
clause = "4.5"
level = "MUST"
sentence = "A UDP datagram without checksum is dropped, or its checksum is computed."
send = "4: ipv4(src=host4, dst=host6) / udp(sum=0) / payload(32)"
expect = "6: ipv6(src=host4, dst=host6) / udp / payload(32)"
allowed = [{ name = "dropped", clause = "4.5", expect = "nothing" }]
"#;

/// Returns the vector of this name in [`FILE`].
fn vector(name: &str) -> Vector {
    let file = notation::read("rfc7915.toml", FILE).unwrap();
    file.vectors
        .into_iter()
        .find(|vector| vector.name == name)
        .unwrap()
}

/// Returns a vector that sends a frame and expects one.
fn sending(send: &str, expect: &str) -> Vector {
    let head = FILE.split("[[vector]]").next().unwrap();
    let vector = format!(
        "{head}[[vector]]\nname = \"v\"\nclause = \"0\"\nlevel = \"MUST\"\nsentence = \"s\"\nsend = '{send}'\nexpect = '{expect}'\n"
    );
    notation::read("v.toml", &vector).unwrap().vectors.remove(0)
}

/// Returns the addresses of tayga-siit.
fn setting() -> DeviceSetting {
    let role = |role, ipv4: &str, ipv6: &str| RoleAddresses {
        role,
        ipv4: ipv4.parse().ok(),
        ipv6: ipv6.parse().ok(),
    };
    DeviceSetting {
        roles: vec![
            role(Role::Host4, "198.19.0.2", "2001:2:0:1::2"),
            role(Role::Host6, "198.18.0.2", "2001:2::2"),
            role(Role::Dut4, "198.19.0.1", ""),
        ],
        hops_from_ipv4: 3,
        hops_from_ipv6: 3,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: None,
    }
}
