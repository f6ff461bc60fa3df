//! The vectors of stateful devices against a NAT written from the RFCs: it is right in all of them. With one fault at a time, it fails the vectors of
//! the clause that the fault breaks, and no other.

mod nat64;
mod reference;
mod table;

use crate::exchange::{DeviceTimers, ExchangeRun, FreshNumbers};
use crate::frame::PayloadPattern;
use crate::judge::CameFrame;
use crate::notation::{DeviceTimer, Vector};
use crate::setting::{DeviceSetting, Role, RoleAddresses};
use crate::{ControlFrames, VectorJudgement, VectorResult};
use reference::fault::Fault;
use reference::nat::{Filtering, Nat, NatSetting, Sent};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::Duration;
use table::{CHOICES, NOT_RIGHT_BUT_ALLOWED, RIGS, RigRow};

const POOL: [Ipv4Addr; 2] = [Ipv4Addr::new(198, 19, 0, 1), Ipv4Addr::new(198, 19, 0, 2)];
const OWN_INSIDE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const OWN_OUTSIDE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
const PATTERN: PayloadPattern = PayloadPattern { vector: 0x0713 };
const FILES: [&str; 4] = [
    "rfc4787.toml",
    "rfc5382.toml",
    "rfc5508.toml",
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

/// Returns the timers of the reference: the least that the RFCs recommend or require.
fn timers() -> DeviceTimers {
    let minutes = [
        (DeviceTimer::Udp, 5),
        (DeviceTimer::TcpTransitory, 4),
        (DeviceTimer::TcpEstablished, 124),
        (DeviceTimer::Icmp, 1),
    ];
    let times = minutes.map(|(timer, minutes)| (timer, Duration::from_secs(minutes * 60)));
    times.into_iter().collect()
}

fn vectors() -> Vec<Vector> {
    FILES
        .into_iter()
        .flat_map(super::rigs::vectors_of)
        .collect()
}

/// Returns the judgement of a vector on the reference NAT, or on a rigged one.
fn judged(vector: &Vector, filtering: Filtering, fault: Option<Fault>) -> VectorJudgement {
    let (device, timers, mut fresh) = (device(), timers(), FreshNumbers::default());
    let mut nat = Nat::new(NatSetting {
        pool: POOL.to_vec(),
        own_inside: OWN_INSIDE,
        own_outside: OWN_OUTSIDE,
        host: Ipv4Addr::new(10, 0, 0, 2),
        filtering,
        fault,
    });
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

fn came_frame(sent: Sent) -> CameFrame {
    CameFrame {
        side: sent.side,
        datagram: sent.octets,
    }
}

/// The names of the vectors that a rigged NAT fails.
fn failed(vectors: &[Vector], row: &RigRow) -> BTreeSet<String> {
    let fails = |vector: &&Vector| {
        judged(vector, row.filtering, Some(row.fault))
            .result
            .is_violation()
    };
    let failing = vectors.iter().filter(fails);
    failing.map(|vector| vector.name.clone()).collect()
}

#[test]
fn the_reference_nat_is_right_in_every_vector() {
    let mut wrong = Vec::new();
    for vector in &vectors() {
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
    let vectors = vectors();
    let mut mistakes = Vec::new();
    for row in RIGS {
        let (told, seen) = (row.fails(&vectors), failed(&vectors, row));
        if told != seen {
            let names: Vec<&String> = seen.iter().collect();
            mistakes.push(format!("{:?} {:?}: {names:?}", row.filtering, row.fault));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn a_choice_that_the_text_allows_is_told_as_one() {
    let vectors = vectors();
    for (fault, name) in CHOICES {
        let vector = vectors.iter().find(|vector| vector.name == *name);
        let vector = vector.expect("the vector");
        let judgement = judged(vector, Filtering::EndpointIndependent, Some(*fault));
        let told = (judgement.result, judgement.alternative.is_some());
        assert_eq!(told, (VectorResult::Allowed, true), "{fault:?} {name}");
    }
}

#[test]
fn every_vector_is_failed_by_a_rig() {
    let vectors = vectors();
    let caught: BTreeSet<String> = RIGS.iter().flat_map(|row| row.fails(&vectors)).collect();
    let free = vectors
        .iter()
        .filter(|vector| !caught.contains(&vector.name));
    let free: Vec<&str> = free.map(|vector| &vector.name[..]).collect();
    assert_eq!(free, [""; 0]);
}
