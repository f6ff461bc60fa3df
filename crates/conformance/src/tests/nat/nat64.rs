//! The vectors of RFC 6146 against the reference NAT64, and rigs of it.

use super::reference::fault::{Fault, Fault64};
use super::reference::nat::{Filtering, NatSetting};
use super::reference::nat64::{Nat64, Nat64Setting};
use super::table::nat64::{CHOICES, RIGS};
use super::{Bench, OWN_OUTSIDE, SMALL_POOL, run};
use crate::notation::Vector;
use crate::setting::{DeviceSetting, Role, RoleAddresses};
use crate::tests::rigs::reference::translator::{Links, Pair};
use crate::tests::rigs::vectors_of;
use crate::{VectorJudgement, VectorResult};
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
            pool: POOL[..if vector.is_pool_small { 1 } else { 2 }]
                .iter()
                .map(|pair| pair.v4)
                .collect(),
            ports: vector.is_pool_small.then_some(SMALL_POOL),
            own_inside: OWN_OUTSIDE,
            own_outside: OWN_OUTSIDE,
            host: INSIDE[0].v4,
            filtering,
            fault: nat_fault,
        },
        fault,
    };
    let mut nat = Nat64::new(setting, LINKS);
    run(vector, &device(), &mut nat)
}

fn bench() -> Bench<Fault64> {
    Bench {
        vectors: vectors_of("rfc6146.toml"),
        judged,
        rigs: RIGS,
        choices: CHOICES,
    }
}

#[test]
fn the_reference_nat64_is_right_in_every_vector() {
    let mut wrong = Vec::new();
    for vector in &bench().vectors {
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
    bench().check_rigs();
}

#[test]
fn every_vector_of_a_nat64_is_failed_by_a_rig() {
    bench().check_vectors();
}

#[test]
fn a_choice_that_rfc_6146_allows_is_told_as_one() {
    bench().check_choices();
}
