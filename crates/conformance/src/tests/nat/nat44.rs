//! The vectors of RFC 4787, 5382, 5508, 6888 and 7857 against the reference NAT, and rigs of it.

use super::reference::fault::Fault;
use super::reference::nat::{Filtering, Nat, NatSetting};
use super::table::nat44::{CHOICES, NOT_RIGHT_BUT_ALLOWED, RIGS};
use super::{Bench, OWN_INSIDE, OWN_OUTSIDE, SMALL_POOL, run};
use crate::notation::Vector;
use crate::setting::{DeviceSetting, Role, RoleAddresses};
use crate::tests::rigs::vectors_of;
use crate::{VectorJudgement, VectorResult};
use std::net::Ipv4Addr;

const POOL: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 19, 0, 1), Ipv4Addr::new(198, 19, 0, 2)];
const FILES: [&str; 5] = [
    "rfc4787.toml",
    "rfc5382.toml",
    "rfc5508.toml",
    "rfc6888.toml",
    "rfc7857.toml",
];

fn device() -> DeviceSetting {
    let role = |role, address| RoleAddresses {
        role,
        ipv4: Some(address),
        ipv6: None,
    };
    DeviceSetting {
        roles: vec![
            role(Role::Inside, Ipv4Addr::new(10, 0, 0, 2)),
            role(Role::Inside2, Ipv4Addr::new(10, 0, 0, 6)),
            role(Role::Outside, Ipv4Addr::new(198, 18, 0, 2)),
            role(Role::Outside2, Ipv4Addr::new(198, 18, 0, 6)),
            role(Role::Pool, POOL[0]),
            role(Role::Pool, POOL[1]),
            role(Role::NatInside, OWN_INSIDE),
            role(Role::NatOutside, OWN_OUTSIDE),
        ],
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: None,
    }
}

fn bench() -> Bench<Fault> {
    Bench {
        vectors: FILES.into_iter().flat_map(vectors_of).collect(),
        judged,
        rigs: RIGS,
        choices: CHOICES,
    }
}

/// Returns the judgement of a vector on the reference NAT, or on a rigged one.
fn judged(vector: &Vector, filtering: Filtering, fault: Option<Fault>) -> VectorJudgement {
    let mut nat = Nat::new(NatSetting {
        pool: POOL[..if vector.is_pool_small { 1 } else { 2 }].to_vec(),
        ports: vector.is_pool_small.then_some(SMALL_POOL),
        own_inside: OWN_INSIDE,
        own_outside: OWN_OUTSIDE,
        host: Ipv4Addr::new(10, 0, 0, 2),
        filtering,
        fault,
    });
    run(vector, &device(), &mut nat)
}

#[test]
fn the_reference_nat_is_right_in_every_vector() {
    let mut wrong = Vec::new();
    for vector in &bench().vectors {
        let behaviors = [Filtering::EndpointIndependent, Filtering::AddressDependent];
        let all = behaviors.map(|filtering| judged(vector, filtering, None));
        let is_violated = all.iter().any(|judgement| judgement.result.is_violation());
        let is_allowed = NOT_RIGHT_BUT_ALLOWED.contains(&&vector.name[..]);
        let wanted = if is_allowed {
            VectorResult::Allowed
        } else {
            VectorResult::Right
        };
        if is_violated || all.iter().all(|judgement| judgement.result != wanted) {
            wrong.push(format!("{}: {all:#?}", vector.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rig_fails_the_vectors_of_its_clause_and_no_other() {
    bench().check_rigs();
}

#[test]
fn a_choice_that_the_text_allows_is_told_as_one() {
    bench().check_choices();
}

#[test]
fn every_vector_is_failed_by_a_rig() {
    bench().check_vectors();
}
