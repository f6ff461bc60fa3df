//! The vectors of relays, AFTRs and border relays against references written from the RFCs. They violate none of them. With one fault at a time, each
//! fails the vectors of the clause that the fault breaks, and no other.

mod bindings;
pub(crate) mod datagrams;
mod ecn;
mod fault;
mod map_t;
mod network;
mod ports;
mod reassembly;
mod relay;
mod softwire;
mod table;

use crate::frame::{PayloadPattern, Side};
use crate::judge::{CameFrame, judge};
use crate::notation::{RequirementFile, Vector, built_in};
use crate::octets::{Resolver, build};
use crate::tests::nat::reference::nat::Sent;
use crate::tests::nat::{ReferenceDevice, run};
use crate::tests::patterns::names_meant;
use crate::{
    ControlFrames, DeviceSetting, Role, RoleAddresses, SubscriberSetting, VectorJudgement,
    VectorResult,
};
use fault::Fault;
use map_t::MapT;
use network::{MTU, Network, PUBLIC, Technology};
use relay::Relay;
use softwire::Softwires;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use table::{RigRow, rigs_of};

const PATTERN: PayloadPattern = PayloadPattern { vector: 0x0713 };

/// Returns the addresses of a role.
fn role(role: Role, ipv4: Option<Ipv4Addr>, ipv6: Option<Ipv6Addr>) -> RoleAddresses {
    RoleAddresses { role, ipv4, ipv6 }
}

fn setting(network: &Network) -> DeviceSetting {
    let technology = network.technology;
    let is_nat = technology == Technology::DsLite;
    let is_translator = technology == Technology::MapT;
    let is_six_in_four = technology.is_six_in_four();
    let (subscriber, neighbour) = (network.subscriber, network.neighbour);
    let outside_the_nat = |address| Some(address).filter(|_| !is_nat);
    let (relay_4, relay_6) = match network.relay {
        _ if is_translator => (None, None),
        IpAddr::V4(relay) => (Some(relay), None),
        IpAddr::V6(relay) => (None, Some(relay)),
    };
    let server_4 = Some(network.server.0).filter(|_| !is_six_in_four);
    let server_6 = Some(network.server.1).filter(|_| is_six_in_four || is_translator);
    let customer = if is_nat {
        Ipv4Addr::new(192, 0, 2, 1)
    } else {
        subscriber.v4
    };
    let public = if is_nat { PUBLIC } else { subscriber.v4 };
    let router_6 = Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 0x77);
    let outside_6 = Ipv6Addr::new(0x3fff, 0xfff, 0, 0, 0, 0, 0, 0x77);
    let outside_4 = Ipv4Addr::new(198, 51, 100, 77);
    let roles = vec![
        role(
            Role::Subscriber,
            outside_the_nat(subscriber.v4),
            Some(subscriber.v6),
        ),
        role(
            Role::Neighbour,
            outside_the_nat(neighbour.v4),
            Some(neighbour.v6),
        ),
        role(Role::Customer, Some(customer), Some(subscriber.v6)),
        role(Role::Public, Some(public), Some(subscriber.v6)),
        role(Role::Pool, is_nat.then_some(PUBLIC), None),
        role(Role::Relay, relay_4, relay_6),
        role(Role::Server, server_4, server_6),
        role(Role::Router4, Some(Ipv4Addr::new(198, 18, 0, 77)), None),
        role(Role::Router6, None, Some(router_6)),
        role(Role::Outside4, Some(outside_4), None),
        role(Role::Outside6, None, Some(outside_6)),
    ];
    let has_ports = subscriber.ports.1 < u16::MAX;
    let subscribers = SubscriberSetting {
        side: if is_six_in_four {
            Side::Ipv4
        } else {
            Side::Ipv6
        },
        is_edge: false,
        outer_hop_limit: Some(datagrams::HOPS).filter(|_| !is_translator),
        ports: Some(subscriber.ports).filter(|_| has_ports),
        ranges: network.ranges,
    };
    DeviceSetting {
        roles,
        hops_from_ipv4: 1,
        hops_from_ipv6: 1,
        mtu4: MTU as u16,
        mtu6: MTU as u16,
        subscribers: Some(subscribers),
    }
}

/// A device in memory.
enum Device {
    Relay(Relay),
    Softwires(Softwires),
    MapT(MapT),
}

impl Device {
    fn new(network: Network, fault: Option<Fault>) -> Self {
        match network.technology {
            Technology::SixToFour | Technology::SixRd => Self::Relay(Relay::new(network, fault)),
            Technology::MapT => Self::MapT(MapT { network, fault }),
            Technology::LwAftr | Technology::MapE | Technology::DsLite => {
                Self::Softwires(Softwires::new(network, fault))
            }
        }
    }

    fn received(&mut self, frame: &CameFrame) -> Vec<CameFrame> {
        let sent = self.receive(frame.side, &frame.datagram).into_iter();
        let came = sent.map(|sent| CameFrame {
            side: sent.side,
            datagram: sent.octets,
        });
        came.collect()
    }
}

impl ReferenceDevice for Device {
    fn pass(&mut self, _: u64) -> Vec<Sent> {
        Vec::new()
    }

    fn receive(&mut self, side: Side, octets: &[u8]) -> Vec<Sent> {
        let sent = match self {
            Self::Relay(relay) => relay.received(side, octets).into_iter().collect(),
            Self::Softwires(device) => device.received(side, octets),
            Self::MapT(device) => device.received(side, octets),
        };
        let sent = sent.into_iter().map(|sent| Sent {
            side: sent.side,
            octets: sent.octets,
        });
        sent.collect()
    }
}

