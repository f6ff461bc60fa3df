//! The vectors of customer edges and of routers of sites against references written from the RFCs: they are right in all of them. With one fault at a
//! time, each fails the vectors of the clause that the fault breaks, and no other.

mod edge;
mod site;
mod table;

use crate::frame::{PayloadPattern, Side};
use crate::judge::{CameFrame, judge};
use crate::notation::Vector;
use crate::octets::{Resolver, build};
use crate::setting::{DeviceSetting, Role, RoleAddresses, SubscriberSetting};
use crate::tests::nat::reference::nat::Filtering;
use crate::tests::nat::{Bench, run};
use crate::tests::rigs::vectors_of;
use crate::{ControlFrames, VectorJudgement, VectorResult};
use edge::{Edge, EdgeFault, EdgeKind};
use site::{Site, SiteFault};
use std::net::{Ipv4Addr, Ipv6Addr};
use table::{MAP_E_RIGS, MAP_T_RIGS, SITE_RIGS};

const PATTERN: PayloadPattern = PayloadPattern { vector: 0x0713 };

fn setting(roles: Vec<RoleAddresses>, subscribers: SubscriberSetting) -> DeviceSetting {
    DeviceSetting {
        roles,
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: 1500,
        mtu6: 1500,
        subscribers: Some(subscribers),
    }
}

fn role(role: Role, ipv4: Option<Ipv4Addr>, ipv6: Option<Ipv6Addr>) -> RoleAddresses {
    RoleAddresses { role, ipv4, ipv6 }
}

fn edge_setting(kind: EdgeKind) -> DeviceSetting {
    let is_tunnel = kind == EdgeKind::Tunnel;
    let six = |address: Ipv6Addr| Some(address).filter(|_| !is_tunnel);
    let [outside, outside2] = edge::OUTSIDE;
    let roles = vec![
        role(Role::Inside, Some(edge::HOST), None),
        role(Role::Outside, Some(outside.v4), six(outside.v6)),
        role(Role::Outside2, Some(outside2.v4), six(outside2.v6)),
        role(Role::Pool, Some(edge::OWN.v4), None),
        role(Role::Subscriber, Some(edge::OWN.v4), Some(edge::OWN.v6)),
        role(Role::Relay, None, Some(edge::RELAY).filter(|_| is_tunnel)),
        role(Role::Router6, None, Some(edge::ROUTER)),
    ];
    let subscribers = SubscriberSetting {
        side: Side::Inside,
        is_edge: true,
        outer_hop_limit: is_tunnel.then_some(64),
        ports: Some((edge::PORTS.0, edge::PORTS.1)),
        ranges: None,
    };
    setting(roles, subscribers)
}

fn edge_judged(
    kind: EdgeKind,
    vector: &Vector,
    filtering: Filtering,
    fault: Option<EdgeFault>,
) -> VectorJudgement {
    let mut edge = Edge::new(kind, filtering, fault);
    run(vector, &edge_setting(kind), &mut edge)
}

fn map_e() -> Bench<EdgeFault> {
    Bench {
        vectors: vectors_of("rfc7597-edge.toml"),
        judged: |vector, filtering, fault| edge_judged(EdgeKind::Tunnel, vector, filtering, fault),
        rigs: MAP_E_RIGS,
        choices: &[],
    }
}

fn map_t() -> Bench<EdgeFault> {
    Bench {
        vectors: vectors_of("rfc7599-edge.toml"),
        judged: |vector, filtering, fault| {
            edge_judged(EdgeKind::Translator, vector, filtering, fault)
        },
        rigs: MAP_T_RIGS,
        choices: &[],
    }
}

/// Returns the judgement of a vector on a site's router, which has no NAT to filter anything.
fn site_judged(vector: &Vector, _: Filtering, fault: Option<SiteFault>) -> VectorJudgement {
    let roles = vec![
        role(Role::Subscriber, Some(site::OWN), Some(site::HOST)),
        role(
            Role::Neighbour,
            Some(site::NEIGHBOUR),
            Some(site::NEIGHBOUR_HOST),
        ),
        role(Role::Relay, Some(site::RELAY), None),
        role(Role::Server, None, Some(site::SERVER)),
    ];
    let subscribers = SubscriberSetting {
        side: Side::Ipv6,
        is_edge: true,
        outer_hop_limit: Some(64),
        ports: None,
        ranges: None,
    };
    let setting = setting(roles, subscribers);
    let site = Site { fault };
    let sent = &vector.send[0];
    let resolver = Resolver {
        setting: &setting,
        sent,
    };
    let octets = build(sent, PATTERN, &resolver).expect("a datagram");
    let came: Vec<CameFrame> = site.receive(sent.side, &octets).into_iter().collect();
    judge(vector, &came, ControlFrames::Came, PATTERN, &setting)
}

fn sites() -> Bench<SiteFault> {
    Bench {
        vectors: vectors_of("rfc3056-edge.toml"),
        judged: site_judged,
        rigs: SITE_RIGS,
        choices: &[],
    }
}

/// Asserts that a reference without a fault is right in every vector.
fn check_reference<F: 'static>(bench: &Bench<F>) {
    let judged = |vector| (bench.judged)(vector, Filtering::AddressDependent, None);
    let mut vectors = bench.vectors.iter();
    if let Some(wrong) = vectors.find(|vector| judged(vector).result != VectorResult::Right) {
        panic!("{}: {:#?}", wrong.name, judged(wrong));
    }
}

#[test]
fn the_references_are_right_in_every_vector() {
    check_reference(&map_e());
    check_reference(&map_t());
    check_reference(&sites());
}

#[test]
fn each_rig_of_an_edge_fails_the_vectors_of_its_clause_and_no_other() {
    map_e().check_rigs();
    map_t().check_rigs();
    sites().check_rigs();
}

#[test]
fn every_vector_of_an_edge_is_failed_by_a_rig() {
    map_e().check_vectors();
    map_t().check_vectors();
    sites().check_vectors();
}
