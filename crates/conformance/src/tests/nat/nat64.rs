//! The vectors of RFC 6146 against the reference NAT64, and rigs of it.

use super::reference::fault::{Fault, Fault64};
use super::reference::nat::{Filtering, NatSetting};
use super::reference::nat64::{Nat64, Nat64Setting};
use super::table::{CHOICES64, RIGS64, Rig64Row};
use super::{OWN_INSIDE, OWN_OUTSIDE, PATTERN, came_frame, timers};
use crate::exchange::{ExchangeRun, FreshNumbers};
use crate::judge::CameFrame;
use crate::notation::Vector;
use crate::setting::{DeviceSetting, Role, RoleAddresses};
use crate::tests::rigs::reference::translator::{Links, Pair};
use crate::tests::rigs::vectors_of;
use crate::{ControlFrames, VectorJudgement, VectorResult};
use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

const LINKS: Links = Links {
    mtu4: 1500,
    mtu6: 1500,
};

/// Returns an address with its representation in 2001:2:0:6464::/96.
const fn prefixed(v4: Ipv4Addr) -> Pair {
    let [a, b, c, d] = v4.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Pair {
        v4,
        v6: Ipv6Addr::new(0x2001, 2, 0, 0x6464, 0, 0, high, low),
    }
}

/// Returns an inside host with the IPv4 address between the two parts of the reference.
const fn host(number: u16) -> Pair {
    Pair {
        v4: Ipv4Addr::new(192, 168, 0, number as u8),
        v6: Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, number),
    }
}

const INSIDE: [Pair; 2] = [host(2), host(6)];
const OUTSIDE: [Pair; 2] = [
    prefixed(Ipv4Addr::new(198, 18, 0, 2)),
    prefixed(Ipv4Addr::new(198, 18, 0, 6)),
];
const POOL: [Pair; 2] = [
    prefixed(Ipv4Addr::new(198, 19, 0, 1)),
    prefixed(Ipv4Addr::new(198, 19, 0, 2)),
];
const OWN: Pair = Pair {
    v4: OWN_OUTSIDE,
    v6: Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1),
};

fn device() -> DeviceSetting {
    let role = |role, ipv4: Option<Ipv4Addr>, ipv6| RoleAddresses { role, ipv4, ipv6 };
    let inside = |name, pair: Pair| role(name, None, Some(pair.v6));
    let outside = |name, pair: Pair| role(name, Some(pair.v4), Some(pair.v6));
    DeviceSetting {
        roles: vec![
            inside(Role::Inside, INSIDE[0]),
            inside(Role::Inside2, INSIDE[1]),
            outside(Role::Outside, OUTSIDE[0]),
            outside(Role::Outside2, OUTSIDE[1]),
            outside(Role::Pool, POOL[0]),
            outside(Role::Pool, POOL[1]),
            inside(Role::NatInside, OWN),
            role(Role::NatOutside, Some(OWN_OUTSIDE), None),
        ],
        hops_from_ipv4: 2,
        hops_from_ipv6: 2,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: None,
    }
}

/// Returns the judgement of a vector on the reference NAT64, or on a rigged one.
fn judged(vector: &Vector, filtering: Filtering, fault: Option<Fault64>) -> VectorJudgement {
    let (device, timers, mut fresh) = (device(), timers(), FreshNumbers::default());
    let nat_fault: Option<Fault> = match fault {
        Some(Fault64::Nat(fault)) => Some(fault),
        Some(Fault64::ErrorInErrorForwarded) => Some(Fault::InnerErrorForwarded),
        _ => None,
    };
    let setting = Nat64Setting {
        inside: INSIDE.to_vec(),
        outside: OUTSIDE.into_iter().chain(POOL).collect(),
        own: OWN,
        nat: NatSetting {
            pool: POOL.map(|pair| pair.v4).to_vec(),
            own_inside: OWN_INSIDE,
            own_outside: OWN_OUTSIDE,
            host: INSIDE[0].v4,
            filtering,
            fault: nat_fault,
        },
        fault,
    };
    let mut nat = Nat64::new(setting, LINKS);
    let mut run = ExchangeRun::new(vector, &device, &timers, PATTERN, &mut fresh);
    while let Some(step) = run.next_step().expect("a step") {
        let mut came = nat.pass(step.wait.as_millis() as u64);
        for (side, datagram) in &step.datagrams {
            came.extend(nat.receive(*side, datagram));
        }
        let came: Vec<CameFrame> = came.into_iter().map(came_frame).collect();
        run.learn(&came, ControlFrames::Came).expect("a step");
    }
    run.judgement()
}

/// The names of the vectors that a rigged NAT64 fails.
fn failed(vectors: &[Vector], row: &Rig64Row) -> BTreeSet<String> {
    let fails = |vector: &&Vector| {
        judged(vector, row.filtering, Some(row.fault))
            .result
            .is_violation()
    };
    let failing = vectors.iter().filter(fails);
    failing.map(|vector| vector.name.clone()).collect()
}

#[test]
fn the_reference_nat64_is_right_in_every_vector() {
    let mut wrong = Vec::new();
    for vector in &vectors_of("rfc6146.toml") {
        let judgement = judged(vector, Filtering::EndpointIndependent, None);
        let other = judged(vector, Filtering::AddressDependent, None);
        if judgement.result != VectorResult::Right || other.result.is_violation() {
            wrong.push(format!("{}: {judgement:#?}{other:#?}", vector.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rig_of_a_nat64_fails_the_vectors_of_its_clause_and_no_other() {
    let vectors = vectors_of("rfc6146.toml");
    let mut mistakes = Vec::new();
    for row in RIGS64 {
        let (told, seen) = (row.fails(&vectors), failed(&vectors, row));
        if told != seen {
            let names: Vec<&String> = seen.iter().collect();
            mistakes.push(format!("{:?} {:?}: {names:?}", row.filtering, row.fault));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn every_vector_of_a_nat64_is_failed_by_a_rig() {
    let vectors = vectors_of("rfc6146.toml");
    let caught: BTreeSet<String> = RIGS64.iter().flat_map(|row| row.fails(&vectors)).collect();
    let free = vectors
        .iter()
        .filter(|vector| !caught.contains(&vector.name));
    let free: Vec<&str> = free.map(|vector| &vector.name[..]).collect();
    assert_eq!(free, [""; 0]);
}

#[test]
fn a_choice_that_rfc_6146_allows_is_told_as_one() {
    let vectors = vectors_of("rfc6146.toml");
    for (fault, name) in CHOICES64 {
        let vector = vectors.iter().find(|vector| vector.name == *name);
        let vector = vector.expect("the vector");
        let judgement = judged(vector, Filtering::EndpointIndependent, Some(*fault));
        let told = (judgement.result, judgement.alternative.is_some());
        assert_eq!(told, (VectorResult::Allowed, true), "{fault:?} {name}");
    }
}