/// The vectors that apply to one kind of device, with the datagrams that they send.
struct Bench {
    network: Network,
    setting: DeviceSetting,
    vectors: Vec<(Vector, Vec<CameFrame>)>,
}

impl Bench {
    fn new(network: Network, files: &[RequirementFile]) -> Self {
        let technology = network.technology;
        let setting = setting(&network);
        let applies = |file: &&RequirementFile| {
            let mut names = file.technologies.iter();
            names.any(|name| name == technology.name()) && !file.is_for_edges
        };
        let has_ranges = network.ranges.is_some();
        let vectors = files.iter().filter(applies).flat_map(|file| &file.vectors);
        // Where port sets have several ranges, only the vectors about these are asked.
        let vectors = vectors.filter(|vector| !has_ranges || vector.name.contains("-range-"));
        let vectors = vectors.filter_map(|vector| Some((vector.clone(), sent(vector, &setting)?)));
        Self {
            vectors: vectors.collect(),
            network,
            setting,
        }
    }

    fn judged(&self, fault: Option<Fault>) -> BTreeMap<&str, VectorJudgement> {
        let judged = self.vectors.iter().map(|(vector, sent)| {
            let mut device = Device::new(self.network, fault);
            if !vector.steps.is_empty() {
                let judgement = run(vector, &self.setting, &mut device);
                return (vector.name.as_str(), judgement);
            }
            let came: Vec<CameFrame> = sent
                .iter()
                .flat_map(|frame| device.received(frame))
                .collect();
            let judgement = judge(vector, &came, ControlFrames::Came, PATTERN, &self.setting);
            (vector.name.as_str(), judgement)
        });
        let asked = judged.filter(|(_, judgement)| judgement.result != VectorResult::NotApplicable);
        asked.collect()
    }

    /// Returns the names of the vectors that a rigged device fails.
    fn failed(&self, fault: Fault) -> BTreeSet<&str> {
        let judged = self.judged(Some(fault)).into_iter();
        let failed = judged.filter(|(_, judgement)| judgement.result.is_violation());
        failed.map(|(name, _)| name).collect()
    }
}

/// Returns the datagrams that a vector sends, none of an exchange, or `None` if it does not apply to the device.
fn sent(vector: &Vector, setting: &DeviceSetting) -> Option<Vec<CameFrame>> {
    if !vector.steps.is_empty() {
        return Some(Vec::new());
    }
    let resolver = Resolver {
        setting,
        sent: vector.send.first()?,
    };
    let frames = vector.send.iter().map(|frame| {
        let datagram = build(frame, PATTERN, &resolver).ok()?;
        let side = frame.side;
        Some(CameFrame { side, datagram })
    });
    frames.collect()
}

/// Returns a line for each rig that fails other vectors than the table tells.
fn mistakes_in(bench: &Bench) -> Vec<String> {
    let technology = bench.network.technology;
    let known: BTreeSet<&str> = bench.judged(None).into_keys().collect();
    let mut mistakes = Vec::new();
    for RigRow { fault, fails, .. } in rigs_of(&bench.network) {
        let told = names_meant(fails, known.iter().copied());
        let failed = bench.failed(*fault).into_iter();
        let seen: BTreeSet<String> = failed.map(str::to_owned).collect();
        if seen != told {
            mistakes.push(format!(
                "{fault:?} in {technology:?}: {seen:?} instead of {told:?}"
            ));
        }
    }
    mistakes
}

fn benches() -> Vec<Bench> {
    let files = built_in().unwrap_or_else(|error| panic!("{error}"));
    let networks = Technology::ALL.map(Network::of_technology);
    let has_ranges =
        |network: &&Network| matches!(network.technology, Technology::MapE | Technology::MapT);
    let with_ranges = networks.iter().filter(has_ranges).copied();
    let with_ranges = with_ranges.map(Network::with_ranges);
    let all = networks.into_iter().chain(with_ranges);
    all.map(|network| Bench::new(network, files)).collect()
}

#[test]
fn the_references_violate_no_vector() {
    let mut wrong = Vec::new();
    for bench in benches() {
        let judged = bench.judged(None);
        assert!(judged.len() > 8, "{:?}", bench.network.technology);
        let violated = judged
            .into_iter()
            .filter(|(_, judgement)| judgement.result.is_violation());
        wrong.extend(violated.map(|(name, judgement)| {
            format!("{:?}: {name}: {judgement:#?}", bench.network.technology)
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_rig_fails_the_vectors_of_its_clause_and_no_other() {
    let mistakes: Vec<String> = benches().iter().flat_map(mistakes_in).collect();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn every_vector_of_tunnels_and_of_address_sharing_is_failed_by_a_rig() {
    let mut free = BTreeSet::new();
    let mut caught = BTreeSet::new();
    for bench in benches() {
        let known: BTreeSet<&str> = bench.judged(None).into_keys().collect();
        caught.extend(
            rigs_of(&bench.network).flat_map(|row| names_meant(row.fails, known.iter().copied())),
        );
        free.extend(known.into_iter().map(str::to_owned));
    }
    let free: Vec<&String> = free.difference(&caught).collect();
    assert_eq!(free, Vec::<&String>::new());
}
